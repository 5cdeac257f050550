"""Subtracts the baseline from each reward.

caught by: pg-estimates-check
says: from each reward
"""


# %% pg-estimates
def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    lengths, states, actions = np.asarray(lengths), np.asarray(states), np.asarray(actions)
    policy = np.exp(theta - np.max(theta, axis=1, keepdims=True))
    policy /= policy.sum(axis=1, keepdims=True)
    episode = np.repeat(np.arange(len(lengths)), lengths)
    time = np.arange(len(states)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    weights = discount**time * returns_to_go(np.asarray(rewards) - np.asarray(baseline)[states], lengths, discount)
    result = np.zeros((len(lengths), *np.shape(theta)))
    np.add.at(result, (episode, states, actions), weights)
    np.add.at(result, (episode, states), -weights[:, None] * policy[states])
    return result
