"""Weighs the actions alike, whatever the policy says.

caught by: at-chain-check
says: you weigh the actions alike
"""


# %% at-chain
def chain_of(p, reward, policy):
    weight = p / len(p)
    return weight.sum(axis=0), (weight * reward).sum(axis=(0, 2))
