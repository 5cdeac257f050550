"""Starts each episode at theta = 0.

caught by: at-momentum-check
says: theta is carried over
"""


# %% at-momentum
def td_momentum(states, rewards, Phi, discount, ends, step, keep):
    theta = np.zeros(Phi.shape[1])
    live = np.where(ends[:, None], 0.0, Phi)
    path = [theta]
    for k, (places, pays) in enumerate(zip(states, rewards, strict=True), 1):
        eta, velocity, seen, theta = step(k), np.zeros(Phi.shape[1]), [], np.zeros(Phi.shape[1])
        for s, after, pay in zip(places[:-1], places[1:], pays, strict=True):
            if ends[s]:
                break
            delta = pay + (discount * live[after] - Phi[s]) @ theta
            velocity = keep * velocity + eta * delta * Phi[s]
            theta = theta + velocity
            seen.append(theta)
        path.append(np.mean(seen, axis=0))
    return np.array(path)
