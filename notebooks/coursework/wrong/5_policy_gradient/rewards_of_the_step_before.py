"""Reward one step late: each action is stored with the reward of the step before.

caught by: pg-returns-check
says: reward of the step before
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    rewards, start = np.array(rewards, dtype=float), 0
    for length in lengths:
        rewards[start : start + length] = np.roll(rewards[start : start + length], 1)
        start += length
    result = rewards.copy()
    for end, length in zip(np.cumsum(lengths), lengths):
        for i in range(end - 2, end - length - 1, -1):
            result[i] += discount * result[i + 1]
    return result
