"""Fits the baseline to the batch whose weights are asked for.

caught by: pg-weights-check
says: fitted to *it*
"""


# %% pg-weights
def weights_with_baseline(observations, time, returns, old_observations, old_time, old_returns):
    """Weight of each step in reading L with a linear baseline, shape (N,)."""
    def features(o, t):
        tau = np.asarray(t)[:, None] / 100
        return np.hstack([o, np.square(o), tau, tau**2, tau**3, np.ones_like(tau)])

    old = features(observations, time)
    gram = old.T @ old + 1e-5 * np.eye(old.shape[1])
    w = np.linalg.solve(gram, old.T @ np.asarray(returns, float))
    gains = returns - features(observations, time) @ w
    return (gains - gains.mean()) / gains.std() / len(gains)
