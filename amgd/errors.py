"""Errors that arrive whole from a worker process: diverged runs, faults of environments."""

from __future__ import annotations

from typing import Any

__all__ = ["Diverged", "EnvironmentFault"]


class Diverged(FloatingPointError):
    """A number of a run became infinite, NaN, or larger than the run's limit.

    It can be pickled, so that it arrives whole from a worker process.

    Parameters
    ----------
    message : str
        What happened, where, what was expected and what helps.
    k : int
        The step, episode or iteration in which it was seen.
    run : int
        The replicate or seed concerned; the first, if there are several.
    what : str
        What happened in a few words, such as "a parameter is not finite".
    recorded : object
        What was recorded before: a `Trajectory`, a `TDRun`, a `TrainingLog`; None if nothing was.

    Examples
    --------
    >>> import copy
    >>> error = Diverged("y is not finite at k = 3", 3, 0, "y is not finite", None)
    >>> again = copy.copy(error)  # from what `pickle` would send
    >>> str(again), again.k, again.what
    ('y is not finite at k = 3', 3, 'y is not finite')
    """

    def __init__(self, message: str, k: int, run: int, what: str, recorded: Any = None) -> None:
        super().__init__(message, k, run, what, recorded)  # what pickle calls the class with
        self.k, self.run, self.what, self.recorded = k, run, what, recorded

    def __str__(self) -> str:
        return str(self.args[0])


class EnvironmentFault(ValueError):
    """An environment raised an error, broke Gymnasium's rules, or cannot be used here.

    The message names the environment, what is wrong, and the file and line where its code failed.
    """
