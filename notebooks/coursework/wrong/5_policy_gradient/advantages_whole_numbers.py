"""Keeps the type of the rewards: whole numbers are cut.

caught by: pg-advantages-hidden
"""


# %% pg-advantages
def advantages(rewards, lengths, values, discount, lam):
    """Generalised advantage of each step, shape (N,)."""
    rewards, values = np.asarray(rewards), np.asarray(values)
    result, later, after = np.empty_like(rewards), 0.0, 0.0
    last = set((np.cumsum(lengths) - 1).tolist())
    for i in reversed(range(len(rewards))):
        if i in last:
            later = after = 0.0
        later = rewards[i] + discount * after - values[i] + discount * lam * later
        result[i], after = later, values[i]
    return result
