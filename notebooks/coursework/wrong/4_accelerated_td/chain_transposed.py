"""Gives the transpose of the transition matrix.

caught by: at-chain-check
says: next place in its rows
"""


# %% at-chain
def chain_of(p, reward, policy):
    weight = policy.T[:, :, None] * p
    return weight.sum(axis=0).T, (weight * reward).sum(axis=(0, 2))
