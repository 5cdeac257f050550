"""Grade one notebook: run its tests here, and its answers in a sandbox.

Two processes share the work. The student's code runs in a worker (``worker.py``). The tests run in
this process, which executes nothing that a student wrote: set-up cells and test cells come from the
source. When a test uses a name that a student defines, its value is fetched from the worker;
functions and objects are replaced by stand-ins whose calls are carried out by the worker. So hidden
tests, expected values and results never enter the worker, and a test fails or passes by the values
that come back alone.

The notebook may be a `NotebookNode` or plain JSON.
"""

import base64
import builtins
import contextlib
import io
import operator
import os
import symtable
import sysconfig
import time
import warnings
from pathlib import Path
from typing import Any, NoReturn

import cloudpickle
import numpy as np

from tools.course import same, wire
from tools.course.build import HIDDEN
from tools.course.sandbox import INSIDE, ROOT, START_SECONDS, Limits, Sandbox
from tools.course.submissions import clean

Json = dict[str, Any]

RESTARTS = 20  # of a worker that was killed or has crashed
SHOWN = ("text/plain", "image/png")  # kinds of output that are kept
PICTURE_LIMIT = 2_000_000  # characters of one picture
SPAWN_LIMIT = 100_000  # children of one generator that a later call knows of
# Where files lie that a traceback or a warning may name, the inner ones first.
PLACES = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}
FOLDERS = sorted(PLACES | {str(ROOT), INSIDE}, key=len, reverse=True)
GRACE = 5  # seconds between the worker's own alarm and its end


class Missing(NameError):
    """A name that the student has not defined."""


class Answer:
    """Stands for an object of the student: call it, ask for attributes and items, go through it."""

    def __init__(self, link: "Link", number: int, kind: str, generation: int) -> None:
        self._link, self._number, self._kind, self._generation = link, number, kind, generation

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the student's function."""
        return self._link.apply(self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._link.apply(getattr, (self, name), {})

    def __getitem__(self, key: Any) -> Any:
        return self._link.apply(operator.getitem, (self, key), {})

    def __len__(self) -> int:
        return int(self._link.apply(len, (self,), {}))

    def __iter__(self) -> Any:
        return iter(self._link.apply(list, (self,), {}))

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        """What NumPy makes of a sequence, in the grader as at home."""
        try:
            return np.asarray([*self] if len(self) else [])
        except Exception:
            return self._not_a_value()

    def __repr__(self) -> str:
        return f"<an object of type {self._kind}>"

    def _not_a_value(self, *_: Any) -> NoReturn:
        raise TypeError(f"a number, an array or the like was expected, not {self!r}")

    # Without these an unknown object would count as true, and as different from everything.
    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _not_a_value
    __float__ = __int__ = __complex__ = __index__ = _not_a_value
    __hash__ = None  # type: ignore[assignment]


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    """Sends stand-ins by their number."""

    def persistent_id(self, value: Any) -> Any:
        """Number of a stand-in; None for everything else."""
        return value._number if type(value) is Answer else None


class Link:
    """The worker, as the tests see it.

    A worker that ends early is started again; the cells that ran before run again, those that did
    not finish are left out.
    """

    def __init__(
        self, limits: Limits, isolated: bool, slot: int, place: Path | None = None
    ) -> None:
        self.limits, self.isolated, self.slot, self.place = limits, isolated, slot, place
        self.deadline = time.monotonic() + limits.notebook_seconds
        self.cell_deadline = self.deadline
        self.done: list[str] = []
        self.generation = 0
        self.trouble: list[str] = []
        self.sandbox: Sandbox | None = None
        self.start()

    def start(self) -> None:
        """Start a worker and bring it to where the last one was."""
        self.sandbox = Sandbox(self.limits, self.isolated, self.slot, self.place)
        self.generation += 1
        try:
            wire.receive(self.sandbox.socket, time.monotonic() + START_SECONDS)
            for source in self.done:
                self._exchange("cell", source)
        except wire.WireError:
            self.close()
            raise

    def close(self) -> None:
        """End the worker."""
        if self.sandbox is not None:
            self.sandbox.close()
            self.sandbox = None

    def new_cell(self) -> None:
        """From now on the time of another cell counts."""
        limit = self.limits.cell_seconds + GRACE
        self.cell_deadline = min(self.deadline, time.monotonic() + limit)

    def ask(self, do: str, what: Any) -> dict[str, Any]:
        """Ask the worker; replace it when it fails."""
        if self.sandbox is None:
            raise wire.WireError("the notebook was stopped before this cell")
        try:
            return self._exchange(do, what)
        except wire.WireError as error:
            self.trouble.append(str(error))
            self.close()
            if len(self.trouble) <= RESTARTS and time.monotonic() < self.deadline:
                kept, self.cell_deadline = self.cell_deadline, self.deadline
                try:
                    self.start()
                except wire.WireError as again:
                    self.trouble.append(f"cannot be started again: {again}")
                    self.close()
                self.cell_deadline = kept
            raise

    def _exchange(self, do: str, what: Any) -> dict[str, Any]:
        assert self.sandbox is not None
        try:
            wire.send(self.sandbox.socket, {"do": do, "what": what})
        except OSError as error:
            raise wire.WireError("the process has ended") from error
        return wire.receive(self.sandbox.socket, self.cell_deadline)

    def run(self, source: str) -> list[Json]:
        """Run a cell of the student; give its outputs."""
        self.new_cell()
        try:
            answer = self.ask("cell", source)
        except wire.WireError as error:
            return [_error("Stopped", str(error))]
        self.done.append(source)
        return _outputs(answer)

    def fetch(self, name: str) -> Any:
        """Value of a name of the student."""
        answer = self.ask("fetch", name)
        if answer.get("missing"):
            raise Missing(
                f"{name} is not defined: the cell that defines it is missing or has failed"
            )
        return self._value(answer)

    def apply(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function in the worker."""
        for value in (function, *args, *kwargs.values()):
            if type(value) is Answer and value._generation != self.generation:
                raise wire.WireError("the process that held this object has ended")
        buffer = io.BytesIO()
        Pickler(buffer).dump((function, args, kwargs))
        answer = self.ask("apply", base64.b64encode(buffer.getvalue()).decode())
        try:
            value = self._value(answer)
        except Exception as error:
            if type(function) is Answer:  # it comes from the answer, not from how a test uses it
                error.add_note(same.STOPS)
            raise
        told = answer.get("generators")
        for given, what in zip([*args, *kwargs.values()], told or [], strict=False):
            if isinstance(given, np.random.Generator) and what is not None:
                with contextlib.suppress(Exception):  # a wrong state is the student's loss
                    given.bit_generator.state, spawned = wire.decode(what, self._stand_in)
                    seeds = given.bit_generator.seed_seq
                    if isinstance(seeds, np.random.SeedSequence):
                        new = min(int(spawned), SPAWN_LIMIT) - seeds.n_children_spawned
                        seeds.spawn(max(new, 0))
        return value

    def _value(self, answer: dict[str, Any]) -> Any:
        if "error" in answer:
            raise _exception(answer["error"])
        if "value" not in answer:
            raise wire.WireError("an answer is not readable")
        return wire.decode(answer["value"], self._stand_in)

    def _stand_in(self, body: Any) -> Answer:
        number, kind = body
        return Answer(self, int(number), str(kind)[:100], self.generation)


def _exception(told: Any) -> Exception:
    """The exception that a student's function raised, or its built-in ancestor."""
    told = told if isinstance(told, dict) else {}
    kind = getattr(builtins, str(told.get("kind")), RuntimeError)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = RuntimeError
    message = str(told.get("message"))[:2000]
    try:
        return kind(message)
    except Exception:  # UnicodeError and a few others want more arguments
        return RuntimeError(message)


def placeless(text: str) -> str:
    """Text for a page: files of Python and of the course are named without where they lie."""
    for folder in FOLDERS:
        text = text.replace(f"{folder}{os.sep}", "")
    return clean(text)


def _error(kind: str, message: str, trace: str = "") -> Json:
    kind, message, trace = map(placeless, (kind, message, trace))
    lines = (trace or f"{kind}: {message}")[-5000:].splitlines()
    return {"output_type": "error", "ename": kind, "evalue": message[:2000], "traceback": lines}


def _outputs(answer: dict[str, Any]) -> list[Json]:
    """Outputs of a student's cell: text and pictures, whatever the worker claims they are."""
    outputs: list[Json] = []
    told_outputs = answer.get("outputs")
    for output in told_outputs[:60] if isinstance(told_outputs, list) else []:
        try:
            if output["output_type"] == "stream":
                text = placeless(str(output["text"])[:20_000])
                outputs.append({"output_type": "stream", "name": "stdout", "text": text})
            else:
                shown = {k: str(v) for k, v in output["data"].items() if k in SHOWN}
                data = {k: placeless(v) for k, v in shown.items() if len(v) <= PICTURE_LIMIT}
                base64.b64decode(data.get("image/png", ""), validate=False)
                outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    if error := answer.get("error"):
        error = error if isinstance(error, dict) else {}
        texts = [str(error.get(key, ""))[:5000] for key in ("type", "message", "trace")]
        outputs.append(_error(*texts))
    return outputs


def names_in(source: str) -> list[str]:
    """Names that a cell reads and does not define."""
    module = symtable.symtable(source, "cell", "exec")
    own = {s.get_name() for s in module.get_symbols() if s.is_assigned() or s.is_imported()}
    read: set[str] = set()
    tables = [module]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        free = (s for s in table.get_symbols() if s.is_referenced())
        read |= {s.get_name() for s in free if table is module or s.is_global()}
    return sorted(read - own - set(dir(builtins)))


def run_test(source: str, name: str, space: dict[str, Any], link: Link) -> list[Json]:
    """Run a test cell here; an error means that it has failed."""
    link.new_cell()
    local = dict(space)  # what a test defines is its own
    same.failed.set("")
    printed = io.StringIO()
    try:
        local |= {wanted: link.fetch(wanted) for wanted in names_in(source) if wanted not in space}
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("ignore")
            exec(compile(source, f"<{name}>", "exec"), local)
    except Exception as error:
        level = failed_at(error, HIDDEN in source)
        return [_error(type(error).__name__, f"{level}: {error}" if level else str(error))]
    return []


def failed_at(error: Exception, hidden: bool) -> str:
    """Level at which a test has failed; empty for visible tests, which say it themselves."""
    if isinstance(error, Missing | NotImplementedError):
        return same.MISSING
    if isinstance(error, wire.WireError) or same.STOPS in getattr(error, "__notes__", ()):
        return same.STOPS
    if not isinstance(error, AssertionError):  # the test cannot go on with such an answer
        return same.TYPE
    return (same.failed.get() or same.ELSEWHERE) if hidden else ""


def run_notebook(notebook: Json, link: Link) -> None:
    """Run all cells in order; put the outputs into the notebook."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for count, cell in enumerate(c for c in notebook["cells"] if c["cell_type"] == "code"):
        entry = cell["metadata"].get("nbgrader", {})
        cell["execution_count"] = count + 1
        if entry.get("grade") and not entry.get("solution"):
            cell["outputs"] = run_test(cell["source"], entry["grade_id"], space, link)
            continue
        cell["outputs"] = link.run(cell["source"])
        if entry.get("locked"):
            exec(compile(cell["source"], f"<{entry['grade_id']}>", "exec"), space)
