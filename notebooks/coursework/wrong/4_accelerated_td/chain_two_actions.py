"""Works for two actions only.

caught by: at-chain-hidden
"""


# %% at-chain
def chain_of(p, reward, policy):
    first, second = policy[:, :1] * p[0], policy[:, -1:] * p[-1]
    return first + second, (first * reward[0] + second * reward[-1]).sum(axis=1)
