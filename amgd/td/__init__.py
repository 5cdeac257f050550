"""Temporal differences: exact grids, Fourier features, TD(0) and its accelerated variant.

- `amgd.td.gridworld`: the paper's grid, exactly, and the Gymnasium environment of it;
- `amgd.td.features`: the Fourier basis on its cells;
- `amgd.td.evaluation`: A, b, theta*, the NEU, and TD(0) as a problem of the theorems;
- `amgd.td.learning`: TD(0) and TD(0)-Acc for many seeds at once, and their exact expectation;
- `amgd.td.traces`: TD(lambda), its accelerated form and LSTD(lambda) along one path, and the exact
  expectation over all paths.
"""

from amgd.errors import Diverged
from amgd.td.evaluation import TDDescent, TDProblem, product_basis_spectrum
from amgd.td.features import fourier_features
from amgd.td.gridworld import GridWorld, GridWorldEnv
from amgd.td.learning import (
    ExpectedRun,
    TDRun,
    decaying,
    expected_run,
    neu_area,
    td0,
    td0_accelerated,
)
from amgd.td.traces import (
    ExpectedTrace,
    TraceRun,
    expected_trace,
    kappa_trace,
    lstd,
    td_trace,
    trace_system,
)

__all__ = [
    "Diverged",
    "ExpectedRun",
    "ExpectedTrace",
    "GridWorld",
    "GridWorldEnv",
    "TDDescent",
    "TDProblem",
    "TDRun",
    "TraceRun",
    "decaying",
    "expected_run",
    "expected_trace",
    "fourier_features",
    "kappa_trace",
    "lstd",
    "neu_area",
    "product_basis_spectrum",
    "td0",
    "td0_accelerated",
    "td_trace",
    "trace_system",
]
