"""Adds with += where a state is visited twice: only the last visit counts.

caught by: pg-estimates-hidden
"""


# %% pg-estimates
def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    lengths, states, actions = np.asarray(lengths), np.asarray(states), np.asarray(actions)
    policy = np.exp(theta - np.max(theta, axis=1, keepdims=True))
    policy /= policy.sum(axis=1, keepdims=True)
    episode = np.repeat(np.arange(len(lengths)), lengths)
    time = np.arange(len(states)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    weights = discount**time * (returns_to_go(rewards, lengths, discount) - np.asarray(baseline)[states])
    result = np.zeros((len(lengths), *np.shape(theta)))
    result[episode, states, actions] += weights
    result[episode, states] -= weights[:, None] * policy[states]
    return result
