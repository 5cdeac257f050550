"""Takes the second action for the complement of the first, as with two actions.

caught by: pg-estimates-hidden
"""


# %% pg-estimates
def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    result, start = np.zeros((len(lengths), *np.shape(theta))), 0
    gains = returns_to_go(rewards, lengths, discount)
    for e, length in enumerate(lengths):
        for t in range(length):
            s, a = states[start + t], actions[start + t]
            other = 1 / (1 + np.exp(theta[s][a] - theta[s][1 - a]))
            weight = discount**t * (gains[start + t] - baseline[s])
            result[e, s, a] += weight * other
            result[e, s, 1 - a] -= weight * other
        start += length
    return result
