"""Looks at one face only.

caught by: cr-slab-check
says: the slab has two faces
"""


# %% cr-slab
def onto_slab(x, normal, width):
    inner = x @ normal
    return x - np.asarray(np.maximum(inner - width, 0))[..., None] * normal / (normal @ normal)
