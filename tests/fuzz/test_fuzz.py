"""Every public callable answers odd arguments: it works, or one of the package's own checks speaks.

For each parameter of each callable the rest of a valid call stays (`valid_calls`), and the
argument is replaced by each of `ODD`. Then either a result comes, with no NaN that the valid call
has not, or a statement of the package raises an exception that says which argument is wrong and
what was got.
An error from the inside of NumPy, an attribute that is missing, a warning, a NaN, an array that
fills the memory, a call that does not end: each is a row that fails.
"""

import ast
import contextlib
import functools
import inspect
import io
import re
import signal
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from public_callables import public_callables
from scipy.sparse import csr_array
from valid_calls import ABSTRACT, CALLS, INNER, MADE_BY_US, made

import amgd
from amgd.errors import Diverged
from amgd.experiments.records import RecordError

PACKAGE = Path(amgd.__file__).parent
PYTORCH = Path(torch.optim.__file__).parent  # what PyTorch's optimizers refuse, PyTorch documents
SECONDS = 5.0  # of the clock; a call that takes longer does not end
MOST_MEMORY = 3 * 2**30  # that the whole table may take besides what is loaded


class Nothing:
    def __repr__(self):
        return "Nothing()"


def read_only():
    array = np.array([0.5, 0.5])
    array.flags.writeable = False
    return array


# What each makes is new for each call.
ODD = {
    "None": lambda: None,
    "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "0.5": lambda: 0.5,
    "1e300": lambda: 1e300,
    "1e-300": lambda: 1e-300,
    "2 * 10**9": lambda: 2 * 10**9,
    "10**30": lambda: 10**30,
    "''": lambda: "",
    "'x'": lambda: "x",
    "b'x'": lambda: b"x",
    "[]": lambda: [],
    "[[]]": lambda: [[]],
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "['x']": lambda: ["x"],
    "[None]": lambda: [None],
    "[2 * 10**9]": lambda: [2 * 10**9],
    "(-1,)": lambda: (-1,),
    "{}": lambda: {},
    "{'x': 1}": lambda: {"x": 1},
    "object": Nothing,
    "a class": lambda: Nothing,
    "a function": lambda: lambda *given, **named: None,
    "True": lambda: True,
    "complex": lambda: 1j,
    "complex array": lambda: np.array([1j, 0.5]),
    "objects": lambda: np.array([None, Nothing()], dtype=object),
    "masked": lambda: np.ma.masked_array([0.5, 0.5], mask=[True, False]),
    "read-only": read_only,
    "NaN array": lambda: np.array([0.5, np.nan]),
    "shape (1, 2, 3)": lambda: np.ones((1, 2, 3)),
    "strings": lambda: np.array(["a", "b"]),
    "dates": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    "reversed": lambda: np.array([0.25, 0.5])[::-1],
    "0-d": lambda: np.array(0.5),
    "sparse": lambda: csr_array(np.eye(2)),
    "tensor": lambda: torch.tensor([0.5, 0.5]),
    "tensor with gradient": lambda: torch.ones(2, requires_grad=True),
    "Path": lambda: Path("nowhere"),
    "a stream": io.StringIO,
}
REFUSALS = (TypeError, ValueError, KeyError, ArithmeticError, RecordError, OSError, RuntimeError)
# Arguments that a message calls by another name, the one that a reader meets.
NAMES = {
    "descent.steps.Schedule.__init__.rule": "a callable of k",
    "descent.steps.from_name.name": "schedule|momentum belongs to",
    "optim.AMGD.__init__.schedule": "schedule|momentum belongs to",
    "experiments.experiment.from_plain.data": "data|kind",  # an entry of it
    "experiments.experiment.from_toml.text": "text|kind",
    "experiments.reinforce.ReinforceSpec.rerun.seeds": "seeds|runs",
    "experiments.reinforce.ReinforceSpec.run.seeds": "seeds|runs",
    "experiments.figures.record_figure.variants": "variants?",
    "experiments.records.Curves.until.last": "last|until",  # until in a table
    "experiments.reinforce.ReinforceSpec.from_plain.data": "data|table",
    "experiments.gridworld.GridWorldSpec.rerun.variant": "variants?",
    "experiments.gridworld.GridWorldSpec.run.variant": "variants?",
    "experiments.repair.merge.sources": "sources|path",
    "experiments.verdicts.compare_runs.family": "family|pairs",
    **{
        f"reinforce.policies.{policy}.__init__.sizes": "sizes|a size"
        for policy in ("GaussianPolicy", "MLP", "SoftmaxPolicy")
    },
    "statistics.bootstrap_interval.task": "tasks",
    "statistics.interquartile_mean.task": "tasks",
}
MAY_BE_NAN = {"descent.exact.exact_average"}  # where the method is far from stable, as it says
GOT = r"\bgot\b|: (entry .*|it) is |sums to|the left side is|holds"


# --- one row --------------------------------------------------------------------------------------
@functools.cache
def raise_lines(file):
    """Return the lines of all raise statements of a file that make an exception."""
    tree = ast.parse(Path(file).read_text(encoding="utf8"))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc)
    return {line for node in nodes for line in range(node.lineno, node.end_lineno + 1)}


def raised_by(error, folder):
    """Whether a raise statement below the folder made the exception."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Path(last.filename).is_relative_to(folder) and last.lineno in raise_lines(last.filename)


def wrong_with(error, name, parameter, others):
    """Return what is wrong with a refusal, or nothing."""
    message = str(error)
    if raised_by(error, PYTORCH) or isinstance(error, Diverged):
        return ""  # a run that diverges has been run as asked
    if isinstance(error, OSError) and error.filename is not None:
        return ""  # it names the file
    if not raised_by(error, PACKAGE):
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)]
        inside = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
        place = f" at {Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else ""
        return f"{type(error).__name__} from the inside{place}: {message:.100}"
    named = re.search(NAMES.get(f"{name}.{parameter}", rf"\b{parameter}\b"), message)
    if not named and not any(f"{other} must have shape" in message for other in others):
        return f"the message does not name it: {message:.120}"
    if not re.search(GOT, message):
        return f"the message does not say what it got: {message:.120}"
    return ""


class Endless(BaseException):
    pass


def too_long(signum, frame):
    raise Endless


@contextlib.contextmanager
def limited():
    """Stop after `SECONDS`; warnings are errors."""
    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def called(function, given):
    """Return what a call gives; what it yields is a list."""
    with limited():
        result = function(**given)
        return list(result) if inspect.isgenerator(result) else result


def answer(make, name, parameter, odd):
    """Return the result of a call with one odd argument and what is wrong with its refusal."""
    function, given = make()
    try:
        return called(function, {**given, parameter: odd}), ""
    except Endless:
        return None, "it does not end"
    except REFUSALS as error:
        return None, wrong_with(error, name, parameter, given)
    except BaseException as error:
        return None, f"{type(error).__name__}: {error}"[:120]


def has_nan(result):
    if isinstance(result, torch.Tensor):
        return bool(torch.isnan(result).any())
    if isinstance(result, float | np.ndarray | np.floating):
        array = np.asarray(result)
        return array.dtype.kind in "fc" and bool(np.isnan(array).any())
    parts = result.values() if isinstance(result, dict) else result
    return isinstance(result, dict | list | tuple) and any(map(has_nan, parts))


# --- the table ------------------------------------------------------------------------------------
def resolved(full):
    """Return the function, class or method with this name."""
    module = max((m for m in import_names() if full.startswith(f"{m}.")), key=len)
    found = __import__(module, fromlist=["x"])
    for part in full.removeprefix(f"{module}.").split("."):
        found = found if part == "__init__" else getattr(found, part)
    return found


@functools.cache
def import_names():
    return {function.__module__ for _, function in public_callables()}


def parameters(function):
    return [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]


FUNCTIONS = {
    full.removeprefix("amgd."): function
    for full, function in public_callables()
    if parameters(function)
}


def maker(name):
    """Return what makes a function and the keywords of a valid call."""
    call = CALLS[name]
    if callable(call):
        return call
    function = resolved(f"amgd.{name}")
    return lambda: (function, made(call))


@pytest.fixture(scope="module", autouse=True)
def _bounded(tmp_path_factory):
    """Work in an empty folder, without waiting for the disk, and in little memory."""
    resource = pytest.importorskip("resource")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("fuzz"))
        patch.setattr("os.fsync", lambda handle: None)
        status = Path("/proc/self/statm")
        before = resource.getrlimit(resource.RLIMIT_AS)
        if status.exists():
            loaded = int(status.read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (loaded + MOST_MEMORY, before[1]))
        yield
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_every_public_callable_has_a_valid_call():
    left_out = {*MADE_BY_US, *ABSTRACT, *INNER}
    missing = {
        name for name in FUNCTIONS if not {name, name.rpartition(".")[0]} & left_out
    } - CALLS.keys()
    assert not missing
    assert not [
        (name, p) for name in CALLS.keys() & FUNCTIONS.keys() for p in omitted(name)
    ]  # a parameter that the table would not reach


def omitted(name):
    """Return the parameters of a function that its valid call does not give."""
    variadic = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    known = inspect.signature(FUNCTIONS[name]).parameters
    plain = [p for p in parameters(FUNCTIONS[name]) if known[p].kind not in variadic]
    return sorted(set(plain) - set(maker(name)()[1]))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_it_works_or_is_refused_in_words(name):
    make = maker(name)
    function, given = make()
    valid = has_nan(called(function, given)) or name in MAY_BE_NAN
    wrong = []
    for parameter in given:
        for label, odd in ODD.items():
            result, fault = answer(make, name, parameter, odd())
            if not fault and "NaN" not in label and not valid and has_nan(result):
                fault = "it gives NaN"
            if fault:
                wrong.append(f"{name}({parameter}={label}): {fault}")
    assert not wrong, "\n".join(wrong)
