"""Adds up the rewards of all actions as if each were picked.

caught by: at-chain-check
says: add up the rewards of all actions
"""


# %% at-chain
def chain_of(p, reward, policy):
    weight = policy.T[:, :, None] * p
    return weight.sum(axis=0), (p * reward).sum(axis=(0, 2))
