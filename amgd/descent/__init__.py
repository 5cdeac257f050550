"""Accelerated Markov gradient descent: problems, step sizes, algorithms."""

from amgd.descent.problems import *  # noqa: F403
