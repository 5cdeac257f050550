"""Sums the rewards of the past.

caught by: pg-returns-check
says: nothing follows the last step
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result = np.array(rewards, dtype=float)
    for end, length in zip(np.cumsum(lengths), lengths):
        for i in range(end - length + 1, end):
            result[i] += discount * result[i - 1]
    return result
