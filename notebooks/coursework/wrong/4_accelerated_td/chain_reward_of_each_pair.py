"""Does not average the reward over the next place.

caught by: at-chain-check
says: averaged out
"""


# %% at-chain
def chain_of(p, reward, policy):
    weight = policy.T[:, :, None] * p
    return weight.sum(axis=0), (weight * reward).sum(axis=0)
