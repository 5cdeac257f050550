"""Reward one step late: an action is paid from the next step on.

caught by: pg-returns-check
says: one step too late
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result = np.array(rewards, dtype=float)
    for end, length in zip(np.cumsum(lengths), lengths):
        for i in range(end - 2, end - length - 1, -1):
            result[i] += discount * result[i + 1]
    return result - np.asarray(rewards)
