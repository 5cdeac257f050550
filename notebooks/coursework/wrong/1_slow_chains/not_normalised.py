"""Gives a left eigenvector whose entries do not sum to 1.

caught by: sc-stationary-check
says: sum to 1, yours sum to
"""


# %% sc-stationary
def stationary_law(P):
    values, vectors = np.linalg.eig(P.T)
    vector = vectors[:, np.argmax(values.real)].real
    return vector * np.sign(vector.sum())
