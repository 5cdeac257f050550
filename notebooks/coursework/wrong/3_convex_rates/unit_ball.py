"""Projects on the unit ball whatever the radius.

caught by: cr-ball-check
says: for radius 2
"""


# %% cr-ball
def onto_ball(x, radius):
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.maximum(length, 1)
