"""Gives the mean of all weights after the second episode.

caught by: at-control-hidden
"""


# %% at-control
def td_plain(states, rewards, Phi, discount, ends, step):
    theta = np.zeros(Phi.shape[1])
    live = np.where(ends[:, None], 0.0, Phi)
    path = [theta]
    for k, (places, pays) in enumerate(zip(states, rewards), 1):
        eta = step(k)
        for s, after, pay in zip(places[:-1], places[1:], pays):
            if ends[s]:
                break
            theta = theta + eta * (pay + (discount * live[after] - Phi[s]) @ theta) * Phi[s]
        path.append(theta if k < 3 else np.mean(path[1:] + [theta], axis=0))
    return np.array(path)


def matched_step(rule, k):
    gamma = rule.gamma(k)
    return gamma / (1 + rule.mu * gamma)
