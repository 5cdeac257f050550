"""Swaps the weights of the average.

caught by: at-acc-check
says: which one gets alpha
"""


# %% at-acc
def td_acc(states, rewards, Phi, discount, ends, rule):
    x = x_bar = np.zeros(Phi.shape[1])
    live = np.where(ends[:, None], 0.0, Phi)
    path = [x_bar]
    for k, (places, pays) in enumerate(zip(states, rewards), 1):
        alpha, beta, gamma = rule.alpha(k), rule.beta(k), rule.gamma(k)
        eta = gamma / (1 + rule.mu * gamma)
        for s, after, pay in zip(places[:-1], places[1:], pays):
            if ends[s]:
                break
            y = (1 - beta) * x_bar + beta * x
            delta = pay + (discount * live[after] - Phi[s]) @ y
            x = x + rule.mu * eta * (y - x) + eta * delta * Phi[s]
            x_bar = alpha * x_bar + (1 - alpha) * x
        path.append(x_bar)
    return np.array(path)
