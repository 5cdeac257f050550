"""Leaves the constant out of the features.

caught by: pg-weights-check
says: fitted to *it*
"""


# %% pg-weights
def weights_with_baseline(observations, time, returns, old_observations, old_time, old_returns):
    """Weight of each step in reading L with a linear baseline, shape (N,)."""
    def features(o, t):
        tau = np.asarray(t)[:, None] / 100
        return np.hstack([o, np.square(o), tau, tau**2, tau**3])

    old = features(old_observations, old_time)
    gram = old.T @ old + 1e-5 * np.eye(old.shape[1])
    w = np.linalg.solve(gram, old.T @ np.asarray(old_returns, float))
    gains = returns - features(observations, time) @ w
    return (gains - gains.mean()) / gains.std() / len(gains)
