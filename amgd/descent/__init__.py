"""Accelerated Markov gradient descent: problems, step sizes, algorithms.

The step rules keep their module name (``steps.sgd``), because ``sgd`` is also an algorithm.
"""

from amgd.descent import problems, steps

__all__ = ["problems", "steps"]
