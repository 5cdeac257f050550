"""Goes straight towards the origin.

caught by: cr-slab-check
says: straight towards the origin
"""


# %% cr-slab
def onto_slab(x, normal, width):
    inner = np.asarray(abs(x @ normal))[..., None]
    return x * width / np.maximum(inner, width)
