"""Gives the transposed matrix.

caught by: at-pairs-check
says: next pair in its rows
"""


# %% at-pairs
def pair_chain(p, reward, policy):
    places, actions = policy.shape
    P = np.einsum("ast,tb->satb", p, policy).reshape(places * actions, -1).T
    return P, np.einsum("ast,ast->sa", p, reward).ravel()
