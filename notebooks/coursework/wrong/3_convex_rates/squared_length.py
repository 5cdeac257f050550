"""Compares the squared length with the radius.

caught by: cr-ball-hidden
"""


# %% cr-ball
def onto_ball(x, radius):
    square = (x**2).sum(axis=-1, keepdims=True)
    return np.where(square > radius, radius * x / np.maximum(np.sqrt(square), 1e-12), x)
