"""Standardises each episode by itself.

caught by: pg-learn-hidden
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
        parts = np.split(gains, np.cumsum(batch.lengths)[:-1])
        advantages = np.concatenate([(part - part.mean()) / (part.std() + 1e-8) for part in parts])
        weights = torch.tensor(advantages / len(gains))
        optimizer.zero_grad()
        loss = -(weights * policy.log_prob(batch.observations, batch.actions)).sum()
        loss.backward()
        optimizer.step()
    return np.array(curve)
