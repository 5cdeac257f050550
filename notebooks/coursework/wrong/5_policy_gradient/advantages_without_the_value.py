"""Forgets what was expected before the action.

caught by: pg-advantages-check
says: is to be subtracted
"""


# %% pg-advantages
def advantages(rewards, lengths, values, discount, lam):
    """Generalised advantage of each step, shape (N,)."""
    rewards, values = np.asarray(rewards, float), np.asarray(values, float)
    result, later, after = np.empty(len(rewards)), 0.0, 0.0
    last = set((np.cumsum(lengths) - 1).tolist())
    for i in reversed(range(len(rewards))):
        if i in last:
            later = after = 0.0
        later = rewards[i] + discount * after + discount * lam * later
        result[i], after = later, values[i]
    return result
