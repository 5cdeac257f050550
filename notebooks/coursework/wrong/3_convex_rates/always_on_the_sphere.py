"""Moves points inside the ball to the sphere too.

caught by: cr-ball-check
says: moved to the sphere
"""


# %% cr-ball
def onto_ball(x, radius):
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return radius * x / np.maximum(length, 1e-12)
