"""Uses the closed formula of two states with the second eigenvalue.

caught by: sc-mixing-time-hidden
"""


# %% sc-mixing-time
def mixing_time(P, delta):
    second = np.sort(abs(np.linalg.eigvals(P)))[-2]
    if second < 1e-6:
        return 1
    return max(1, int(np.ceil(np.log(delta / distance(P, 0)) / np.log(second) - 1e-9)))
