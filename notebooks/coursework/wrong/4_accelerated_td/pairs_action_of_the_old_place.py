"""Picks the next action by the policy of the place that is left.

caught by: at-pairs-check
says: picked in the next place
"""


# %% at-pairs
def pair_chain(p, reward, policy):
    places, actions = policy.shape
    P = np.einsum("ast,sb->satb", p, policy).reshape(places * actions, -1)
    return P, np.einsum("ast,ast->sa", p, reward).ravel()
