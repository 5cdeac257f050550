"""Answers the second variants with reflections, averaged matrices, differences, searches and a power method."""


# %% cr-slab
def onto_slab(x, normal, width):
    length = np.linalg.norm(normal)
    unit = normal / length
    height = np.einsum("...i,i->...", x, unit)
    beyond = np.maximum(np.abs(height) - width / length, 0) * np.where(height < 0, -1, 1)
    return x - np.multiply.outer(beyond, unit)


# %% cr-batches
def growing_batches(gradient, states, sizes, gamma, mu, project, x0):
    groups = np.split(np.asarray(states), np.cumsum(sizes)[:-1], axis=1)
    pair = np.stack([x0, x0]).astype(float)  # x_bar and x
    path = []
    for k, (g, group) in enumerate(zip(gamma, groups), start=1):
        share, eta = 2 / (k + 1), g / (1 + mu * g)
        look = share * (1 - mu * eta) / (1 - share * mu * eta)
        y = pair[0] + look * (pair[1] - pair[0])
        push = np.mean([gradient(y, xi) for xi in group.T], axis=0)
        x = project(pair[1] - eta * (push + mu * (pair[1] - y)))
        pair = np.stack([pair[0] + share * (x - pair[0]), x])
        path.append([y, x, pair[0]])
    return np.stack(path, axis=1)


# %% cr-steps
def steps_with(excess, mu):
    t = np.arange(len(excess))
    rising = np.tril(np.ones((t.size, t.size)))
    return (t + 1) / (rising @ (np.asarray(excess) + mu * t))


# %% cr-safe
def safe_slope(gamma, D, epsilon):
    k = np.arange(1, len(gamma) + 1)
    ways = np.cumsum(gamma)
    mean = k @ ways / k.sum()
    roots = np.roots([mean, -2 * D, epsilon])
    return roots.min() if np.isreal(roots).all() else np.inf


# %% cr-horizon
def horizon(p, level):
    from bisect import bisect_left

    def small(K):
        gamma = np.arange(1, K + 1) ** float(p) / 4
        slope = hard_slope(gamma, 1.0)
        x = np.clip(1 - slope * np.cumsum(gamma), -1, 1)
        return slope * (np.average(x, weights=np.arange(1, K + 1)) + 1) <= level

    return bisect_left(range(1, 2000), True, key=small) + 1


# %% cr-thinned
def thinned_gaps(chain, noise, a, mu, samples, keep, replicates, rng):
    # the kept states are a chain of their own
    jump = np.cumsum(np.linalg.matrix_power(chain.transition, keep), axis=1)[:, :-1]
    first, later = rng.spawn(2)
    state = (first.random((replicates, 1)) >= np.cumsum(chain.stationary)[:-1]).sum(axis=1)
    kept = []
    for _ in range(samples // keep):
        state = (later.random((replicates, 1)) >= jump[state]).sum(axis=1)
        kept.append(state)
    k = np.arange(1, len(kept) + 1)
    gamma = 2 * k / (mu * k * (k - 1) + 8 * np.max(a))
    end = algorithm_2(lambda y, xi: y * a + noise[xi], np.transpose(kept), gamma, mu, np.array, np.ones((replicates, len(a))))[2][-1]
    return np.einsum("ri,i,ri->r", end, a, end) / 2


# %% cr-worst
def worst_price(chain):
    law = chain.stationary
    basis = np.eye(len(law))[:, 1:] - law[1:]  # noises with mean 0
    system = np.vstack([np.eye(len(law)) - chain.transition, law])
    summed = np.linalg.lstsq(system, np.vstack([basis, np.zeros(basis.shape[1])]), rcond=None)[0]
    variance = basis.T @ (law[:, None] * basis)
    late = basis.T @ (law[:, None] * summed)
    values = np.linalg.eigvals(np.linalg.solve(variance, late + late.T - variance))
    return values.real.max()
