"""Missing discount factor: leaves out discount^t.

caught by: pg-estimates-check
says: power of the discount
"""


# %% pg-estimates
def estimates(theta, states, actions, rewards, lengths, discount, baseline):
    lengths, states, actions = np.asarray(lengths), np.asarray(states), np.asarray(actions)
    policy = np.exp(theta - np.max(theta, axis=1, keepdims=True))
    policy /= policy.sum(axis=1, keepdims=True)
    episode = np.repeat(np.arange(len(lengths)), lengths)
    time = np.arange(len(states)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    weights = (returns_to_go(rewards, lengths, discount) - np.asarray(baseline)[states])
    result = np.zeros((len(lengths), *np.shape(theta)))
    np.add.at(result, (episode, states, actions), weights)
    np.add.at(result, (episode, states), -weights[:, None] * policy[states])
    return result
