"""The named experiments: the panels of the paper's figures, in three sizes.

Plan of the module: presets, the panels, names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amgd import _checks as check
from amgd.experiments.experiment import Experiment
from amgd.experiments.gridworld import FIGURE1, METHODS, GridWorldSpec

if TYPE_CHECKING:  # torch takes a second to import, and the grid world does without it
    from amgd.experiments.reinforce import ReinforceSpec

__all__ = ["EXPERIMENTS", "PRESETS", "matching", "named"]

# --- presets --------------------------------------------------------------------------------------
PRESETS = ("smoke", "book", "paper")


def _grid_world(preset: str, panel: GridWorldSpec) -> GridWorldSpec:
    if preset == "smoke":
        grids: dict[str, Any] = {"rates": (0.01, 0.1), "scales": (0.3,), "deltas": (0.03, 0.1, 0.3)}
        return replace(panel, n=4, episodes=40, seeds=3, tuning_seeds=2, variants=METHODS, **grids)
    # Both sizes take seconds, so the book runs what the paper ran.
    return replace(panel, variants=METHODS)


def _classic_control(preset: str, book: dict[str, int], **paper: Any) -> ReinforceSpec:
    """Return a panel of Figure 2; the paper's batch is 25 and its evaluation 50 episodes."""
    rates, threshold = paper.pop("rates"), paper.pop("threshold")
    variants = ("plain", "theorem1", "ghadimi_lan", "nesterov", "matched", *rates)
    sizes: dict[str, Any] = {"variants": variants, "threshold": threshold}
    if preset == "smoke":
        paper |= {"iterations": 4, "batch": 3, "evaluation_episodes": 6, "horizon": 40}
        sizes |= {"seeds": 3, "tuning_seeds": 2}
        rates = {variant: grid[:2] for variant, grid in rates.items()}
    elif preset == "book":
        paper |= book
        sizes |= {"tuning_seeds": 3}
        rates = {variant: grid[2:4] for variant, grid in rates.items()}
    return _reinforce(paper, rates=rates, **sizes)


def _robot(preset: str, **paper: Any) -> ReinforceSpec:
    """Return a panel of Figure 3; the paper's batch is 100 episodes of 1000 steps."""
    paper |= {"batch": 100, "baseline": "linear", "evaluation": "next_batch"}
    seeds = 10
    if preset == "smoke":
        paper |= {"iterations": 3, "batch": 3, "horizon": 30}
        seeds = 2
    elif preset == "book":
        paper |= {"iterations": 6, "batch": 10, "horizon": 500}
        seeds = 3
    variants = ("plain", "theorem1", "ghadimi_lan", "matched")
    return _reinforce(paper, variants=variants, seeds=seeds)


def _reinforce(training: dict[str, Any], **choices: Any) -> ReinforceSpec:
    from amgd.experiments.reinforce import ReinforceSpec
    from amgd.reinforce.training import TrainingSpec

    return ReinforceSpec(training=TrainingSpec(initial="shared", **training), **choices)


EXPERIMENTS: Mapping[str, Callable[[str], Experiment]] = {
    "figure1-grid10": lambda preset: _grid_world(preset, FIGURE1[0]),
    "figure1-grid50": lambda preset: _grid_world(preset, FIGURE1[1]),
    "figure2-cartpole": lambda preset: _classic_control(
        preset,
        book={"iterations": 30, "batch": 25, "evaluation_episodes": 25},
        environment="CartPole-v0",
        hidden=(8,),
        iterations=200,
        lr=0.1,
        rates={
            "tuned": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
            "tuned_accelerated": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
        },
        threshold=195.0,
    ),
    "figure2-acrobot": lambda preset: _classic_control(
        preset,
        book={"iterations": 10, "batch": 10, "evaluation_episodes": 10},
        environment="Acrobot-v1",
        hidden=(16,),
        iterations=100,
        lr=0.1,
        # From about half of all initial policies, that of seed 0 among them, no episode reaches
        # the goal and nothing is learned; seed 1 gives one from which learning can be seen.
        seed=1,
        rates={
            "tuned": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
            "tuned_accelerated": (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1),
        },
        threshold=-100.0,
    ),
    "figure3-swimmer": lambda preset: _robot(
        preset, environment="Swimmer-v5", hidden=(32, 32), iterations=50, lr=0.01
    ),
    "figure3-walker2d": lambda preset: _robot(
        preset, environment="Walker2d-v5", hidden=(32, 32), iterations=50, lr=0.05
    ),
    # Twice as long as the others: here the collapse of the long steps can be seen.
    "figure3-halfcheetah": lambda preset: _robot(
        preset, environment="HalfCheetah-v5", hidden=(32, 32), iterations=100, lr=0.05
    ),
    "figure3-ant": lambda preset: _robot(
        preset, environment="Ant-v5", hidden=(128, 64, 32), iterations=50, lr=0.01
    ),
}
"""The panels of the paper's figures, each a function of its preset."""


def named(name: str, preset: str = "paper") -> Any:
    """Return the specification of a named experiment.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    preset : {"smoke", "book", "paper"}
        Seconds, at most a minute, or the paper's sizes.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> named("figure1-grid50").n, named("figure3-ant", "smoke").training.iterations
    (50, 3)
    """
    check.choice("name", name, tuple(EXPERIMENTS))
    check.choice("preset", preset, PRESETS)
    return EXPERIMENTS[name](preset)


def matching(name: str) -> list[str]:
    """Return the experiments that a name stands for: itself, or the panels of a figure.

    Examples
    --------
    >>> matching("figure1"), matching("figure3-ant")
    (['figure1-grid10', 'figure1-grid50'], ['figure3-ant'])
    """
    found = [known for known in EXPERIMENTS if name in (known, known.split("-")[0])]
    if not found:
        raise ValueError(
            f"no experiment {name!r}: got a name that is not listed (expected a figure such as "
            f"'figure1', or one of {list(EXPERIMENTS)}); `amgd list` shows them"
        )
    return found
