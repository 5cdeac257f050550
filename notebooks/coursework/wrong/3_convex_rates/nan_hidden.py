"""Takes the correlation for geometric, and hides the NaN of 0/0 with nanmean.

caught by: cr-price-hidden
"""


# %% cr-price
def price(chain, noise, a, mu):
    rows, later = [], noise
    for _ in range(20):
        rows.append(chain.stationary @ (noise * later))
        later = chain.transition @ later
    rows = np.round(rows, 12)
    ratio = np.nanmean(rows[1:] / rows[:-1], axis=0)
    r = np.asarray(a) / mu
    return (rows[0] * (1 + ratio) / (1 - ratio) * 16 * r / (48 * r - 21)).sum() / mu
