"""Moves points inside the slab to its face.

caught by: cr-slab-check
says: yours is moved to its face
"""


# %% cr-slab
def onto_slab(x, normal, width):
    inner = x @ normal
    return x - np.asarray(inner - np.where(inner < 0, -width, width))[..., None] * normal / (normal @ normal)
