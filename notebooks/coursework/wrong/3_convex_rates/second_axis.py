"""Takes the lengths along axis 1, which is the last one only for a table.

caught by: cr-ball-hidden
"""


# %% cr-ball
def onto_ball(x, radius):
    length = np.linalg.norm(x, axis=1)[:, None]
    return x * (radius / np.maximum(length, radius))
