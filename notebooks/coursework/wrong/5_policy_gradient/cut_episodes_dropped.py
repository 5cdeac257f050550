"""Drops the episodes that the horizon cuts short.

caught by: pg-episodes-check
says: some episodes are missing
"""


# %% pg-episodes
def all_episodes(theta, move, reward, horizon):
    policy = np.exp(theta - np.max(theta, axis=1, keepdims=True))
    policy /= policy.sum(axis=1, keepdims=True)
    done, running = [], [(1.0, [0], [])]
    while running:
        chance, states, actions = running.pop()
        s = states[-1]
        for a in range(policy.shape[1]):
            taken = chance * policy[s, a]
            over = move[s][a][-1]
            if taken * over > 0:
                done.append((taken * over, states, [*actions, a]))
            if len(states) < horizon:
                for after, p in enumerate(move[s][a][:-1]):
                    if taken * p > 0:
                        running.append((taken * p, [*states, after], [*actions, a]))
    lengths = np.array([len(states) for _, states, _ in done])
    all_states = np.concatenate([states for _, states, _ in done])
    all_actions = np.concatenate([actions for *_, actions in done])
    paid = np.asarray(reward, float)[all_states, all_actions]
    return np.array([p for p, *_ in done]), all_states, all_actions, paid, lengths
