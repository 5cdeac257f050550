"""A softmax that overflows.

caught by: pg-exact-hidden
"""


# %% pg-exact
def exact_gradient(theta, move, reward, horizon, discount):
    """Gradient of the expected discounted return from state 0, shape (S, A)."""
    S, A = np.shape(theta)
    policy = np.exp(theta)
    policy /= policy.sum(axis=1, keepdims=True)
    inside = np.asarray(move, float)[:, :, :S]
    value, slope = np.zeros(S), np.zeros((S, S, A))  # slope[s] is the gradient of value[s]
    for _ in range(horizon):
        gain = np.asarray(reward, float) + discount * inside @ value
        slope = discount * np.einsum("sa,saj,jkb->skb", policy, inside, slope)
        value = (policy * gain).sum(axis=1)
        for s in range(S):
            slope[s, s] += policy[s] * (gain[s] - value[s])
    return slope[0]
