"""Averages the rewards over all next places, possible or not.

caught by: at-chain-check
says: never happens
"""


# %% at-chain
def chain_of(p, reward, policy):
    weight = policy.T[:, :, None] * p
    return weight.sum(axis=0), (policy.T * reward.mean(axis=2)).sum(axis=0)
