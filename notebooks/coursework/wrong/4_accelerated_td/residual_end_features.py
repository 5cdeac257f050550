"""Subtracts the features of the end place.

caught by: at-residual-check
says: features of the end place
"""


# %% at-residual
def td_residual(states, rewards, Phi, discount, ends, step):
    theta = np.zeros(Phi.shape[1])
    live = Phi
    path = [theta]
    for k, (places, pays) in enumerate(zip(states, rewards, strict=True), 1):
        eta = step(k)
        for s, after, pay in zip(places[:-1], places[1:], pays, strict=True):
            if ends[s]:
                break
            direction = Phi[s] - discount * live[after]
            theta = theta + eta * (pay - direction @ theta) * direction
        path.append(theta)
    return np.array(path)


def total_step(rule, K):
    return sum(rule.gamma(k) / (1 + rule.mu * rule.gamma(k)) for k in range(1, K + 1))
