"""Draws discounted returns.

caught by: pg-learn-check
says: entry 0 is a discounted return
"""


# %% pg-learn
def learn(schedule, lr, updates, rng):
    policy = reinforce.policy_for(simulator, HIDDEN, rng=rng)
    optimizer = AMGD(policy.parameters(), lr, schedule=schedule)
    curve = []
    for _ in range(updates + 1):
        batch = reinforce.collect_episodes(policy, simulator, BATCH, rng=rng)
        gains = returns_to_go(batch.rewards, batch.lengths, DISCOUNT)
        curve.append(gains[batch.time == 0].mean())
        weights = torch.tensor((gains - gains.mean()) / gains.std() / len(gains))
        optimizer.zero_grad()
        loss = -(weights * policy.log_prob(batch.observations, batch.actions)).sum()
        loss.backward()
        optimizer.step()
    return np.array(curve)
