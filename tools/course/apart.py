"""Call a function in a process of its own, with limits of time and memory.

Whatever a submission does to the function, the caller gets an answer: the function's own, or
`Failed` in words. The process dies with the caller, also when the caller is killed; a janitor then
removes the folder of what was under way.
"""

import contextlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any

from tools.course.sandbox import die_with_parent

ANSWER_LIMIT = 8 * 2**20  # bytes of what a function may give back
# Told "done", it has nothing to do; without a word its parent was killed.
JANITOR = """
import os, shutil, sys, time
for _ in range(0 if sys.stdin.read() else 100):
    for folder in sys.argv[1:]:
        shutil.rmtree(folder, ignore_errors=True)
    if not any(map(os.path.lexists, sys.argv[1:])):
        break
    time.sleep(0.1)
"""
# Children are forked from a server that has imported all this once, and has no thread.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tools.course.paper", "tools.course.pages", "tools.course.similar"])


class Failed(Exception):
    """The function gave no answer; the message says why."""


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder that is gone afterwards, even if this process is killed."""
    folder = Path(tempfile.mkdtemp(prefix="grading-"))
    janitor = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", JANITOR, str(folder), get_temp_dir()],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        janitor.communicate(b"done")


def call(
    function: Callable[..., Any], *args: Any, seconds: float, gigabytes: float, megabytes: int = 512
) -> Any:
    """Call a function of a module apart; its answer must be JSON.

    Parameters
    ----------
    function, args
        What to call; both are pickled, so nothing of a submission may be among them.
    seconds, gigabytes, megabytes
        Limits of time, memory, and the size of each file that it writes.

    Raises
    ------
    Failed
        If it raises, is stopped by a limit, or ends without an answer.
    """
    ours, theirs = CONTEXT.Pipe(duplex=False)
    limits = int(seconds) + 1, int(gigabytes * 2**30), megabytes * 2**20
    process = CONTEXT.Process(target=_answer, args=(theirs, limits, function, args), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            raise Failed("the time is up")
        told = json.loads(ours.recv_bytes(ANSWER_LIMIT))
    except (EOFError, OSError) as error:
        process.join(5)
        raise Failed(f"the process has ended ({_ending(process.exitcode)})") from error
    finally:
        process.kill()
        process.join()
        ours.close()
    if "error" in told:
        raise Failed(told["error"])
    return told["answer"]


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"code {code}"


def _answer(
    pipe: Any, limits: tuple[int, int, int], function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    """Run in the child."""
    die_with_parent()
    kinds = (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)
    for kind, most in zip(kinds, (*limits, 0), strict=True):
        with contextlib.suppress(ValueError, OSError):  # macOS lacks some
            resource.setrlimit(kind, (most, most))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    try:
        told = {"answer": function(*args)}
    except MemoryError:
        told = {"error": "the memory is used up"}
    except BaseException as error:
        message = str(error).encode("utf8", "replace").decode("utf8")
        told = {"error": f"{type(error).__name__}: {message[:300]}"}
    pipe.send_bytes(json.dumps(told).encode())
    pipe.close()
