"""Off by one in k: leaves out the batch after the last update.

caught by: pg-learn-check
says: from before the first to after the last
"""


# %% pg-learn
def learn(schedule, lr, updates, rng):
    policy = reinforce.policy_for(simulator, HIDDEN, rng=rng)
    optimizer = AMGD(policy.parameters(), lr, schedule=schedule)
    curve = []
    for _ in range(updates):
        batch = reinforce.collect_episodes(policy, simulator, BATCH, rng=rng)
        curve.append(batch.returns.mean())
        gains = returns_to_go(batch.rewards, batch.lengths, DISCOUNT)
        weights = torch.tensor((gains - gains.mean()) / gains.std() / len(gains))
        optimizer.zero_grad()
        loss = -(weights * policy.log_prob(batch.observations, batch.actions)).sum()
        loss.backward()
        optimizer.step()
    return np.array(curve)
