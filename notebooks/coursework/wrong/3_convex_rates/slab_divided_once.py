"""Divides by the length of the normal, and not by its square.

caught by: cr-slab-check
says: you go the right way, but too far
"""


# %% cr-slab
def onto_slab(x, normal, width):
    inner = x @ normal
    return x - np.asarray(inner - np.clip(inner, -width, width))[..., None] * normal / np.linalg.norm(normal)
