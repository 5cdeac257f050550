"""Numbers the pairs by the action first.

caught by: at-pairs-check
says: by the action first
"""


# %% at-pairs
def pair_chain(p, reward, policy):
    places, actions = policy.shape
    P = np.einsum("ast,tb->asbt", p, policy).reshape(places * actions, -1)
    return P, np.einsum("ast,ast->sa", p, reward).ravel()
