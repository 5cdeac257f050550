r"""REINFORCE, plain and accelerated: one loop for every reading of the experiment.

An iteration draws a batch of whole episodes from the policy with parameters :math:`y_k`, turns it
into an estimate :math:`G_k` of minus the policy gradient (see `amgd.reinforce.gradient`), and lets
an optimizer step to :math:`y_{k+1}`. `TrainingSpec` holds every choice; `train` runs it.

**Rows.** A log has rows k = 0, ..., K. Row k describes the policy after k updates: the batch
drawn from it, its gradient, its distance from the start, its evaluation. So all numbers of a row
belong to the same parameters, and K updates take K + 1 batches.

**Randomness.** The stream of a batch is the child of one `SeedSequence` with the key
(run, purpose, k), that of a part of an evaluation has the key (run, purpose, k, part); the initial
policy has the key (run, purpose), or (purpose,) if all runs share it. So two specs that differ in
the optimizer start from the same policy and meet the same noise in every iteration, whatever the
evaluation draws, and a stopped run goes on without any state of a generator.

**Several runs.** In classic control a step costs about the same for 25 episodes and for 750. So
the batches of all runs, and the fresh episodes of their evaluations, advance together, with the
policies stacked. Each policy of a stack is computed in the same way whatever the others are: a run
gives the same bits alone and in company, and for any number of threads.

Plan of the module: the spec, the log, the loop, states run by run.
"""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import torch
from torch import nn

from amgd import _checks as check
from amgd._checks import FloatArray
from amgd.descent.steps import SCHEDULES, from_name, matched
from amgd.errors import Diverged
from amgd.optim import AMGD
from amgd.reinforce.baselines import LinearBaseline
from amgd.reinforce.environments import check_environment
from amgd.reinforce.episodes import Episodes, collect_episodes
from amgd.reinforce.gradient import (
    Advantages,
    Loss,
    policy_gradient,
    returns_to_go,
    standardise,
    step_weights,
)
from amgd.reinforce.policies import Generators, Policy, policy_for
from amgd.reinforce.simulators import Simulator, make_simulator

__all__ = [
    "TORCH_OPTIMIZERS",
    "Trainer",
    "TrainingLog",
    "TrainingResult",
    "TrainingSpec",
    "join_states",
    "split_state",
    "train",
]

OptimizerFactory = Callable[..., torch.optim.Optimizer]
TORCH_OPTIMIZERS: dict[str, OptimizerFactory] = {
    "momentum": partial(torch.optim.SGD, momentum=0.9, nesterov=True),
    "adam": torch.optim.Adam,
}
"""Optimizers of PyTorch that have a name in a specification, beside the schedules of `AMGD`."""
_DTYPES = {"float32": torch.float32, "float64": torch.float64}

# Purposes of random streams, the second entry of their keys.
INITIAL, TRAIN, EVALUATE = 0, 1, 2


# --- the spec -------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class TrainingSpec:
    """Everything that decides the result of a training run.

    Attributes
    ----------
    environment : str
        Gymnasium's name, as `make_simulator` takes it.
    hidden : tuple of int
        Units of the hidden layers.
    iterations : int
        Number K of updates; 0 only evaluates the initial policy.
    batch : int
        Episodes in a batch.
    lr : float
        The step beta of `AMGD`, the ``lr`` of any other optimizer.
    optimizer : str or callable
        A name of `amgd.descent.steps.SCHEDULES` is that schedule of `AMGD`. ``"matched"`` is SGD
        with the steps of `amgd.descent.steps.matched`. ``"momentum"`` and ``"adam"`` are PyTorch's:
        SGD with Nesterov momentum 0.9, and Adam. A callable is called as
        ``optimizer(parameters, lr=lr)``; `functools.partial` adds options.
    matched_to : str
        The schedule to which ``"matched"`` is matched; no other optimizer reads it.
    momentum : float, optional
        Constant momentum for ``"nesterov"`` (and what is matched to it) instead of
        (k - 1) / (k + 2).
    discount : float
        Of the returns to go, in [0, 1].
    loss, advantages
        As in `step_weights` and `standardise`.
    weigh_by_time : bool
        Whether step t of an episode has the factor discount^t.
    baseline : "none" or "linear"
        What is subtracted from the returns; `LinearBaseline`, fitted to the batch before.
    time_limit : "terminal" or "bootstrap"
        Whether nothing follows the last step of a truncated episode (rllab), or what the baseline
        predicts. An episode that ends in the very step of the limit has nothing after it.
    horizon : int, optional
        Steps after which an episode is cut; default is the registered limit.
    iterate : "y", "x" or "x_bar"
        Where the policy is evaluated; batches are always drawn at y.
    evaluation : "separate", "next_batch" or "none"
        Fresh episodes, as in the paper, or the batch of the same row, which costs nothing and is a
        sample of the iterate y. Actions are drawn as in training.
    evaluation_episodes : int
        Number of fresh episodes. A multiple of `batch` lets classic control do both in one go.
    std, floor
        Of a Gaussian policy, see `GaussianPolicy`.
    normalise_observations : float, optional
        The networks see observations less their mean, over their deviation, cut to so many
        deviations (10 is usual). Mean and deviation are those of the training batches of the rows
        before, whatever an evaluation sees: in row 0 the mean is 0 and the deviation 1, and
        update k takes in the batch of row k - 1. They belong to the policy and are saved with it.
        The baseline sees observations as they are.
    initial : "own" or "shared"
        Whether each run draws its initial policy, or all start from one, as in the paper.
    dtype : "float64" or "float32"
        Type of the parameters.
    seed : int
        Root of all randomness.
    runs : tuple of int, or int
        Numbers of the runs; an int n stands for 0, ..., n - 1.
    options : dict
        Options of the environment, such as ``{"use_contact_forces": True}`` for Ant-v4.
    threads : int
        Threads of a robot's physics; the result does not depend on it.

    Raises
    ------
    TypeError, ValueError
        For a value out of its range, and for choices that do not fit together.

    Notes
    -----
    The defaults read the paper's section 5.2 for CartPole: SGD or AMGD and not Adam, no baseline,
    raw advantages, a mean over episodes of means over steps, the iterate y.

    Examples
    --------
    >>> TrainingSpec(environment="CartPole-v0", hidden=(8,), iterations=100, runs=3).runs
    (0, 1, 2)
    >>> TrainingSpec(environment="CartPole-v0", hidden=(8,), iterations=100, batch=0)
    Traceback (most recent call last):
        ...
    ValueError: batch must be at least 1: got 0; it counts episodes
    """

    environment: Annotated[str, check.instance, str, "pass a name such as 'CartPole-v0'"]
    hidden: Annotated[tuple[int, ...], _integers, 1, "pass units such as (8,)"]
    iterations: Annotated[int, check.integer, 0, "it counts updates"]
    batch: Annotated[int, check.integer, 1, "it counts episodes"] = 25
    lr: Annotated[float, check.positive, "0.1 is the paper's for CartPole"] = 0.1
    optimizer: str | OptimizerFactory = "theorem1"
    matched_to: Annotated[str, check.choice, SCHEDULES] = "ghadimi_lan"
    momentum: Annotated[float | None, check.real, "0.9 is usual", "[0, 1)"] = None
    discount: Annotated[float, check.real, "0.99 is usual", "[0, 1]"] = 0.99
    loss: Loss = "episode_mean"
    advantages: Advantages = "raw"
    weigh_by_time: Annotated[bool, check.boolean, "see its text"] = False
    baseline: Literal["none", "linear"] = "none"
    time_limit: Literal["terminal", "bootstrap"] = "terminal"
    horizon: Annotated[int | None, check.integer, 1, "it counts steps"] = None
    iterate: Literal["y", "x", "x_bar"] = "y"
    evaluation: Literal["separate", "next_batch", "none"] = "separate"
    evaluation_episodes: Annotated[int, check.integer, 1, "evaluation='none' switches it off"] = 50
    std: Literal["network", "free"] = "network"
    floor: Annotated[float, check.real, "1e-6 is rllab's", "(0, 1]"] = 1e-6
    normalise_observations: Annotated[float | None, check.positive, "try 10"] = None
    initial: Literal["own", "shared"] = "own"
    dtype: Literal["float64", "float32"] = "float64"
    seed: Annotated[int, check.integer, 0, "any natural number will do"] = 0
    runs: Annotated[tuple[int, ...] | int, _run_numbers] = (0,)
    options: Annotated[dict[str, Any], check.instance, dict, "or leave it out"] = field(
        default_factory=dict, hash=False
    )
    threads: Annotated[int, check.integer, 1, "two cores take two threads"] = 1

    def __post_init__(self) -> None:
        check.fields(self)
        object.__setattr__(self, "options", dict(self.options))
        if not callable(self.optimizer):
            check.choice("optimizer", self.optimizer, (*SCHEDULES, "matched", *TORCH_OPTIMIZERS))
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.time_limit == "bootstrap" and self.baseline == "none":
            raise ValueError(
                "time_limit='bootstrap' needs a baseline to predict what follows: got "
                "baseline='none'; set baseline='linear', or time_limit='terminal'"
            )
        if self.evaluation == "next_batch" and self.iterate != "y":
            raise ValueError(
                f"evaluation='next_batch' sees the iterate y alone: got iterate={self.iterate!r}; "
                "set evaluation='separate'"
            )
        followed: Any = self.matched_to if self.optimizer == "matched" else self.optimizer
        if self.momentum is not None:
            from_name(followed, 1.0, self.momentum)  # refuses what has no constant momentum

    @check.arguments
    def stream(self, *key: check.Natural) -> np.random.Generator:
        """Return the generator with this key, such as (run, purpose, k)."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    @check.arguments
    def make_optimizer(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """Return the optimizer of one run."""
        chosen = self.optimizer
        if chosen == "matched":
            steps = matched(from_name(self.matched_to, 1.0, self.momentum))
            return AMGD(parameters, self.lr, schedule=steps)
        if isinstance(chosen, str) and chosen in SCHEDULES:
            return AMGD(parameters, self.lr, schedule=chosen, momentum=self.momentum)
        factory = TORCH_OPTIMIZERS[chosen] if isinstance(chosen, str) else chosen
        made = factory(parameters, lr=self.lr)
        if not isinstance(made, torch.optim.Optimizer) or isinstance(made, torch.optim.LBFGS):
            raise TypeError(
                "optimizer must make a torch.optim.Optimizer that steps without a closure: "
                f"got {type(made).__name__}; pass a class such as torch.optim.Adam"
            )
        return made


# The fields that list their values.
def _integers(name: str, values: Any, least: int, cure: str) -> tuple[int, ...]:
    if not isinstance(values, list | tuple):
        raise TypeError(f"{name} must be a tuple of integers: got {values!r}; {cure}")
    return tuple(check.integer(f"an entry of {name}", value, least, cure) for value in values)


def _how_many(runs: Any) -> int:
    number = check.count("runs", runs, "pass how many, or their numbers")
    check.room("runs", number, 1000, cure="take fewer at a time")  # numbers of a policy, at least
    return number


def _run_numbers(name: str, runs: Any) -> tuple[int, ...]:
    if not isinstance(runs, list | tuple):
        return tuple(range(_how_many(runs)))
    numbers = _integers(name, runs, 0, "pass how many, or their numbers")
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(
            f"runs must be different numbers, at least one: got {numbers}; equal ones would be "
            "the same run twice"
        )
    return numbers


# --- the log --------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class TrainingLog:
    """What was measured, one row for each policy.

    Attributes
    ----------
    runs : tuple of int
        Numbers of the S runs.
    columns : dict of str to array (S, rows)
        ``return`` (mean undiscounted return of the batch), ``length`` (mean, steps),
        ``terminated`` (share of episodes that the task ended), ``distance`` (from theta_0),
        ``gradient_norm``, ``entropy`` (nats), for Gaussian policies ``std``, and unless the
        evaluation is off ``evaluation_return`` and ``evaluation_length``. The same spec gives the
        same bits on the same machine. Look at ``std`` when a robot stops learning: many times the
        bounds of its actions it means that the actions are bounds drawn at random, and that the
        mean hardly matters. All numbers stay finite then, so the training goes on.
    seconds : dict of str to array (rows,)
        Wall-clock time of all runs together: ``physics``, ``policy`` (choosing actions),
        ``weights`` (returns, baseline), ``update`` (gradient and step), ``evaluation`` (its physics
        and policy), and ``total``, which has the bookkeeping too. Time in one go with others is
        split by steps.
    """

    runs: tuple[int, ...]
    columns: dict[str, FloatArray]
    seconds: dict[str, FloatArray]

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self.columns:
            raise KeyError(f"no column {name!r}: the log has {', '.join(self.columns)}")
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.seconds["total"])


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A finished training.

    Attributes
    ----------
    spec : TrainingSpec
        What was run.
    log : TrainingLog
        Rows k = 0, ..., K.
    policies : list of Policy
        The policy of each run after K updates, with the iterate y.
    """

    spec: TrainingSpec
    log: TrainingLog
    policies: list[Policy]


# --- the loop -------------------------------------------------------------------------------------
class Trainer:
    """A training that can be taken row by row, saved, and continued.

    Parameters
    ----------
    spec : TrainingSpec
        What to run.
    simulator : Simulator, optional
        Used in place of ``make_simulator(spec.environment)``, for a task of one's own; its name
        must be the spec's. Left out, an environment without a fast simulator goes through
        `check_environment`, once a process.

    Attributes
    ----------
    k : int
        Number of rows made so far.
    done : bool
        Whether all K + 1 rows are there.
    policies : list of Policy
        The present policy of each run; in classic control a stack of one.

    Examples
    --------
    >>> trainer = Trainer(TrainingSpec(environment="CartPole-v0", hidden=(8,), iterations=2))
    >>> trainer.advance()
    >>> trainer.k, trainer.done
    (1, False)
    """

    @check.arguments
    def __init__(self, spec: TrainingSpec, *, simulator: Simulator | None = None) -> None:
        self.spec = spec
        if simulator is None:
            simulator = make_simulator(spec.environment, threads=spec.threads, **spec.options)
            _check_once(simulator, spec.options)
        self.simulator = simulator
        if simulator.name != spec.environment:
            raise ValueError(
                f"simulator must be one of {spec.environment}, as the spec says: got "
                f"{simulator.name}; change one of them"
            )
        self.runs: tuple[int, ...] = _run_numbers("runs", spec.runs)
        self.k = 0
        keys = [(run, INITIAL) if spec.initial == "own" else (INITIAL,) for run in self.runs]
        # Where policies get stacked, each is a stack of one: only then the arithmetic is the same.
        streams = [spec.stream(*key) for key in keys]
        self.policies = [self._policy([one] if simulator.batches_runs else one) for one in streams]
        self._stacks: dict[int, Policy] = {}  # by their number of policies
        self._start = [_flat(policy) for policy in self.policies]
        self._optimizers = [spec.make_optimizer(list(p.parameters())) for p in self.policies]
        if spec.iterate != "y" and not all(isinstance(o, AMGD) for o in self._optimizers):
            raise ValueError(
                f"iterate={spec.iterate!r} needs the optimizer AMGD, which keeps it: got "
                f"{type(self._optimizers[0]).__name__}; set iterate='y'"
            )
        self._baselines = [LinearBaseline() for _ in self.runs] if spec.baseline != "none" else []
        self._columns: dict[str, list[list[float]]] = {}
        self._seconds: dict[str, list[float]] = {}

    @property
    def done(self) -> bool:
        """Whether all rows are there."""
        return self.k > self.spec.iterations

    @property
    def log(self) -> TrainingLog:
        """The rows so far."""
        columns = {name: np.array(rows).T for name, rows in self._columns.items()}
        seconds = {name: np.array(rows) for name, rows in self._seconds.items()}
        return TrainingLog(self.runs, columns, seconds or {"total": np.zeros(0)})

    def advance(self) -> None:
        """Make row k: draw a batch, estimate the gradient, evaluate; then update, unless k = K.

        Raises
        ------
        Diverged
            When a number is not finite.
        RuntimeError
            When all rows are there.
        """
        if self.done:
            raise RuntimeError(f"all {self.k} rows are there: look at the attribute log")
        with _one_thread():
            self._advance()

    def _advance(self) -> None:
        spec, clock = self.spec, _Stopwatch()
        trials = self._trials()
        episodes = self._collect(trials)
        batches = episodes[: len(self.runs)]
        fresh = episodes[len(self.runs) :]
        clock.lap("collect")
        weights = [self._weights(s, batch) for s, batch in enumerate(batches)]
        clock.lap("weights")
        passes = zip(self.policies, batches, weights, strict=True)
        statistics = [policy_gradient(*arguments) for arguments in passes]
        for run, one in zip(self.runs, statistics, strict=True):
            self._require_finite(run, one.loss, "the loss")
            self._require_finite(run, one.norm, "the gradient")
        row = {
            **_summary([[batch] for batch in batches]),
            "distance": self._distances(),
            "gradient_norm": [one.norm for one in statistics],
            "entropy": [one.entropy for one in statistics],
        }
        if self.policies[0].action_kind == "continuous":
            row["std"] = [one.std for one in statistics]
        if spec.evaluation != "none":
            # The parts of a run stand together; those of next_batch are the batch itself.
            parts = len(fresh) // len(self.runs)
            own = [fresh[s * parts : (s + 1) * parts] or [batches[s]] for s in range(len(batches))]
            summary = _summary(own)
            row.update({f"evaluation_{name}": summary[name] for name in ("return", "length")})
        final = self.k == spec.iterations
        if not final:
            for policy, optimizer, batch in zip(
                self.policies, self._optimizers, batches, strict=True
            ):
                optimizer.step()
                if policy.normaliser is not None:
                    policy.normaliser.update(batch.observations)
        clock.lap("update")

        seconds = {
            "physics": sum(batch.seconds_physics for batch in batches),
            "policy": sum(batch.seconds_policy for batch in batches),
            "weights": clock.seconds["weights"],
            "update": clock.seconds["update"],
            "evaluation": sum(part.seconds_physics + part.seconds_policy for part in fresh),
            "total": sum(clock.seconds.values()),
        }
        for name, values in row.items():
            self._columns.setdefault(name, []).append(values)
        for phase, value in seconds.items():
            self._seconds.setdefault(phase, []).append(value)
        self.k += 1
        if not final:
            for run, distance in zip(self.runs, self._distances(), strict=True):
                self._require_finite(run, distance, "a parameter")

    def _trials(self) -> list[_Trial]:
        """Return what row k draws: the batch of each run, then the parts of each evaluation."""
        spec, k = self.spec, self.k
        pairs = list(zip(self.runs, self.policies, strict=True))
        trials = [_Trial(policy, spec.batch, (run, TRAIN, k)) for run, policy in pairs]
        if spec.evaluation == "separate":
            parts, left = divmod(spec.evaluation_episodes, spec.batch)
            if left:
                parts = 1
            n = spec.evaluation_episodes // parts
            for (run, policy), optimizer in zip(pairs, self._optimizers, strict=True):
                evaluated = policy
                if isinstance(optimizer, AMGD) and spec.iterate != "y":
                    with optimizer.at(spec.iterate):
                        evaluated = copy.deepcopy(policy)
                trials += [_Trial(evaluated, n, (run, EVALUATE, k, part)) for part in range(parts)]
        return trials

    def _collect(self, trials: list[_Trial]) -> list[Episodes]:
        """Return the episodes of each trial."""
        if self.simulator.batches_runs:
            try:
                return self._collect_together(trials)
            except FloatingPointError:
                pass  # Alone, each trial does what it did in the stack: find out which has failed.
        results = []
        for trial in trials:
            try:
                results.append(self._run(trial.policy, trial.n, [trial.key]))
            except FloatingPointError as error:
                raise self._diverged(trial.key[0], f"an episode ({error})") from error
        return results

    def _collect_together(self, trials: list[_Trial]) -> list[Episodes]:
        """Do the same with one stack of policies for all trials of equally many episodes."""
        found: dict[int, Episodes] = {}
        for n in {trial.n: None for trial in trials}:
            members = [i for i, trial in enumerate(trials) if trial.n == n]
            stack = self._stack([trials[i].policy for i in members])
            episodes = self._run(stack, n, [trials[i].key for i in members])
            for position, i in enumerate(members):
                one = episodes.replicate(position)
                share = one.n_steps / episodes.n_steps
                found[i] = replace(
                    one,
                    seconds_physics=share * episodes.seconds_physics,
                    seconds_policy=share * episodes.seconds_policy,
                )
        return [found[i] for i in range(len(trials))]

    def _run(self, policy: Policy, n: int, keys: list[tuple[int, ...]]) -> Episodes:
        streams = [self.spec.stream(*key) for key in keys]
        rng = streams[0] if policy.replicates is None else streams
        return collect_episodes(policy, self.simulator, n, horizon=self.spec.horizon, rng=rng)

    def _weights(self, s: int, batch: Episodes) -> FloatArray:
        """Return the weight of each step of one run's batch, and refit the run's baseline."""
        spec = self.spec
        baseline = self._baselines[s] if self._baselines else None
        values, final_values = np.zeros(batch.n_steps), None
        if baseline is not None:
            values = baseline.predict(batch.observations, batch.time)
            if spec.time_limit == "bootstrap":
                after = baseline.predict(batch.final_observations, batch.lengths)
                final_values = np.where(batch.truncated, after, 0.0)
        returns = returns_to_go(batch.rewards, batch.lengths, spec.discount, final_values)
        self._require_finite(self.runs[s], np.abs(returns).max(), "a return to go")
        if baseline is not None:
            try:
                baseline.fit(batch.observations, batch.time, returns)
            except FloatingPointError as error:
                raise self._diverged(self.runs[s], f"the baseline ({error})") from error
        advantages = standardise(returns - values, spec.advantages)
        discount = spec.discount if spec.weigh_by_time else None
        return step_weights(advantages, batch.lengths, spec.loss, discount)

    def _distances(self) -> list[float]:
        pairs = zip(self.policies, self._start, strict=True)
        return [float((_flat(policy) - start).norm()) for policy, start in pairs]

    def _require_finite(self, run: int, value: float, quantity: str) -> None:
        if not np.isfinite(value):
            raise self._diverged(run, quantity)

    def _diverged(self, run: int, quantity: str) -> Diverged:
        spec, log, what = self.spec, self.log, f"{quantity} is not finite"
        return Diverged(
            f"training stopped at iteration {self.k}, seed {spec.seed}, run {run}: {what} "
            f"(got lr {spec.lr:g}; expected finite numbers throughout); lower lr, or look at the "
            f"rewards; the {len(log)} rows so far are in the attribute recorded",
            self.k,
            run,
            what,
            log,
        )

    def _policy(self, rng: Generators) -> Policy:
        spec = self.spec
        return policy_for(
            self.simulator,
            spec.hidden,
            rng=rng,
            std=spec.std,
            floor=spec.floor,
            dtype=_DTYPES[spec.dtype],
            normalise_observations=spec.normalise_observations,
        )

    def _stack(self, policies: list[Policy]) -> Policy:
        """Return a stack with copies of these policies; one of the same size is used again."""
        n = len(policies)
        if n not in self._stacks:
            self._stacks[n] = self._policy([np.random.default_rng(0)] * n)  # weights replaced
        numbers = map(_numbers, policies)
        for stacked, *slices in zip(_numbers(self._stacks[n]), *numbers, strict=True):
            stacked.data.copy_(torch.cat([p.data for p in slices]))
        return self._stacks[n]

    def result(self) -> TrainingResult:
        """Return the log and the policies, as single ones that act on their own."""
        single = [self._policy(np.random.default_rng(0)) for _ in self.runs]  # weights replaced
        for target, source in zip(single, self.policies, strict=True):
            for p, q in zip(_numbers(target), _numbers(source), strict=True):
                p.data.copy_(q.data.reshape(p.shape))
        return TrainingResult(self.spec, self.log, single)

    def state_dict(self) -> dict[str, Any]:
        """Return all that the rest of the training depends on, as plain data and tensors.

        `torch.save` writes it, and `torch.load` reads it with ``weights_only=True``. All entries
        but k are lists with one item for each run, which has an even share of the seconds.
        """
        fitted = [baseline.coefficients for baseline in self._baselines]
        n = len(self.runs)
        shares = {phase: [value / n for value in rows] for phase, rows in self._seconds.items()}
        return copy.deepcopy(
            {
                "k": self.k,
                "runs": list(self.runs),
                "specs": [_told(self.spec)] * n,
                "policies": [dict(policy.state_dict()) for policy in self.policies],
                "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
                "baselines": [None if w is None else torch.from_numpy(w) for w in fitted],
                "columns": [
                    {name: [row[s] for row in rows] for name, rows in self._columns.items()}
                    for s in range(n)
                ],
                "seconds": [shares] * n,
            }
        )

    @check.arguments
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from `state_dict` of a trainer with the same spec, bit for bit.

        Raises
        ------
        ValueError
            When the state belongs to other runs or another spec, with the fields that differ; the
            trainer is then unchanged. The number of threads may differ, and that of iterations
            if the saved training has not come to its end.
        """
        _check_state(state)
        if tuple(state["runs"]) != self.runs or len(state["baselines"]) != len(self._baselines):
            raise ValueError(
                f"the state must be one of runs {self.runs} with {len(self._baselines)} baselines: "
                f"got runs {tuple(state['runs'])} with {len(state['baselines'])}; load it into a "
                "trainer with the spec that it was saved from"
            )
        ours = _told(self.spec)
        for told in state.get("specs", []):  # older states have none, or lack a field
            theirs = {f.name: repr(f.default) for f in fields(self.spec)} | told
            differing = [name for name in ours if theirs.get(name) != ours[name]]
            if state["k"] <= min(int(theirs["iterations"]), self.spec.iterations):
                differing = [name for name in differing if name != "iterations"]
            if differing:
                listed = ", ".join(f"{n}={theirs.get(n)} (here {ours[n]})" for n in differing)
                raise ValueError(
                    f"the state must be one of the same spec: it was saved with {listed}; load it "
                    "into a trainer with the spec that it was saved from"
                )
        state = copy.deepcopy(state)
        for policy, saved in zip(self.policies, state["policies"], strict=True):
            policy.load_state_dict(saved)
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        for baseline, saved in zip(self._baselines, state["baselines"], strict=True):
            baseline.coefficients = None if saved is None else saved.numpy()
        self.k, columns, seconds = state["k"], state["columns"], state["seconds"]
        self._columns = {
            name: [list(row) for row in zip(*(one[name] for one in columns), strict=True)]
            for name in columns[0]
        }
        self._seconds = {
            phase: [sum(row) for row in zip(*(one[phase] for one in seconds), strict=True)]
            for phase in seconds[0]
        }


@check.arguments
def train(spec: TrainingSpec, *, simulator: Simulator | None = None) -> TrainingResult:
    """Run REINFORCE as the spec says.

    Parameters
    ----------
    spec, simulator
        As for `Trainer`, which does the work.

    Returns
    -------
    TrainingResult

    Raises
    ------
    Diverged
        When a number is not finite; the rows so far are kept in its attribute ``recorded``.

    Notes
    -----
    Torch runs on one thread meanwhile, and gets its number of threads back. No global random
    state is read or changed.

    Examples
    --------
    >>> spec = TrainingSpec(
    ...     environment="CartPole-v0", hidden=(8,), iterations=3, optimizer="sgd", runs=2
    ... )
    >>> result = train(spec)
    >>> result.log["evaluation_return"].shape  # runs, rows 0..3
    (2, 4)
    >>> bool((result.log["return"] == result.log["length"]).all())  # CartPole pays 1 a step
    True
    """
    trainer = Trainer(spec, simulator=simulator)
    while not trainer.done:
        trainer.advance()
    return trainer.result()


# --- states, run by run ---------------------------------------------------------------------------
@check.arguments
def split_state(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the state of each run, as a trainer with this run alone saves it.

    Parameters
    ----------
    state : dict
        From `Trainer.state_dict`.

    Returns
    -------
    list of dict
        In the order of the runs; equal to the last bit, the seconds aside, since a run does not
        depend on its company.

    Examples
    --------
    >>> spec = TrainingSpec(environment="CartPole-v0", hidden=(8,), iterations=1, runs=3)
    >>> states = split_state(Trainer(spec).state_dict())
    >>> [state["runs"] for state in states], join_states(states[1:])["runs"]
    ([[0], [1], [2]], [1, 2])
    """
    _check_state(state)
    lists = {name: items for name, items in state.items() if name != "k"}
    return [
        {"k": state["k"]} | {name: items[i : i + 1] for name, items in lists.items()}
        for i in range(len(state["runs"]))
    ]


@check.arguments
def join_states(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the state of a trainer that has all these runs: `split_state` undone.

    Parameters
    ----------
    states : sequence of dict
        At least one, equally far.

    Raises
    ------
    ValueError
        If there is none, or some are further than others.
    """
    for state in states:
        _check_state(state)
    if len(rows := {state["k"] for state in states}) != 1:
        raise ValueError(
            f"states must be equally far, at least one: got {len(states)} with "
            f"{sorted(rows)} rows; join those with equally many"
        )
    shared = [name for name in states[0] if all(name in state for state in states) and name != "k"]
    lists = {name: [state[name] for state in states] for name in shared}
    return {"k": states[0]["k"]} | {name: list(chain(*parts)) for name, parts in lists.items()}


def _check_state(state: dict[str, Any]) -> None:
    missing = {"k", "runs", "policies", "optimizers", "baselines", "columns", "seconds"} - set(
        state
    )
    if missing:
        raise ValueError(
            f"the state must be one of a trainer: got one without {missing}; save it with "
            "Trainer.state_dict"
        )


# --- small parts ----------------------------------------------------------------------------------
class _Trial(NamedTuple):
    """Episodes to be drawn: n of a policy, with the key of their stream."""

    policy: Policy
    n: int
    key: tuple[int, ...]


_checked: set[str] = set()  # environments, in this process


def _check_once(simulator: Simulator, options: dict[str, Any]) -> None:
    """Refuse an environment whose runs could not be repeated."""
    key = f"{simulator.name} {options}"
    if simulator.foreign and key not in _checked:
        check_environment(simulator.name, **options)
        _checked.add(key)


def _told(spec: TrainingSpec) -> dict[str, str]:
    """Return the fields that decide a run, as text; a function is told by its name."""
    return {
        f.name: re.sub(" at 0x[0-9a-fA-F]+", "", repr(getattr(spec, f.name)))
        for f in fields(spec)
        if f.name not in ("runs", "threads")
    }


def _numbers(policy: Policy) -> Iterator[torch.Tensor]:
    return chain(policy.parameters(), policy.buffers())


def _flat(policy: Policy) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in policy.parameters()])


def _summary(batches: list[list[Episodes]]) -> dict[str, list[float]]:
    """Return means over the episodes of each run, which come in one or more parts."""

    def means(of: Callable[[Episodes], Any]) -> list[float]:
        return [float(np.concatenate([of(part) for part in parts]).mean()) for parts in batches]

    return {
        "return": means(lambda part: part.returns),
        "length": means(lambda part: part.lengths),
        "terminated": means(lambda part: part.terminated),
    }


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch run on one thread: the order of its sums, and the last bits, depend on it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Stopwatch:
    """Adds the time since the last call to the named phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now
