"""Weighs the reward by the policy.

caught by: at-pairs-check
says: picked already
"""


# %% at-pairs
def pair_chain(p, reward, policy):
    places, actions = policy.shape
    P = np.einsum("ast,tb->satb", p, policy).reshape(places * actions, -1)
    return P, (policy * np.einsum("ast,ast->sa", p, reward)).ravel()
