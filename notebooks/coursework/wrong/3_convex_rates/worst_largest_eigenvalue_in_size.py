"""Takes the eigenvalue that is largest in size.

caught by: cr-worst-check
says: the eigenvalue that is largest in size
"""


# %% cr-worst
def worst_price(chain):
    values = np.linalg.eigvals(chain.transition - chain.stationary).real
    second = values[abs(values).argmax()]
    return (1 + second) / (1 - second)
