"""Differentiates by the deviation, not by its logarithm.

caught by: pg-gaussian-check
says: its logarithm xi
"""


# %% pg-gaussian
def gaussian_estimates(W, xi, observations, actions, rewards, lengths, discount):
    """Estimates of each episode for W, shape (E, D, A), and for xi, shape (E, A)."""
    o, lengths = np.asarray(observations, float), np.asarray(lengths)
    z = (np.asarray(actions, float) - o @ W) / np.exp(xi)
    starts = np.cumsum(lengths) - lengths
    time = np.arange(len(o)) - np.repeat(starts, lengths)
    weights = discount**time * returns_to_go(rewards, lengths, discount)
    means = np.einsum("n,ni,nj->nij", weights, o, z / np.exp(xi))
    return np.add.reduceat(means, starts), np.add.reduceat(weights[:, None] * (z**2 - 1) / np.exp(xi), starts)
