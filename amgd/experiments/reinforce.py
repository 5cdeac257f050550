r"""Figures 2 and 3: REINFORCE with several optimizers on one task.

A variant is an optimizer, with the rate that all share, a rate of its own, or the best of a grid.
The grid of a variant "tuned..." is tried in runs of their own, numbered from 1000, and wins by the
largest area under the return.

In classic control the runs of a task advance together; a robot trains alone.
A run gives the same bits either way, and after any number of interruptions.

Plan of the module: the variants, the specification, its runs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from amgd import _checks as check
from amgd._checks import Count, Natural, arguments
from amgd.descent.steps import SCHEDULES
from amgd.errors import Diverged
from amgd.experiments.checkpoints import Checkpoints
from amgd.experiments.experiment import (
    FIRST_TUNING_RUN,
    Columns,
    Experiment,
    Outcome,
    Quantity,
    build,
    check_rates,
    check_variants,
    default_fields,
    plain_fields,
)
from amgd.reinforce.environments import check_environment
from amgd.reinforce.simulators import make_simulator, possible_returns
from amgd.reinforce.training import Trainer, TrainingLog, TrainingSpec, join_states, split_state

__all__ = ["TUNED", "ReinforceSpec", "optimizer_of", "variants"]

# --- the variants ---------------------------------------------------------------------------------
TUNED = {"tuned": "plain", "tuned_accelerated": "ghadimi_lan"}
"""Two tuned variants have names of their own; those of the others are tuned_OPTIMIZER."""
_OTHERS = {
    "matched": "SGD with matched steps",
    "momentum": "SGD with Nesterov momentum 0.9",
    "adam": "Adam",
}
_RATES = 'pass for example {"tuned": (0.1, 0.3)}'


def variants() -> tuple[str, ...]:
    """Return all variants: the schedules of `amgd.descent.steps`, others, and all of them tuned.

    Examples
    --------
    >>> variants()[:5]
    ('plain', 'theorem1', 'ghadimi_lan', 'nesterov', 'matched')
    """
    plain = tuple("plain" if name == "sgd" else name for name in (*SCHEDULES, *_OTHERS))
    tuned = (f"tuned_{name}" for name in plain if name not in TUNED.values())
    return (*plain, *TUNED, *tuned)


def _known(name: str, variant: Any) -> str:
    return check.choice(name, variant, variants())


Variant = Annotated[str, _known]


@arguments
def optimizer_of(variant: Variant) -> str:
    """Return the optimizer of a variant, as `TrainingSpec.optimizer` has it.

    Examples
    --------
    >>> [optimizer_of(variant) for variant in ("plain", "tuned_accelerated", "tuned_adam")]
    ['sgd', 'ghadimi_lan', 'adam']
    """
    name = TUNED.get(variant, variant.removeprefix("tuned_"))
    return "sgd" if name == "plain" else name


# --- the specification ----------------------------------------------------------------------------
# Chosen by variants and seeds, or without effect on the result.
_NOT_SPECIFIED = ("optimizer", "runs", "threads")


@dataclass(frozen=True, kw_only=True)
class ReinforceSpec(Experiment):
    """One panel of Figure 2 or 3: REINFORCE with several optimizers on one task.

    Parameters
    ----------
    training : TrainingSpec
        What all variants share. Each variant chooses the optimizer and perhaps its rate, and a run
        its number, so these are left out.
    variants : tuple of str
        Which of `variants` to run: "plain" is SGD, "theorem1", "ghadimi_lan", "nesterov",
        "matched", "momentum" and "adam" are those of `TrainingSpec.optimizer`.
        "tuned" is SGD, "tuned_accelerated" is "ghadimi_lan" and "tuned_adam" is Adam, each with the
        rate of its grid that has the largest area under the return on the tuning runs.
    rates : mapping of str to tuple of float
        By variant: its grid if it is tuned, otherwise one rate of its own in the place of
        ``training.lr``. All grids have the same size.
    seeds, tuning_seeds : int
        Runs that are reported, numbered from 0, and runs for tuning, numbered from 1000.
    threshold : float, optional
        Return that counts as solved.

    Raises
    ------
    ValueError, TypeError
        If a field has the wrong type or range, a tuned variant has no grid, or the grids differ in
        size.

    Examples
    --------
    >>> from amgd.experiments.named import named
    >>> spec = named("figure2-cartpole")
    >>> spec.seeds, spec.training.batch, spec.training_for("matched", (3,)).optimizer
    (10, 25, 'matched')
    """

    kind: ClassVar[str] = "reinforce"
    column: ClassVar[str] = "evaluation_return"
    counter: ClassVar[str] = "updates $k$"
    quantities: ClassVar[Mapping[str, Quantity]] = {
        "evaluation_return": Quantity("return", "larger"),
        "return": Quantity("return of the training batch", "larger"),
        "distance": Quantity("distance from the start", least=0.0),
        "gradient_norm": Quantity("norm of the gradient estimate", log=True, least=0.0),
    }

    training: Annotated[TrainingSpec, check.instance, TrainingSpec, "make one with TrainingSpec()"]
    variants: Annotated[tuple[str, ...], check_variants, variants] = (
        "plain",
        "theorem1",
        "ghadimi_lan",
        "nesterov",
        "matched",
    )
    rates: Annotated[Mapping[str, tuple[float, ...]], check.instance, Mapping, _RATES] = field(
        default_factory=dict, hash=False
    )
    seeds: Annotated[int, check.integer, 2, "it counts runs"] = 10
    tuning_seeds: Annotated[int, check.integer, 1, "it counts runs"] = 5
    threshold: Annotated[float | None, check.real, "195 is CartPole's"] = None

    def __post_init__(self) -> None:
        """Check every field; keep sequences as tuples."""
        check.fields(self)
        self._check_training()
        object.__setattr__(self, "rates", self._checked_rates())
        if self.seeds > FIRST_TUNING_RUN:
            raise ValueError(
                f"seeds must be at most {FIRST_TUNING_RUN}: got {self.seeds}; runs from there on "
                "are for tuning"
            )

    def _check_training(self) -> None:
        plain = TrainingSpec(environment=self.training.environment, hidden=(1,), iterations=0)
        for name in ("optimizer", "runs"):
            got, left_out = getattr(self.training, name), getattr(plain, name)
            if got != left_out:
                raise ValueError(
                    f"training must leave {name} to the variants and seeds: got {got!r} "
                    f"(expected the default {left_out!r}); list variants or seeds instead"
                )
        if self.training.evaluation == "none":
            raise ValueError(
                "training must evaluate its policies: got evaluation='none' (expected 'separate' "
                "or 'next_batch'); the curves of the paper are evaluations"
            )
        for option, value in self.training.options.items():
            if not _is_plain(value):
                raise TypeError(
                    f"the option {option!r} of the environment must be a bool, an integer, a "
                    f"finite number, a string or a list of these: got {value!r}; a specification "
                    "is written to a file"
                )

    def _checked_rates(self) -> dict[str, tuple[float, ...]]:
        rates = {}
        for variant, values in self.rates.items():
            check.choice("a key of rates", variant, variants())
            rates[variant] = check_rates(f"rates[{variant!r}]", values)
            if len(rates[variant]) != 1 and not variant.startswith("tuned"):
                raise ValueError(
                    f"rates[{variant!r}] must hold one rate: got {rates[variant]} (expected one, "
                    "as only tuned variants have a grid); choose one, or run the tuned variant"
                )
        grids = {v: len(rates.get(v, ())) for v in self.variants if v.startswith("tuned")}
        empty = [variant for variant, size in grids.items() if size == 0]
        if empty:
            raise ValueError(
                f"nothing to tune: rates has no grid for {empty[0]!r} (expected one); list rates "
                f"or drop {empty[0]!r} from variants"
            )
        if len(set(grids.values())) > 1:
            raise ValueError(
                f"the grids differ in size: got {grids} (expected as many rates for each); a fair "
                "comparison tries as often for all"
            )
        return rates

    @property
    def task(self) -> str:
        """The name of the environment."""
        return self.training.environment

    @property
    def rows(self) -> int:
        """Rows of a curve: the policies after 0, ..., K updates."""
        return self.training.iterations + 1

    @property
    def size(self) -> str:
        """How much it is, in words."""
        t = self.training
        return f"REINFORCE on {t.environment}, {t.iterations} updates of {t.batch} episodes"

    @property
    def environment(self) -> str:
        """The environment whose code the runs depend on."""
        return self.training.environment

    @arguments
    def words(self, variant: str, *, tex: bool = True) -> str:
        """Return the name of a variant."""
        if variant == "tuned_accelerated":
            return "tuned AMGD"
        name = optimizer_of(variant)
        if name in SCHEDULES:
            text = SCHEDULES[name].label if tex else SCHEDULES[name].text
        else:
            text = _OTHERS[name]
        return f"tuned {text}" if variant.startswith("tuned") else text

    @arguments
    def quantity(self, column: str) -> Quantity:
        """Return what a column means; returns have the range that the task allows."""
        found = super().quantity(column)
        # An option may choose other rewards.
        if column in ("evaluation_return", "return") and not self.training.options:
            least, most = possible_returns(self.training.environment, self.training.horizon)
            return found._replace(least=least, most=most)
        return found

    @arguments
    def grid(self, variant: str) -> tuple[float, ...]:
        """Return the rates that a tuned variant tries, none for the others."""
        return self.rates[variant] if variant.startswith("tuned") else ()

    @arguments
    def training_for(
        self, variant: Variant, runs: tuple[int, ...], rate: float | None = None
    ) -> TrainingSpec:
        """Return the training of some runs of a variant, a tuned one with the step `rate`."""
        if (rate is None) == variant.startswith("tuned"):
            raise ValueError(
                f"rate belongs to tuned variants, and they need one: got {rate} for {variant!r}"
            )
        if rate is None:
            (rate,) = self.rates.get(variant, (self.training.lr,))
        optimizer: Any = optimizer_of(variant)
        return replace(self.training, runs=runs, lr=rate, optimizer=optimizer)

    @arguments
    def identity(self, variant: str, rate: float | None = None) -> dict[str, Any]:
        """Return all that decides the bits of a run of a variant besides its seed."""
        training = self.training_for(variant, (0,), rate)
        without = {"runs", "threads"}
        if training.optimizer != "matched":
            without.add("matched_to")
        return {"kind": self.kind, "training": plain_fields(training, tuple(without))}

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain data, the training as a table."""
        training = {"training": plain_fields(self.training, _NOT_SPECIFIED)}
        return {"kind": self.kind} | training | plain_fields(self, ("training",))

    @classmethod
    @arguments
    def from_plain(cls, data: Mapping[str, Any]) -> Self:
        """Return the experiment that plain data describe; the training is a table."""
        training = data.get("training")
        if not isinstance(training, dict):
            raise ValueError(
                f"a REINFORCE specification needs a table [training]: got {training!r} "
                "(expected the fields of TrainingSpec); give at least environment, hidden and "
                "iterations"
            )
        made = build(TrainingSpec, training, "[training]", _NOT_SPECIFIED)
        return super().from_plain({**data, "training": made})

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the defaults of the fields, those of the training in a table."""
        return super().defaults() | {"training": default_fields(TrainingSpec)}

    @arguments
    def widened(self, others: Sequence[Experiment]) -> Experiment:
        """Return it with the variants, their rates and the seeds of the others too."""
        rates = dict(self.rates)
        for other in others:
            rates = {**getattr(other, "rates", {}), **rates}
        return super(ReinforceSpec, replace(self, rates=rates)).widened(others)

    def check(self) -> None:
        """Refuse an environment whose runs cannot be repeated, and warn of the unusual."""
        for remark in check_environment(self.environment, **self.training.options):
            warnings.warn(remark, stacklevel=2)

    # --- its runs ---------------------------------------------------------------------------------
    @arguments
    def groups(
        self, seeds: Sequence[int], done: Mapping[int, int], workers: Count
    ) -> list[tuple[int, ...]]:
        """Cut seeds into groups that can run together: equally far, and one by one for a robot."""
        simulator = make_simulator(self.training.environment, **self.training.options)
        if not simulator.batches_runs:
            return super().groups(seeds, done, workers)
        parts = []
        for group in _equally_far({seed: done.get(seed, 0) for seed in seeds}):
            parts += np.array_split(group, min(workers, len(group)))
        return [tuple(int(seed) for seed in part) for part in parts]

    @arguments
    def run(
        self,
        variant: str,
        seeds: Sequence[Natural],
        rate: float | None,
        checkpoints: Checkpoints,
    ) -> Iterator[Outcome]:
        """Train some runs of a variant from their checkpoints on, those equally far together."""
        states = {seed: checkpoints.load(seed) for seed in seeds}
        far = {seed: 0 if state is None else state["k"] for seed, state in states.items()}
        for group in _equally_far(far):
            trainer = Trainer(self.training_for(variant, group, rate))
            found = [state for seed in group if (state := states[seed]) is not None]
            if found:
                trainer.load_state_dict(join_states(found))
            try:
                while not trainer.done:
                    trainer.advance()
                    if not trainer.done:
                        checkpoints.offer(group, trainer.k, partial(_states, trainer))
            except Diverged as error:
                lost = f"at iteration {error.k}: {error.what}"
                yield _outcome(error.recorded, group.index(error.run), lost)
                others = [seed for seed in group if seed != error.run]
                if others:  # a run does not depend on its company: they go on from checkpoints
                    yield from self.run(variant, others, rate, checkpoints)
                continue
            yield from (_outcome(trainer.log, i) for i in range(len(group)))

    @arguments
    def rerun(
        self, variant: str, seeds: Sequence[Natural], rate: float | None, rows: int
    ) -> dict[int, Columns]:
        """Train anew for some rows, one run at a time."""
        return {seed: self._first_rows(variant, seed, rate, rows) for seed in seeds}

    def _first_rows(self, variant: str, seed: int, rate: float | None, rows: int) -> Columns:
        trainer = Trainer(self.training_for(variant, (seed,), rate))
        try:
            while trainer.k < rows and not trainer.done:
                trainer.advance()
        except Diverged as error:
            return _columns(error.recorded, 0)
        return _columns(trainer.log, 0)


def _states(trainer: Trainer) -> list[dict[str, Any]]:
    return list(split_state(trainer.state_dict()))


def _is_plain(value: Any) -> bool:
    """Whether TOML gives back the same value."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def _equally_far(rows: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Cut seeds into groups with the same number of rows."""
    by_k: dict[int, list[int]] = {}
    for seed, k in rows.items():
        by_k.setdefault(k, []).append(seed)
    return [tuple(seeds) for seeds in by_k.values()]


def _outcome(log: TrainingLog, i: int, diverged: str | None = None) -> Outcome:
    seconds = float(log.seconds["total"].sum()) / len(log.runs)
    return Outcome(log.runs[i], _columns(log, i), seconds, diverged)


def _columns(log: TrainingLog, i: int) -> Columns:
    """Return what is recorded of the i-th run of a log."""
    return {"k": np.arange(len(log)), **{name: rows[i] for name, rows in log.columns.items()}}
