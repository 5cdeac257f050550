"""Adds up all rewards, also of steps that never happen.

caught by: at-pairs-check
says: never happens
"""


# %% at-pairs
def pair_chain(p, reward, policy):
    places, actions = policy.shape
    P = np.einsum("ast,tb->satb", p, policy).reshape(places * actions, -1)
    return P, reward.sum(axis=2).T.ravel()
