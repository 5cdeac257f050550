"""Cuts each coordinate: projects on a square.

caught by: cr-ball-check
says: projects on a square
"""


# %% cr-ball
def onto_ball(x, radius):
    return np.clip(x, -radius, radius)
