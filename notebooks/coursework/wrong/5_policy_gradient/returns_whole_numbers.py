"""Keeps the type of the rewards, so whole numbers are cut off.

caught by: pg-returns-hidden
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result = np.array(rewards)
    for end, length in zip(np.cumsum(lengths), lengths):
        for i in range(end - 2, end - length - 1, -1):
            result[i] += discount * result[i + 1]
    return result
