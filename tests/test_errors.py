"""Errors arrive whole from wherever a run was made."""

import gc
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from multiprocessing import get_context
from typing import Any

import joblib
import numpy as np
import pytest

import amgd
from amgd import descent, td
from amgd.descent import Trajectory, problems, steps
from amgd.errors import Diverged
from amgd.markov import iid
from amgd.reinforce import TrainingLog, TrainingSpec, train
from amgd.td import TDRun


def exceptions() -> list[type[BaseException]]:
    """Every exception class that a module of the package defines."""
    found = []
    for module in pkgutil.walk_packages(amgd.__path__, "amgd."):
        for value in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(value) and issubclass(value, BaseException):
                found += [value] if value.__module__ == module.name else []
    return found


def made(kind: type[BaseException]) -> BaseException:
    """Return one with a different argument in each place of its constructor."""
    if "__init__" not in vars(kind):
        return kind("what happened and what helps")
    parameters = list(inspect.signature(kind).parameters.values())
    values = {"str": "words {}", "int": 40, "float": 0.5}
    arguments = []
    for i, parameter in enumerate(parameters):
        assert parameter.kind is not parameter.KEYWORD_ONLY, "pickle passes arguments by position"
        value = values.get(str(parameter.annotation), [1.0, 2.0])
        arguments.append(value.format(i) if isinstance(value, str) else value)
    return kind(*arguments)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", exceptions(), ids=lambda kind: kind.__name__)
def test_every_exception_survives_pickle(kind: type[BaseException], protocol: int) -> None:
    error = made(kind)
    again = pickle.loads(pickle.dumps(error, protocol))
    assert type(again) is kind
    assert str(again) == str(error) != ""
    assert again.args == error.args
    assert vars(again) == vars(error)


def test_there_is_one_error_for_a_run_that_diverges() -> None:
    floating = [kind for kind in exceptions() if issubclass(kind, ArithmeticError)]
    assert floating == [Diverged]
    for name in ("descent", "td", "reinforce"):
        assert importlib.import_module(f"amgd.{name}").Diverged is Diverged


# Workers --------------------------------------------------------------------------------------


def descend() -> Trajectory:
    return descent.sgd(
        problems.Quadratic([1.0]),
        iid([1.0]),
        steps.sgd(1e40),
        50,
        x0=[[0.0], [1.0], [1e35]],
        replicates=3,
        rng=np.random.default_rng(0),
        record=1,
    )


def learn() -> TDRun:
    grid = td.GridWorld(5, goal="absorbing")
    problem = td.TDProblem.from_gridworld(grid, td.fourier_features(5), law="episode")
    states = problem.sample_episodes(400, rng=np.random.default_rng(0), replicates=3)
    return td.td0(problem, states, 50.0, record=1)


def reinforce() -> Any:
    return train(
        TrainingSpec(
            environment="CartPole-v0",
            hidden=(8,),
            iterations=3,
            optimizer="sgd",
            lr=1e308,
            advantages="raw",
            runs=(5, 6),
        )
    )


RUNS = {descend: Trajectory, learn: TDRun, reinforce: TrainingLog}


def loky() -> Iterator[Callable[..., Any]]:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        yield lambda run: joblib.Parallel()([joblib.delayed(run)(), joblib.delayed(int)()])
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)
    gc.collect()


def executor() -> Iterator[Callable[..., Any]]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield lambda run: pool.submit(run).result()


def multiprocessing_pool() -> Iterator[Callable[..., Any]]:
    with get_context("spawn").Pool(1) as pool:
        yield lambda run: pool.apply_async(run).get(timeout=120)


def dask() -> Iterator[Callable[..., Any]]:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        yield lambda run: client.submit(run).result(timeout=120)


@pytest.fixture(
    scope="module",
    params=[loky, executor, multiprocessing_pool, dask],
    ids=lambda where: where.__name__,
)
def worker(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Call a function in another process and return, or raise, what it did."""
    yield from request.param()


def same(one: Any, other: Any) -> bool:
    """Whether two records hold the same bits, clocks aside."""
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@pytest.mark.filterwarnings("ignore::ResourceWarning:distributed", "ignore::DeprecationWarning")
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_a_diverging_run_arrives_from_a_worker(
    worker: Callable[..., Any], run: Callable[[], Any]
) -> None:
    with pytest.raises(Diverged) as here:
        run()
    with pytest.raises(Diverged) as there:
        worker(run)
    expected, got = here.value, there.value
    assert str(got) == str(expected)
    assert (got.k, got.run, got.what) == (expected.k, expected.run, expected.what)
    assert type(got.recorded) is type(expected.recorded) is RUNS[run]
    for field in fields(RUNS[run]):
        if field.name != "seconds":
            one, other = (getattr(error.recorded, field.name) for error in (got, expected))
            assert same(one, other), field.name
