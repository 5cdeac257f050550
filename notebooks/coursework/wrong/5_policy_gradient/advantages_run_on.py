"""The sum runs on into the next episode.

caught by: pg-advantages-check
says: run on
"""


# %% pg-advantages
def advantages(rewards, lengths, values, discount, lam):
    """Generalised advantage of each step, shape (N,)."""
    rewards, values = np.asarray(rewards, float), np.asarray(values, float)
    result, later, after = np.empty(len(rewards)), 0.0, 0.0
    last = set((np.cumsum(lengths) - 1).tolist())
    for i in reversed(range(len(rewards))):
        if i in last:
            after = 0.0
        later = rewards[i] + discount * after - values[i] + discount * lam * later
        result[i], after = later, values[i]
    return result
