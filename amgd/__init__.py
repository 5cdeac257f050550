"""Accelerated Markov gradient descent: exact chains, algorithms, bounds and reinforcement learning."""

__version__ = "0.1.0"
