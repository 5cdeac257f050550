"""Discounts from the start of the episode.

caught by: pg-returns-check
says: from the start of the episode
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result = np.array(rewards, dtype=float)
    for end, length in zip(np.cumsum(lengths), lengths):
        for i in range(end - 2, end - length - 1, -1):
            result[i] += discount * result[i + 1]
    time = np.concatenate([np.arange(length) for length in lengths])
    return discount**time * result
