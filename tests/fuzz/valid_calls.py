"""One valid call of every public function, class and method: the base of `test_fuzz`.

`CALLS` maps the name without "amgd." to keywords, or to a function that makes (callable, keywords)
anew for each call, for a method whose object changes. `MADE_BY_US` lists what the package returns
and nobody makes.
"""

import functools
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

from amgd.descent import problems, steps
from amgd.descent.problems import Ball, Box, WholeSpace
from amgd.experiments.checkpoints import Checkpoints
from amgd.experiments.experiment import Tuning
from amgd.experiments.gridworld import GridWorldSpec
from amgd.experiments.gridworld import run as run_gridworld
from amgd.experiments.provenance import surroundings
from amgd.experiments.records import Record
from amgd.experiments.reinforce import ReinforceSpec
from amgd.experiments.summaries import summarise
from amgd.experiments.verdicts import Runs, compare_runs
from amgd.markov import two_state
from amgd.optim import AMGD
from amgd.reinforce import (
    GaussianPolicy,
    LinearBaseline,
    SoftmaxPolicy,
    Trainer,
    TrainingSpec,
    collect_episodes,
    make_simulator,
)
from amgd.reinforce.policies import ObservationNormaliser
from amgd.statistics import bootstrap_interval, interquartile_mean
from amgd.td import GridWorld, GridWorldEnv, TDProblem, fourier_features, td0

MADE_BY_US = {
    "descent.algorithms.Trajectory",
    "descent.steps.Named",
    "errors.Diverged",
    "experiments.gridworld.Curve.__init__",
    "experiments.gridworld.GridWorldResult",
    "experiments.gridworld.ReadingRow",
    "experiments.progress.Progress",
    "experiments.records.Curves.__init__",
    "experiments.reruns.Difference",
    "experiments.runner.Task",
    "experiments.summaries.Summary",
    "experiments.verdicts.Comparison",
    "reinforce.training.TrainingLog",
    "reinforce.training.TrainingResult",
    "statistics.Band",
    "statistics.Interval",
    "statistics.PairedComparison",
    "statistics.Verdict",
    "td.learning.ExpectedRun",
    "td.learning.TDRun",
    "td.traces.ExpectedTrace",
    "td.traces.TraceRun",
}
# Parts of the inner loops, whose callers have checked: a test would cost more than the layer.
INNER = {
    "reinforce.policies.MLP.forward",
    "reinforce.policies.MLP.evaluate",
    "reinforce.policies.ObservationNormaliser.forward",
    "reinforce.policies.ObservationNormaliser.normalised",
}
ABSTRACT = {
    "descent.problems.Domain",
    "descent.problems.Problem.__init__",
    "experiments.experiment.Experiment",
    "reinforce.policies.Policy",
    "reinforce.simulators.Simulator.__init__",
    "reinforce.simulators.Simulator.initial",
}


def rng():
    return np.random.default_rng(0)


CHAIN = two_state(0.3, 0.3)
PROBLEM = problems.huber_pair(1.0, 1.0)
MATRIX = [[2.0, 0.0], [0.0, 1.0]]
NOISE = [[1.0, 0.0], [-1.0, 0.0]]
QUADRATIC = problems.Quadratic(MATRIX, noise=NOISE, domain=Ball(3.0))
WHOLE = problems.Quadratic(MATRIX, noise=NOISE)
CLIPPED = problems.Huber([[1.0, 0.0], [-1.0, 0.0]], curvature=1.0, clip=1.0)
LAW = [0.5, 0.5]
POINT = np.array([0.5, 0.25])
NONCONVEX, CONVEX = steps.theorem1(0.1), steps.theorem2(1.0, 1.0)
GRID = GridWorld(3)
FEATURES = fourier_features(3)
TD = TDProblem.from_gridworld(GRID, FEATURES, law="episode", length=4)
SYMMETRIC = TDProblem(CHAIN.transition, [1.0, 0.0], [[1.0], [0.5]], 0.9)
STATES = TD.sample_episodes(3, rng=rng(), replicates=2)
TD_RUN = td0(TD, STATES, 0.1)
SIMULATOR = make_simulator("CartPole-v0")
ROBOT = make_simulator("Swimmer-v5")
SOFTMAX = SoftmaxPolicy((4, 2), rng=rng())
GAUSSIAN = GaussianPolicy((3, 2), rng=rng())
EPISODES = collect_episodes(SOFTMAX, SIMULATOR, 2, horizon=3, rng=rng())
STACKED = collect_episodes(
    SoftmaxPolicy((4, 2), rng=[rng(), rng()]), SIMULATOR, 2, horizon=3, rng=[rng(), rng()]
)
SPEC = GridWorldSpec(
    n=2, episodes=2, record=1, rates=(0.1,), scales=(0.1,), deltas=(0.1, 0.2), seeds=2,
    tuning_seeds=1, test_episodes=1, variants=("plain", "accelerated"),
)  # fmt: skip
FOUR = replace(SPEC, variants=("plain", "accelerated", "matched", "tuned"))
TRAINING = TrainingSpec(
    environment="CartPole-v0",
    hidden=(2,),
    iterations=1,
    batch=1,
    horizon=2,
    evaluation="next_batch",
)
REINFORCE = ReinforceSpec(training=TRAINING, variants=("plain",), seeds=2)
RESULT = run_gridworld(SPEC)
PLACE = surroundings()
TASKS = {"k": [0, 1, 2], "samples": [[3.0, 2.0, 1.0], [3.0, 1.0, 0.5]]}
SAMPLES = [1.0, 2.0, 3.0, 4.0]
RUNS = Runs({seed: float(seed) for seed in range(4)}), Runs({seed: 0.5 for seed in range(4)})
COMPARED = compare_runs({"a": RUNS}, better="larger")
CONSTANTS = {"L": 2.0, "M": 1.0}
PLACES = {**CONSTANTS, "r0": 1.0, "B": 1.0, "sigma": 0.5, "ell": 0.5}
STARTED = {"initial_gap": 1.0}
COLUMNS = {"episode": np.array([0, 1, 2]), "neu": np.array([1.0, 0.5, 0.25])}

_numbers = itertools.count()


def record(whole=False):
    """A small record in the working directory, as a run leaves it."""
    new = Record.create(Path(f"record{next(_numbers)}"), SPEC)
    for variant in SPEC.variants if whole else ("plain",):
        for seed in range(2 if whole else 1):
            new.add(variant, seed, COLUMNS, 0.1)
    return new


_record = []


def same_record():
    """One that no call changes."""
    if not _record:
        _record.append(record(whole=True))
    return _record[0]


class fresh:
    """An argument that is made anew for each call."""

    def __init__(self, make):
        self.make = make


def made(keywords):
    return {n: v.make() if isinstance(v, fresh) else v for n, v in keywords.items()}


def method(make, name, **keywords):
    """A call of a method of an object that is made anew for each call."""
    return lambda: (getattr(make(), name), made(keywords))


def of_record(name, **keywords):
    return method(record, name, **keywords)


def reading(name, **keywords):
    return method(same_record, name, **keywords)


def optimizer():
    weight = torch.nn.Parameter(torch.ones(2))
    made = AMGD([weight], 0.1)
    weight.grad = torch.ones(2)
    made.step()
    return made


def running(name="CartPole-v0", n=2):
    made = make_simulator(name)
    made.reset(n, rng=rng())
    return made


def environment():
    made = GridWorldEnv(3)
    made.reset(seed=0)
    return made


def checkpoints():
    Path("checkpoints").mkdir(exist_ok=True)
    made = Checkpoints(Path("checkpoints"), "plain", {"kind": "x"}, {}, seconds=0.0)
    made.load(0)
    return made


def trainer():
    return Trainer(TRAINING, simulator=SIMULATOR)


@functools.cache
def axes():
    found = Figure().subplots()
    found.plot([1, 2], label="a")
    return found


def called(function, **keywords):
    """A call whose keywords are made anew."""
    return lambda: (function, made(keywords))


RUNNING = {"problem": CLIPPED, "chain": CHAIN, "n_steps": 3, "x0": POINT, "rng": fresh(rng)}
RNG = {"rng": fresh(rng)}
OBSERVATIONS = [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]
SEEN = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]

CALLS = {
    # descent
    "descent.algorithms.amgd_convex": {**RUNNING, "steps": CONVEX, "replicates": 2, "record": None,
                                       "initial": 0},
    "descent.algorithms.amgd_nonconvex": {**RUNNING, "steps": NONCONVEX, "replicates": 2,
                                          "record": None, "initial": 0},
    "descent.algorithms.random_output": {**RUNNING, "steps": NONCONVEX, "replicates": 2,
                                         "initial": 0, "weights": "gamma", "L": 2.0},
    "descent.algorithms.sgd": {**RUNNING, "step": 0.1, "replicates": 2, "record": None,
                               "initial": 0, "average": "none"},
    "descent.bounds.constants": {"problem": QUADRATIC, "chain": CHAIN, "x0": POINT},
    "descent.bounds.corollary1": {"k": [1, 2], "M": 1.0, "chain": CHAIN},
    "descent.bounds.corollary1_printed": {"gamma": 0.5},
    "descent.bounds.lemma1": {"k": 3, "s": 1, "steps": NONCONVEX, **CONSTANTS, "chain": CHAIN},
    "descent.bounds.lemma1_printed": {"k": 3, "tau": 1, "steps": NONCONVEX, **CONSTANTS},
    "descent.bounds.lemma2_excess": {"k": 3, "steps": NONCONVEX},
    "descent.bounds.lemma_lag": {"k": 3, "s": 1, "steps": CONVEX, "M": 1.0, "B": 1.0,
                                 "sigma": 0.5, "ell": 0.5, "chain": CHAIN},
    "descent.bounds.lemma_poisson": {"k": 3, "steps": CONVEX, "M": 1.0, "B": 1.0, "sigma": 0.5,
                                     "ell": 0.5, "T": 2.0},
    "descent.bounds.proposition_a": {"k": 3, **CONSTANTS, "B": 1.0, "sigma": 0.5, "ell": 0.5,
                                     "T": 2.0},
    "descent.bounds.proposition_b": {"k": 3, "L": 2.0, "D": 1.0},
    "descent.bounds.proposition_c": {"k": 3, "mu": 1.0, **PLACES, "T": 2.0, "denominator": "k"},
    "descent.bounds.theorem1": {"K": 3, **CONSTANTS, **STARTED, "T": 2.0, "beta": 0.1,
                                "schedule": "theorem1", "weights": "gamma",
                                "nonincreasing": False},
    "descent.bounds.theorem1_lag": {"K": 3, **CONSTANTS, **STARTED, "chain": CHAIN, "beta": 0.1,
                                    "schedule": "theorem1", "weights": "gamma", "delta": None,
                                    "stationary_start": False},
    "descent.bounds.theorem1_printed": {"K": 100, **CONSTANTS, **STARTED, "C": 1.0},
    "descent.bounds.theorem1_proof_line": {"K": 100, **CONSTANTS, **STARTED, "C": 1.0},
    "descent.bounds.theorem2": {"k": 3, **PLACES, "T": 2.0, "c": 1.0},
    "descent.bounds.theorem2_lag": {"k": 3, **PLACES, "chain": CHAIN, "c": 1.0},
    "descent.bounds.theorem2_poisson": {
        "k": 3,
        **{name: value for name, value in PLACES.items() if name != "ell"},
        "q": 1.0,
        "q_lip": 1.0,
        "c": 1.0,
    },
    "descent.bounds.theorem2_printed": {"k": 3, **CONSTANTS, "f_x_bar0": 1.0, "D": 1.0},
    "descent.bounds.theorem3": {"k": 3, "mu": 1.0, **PLACES, "T": 2.0},
    "descent.bounds.theorem3_lag": {"k": 3, "mu": 1.0, **PLACES, "chain": CHAIN},
    "descent.bounds.theorem3_printed": {"k": 3, "mu": 1.0, **CONSTANTS, "f_x_bar0": 1.0,
                                        "D": 1.0},
    "descent.problems.Ball.__init__": {"radius": 1.0},
    "descent.problems.Box.__init__": {"lower": [-1.0, -1.0], "upper": [1.0, 1.0]},
    **{
        f"descent.problems.{type(domain).__name__}.{name}": called(getattr(domain, name), **given)
        for domain in (Ball(1.0), Box([-1.0, -1.0], [1.0, 1.0]), WholeSpace())
        for name, given in (
            ("project", {"x": POINT}),
            ("diameter_in", {"dim": 2}),
            ("farthest", {"point": POINT}),
            ("minimise_linear", {"slope": np.zeros(2)}),
        )
    },
    "descent.problems.Domain.contains": called(Ball(1.0).contains, x=POINT, tolerance=1e-12),
    "descent.problems.Cosines.__init__": {"cosine": [[1.0], [0.5]], "sine": [[0.0], [0.5]],
                                          "frequency": [1.0], "stationary": LAW},
    "descent.problems.Huber.__init__": {"centres": [[1.0, 0.0], [0.0, 1.0]], "curvature": 1.0,
                                        "clip": 1.0, "stationary": LAW, "domain": Ball(2.0)},
    "descent.problems.Linear.__init__": {"slopes": [[1.0, 0.0], [0.0, 1.0]], "stationary": LAW,
                                         "domain": Ball(1.0)},
    "descent.problems.Logistic.__init__": {"features": [[1.0, 0.0], [0.0, 1.0]],
                                           "labels": [1, -1], "radius": 1.0, "ridge": 0.1,
                                           "stationary": LAW},
    "descent.problems.Quadratic.__init__": {"matrix": MATRIX, "noise": [[1.0, 0.0], [-1.0, 0.0]],
                                            "stationary": LAW, "minimiser": [0.0, 0.0],
                                            "offset": 0.0, "domain": Ball(1.0)},
    "descent.problems.Sigmoid.__init__": {"features": [[1.0, 0.0], [0.0, 1.0]],
                                          "labels": [1, -1], "stationary": LAW,
                                          "domain": Ball(1.0)},
    **{
        f"descent.problems.Problem.{name}": called(getattr(QUADRATIC, name), **given)
        for name, given in (
            ("value", {"x": POINT}),
            ("gradient", {"x": POINT}),
            ("project", {"x": POINT}),
            ("sample_value", {"x": POINT, "xi": 0}),
            ("sample_gradient", {"x": POINT, "xi": 0}),
        )
    },
    "descent.problems.clipped_linear": {"slope": 0.5, "L": 1.0, "D": 2.0},
    "descent.problems.cosines": {"phases": [[0.0], [1.0]], "amplitude": 1.0, "frequency": 1.0,
                                 "stationary": LAW},
    "descent.problems.huber_cross": {"dim": 2, "L": 1.0, "M": 1.0, "ratio": 0.95},
    "descent.problems.huber_pair": {"L": 1.0, "M": 1.0},
    "descent.problems.huber_simplex": {"n": 3, "L": 1.0, "M": 1.0},
    "descent.problems.sine_counterexample": {"slopes": [1.0, -1.0], "frequency": 0.1,
                                             "stationary": LAW},
    "descent.steps.Schedule.__init__": {"name": "alpha", "rule": np.reciprocal},
    "descent.steps.StepSizes.__init__": {
        "name": "mine", "alpha": lambda k: 2.0 / (k + 1.0), "beta": lambda k: 0.1 + 0.0 * k,
        "gamma": lambda k: 0.1 + 0.0 * k, "mu": 0.0, "algorithm": "nonconvex", "conditions": (),
    },
    "descent.steps.check_steps": {"steps": NONCONVEX, "n_steps": 3, "algorithm": "nonconvex",
                                  "conditions": ("C1",), "L": 2.0},
    "descent.steps.from_name": {"name": "nesterov", "beta": 0.1, "momentum": 0.5},
    "descent.steps.ghadimi_lan": {"beta": 0.1},
    "descent.steps.matched": {"steps": NONCONVEX},
    "descent.steps.nesterov": {"beta": 0.1, "momentum": 0.5},
    "descent.steps.sgd": {"step": 0.1},
    "descent.steps.theorem1": {"beta": 0.1, "gamma": "largest"},
    "descent.steps.theorem2": {"L": 1.0, "c": 1.0},
    "descent.steps.theorem2_printed": {"L": 1.0},
    "descent.steps.theorem3": {"mu": 1.0, "L": 2.0},
    "descent.steps.theorem3_printed": {"mu": 1.0, "denominator": "k", "delta": 1.0},
    # chains
    "markov.MarkovChain.__init__": {"transition": [[0.5, 0.5], [0.2, 0.8]], "labels": "ab"},
    "markov.MarkovChain.from_counts": {"counts": [[1, 2], [3, 4]], "prior": 1.0, "labels": "ab"},
    "markov.MarkovChain.from_columns": {"transition": [[0.5, 0.2], [0.5, 0.8]], "labels": "ab"},
    "markov.MarkovChain.law": called(CHAIN.law, k=2, initial=LAW),
    "markov.MarkovChain.occupancy": called(CHAIN.occupancy, length=3, initial=LAW),
    "markov.MarkovChain.tv_distance": called(CHAIN.tv_distance, k=2),
    "markov.MarkovChain.mixing_time": called(CHAIN.mixing_time, delta=0.1),
    "markov.MarkovChain.sample": called(CHAIN.sample, length=3, **RNG, replicates=2, initial=0),
    **{
        f"descent.bounds.{name}": {
            k: 3,
            **{other: value for other, value in PLACES.items() if other != "r0"},
            "V0": 1.0,
            "T": 2.0,
            "c": 1.0,
        }
        for name, k in (("dual_averaging", "k"), ("mirror", "K"))
    },
    "descent.exact.exact_average": {
        "curvatures": [1.0, 0.5],
        "beta": [0.1, 0.2],
        "n_steps": 5,
        "theta": 0.5,
        "tail": 2,
        "correlation": 0.1,
    },
    "descent.exact.exact_convex": {
        "curvatures": [1.0, 0.5], "rules": [CONVEX], "record": [1, 3], "restarts": [[2]]
    },
    "descent.exact.exact_gap": {
        "problem": WHOLE,
        "chain": CHAIN,
        "steps": NONCONVEX,
        "n_steps": 5,
        "x0": POINT,
        "initial": 0,
        "average": "none",
        "record": [1, 3],
    },
    **{
        f"descent.exact.{name}": {"k": [1, 2], "mu": 0.5, "L": 1.0, "r0": 1.0, "sigma": 0.5}
        for name in ("lower_accelerated", "lower_sgd")
    },
    "markov.cyclic": {"n": 3},
    "markov.reshuffled": {"n": 3},
    "td.evaluation.TDProblem.check_length": called(TD.check_length, length=3),
    "td.learning.expected_run": {
        "problem": TD,
        "episodes": 3,
        "step": 0.1,
        "theta0": [0.0, 0.0, 0.0],
        "record": 1,
    },
    "td.traces.kappa_trace": {"trace": 0.5, "discount": 0.9, "low": 0.1, "high": 0.9},
    **{
        f"td.traces.{name}": {"problem": SYMMETRIC, **given}
        for name, given in (
            (
                "expected_trace",
                {
                    "n_steps": 3,
                    "step": 0.1,
                    "trace": 0.5,
                    "cut": 2,
                    "average": "none",
                    "theta0": [0.0],
                    "record": None,
                },
            ),
            ("lstd", {"states": [[0, 1, 0, 1]], "trace": 0.5, "ridge": 1e-6}),
            (
                "td_trace",
                {
                    "states": [[0, 1, 0, 1]],
                    "step": 0.1,
                    "trace": 0.5,
                    "average": "none",
                    "theta0": [0.0],
                    "record": None,
                },
            ),
            ("trace_system", {"trace": 0.5}),
        )
    },
    "markov.de_bruijn": {"bits": 2},
    "markov.iid": {"stationary": LAW},
    "markov.lazy_cycle": {"n": 3},
    "markov.sticky": {"stationary": LAW, "p": 0.5},
    "markov.two_clusters": {"n": 4, "eps": 0.1},
    "markov.two_state": {"p": 0.3, "q": 0.4},
    # statistics and figures
    "statistics.area_under_curve": {**TASKS, "rule": "trapezoid"},
    "statistics.bootstrap_interval": called(
        lambda task, **rest: bootstrap_interval(task, **rest),
        task=SAMPLES, statistic=np.mean, level=0.9, **RNG, draws=99,
    ),
    "statistics.first_passage": {**TASKS, "threshold": 1.0, "above": True},
    "statistics.holm": {"p_values": [0.1, 0.2]},
    "statistics.interquartile_mean": called(
        lambda task, axis: interquartile_mean(task, axis=axis),
        task=SAMPLES, axis=0,
    ),
    "statistics.judge": {"pairs": {"a": (SAMPLES, [2.0, 3.0, 4.0, 5.0])}, "better": "larger",
                         "quantity": "return", "alpha": 0.05, "level": 0.9, **RNG},
    "statistics.log_slope": {"k": [1, 2, 3], "values": [3.0, 2.0, 1.0]},
    "statistics.mean_band": {"samples": [SAMPLES, SAMPLES], "level": 0.9, "least": 2},
    "statistics.paired_difference": {"first": SAMPLES, "second": [2.0, 3.0, 4.0, 6.0],
                                     "level": 0.9, **RNG, "draws": 99},
    "statistics.probability_of_improvement": {"first": SAMPLES, "second": SAMPLES},
    "figures.curve": {"ax": fresh(axes), **TASKS, "label": "a", "level": 0.9, "runs": False,
                      "diverged": 0, "possible": (0.0, 10.0)},
    "figures.explorable": {"name": "a", "folder": "no such folder"},
    "figures.legend_below": {"ax": fresh(axes)},
    "figures.line_style": {"method": "sgd"},
    "figures.reference_slope": {"ax": fresh(axes), "k": [1, 2, 3], "power": -1.0,
                                "at": 1.0, "label": "a"},
    "figures.run_count": {"n": 10, "diverged": 1},
    # TD
    "td.evaluation.TDDescent.__init__": {"td": SYMMETRIC, "radius": 10.0},
    "td.evaluation.TDProblem.__init__": {
        "transition": CHAIN.transition, "reward": [1.0, 0.0], "features": [[1.0], [0.5]],
        "discount": 0.9, "law": "episode", "length": 3, "start": 0, "terminal": (),
        "arrival_reward": [0.0, 1.0],
    },
    "td.evaluation.TDProblem.from_gridworld": {"grid": GRID, "features": FEATURES,
                                               "discount": 0.9, "law": "episode", "length": 4,
                                               "goal_ends": True},
    "td.evaluation.TDProblem.neu": called(TD.neu, theta=[0.0, 0.0, 0.0]),
    "td.evaluation.TDProblem.sample_episodes": called(TD.sample_episodes, episodes=2, **RNG,
                                                      replicates=2, length=3),
    "td.evaluation.TDProblem.sampled_sums": called(TD.sampled_sums, states=STATES),
    "td.evaluation.TDProblem.neu_estimate": called(TD.neu_estimate, theta=[0.0, 0.0, 0.0],
                                                   episodes=2, **RNG, length=3),
    "td.evaluation.TDProblem.pooled_system": called(TD.pooled_system, states=STATES),
    "td.evaluation.TDProblem.as_problem": called(SYMMETRIC.as_problem, radius=10.0),
    "td.evaluation.TDProblem.check_paths": called(TD.check_paths, states=STATES),
    "td.evaluation.product_basis_spectrum": {"n": 4, "order": 2, "discount": 0.9},
    "td.features.fourier_features": {"n": 3, "kind": "order", "order": 2, "product": False,
                                     "coordinates": "midpoint"},
    "td.gridworld.GridWorld.__init__": {"n": 3, "goal": "ordinary", "reward": "step",
                                        "policy": [[0.25] * 4] * 9},
    "td.gridworld.GridWorld.value": called(GRID.value, discount=0.9),
    "td.gridworld.GridWorld.episode_occupancy": called(GRID.episode_occupancy, length=3),
    "td.gridworld.GridWorldEnv.__init__": {"n": 3, "goal": "ordinary", "reward": "step",
                                           "render_mode": "ansi"},
    "td.gridworld.GridWorldEnv.reset": method(environment, "reset", seed=0, options=None),
    "td.gridworld.GridWorldEnv.step": method(environment, "step", action=0),
    "td.learning.decaying": {"scale": 0.3},
    "td.learning.neu_area": {"problem": TD, "run": TD_RUN},
    **{
        f"td.learning.{name}": {
            "problem": TD, "states": STATES, **given, "update": "transition", "count": "episode",
            "theta0": [0.0, 0.0, 0.0], "radius": None, "record": 1, "compose": None, "limit": 1e10,
        }
        for name, given in (
            ("td0", {"step": 0.1}), ("td0_accelerated", {"steps": steps.theorem3(1.0, 2.0)})
        )
    },
    # the optimizer
    "optim.AMGD.__init__": lambda: (AMGD, {
        "params": [torch.nn.Parameter(torch.ones(2))], "lr": 0.1, "schedule": "nesterov",
        "momentum": 0.5, "maximize": False, "foreach": None, "weight_decay": 0.0,
    }),
    "optim.AMGD.add_param_group": lambda: (optimizer().add_param_group, {
        "param_group": {"params": [torch.nn.Parameter(torch.ones(2))]},
    }),
    "optim.AMGD.load_state_dict": lambda: (optimizer().load_state_dict, {
        "state_dict": optimizer().state_dict(),
    }),
    "optim.AMGD.step": method(optimizer, "step", closure=None),
    "optim.AMGD.at": method(optimizer, "at", sequence="x_bar"),
    # REINFORCE
    "reinforce.baselines.LinearBaseline.__init__": {"ridge": 1e-5, "clip": 10.0},
    **{
        f"reinforce.baselines.LinearBaseline.{name}": method(
            LinearBaseline, name, observations=SEEN, time=[0, 1], **given
        )
        for name, given in (("features", {}), ("predict", {}), ("fit", {"returns": [1.0, 2.0]}))
    },
    "reinforce.environments.check_environment": {"name": "MountainCar-v0"},
    "reinforce.episodes.Episodes.__init__": {
        name: getattr(EPISODES, name)
        for name in ("observations", "actions", "rewards", "lengths", "terminated", "truncated",
                     "final_observations", "replicates", "seconds_physics", "seconds_policy")
    },
    "reinforce.episodes.Episodes.padded": called(EPISODES.padded, values=EPISODES.rewards,
                                                 fill=0.0),
    "reinforce.episodes.Episodes.replicate": called(STACKED.replicate, s=0),
    "reinforce.episodes.collect_episodes": {"policy": SOFTMAX, "simulator": SIMULATOR, "n": 1,
                                            "horizon": 2, **RNG},
    "reinforce.gradient.policy_gradient": {"policy": SOFTMAX, "episodes": EPISODES,
                                           "weights": np.ones(EPISODES.n_steps), "rows": 8192},
    "reinforce.gradient.policy_gradient_loss": {"log_probs": torch.zeros(2),
                                                "weights": torch.ones(2)},
    "reinforce.gradient.returns_to_go": {"rewards": [1.0, 1.0, 2.0], "lengths": [2, 1],
                                         "discount": 0.9, "final_values": [0.0, 1.0]},
    "reinforce.gradient.standardise": {"advantages": [1.0, 2.0, 4.0], "how": "normalised"},
    "reinforce.gradient.step_weights": {"advantages": [1.0, 2.0, 4.0], "lengths": [2, 1],
                                        "loss": "episode_mean", "discount": 0.9},
    "reinforce.policies.MLP.__init__": {"sizes": (3, 2), **RNG, "dtype": torch.float64},
    "reinforce.policies.GaussianPolicy.__init__": {"sizes": (3, 2), "std": "network",
                                                   "floor": 1e-6, **RNG, "dtype": torch.float64,
                                                   "normalise_observations": 10.0},
    "reinforce.policies.SoftmaxPolicy.__init__": {"sizes": (3, 2), **RNG, "dtype": torch.float64,
                                                  "normalise_observations": 10.0},
    "reinforce.policies.ObservationNormaliser.__init__": {
        "size": 3, "clip": 10.0, "replicates": None, "dtype": torch.float64},
    "reinforce.policies.ObservationNormaliser.update": method(
        lambda: ObservationNormaliser(3, 10.0), "update", observations=np.ones((2, 3))),
    **{
        f"reinforce.policies.{type(policy).__name__}.{name}": called(getattr(policy, name), **given)
        for policy, seen, actions, noise in (
            (SOFTMAX, OBSERVATIONS, [0, 1], [0.5, 0.25]),
            (GAUSSIAN, SEEN, [[0.0, 0.1], [0.1, 0.2]], [[0.0, 0.1], [0.1, 0.2]]),
        )
        for name, given in (
            ("logits", {"observations": seen}),
            ("mean_std", {"observations": seen}),
            ("distribution", {"observations": seen}),
            ("log_prob", {"observations": seen, "actions": actions}),
            ("noise", {"shape": (2,), **RNG}),
            ("act", {"observations": seen, "noise": np.array(noise)}),
        )
        if hasattr(policy, name)
    },
    "reinforce.policies.policy_for": {"simulator": SIMULATOR, "hidden": (2,), **RNG,
                                      "std": "network", "floor": 1e-6, "dtype": torch.float64,
                                      "normalise_observations": 10.0},
    "reinforce.simulators.GymnasiumSimulator.__init__": {"name": "MountainCar-v0"},
    "reinforce.simulators.GymnasiumSimulator.initial": method(
        lambda: make_simulator("MountainCar-v0"), "initial", n=2, **RNG),
    "reinforce.simulators.Robot.initial": method(lambda: ROBOT, "initial", n=1, **RNG),
    "reinforce.simulators.Robot.__init__": {"name": "Ant-v4", "threads": 1,
                                            "use_contact_forces": False},
    "reinforce.simulators.Simulator.reset": method(running, "reset", n=2, **RNG),
    "reinforce.simulators.Simulator.start": method(running, "start", initial=np.zeros((2, 4))),
    "reinforce.simulators.Simulator.step": method(running, "step", actions=[0, 1]),
    "reinforce.simulators.Simulator.compact": method(running, "compact", keep=[True, False]),
    "reinforce.simulators.Simulator.set_state": lambda: (
        running().set_state, {"state": running().get_state()}),
    "reinforce.simulators.make_simulator": {"name": "CartPole-v0", "threads": 1},
    "reinforce.training.Trainer.__init__": {"spec": TRAINING, "simulator": SIMULATOR},
    "reinforce.training.Trainer.load_state_dict": lambda: (
        trainer().load_state_dict, {"state": trainer().state_dict()}),
    "reinforce.training.TrainingSpec.make_optimizer": called(
        TRAINING.make_optimizer, parameters=[torch.nn.Parameter(torch.ones(2))]),
    "reinforce.training.TrainingSpec.stream": called(
        lambda key: TRAINING.stream(key), key=1),
    "reinforce.training.TrainingSpec.__init__": {
        "environment": "CartPole-v0", "hidden": (2,), "iterations": 1, "batch": 1, "lr": 0.1,
        "optimizer": "theorem1", "matched_to": "ghadimi_lan", "momentum": None, "discount": 0.99,
        "loss": "episode_mean", "advantages": "raw", "weigh_by_time": False, "baseline": "none",
        "time_limit": "terminal", "horizon": None, "iterate": "y", "evaluation": "separate",
        "evaluation_episodes": 50, "std": "network", "floor": 1e-6, "normalise_observations": None,
        "initial": "own", "dtype": "float64", "seed": 0, "runs": (0,), "options": {}, "threads": 1,
    },
    "reinforce.training.join_states": {"states": [trainer().state_dict()]},
    "reinforce.training.split_state": {"state": trainer().state_dict()},
    "reinforce.training.train": {"spec": TRAINING, "simulator": SIMULATOR},
    # experiments
    "experiments.checkpoints.Checkpoints.__init__": {
        "folder": Path("checkpoints"), "name": "plain", "identity": {"kind": "x"}, "defaults": {},
        "environment": None, "seconds": 30.0, "changed": "refuse", "alive": None,
    },
    "experiments.checkpoints.Checkpoints.places": method(checkpoints, "places", seed=0),
    "experiments.checkpoints.Checkpoints.rows": method(checkpoints, "rows", seed=0),
    "experiments.checkpoints.Checkpoints.load": method(checkpoints, "load", seed=0),
    "experiments.checkpoints.Checkpoints.offer": method(
        checkpoints, "offer", seeds=[0], rows=1, states=lambda: [{"k": 1}]),
    "experiments.checkpoints.read_checkpoint": {"path": Path("none.pt")},
    "experiments.experiment.build": {
        "made": GridWorldSpec, "data": {"n": 2, "episodes": 3}, "where": "a test", "without": (),
    },
    "experiments.experiment.from_plain": {"data": SPEC.to_plain()},
    "experiments.experiment.from_toml": {"text": 'kind = "gridworld"\nn = 2\nepisodes = 3'},
    "experiments.experiment.plain_hash": {"data": {"a": 1}},
    "experiments.experiment.same_identity": {"recorded": {"lr": 0.1}, "wanted": {"lr": 0.2},
                                             "defaults": {}},
    "experiments.experiment.to_toml": {"experiment": SPEC},
    "experiments.experiment.told": {"different": {"lr": (0.1, 0.2)}},
    "experiments.figures.record_figure": lambda: (
        _import("amgd.experiments.figures.record_figure"),
        {"record": same_record(), "column": "neu", "variants": ("plain",), "runs": True,
         "ax": axes(), "width": 6.4},
    ),
    "experiments.gridworld.GridWorldSpec.problem": called(SPEC.problem, law="episode"),
    "experiments.gridworld.GridWorldSpec.steps": called(SPEC.steps, delta=0.1),
    **{
        f"experiments.{module}.{type(spec).__name__}.{name}": called(getattr(spec, name), **given)
        for module, spec in (("gridworld", SPEC), ("reinforce", REINFORCE))
        for name, given in (
            ("words", {"variant": "plain", "tex": True}),
            ("tunes", {"variant": "plain"}),
            ("grid", {"variant": "plain"}),
            ("quantity", {"column": "neu"}),
            ("identity", {"variant": "plain", "rate": None}),
            ("groups", {"seeds": [0, 1], "done": {}, "workers": 1}),
            ("widened", {"others": [spec]}),
            ("training_for", {"variant": "plain", "runs": (0,), "rate": None}),
            ("run", {"variant": "plain", "seeds": [0], "rate": None,
                     "checkpoints": Checkpoints(None, "plain", {}, {})}),
            ("rerun", {"variant": "plain", "seeds": [0], "rate": None, "rows": 1}),
        )
        if hasattr(spec, name)
    },
    "experiments.reinforce.ReinforceSpec.from_plain": {
        "data": {n: v for n, v in REINFORCE.to_plain().items() if n != "kind"}},
    "experiments.gridworld.GridWorldSpec.__init__": {
        "n": 3, "episodes": 10, "goal": "absorbing", "reward": "step", "features": "three",
        "coordinates": "midpoint", "discount": 0.9, "law": "episode", "mu": 1.0, "delta": 0.1,
        "denominator": "k+1", "update": "transition", "count": "episode", "rate": 0.001,
        "rates": (0.001, 0.01), "scales": (0.1,), "deltas": (0.1, 0.2, 0.3),
        "variants": ("plain", "tuned"), "record": 10, "test_episodes": 10, "seeds": 10,
        "tuning_seeds": 10, "seed": 0, "limit": 1e6,
    },
    "experiments.gridworld.compare": {"result": RESULT, "first": "plain", "second": "accelerated",
                                      "measure": "exact", "alpha": 0.05},
    "experiments.gridworld.figure1_readings": {"spec": SPEC},
    "experiments.gridworld.readings_table": {"readings": {"as above": FOUR}, "alpha": 0.05},
    "experiments.gridworld.run": {"spec": SPEC, "seeds": [0]},
    "experiments.named.matching": {"name": "figure1", "reading": None},
    "experiments.named.named": {"name": "figure1-grid10", "preset": "smoke"},
    "experiments.named.reading_of": {"name": "figure1-grid10"},
    "experiments.progress.duration": {"seconds": 3.0},
    "experiments.progress.planned_rows": {"spec": SPEC, "variants": ["plain"], "seeds": [0]},
    "experiments.progress.rows_done": lambda: (
        _import("amgd.experiments.progress.rows_done"),
        {"record": same_record(), "plan": {"plain-seed00": 3}},
    ),
    "experiments.provenance.changes": {"there": PLACE, "here": PLACE},
    "experiments.provenance.surroundings": {"environment": None},
    "experiments.records.Curves.until": lambda: (
        same_record().curves("plain", "neu").until, {"last": 2}),
    "experiments.gridworld.Curve.columns": called(RESULT["plain"].columns, seed=0),
    "experiments.records.Record.__init__": lambda: (
        Record, {"path": same_record().path, "spec": SPEC}),
    "experiments.records.Record.create": lambda: (
        Record.create, {"path": same_record().path, "spec": SPEC}),
    "experiments.records.Record.stem": {"variant": "plain", "seed": 0},
    "experiments.records.Record.has": reading("has", variant="plain", seed=0),
    "experiments.records.Record.add": of_record(
        "add", variant="plain", seed=0, columns=COLUMNS, seconds=0.1, diverged=None,
        identity=SPEC.identity("plain"), places=[PLACE]),
    "experiments.records.Record.adopt": lambda: (record().adopt, {
        "stem": "plain-seed00", "entry": same_record().files["plain-seed00"],
        "identity": SPEC.identity("plain"), "places": [PLACE]}),
    "experiments.records.Record.set_tuning": of_record(
        "set_tuning", variant="plain", tuning=Tuning(("0.1", "0.2"), (1.0, 2.0))),
    "experiments.records.Record.forget": of_record("forget", stem="plain-seed00"),
    "experiments.records.Record.places": reading("places", stem="plain-seed00"),
    "experiments.records.Record.read": reading("read", variant="plain", seed=0),
    "experiments.records.Record.verify": reading("verify", unlisted=True),
    "experiments.records.Record.verify_run": reading("verify_run", stem="plain-seed00"),
    "experiments.records.Record.seeds": reading("seeds", variant="plain"),
    "experiments.records.Record.curves": reading("curves", variant="plain", column="neu"),
    "experiments.records.tuning_name": {"variant": "tuned", "rate": 0.1},
    "experiments.records.write_atomic": {"path": Path("file.txt"), "content": b"x"},
    "experiments.reinforce.ReinforceSpec.__init__": {
        "training": TRAINING, "variants": ("plain",), "rates": {"tuned": (0.1,)}, "seeds": 2,
        "tuning_seeds": 5, "threshold": None,
    },
    "experiments.reinforce.optimizer_of": {"variant": "plain"},
    "experiments.repair.merge": lambda: (
        _import("amgd.experiments.repair.merge"),
        {"path": "merged", "sources": [same_record().path], "spec": None},
    ),
    "experiments.repair.recompute": lambda: (
        _import("amgd.experiments.repair.recompute"),
        {"path": same_record().path, "spec": SPEC, "lost": [], "jobs": 1},
    ),
    "experiments.repair.repair": lambda: (
        _import("amgd.experiments.repair.repair"),
        {"path": same_record().path},
    ),
    **{
        f"experiments.{name}": (lambda name=name, given=given: (
            _import(f"amgd.experiments.{name}"), {"record": same_record(), **given}
        ))
        for name, given in (
            ("reruns.changes_since", {"variant": "plain", "seed": 0}),
            ("reruns.rerun", {"variant": "plain", "seeds": [0], "rows": 1}),
            ("runner.checkpointed_rows", {}),
            ("runner.tasks_for", {"variants": ["plain"], "seeds": [0], "workers": 1,
                                  "only": None}),
            ("summaries.describe", {}),
            ("summaries.measured", {"variant": "plain", "column": "neu", "measure": "mean",
                                    "threshold": None, "until": None}),
            ("summaries.summarise", {"column": "neu", "against": "plain", "measure": "mean",
                                     "threshold": None, "until": None}),
            ("summaries.variant_name", {"variant": "plain", "tex": True}),
        )
    },
    "experiments.reruns.first_difference": {"recorded": COLUMNS, "again": COLUMNS, "rows": 2},
    "experiments.runner.record": lambda: (
        _import("amgd.experiments.runner.record"),
        {"spec": SPEC, "path": same_record().path, "variants": ["plain"], "seeds": [0], "jobs": 1,
         "checkpoint_seconds": 30.0, "changed": "refuse", "on_progress": None, "only": None},
    ),
    "experiments.summaries.to_markdown": lambda: (
        _import("amgd.experiments.summaries.to_markdown"), {"summaries": summarise(same_record())}
    ),
    "experiments.summaries.to_text": lambda: (
        _import("amgd.experiments.summaries.to_text"),
        {"tables": {"a": summarise(same_record())}, "form": "text"},
    ),
    "experiments.summaries.until_divergence": lambda: (
        _import("amgd.experiments.summaries.until_divergence"),
        {"record": same_record(), "curves": same_record().curves("plain", "neu"), "seed": 0},
    ),
    "experiments.verdicts.compare_runs": {"family": {"a": RUNS}, "better": "larger",
                                          "quantity": "return", "alpha": 0.05},
    "experiments.verdicts.family_text": {"found": COMPARED},
}  # fmt: skip


def _import(name):
    module, _, function = name.rpartition(".")
    return getattr(__import__(module, fromlist=[function]), function)
