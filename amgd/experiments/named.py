r"""The named experiments: the panels of the paper's figures, in three sizes and two readings.

The paper leaves open much of what its experiments need (``book/protocol.md``).
REINFORCE is run in two readings, which differ in what nobody can read off the paper:

- ``L``, of the library that the paper names: advantages normalised over all steps of the batch, a
  loss that is the mean over all steps, deviations that are parameters of their own;
- ``A``, of two authors' later code: raw advantages, a mean over episodes of means over steps,
  deviations made by a network.

Plan of the module: presets and readings, the panels, names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from amgd import _checks as check
from amgd.experiments.experiment import Experiment
from amgd.experiments.gridworld import FIGURE1, METHODS, GridWorldSpec

if TYPE_CHECKING:  # torch takes a second to import, and the grid world does without it
    from amgd.experiments.reinforce import ReinforceSpec

__all__ = ["EXPERIMENTS", "PRESETS", "READINGS", "matching", "named", "reading_of"]

# --- presets --------------------------------------------------------------------------------------
PRESETS = ("smoke", "book", "paper")


def _grid_world(preset: str, panel: GridWorldSpec) -> GridWorldSpec:
    if preset == "smoke":
        grids: dict[str, Any] = {"rates": (0.01, 0.1), "scales": (0.3,), "deltas": (0.03, 0.1, 0.3)}
        return replace(panel, n=4, episodes=40, seeds=3, tuning_seeds=2, variants=METHODS, **grids)
    # Both sizes take seconds, so the book runs what the paper ran.
    return replace(panel, variants=METHODS)


READINGS: Mapping[str, Mapping[str, Any]] = {
    "L": {"advantages": "normalised", "loss": "step_mean", "std": "free"},
    "A": {"advantages": "raw", "loss": "episode_mean", "std": "network"},
}
"""What the readings of REINFORCE differ in, as fields of `TrainingSpec`."""
_UNTUNED = ("plain", "theorem1", "ghadimi_lan", "nesterov", "matched")
_Grids = Mapping[str, tuple[float, ...]]


def _classic_control(
    preset: str, panel: Mapping[str, Any], reading: str, grids: _Grids, tuned_alone: bool = False
) -> ReinforceSpec:
    """Return a panel of Figure 2; the paper's batch is 25 and its evaluation 50 episodes.

    The variants at the paper's rate start from one policy, as the paper says. Where methods are
    tuned alone, each of 20 runs has a start of its own: a rate should not suit one policy.
    """
    paper, rates = {**panel, **READINGS[reading]}, dict(grids)
    book, threshold = paper.pop("book"), paper.pop("threshold")
    sizes: dict[str, Any] = {"variants": tuple(rates) if tuned_alone else (*_UNTUNED, *rates)}
    paper["initial"] = "own" if tuned_alone else "shared"
    sizes["seeds"] = 20 if tuned_alone else 10
    if preset == "smoke":
        paper |= {"iterations": 4, "batch": 3, "evaluation_episodes": 6, "horizon": 40}
        sizes |= {"seeds": 3, "tuning_seeds": 2}
        rates = {variant: grid[:2] for variant, grid in rates.items()}
    elif preset == "book":
        paper |= book
        sizes |= {"seeds": 10, "tuning_seeds": 3}
        rates = {variant: grid[2:4] for variant, grid in rates.items()}
    return _reinforce(paper, rates=rates, threshold=threshold, **sizes)


def _robot(
    preset: str, panel: Mapping[str, Any], reading: str, grids: _Grids | None = None, **change: Any
) -> ReinforceSpec:
    """Return a panel of Figure 3; the paper's batch is 100 episodes of 1000 steps."""
    paper = {"batch": 100, "baseline": "linear", "evaluation": "next_batch", "initial": "shared"}
    paper |= {**panel, **READINGS[reading], **change}
    variants = ("plain", "theorem1", "ghadimi_lan", "matched")
    rates = dict(grids or {})
    seeds = 10
    if preset == "smoke":
        paper |= {"iterations": 3, "batch": 3, "horizon": 30}
        rates = {variant: grid[:2] for variant, grid in rates.items()}
        seeds = 2
    elif preset == "book":
        paper |= {"iterations": 6, "batch": 10, "horizon": 500}
        seeds = 3
    return _reinforce(paper, variants=tuple(rates) or variants, rates=rates, seeds=seeds)


def _reinforce(training: dict[str, Any], **choices: Any) -> ReinforceSpec:
    from amgd.experiments.reinforce import ReinforceSpec
    from amgd.reinforce.training import TrainingSpec

    return ReinforceSpec(training=TrainingSpec(**training), **choices)


# --- the panels -----------------------------------------------------------------------------------
CARTPOLE = {
    "environment": "CartPole-v0",
    "hidden": (8,),
    "iterations": 200,
    "lr": 0.1,
    "threshold": 195.0,
    "book": {"iterations": 30, "batch": 25, "evaluation_episodes": 25},
}
ACROBOT = {
    "environment": "Acrobot-v1",
    "hidden": (16,),
    "iterations": 100,
    "lr": 0.1,
    # From about half of all initial policies, that of seed 0 among them, no episode reaches the
    # goal and nothing is learned; seed 1 gives one from which learning can be seen.
    "seed": 1,
    "threshold": -100.0,
    "book": {"iterations": 10, "batch": 10, "evaluation_episodes": 10},
}
SWIMMER = {"environment": "Swimmer-v5", "hidden": (32, 32), "iterations": 50, "lr": 0.01}
WALKER = {"environment": "Walker2d-v5", "hidden": (32, 32), "iterations": 50, "lr": 0.05}
CHEETAH = {"environment": "HalfCheetah-v5", "hidden": (32, 32), "iterations": 50, "lr": 0.05}
ANT = {"environment": "Ant-v5", "hidden": (128, 64, 32), "iterations": 50, "lr": 0.01}

_RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def _grid(least: float, number: int = 7) -> tuple[float, ...]:
    """Return rates in half decades."""
    first = _RATES.index(least)
    return _RATES[first : first + number]


# Each method has as many tries, around where it is best.
CARTPOLE_GRIDS = {
    "tuned": _grid(0.1),
    "tuned_accelerated": _grid(0.01),
    "tuned_matched": _grid(0.01),
    "tuned_momentum": _grid(0.01),
    "tuned_adam": _grid(0.001),
}
ACROBOT_GRIDS = {
    "tuned": _grid(0.03),
    "tuned_accelerated": _grid(0.003),
    "tuned_matched": _grid(0.003),
    "tuned_momentum": _grid(0.003),
    "tuned_adam": _grid(0.001),
}
# From own starts three winners lay at the upper edge: as many rates, further up.
ACROBOT_WIDE_GRIDS = {
    "tuned": _grid(1.0),
    "tuned_accelerated": _grid(0.1),
    "tuned_matched": _grid(0.1),
    "tuned_momentum": _grid(0.1),
    "tuned_adam": _grid(0.003),
}
SWIMMER_GRIDS = {
    "tuned": _grid(0.01, 5),
    "tuned_accelerated": _grid(0.001, 5),
    "tuned_matched": _grid(0.001, 5),
    "tuned_adam": _grid(0.001, 5),
}

EXPERIMENTS: Mapping[str, Callable[[str], Experiment]] = {
    "figure1-grid10": lambda preset: _grid_world(preset, FIGURE1[0]),
    "figure1-grid50": lambda preset: _grid_world(preset, FIGURE1[1]),
    "figure2-cartpole": lambda preset: _classic_control(
        preset,
        CARTPOLE,
        "A",
        {"tuned": _grid(0.01, 6), "tuned_accelerated": _grid(0.001, 6)},
    ),
    "figure2-acrobot": lambda preset: _classic_control(
        preset,
        ACROBOT,
        "A",
        {"tuned": _grid(0.003, 6), "tuned_accelerated": _grid(0.0003, 6)},
    ),
    "figure3-swimmer": lambda preset: _robot(preset, SWIMMER, "A"),
    "figure3-walker2d": lambda preset: _robot(preset, WALKER, "A"),
    # Twice as long as the others: a longer look, at the collapse of the long steps.
    "figure3-halfcheetah": lambda preset: _robot(preset, CHEETAH | {"iterations": 100}, "A"),
    "figure3-ant": lambda preset: _robot(preset, ANT, "A"),
    "figure2-cartpole-L": lambda preset: _classic_control(preset, CARTPOLE, "L", {}),
    "figure2-acrobot-L": lambda preset: _classic_control(preset, ACROBOT, "L", {}),
    "figure2-cartpole-L-tuned": lambda preset: _classic_control(
        preset, CARTPOLE, "L", CARTPOLE_GRIDS, tuned_alone=True
    ),
    "figure2-acrobot-L-tuned": lambda preset: _classic_control(
        preset, ACROBOT, "L", ACROBOT_GRIDS, tuned_alone=True
    ),
    "figure2-acrobot-L-wide-tuned": lambda preset: _classic_control(
        preset, ACROBOT, "L", ACROBOT_WIDE_GRIDS, tuned_alone=True
    ),
    "figure3-swimmer-L": lambda preset: _robot(preset, SWIMMER, "L"),
    "figure3-halfcheetah-L": lambda preset: _robot(preset, CHEETAH, "L"),
    "figure3-walker2d-L": lambda preset: _robot(preset, WALKER, "L"),
    # The paper's formula has a network for the deviation; the library's default has none.
    "figure3-walker2d-L-network": lambda preset: _robot(preset, WALKER, "L", std="network"),
    "figure3-ant-L": lambda preset: _robot(preset, ANT, "L"),
    "figure3-swimmer-L-tuned": lambda preset: _robot(preset, SWIMMER, "L", SWIMMER_GRIDS),
}
"""The panels of the paper's figures, each a function of its preset.

Those of reading L have it in their name."""
Name = Annotated[str, check.choice, EXPERIMENTS]
Preset = Annotated[str, check.choice, PRESETS]


@check.arguments
def named(name: Name, preset: Preset = "paper") -> Any:
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
    return EXPERIMENTS[name](preset)


@check.arguments
def matching(name: str, reading: str | None = None) -> list[str]:
    """Return the experiments that a name stands for: itself, or the panels of a figure.

    Parameters
    ----------
    name : str
        Of an experiment, of a figure ("figure2"), or of a figure in one reading ("figure2-L").
    reading : {"L", "A"}, optional
        Only the panels in this reading; Figure 1 has neither.

    Examples
    --------
    >>> matching("figure1"), matching("figure3-ant"), matching("figure2", "A")
    (['figure1-grid10', 'figure1-grid50'], ['figure3-ant'], ['figure2-cartpole', 'figure2-acrobot'])
    >>> matching("figure2-A") == matching("figure2", "A")
    True
    """
    found = [known for known in EXPERIMENTS if name in _names_of(known)]
    if not found:
        raise ValueError(
            f"no experiment {name!r}: got a name that is not listed (expected a figure such as "
            f"'figure1', or one of {list(EXPERIMENTS)}); `amgd list` shows them"
        )
    if reading is None:
        return found
    check.choice("reading", reading, tuple(READINGS))
    return [known for known in found if reading_of(known) == reading]


def _names_of(known: str) -> tuple[str, ...]:
    """Return the names that stand for an experiment."""
    figure, reading = known.split("-")[0], reading_of(known)
    return (known, figure) if reading is None else (known, figure, f"{figure}-{reading}")


@check.arguments
def reading_of(name: str) -> str | None:
    """Return the reading of a named experiment, None for Figure 1.

    Examples
    --------
    >>> [reading_of(name) for name in ("figure1-grid10", "figure3-ant", "figure3-ant-L")]
    [None, 'A', 'L']
    """
    if name.startswith("figure1"):
        return None
    return "L" if "L" in name.split("-") else "A"
