"""The process in which a student's code runs.

It executes cells and, when the tester asks, looks names up and calls functions. It is not trusted:
the code that it runs may have replaced anything in here. Grades do not depend on what it says about
itself, only on the values it gives.

    python -m tools.course.worker SOCKET SECONDS     number of an open file; time for a cell or call
"""

import base64
import io
import os
import pickle
import signal
import socket
import sys
import traceback
from typing import Any

import numpy as np
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets import Type
from traitlets.config import Config

from tools.course import wire

TEXT_LIMIT = 20_000  # characters of one output
IMAGE_LIMIT = 2_000_000  # characters of one picture
OUTPUT_LIMIT = 50  # outputs of one cell

OBJECTS: list[Any] = []  # what stand-ins stand for


def stand_in(value: Any) -> list[Any]:
    """Keep a value here; give its number and what it is."""
    OBJECTS.append(value)
    return [len(OBJECTS) - 1, type(value).__name__[:100]]


class Unpickler(pickle.Unpickler):
    """Puts the values themselves in the place of their stand-ins."""

    def persistent_load(self, pid: Any) -> Any:
        """Value with this number."""
        return OBJECTS[pid]


class Values(DisplayHook):
    """Shows values without a prompt."""

    def write_output_prompt(self) -> None:
        """Write nothing."""


class Shell(InteractiveShell):
    """IPython that leaves the report of errors to `describe`."""

    displayhook_class = Type(Values)

    def showtraceback(self, *_: Any, **__: Any) -> None:
        """Write nothing."""

    def showsyntaxerror(self, *_: Any, **__: Any) -> None:
        """Write nothing."""


class Worker:
    """One IPython shell and the answers it gives."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        quiet = Config()
        quiet.HistoryManager.enabled = False
        self.shell: InteractiveShell = Shell.instance(config=quiet)
        signal.signal(signal.SIGALRM, self._too_late)

    @staticmethod
    def _too_late(*_: Any) -> None:
        raise TimeoutError("the time for one cell is up")

    def cell(self, source: str) -> dict[str, Any]:
        """Run a cell; give its outputs in the format of notebooks."""
        with capture_output() as captured:
            result = self.shell.run_cell(source, store_history=True)
        outputs: list[dict[str, Any]] = []
        for name in ("stdout", "stderr"):
            if text := getattr(captured, name):
                outputs.append({"output_type": "stream", "name": name, "text": text[:TEXT_LIMIT]})
        for shown in captured.outputs[:OUTPUT_LIMIT]:
            data = {
                kind: str(shown.data[kind])[:limit]
                for kind, limit in (("text/plain", TEXT_LIMIT), ("image/png", IMAGE_LIMIT))
                if kind in shown.data
            }
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        error = result.error_before_exec or result.error_in_exec
        return {"outputs": outputs, "error": describe(error) if error else None}

    def fetch(self, name: str) -> dict[str, Any]:
        """Value of a name."""
        if name not in self.shell.user_ns:
            return {"missing": True}
        return {"value": wire.encode(self.shell.user_ns[name], stand_in)}

    def apply(self, payload: str) -> dict[str, Any]:
        """Call a function that the tester sends, or one of the student's."""
        function, args, kwargs = Unpickler(io.BytesIO(base64.b64decode(payload))).load()
        value = wire.encode(function(*args, **kwargs), stand_in)
        generators = [
            [a.bit_generator.state, getattr(a.bit_generator.seed_seq, "n_children_spawned", 0)]
            if isinstance(a, np.random.Generator)
            else None
            for a in [*args, *kwargs.values()]
        ]
        plain = [wire.encode(g, stand_in) for g in generators]
        return {"value": value, "generators": plain}

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Do what a message asks, within the time for one cell."""
        signal.alarm(self.seconds)
        try:
            done: dict[str, Any] = getattr(self, message["do"])(message["what"])
            return done
        except BaseException as error:  # the student's code may raise anything
            return {"error": describe(error)}
        finally:
            signal.alarm(0)


def describe(error: BaseException) -> dict[str, str]:
    """An exception in words."""
    frames = traceback.format_exception(type(error), error, error.__traceback__, limit=-4)
    try:
        message = str(error)
    except Exception:
        message = ""
    return {
        "type": type(error).__name__[:100],
        "kind": next(k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"),
        "message": message[:2000],
        "trace": "".join(frames)[-5000:],
    }


def main() -> None:
    """Answer messages until the tester hangs up."""
    sock = socket.socket(fileno=int(sys.argv[1]))
    worker, own = Worker(int(sys.argv[2])), os.getpid()
    wire.send(sock, {"ready": os.getpid()})
    while True:
        try:
            message = wire.receive(sock)
        except wire.WireError:
            return
        answer = worker.answer(message)
        if os.getpid() != own:  # a copy that the student's code has made: only the original speaks
            os._exit(0)
        try:
            wire.send(sock, answer)
        except wire.WireError as error:
            wire.send(sock, {"error": describe(error)})


if __name__ == "__main__":
    main()
