"""Cuts the last coordinate only.

caught by: cr-slab-hidden
"""


# %% cr-slab
def onto_slab(x, normal, width):
    found = np.array(x, float)
    limit = width / np.linalg.norm(normal)
    found[..., -1] = np.clip(found[..., -1], -limit, limit)
    return found
