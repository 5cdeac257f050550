"""Knows two actions only.

caught by: at-pairs-hidden
"""


# %% at-pairs
def pair_chain(p, reward, policy):
    n = len(policy)
    P = np.zeros((2 * n, 2 * n))
    for a in range(min(2, len(p))):
        for b in range(min(2, len(p))):
            P[a::2, b::2] = p[a] * policy[:, b]
    r = np.zeros(2 * n)
    for a in range(min(2, len(p))):
        r[a::2] = (p[a] * reward[a]).sum(axis=1)
    return P, r
