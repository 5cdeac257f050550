"""Accelerated Markov gradient descent: problems, step sizes, algorithms.

The step rules are reached as ``steps.sgd``, ``steps.theorem1`` and so on, the problems as
``problems.Quadratic``: ``sgd`` by itself is the algorithm.
"""

from amgd.descent import bounds, exact, problems, steps
from amgd.descent.algorithms import (
    Trajectory,
    amgd_convex,
    amgd_nonconvex,
    random_output,
    sgd,
)
from amgd.descent.problems import Problem
from amgd.descent.steps import StepSizes, check_steps
from amgd.errors import Diverged

__all__ = [
    "Diverged",
    "Problem",
    "StepSizes",
    "Trajectory",
    "amgd_convex",
    "amgd_nonconvex",
    "bounds",
    "check_steps",
    "exact",
    "problems",
    "random_output",
    "sgd",
    "steps",
]
