"""Reading A: raw returns, and a mean over the steps of each episode, then over episodes.

caught by: pg-learn-check
says: are the returns standardised
"""


# %% pg-learn
def learn(schedule, lr, updates, rng):
    policy = reinforce.policy_for(simulator, HIDDEN, rng=rng)
    optimizer = AMGD(policy.parameters(), lr, schedule=schedule)
    curve = []
    for _ in range(updates + 1):
        batch = reinforce.collect_episodes(policy, simulator, BATCH, rng=rng)
        curve.append(batch.returns.mean())
        gains = returns_to_go(batch.rewards, batch.lengths, DISCOUNT)
        weights = torch.tensor(gains / np.repeat(batch.lengths, batch.lengths) / BATCH)
        optimizer.zero_grad()
        loss = -(weights * policy.log_prob(batch.observations, batch.actions)).sum()
        loss.backward()
        optimizer.step()
    return np.array(curve)
