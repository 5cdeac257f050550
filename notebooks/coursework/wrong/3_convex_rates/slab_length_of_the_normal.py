"""Does not divide by the square of the normal's length.

caught by: cr-slab-check
says: what do you divide by
"""


# %% cr-slab
def onto_slab(x, normal, width):
    inner = x @ normal
    return x - np.asarray(inner - np.clip(inner, -width, width))[..., None] * normal
