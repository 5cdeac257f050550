"""Runs SGD whatever the schedule.

caught by: pg-learn-check
says: the same for two schedules
"""


# %% pg-learn
def learn(schedule, lr, updates, rng):
    policy = reinforce.policy_for(simulator, HIDDEN, rng=rng)
    optimizer = AMGD(policy.parameters(), lr, schedule="sgd")
    curve = []
    for _ in range(updates + 1):
        batch = reinforce.collect_episodes(policy, simulator, BATCH, rng=rng)
        curve.append(batch.returns.mean())
        gains = returns_to_go(batch.rewards, batch.lengths, DISCOUNT)
        weights = torch.tensor((gains - gains.mean()) / gains.std() / len(gains))
        optimizer.zero_grad()
        loss = -(weights * policy.log_prob(batch.observations, batch.actions)).sum()
        loss.backward()
        optimizer.step()
    return np.array(curve)
