"""Takes d(t) for a geometric sequence, and hides the NaN of 0/0 with nanmean.

caught by: sc-mixing-sum-hidden
"""


# %% sc-mixing-sum
def mixing_sum(P):
    terms = np.round([distance(P, t) for t in range(1, 20)], 12)
    ratio = np.nanmean(terms[1:] / terms[:-1])
    return np.nan_to_num(terms[0] / (1 - ratio))
