"""Gives a constant output.

caught by: at-acc-check
says: does not move in the first transition
"""


# %% at-acc
def td_acc(states, rewards, Phi, discount, ends, rule):
    return np.zeros((len(states) + 1, Phi.shape[1]))
