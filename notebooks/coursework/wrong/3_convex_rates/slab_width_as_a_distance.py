"""Takes the width for a distance from the middle.

caught by: cr-slab-check
says: you take the width for a distance
"""


# %% cr-slab
def onto_slab(x, normal, width):
    unit = normal / np.linalg.norm(normal)
    inner = x @ unit
    return x - np.asarray(inner - np.clip(inner, -width, width))[..., None] * unit
