"""Uses the eigenvalues of a matrix that is not symmetric, as if the chain were reversible.

caught by: cr-worst-hidden
"""


# %% cr-worst
def worst_price(chain):
    values = np.linalg.eigvals(chain.transition - chain.stationary)
    values = values[abs(values) > 1e-12] if (abs(values) > 1e-12).any() else np.zeros(1)
    return ((1 + values) / (1 - values)).real.max()
