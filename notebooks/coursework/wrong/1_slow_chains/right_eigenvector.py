"""Takes a right eigenvector of P, which is constant, for the stationary law.

caught by: sc-stationary-check
says: pi P = pi that you solve
"""


# %% sc-stationary
def stationary_law(P):
    values, vectors = np.linalg.eig(P)
    vector = vectors[:, np.argmax(values.real)].real
    return vector / vector.sum()
