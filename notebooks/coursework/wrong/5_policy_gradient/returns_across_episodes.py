"""Lets returns run on into the next episode.

caught by: pg-returns-check
says: run on into the next episode
"""


# %% pg-returns
def returns_to_go(rewards, lengths, discount):
    result = np.array(rewards, dtype=float)
    for i in range(len(result) - 2, -1, -1):
        result[i] += discount * result[i + 1]
    return result
