"""Accelerated Markov gradient descent: exact chains, algorithms, bounds, experiments."""

import gymnasium

__version__ = "0.1.0"

# An entry point is a string: NumPy and Gymnasium are all that this line imports.
# The limit keeps a plain loop finite; the paper's is `max_episode_steps=10 * n`.
if "amgd/GridWorld-v0" not in gymnasium.registry:
    gymnasium.register(
        id="amgd/GridWorld-v0",
        entry_point="amgd.td.gridworld:GridWorldEnv",
        max_episode_steps=1000,
    )
