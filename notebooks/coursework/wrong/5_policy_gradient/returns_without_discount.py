"""Forgets the discount.

caught by: pg-returns-check
says: where is the discount
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result = np.array(rewards, dtype=float)
    for end, length in zip(np.cumsum(lengths), lengths):
        for i in range(end - 2, end - length - 1, -1):
            result[i] += result[i + 1]
    return result
