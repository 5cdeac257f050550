"""Start a student's process where it can do no harm.

Where Linux allows it (root, or user namespaces), the process gets

* a file tree of its own: Python, the package and an empty home, all but the home read-only; the
  grader's files, other submissions and the tests do not exist in it;
* no network, no view of other processes, no privileges;
* limits on time, memory, processes and file sizes; at the end everything that it started is killed.

Elsewhere only the limits remain; ``isolation()`` tells which of the two holds.

Run as a script this module is the first process inside: it builds the tree, gives up its rights and
becomes the worker.
"""

import contextlib
import ctypes
import functools
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# The files of the worker, and where they stand in its own file tree.
WORKER = [
    "tools/__init__.py",
    "tools/course/__init__.py",
    "tools/course/worker.py",
    "tools/course/wire.py",
]
INSIDE = "/sandbox"
FULL = "full isolation"
LIMITS = "limits only"
HOME = "/home/student"
START_SECONDS = 60
# Identities that no account uses (systemd's range for services without one).
FIRST_UID, UIDS = 61184, 4096
# From <linux/prctl.h>.
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, LAST_CAPABILITY = 1, 24, 38, 63
LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None


@dataclass(frozen=True)
class Limits:
    """What a submission may use; see course.toml."""

    notebook_seconds: int = 900
    cell_seconds: int = 60
    memory_gigabytes: float = 4
    processes: int = 64
    file_megabytes: int = 50


def _namespaces() -> list[str]:
    """Command that gives a process its own world."""
    command = ["unshare", "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    return command if os.geteuid() == 0 else [*command, "--user", "--map-root-user"]


@functools.cache
def isolation() -> str:
    """What this machine allows: ``FULL`` or ``LIMITS``.

    Raises
    ------
    OSError
        On systems without process limits (Windows).
    """
    if importlib.util.find_spec("resource") is None:
        raise OSError("grading needs process limits, which this system lacks: use Linux or macOS")
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None:
        return LIMITS
    with tempfile.TemporaryDirectory() as folder:
        job = {"folder": folder, "uid": FIRST_UID, "limits": asdict(Limits()), "isolated": True}
        command = [*_namespaces(), sys.executable, "-I", __file__]
        probe = [*command, json.dumps(job | {"run": [sys.executable, "-I", "-c", "import numpy"]})]
        done = subprocess.run(probe, capture_output=True, timeout=START_SECONDS, check=False)
    return FULL if done.returncode == 0 else LIMITS


class Sandbox:
    """A running worker.

    Parameters
    ----------
    limits : Limits
        What it may use.
    isolated : bool
        Whether to give it a world of its own.
    slot : int
        Sandboxes that run at the same time need different slots: each has its own identity.
    place : Path, optional
        Folder in which to make its files; that of the system if none is given.
    """

    def __init__(
        self, limits: Limits, isolated: bool, slot: int = 0, place: Path | None = None
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="submission-", dir=place))
        self.folder.chmod(0o755)
        self.socket, theirs = socket.socketpair()
        number = theirs.fileno()
        files = INSIDE if isolated else str(ROOT)
        # -I leaves the working directory out of the path, so that nothing can be put there.
        start = f"import sys, runpy; sys.path.insert(0, {files!r}); "
        start += f"sys.argv = ['', '{number}', '{limits.cell_seconds}']; "
        start += "runpy.run_module('tools.course.worker', run_name='__main__', alter_sys=True)"
        job = {
            "folder": str(self.folder),
            "uid": FIRST_UID + (os.getpid() + slot) % UIDS,
            "limits": asdict(limits),
            "isolated": isolated,
            "run": [sys.executable, "-I", "-c", start],
        }
        self.process = subprocess.Popen(
            [
                *(_namespaces() if isolated else []),
                sys.executable,
                "-I",
                __file__,
                json.dumps(job),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[number],
            start_new_session=True,
            env=_environment(),
            preexec_fn=die_with_parent,
        )
        theirs.close()

    def close(self) -> None:
        """Kill all that belongs to it and remove its files."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def die_with_parent() -> None:
    """Let the system end this process when the one that started it ends (Linux)."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _environment() -> dict[str, str]:
    """Nothing of the grader's environment but where programs are."""
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    kept = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8"}
    return kept | one_thread | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


# ---------------------------------------------------------------- inside


def _readable() -> list[Path]:
    """What a worker must read: the system's libraries, Python, and the package."""
    package = importlib.util.find_spec("amgd")
    folders = [Path(p) for p in ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")]
    folders += [Path("/etc/ld.so.cache"), Path("/etc/localtime")]
    for path in (Path(sys.prefix), Path(sys.base_prefix)):
        folders += {path, path.resolve()}
    if package and package.origin:
        folders.append(Path(package.origin).resolve().parent)
    return [p for p in folders if p.exists()]


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


def _show(source: Path, target: Path) -> None:
    """Make a file or folder visible, read-only."""
    if source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(os.readlink(source))
        return
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount("--bind", str(source), str(target))
    _mount("-o", "remount,bind,ro", str(target))


def _build_tree(root: Path, megabytes: int) -> None:
    """A file tree with nothing of the grader's in it."""
    _mount("--make-rprivate", "/")
    _mount("-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs", str(root))
    # The folders to write in come first: Python or the project may lie below one of them.
    for folder in ("tmp", "dev/shm", HOME.removeprefix("/")):
        (root / folder).mkdir(parents=True)
        options = f"size={megabytes}m,mode=1777,nosuid,nodev"
        _mount("-t", "tmpfs", "-o", options, "tmpfs", str(root / folder))
    for path in _readable():
        _show(path, root / path.relative_to("/"))
    for name in WORKER:
        _show(ROOT / name, root / INSIDE.removeprefix("/") / name)
    for device in ("null", "zero", "random", "urandom"):
        target = root / "dev" / device
        target.parent.mkdir(exist_ok=True)
        target.touch()
        _mount("--bind", f"/dev/{device}", str(target))
    (root / "proc").mkdir()
    with contextlib.suppress(subprocess.CalledProcessError):  # containers may forbid it
        _mount("-t", "proc", "proc", str(root / "proc"))
    _mount("-o", "remount,bind,ro", str(root))
    os.chroot(root)
    os.chdir(HOME)


def _give_up_rights(uid: int | None) -> None:
    """No privileges now, and no way to get them back; become another user if one is given."""
    linux = sys.platform.startswith("linux")
    libc = ctypes.CDLL(None, use_errno=True)
    if linux:
        for capability in range(LAST_CAPABILITY + 1):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    if linux and libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "privileges cannot be given up")


def _is_real_root() -> bool:
    """Whether user 0 here is user 0 of the machine, and not of a user namespace made by unshare."""
    if os.geteuid() != 0:
        return False
    with contextlib.suppress(OSError):
        inside, outside, _ = Path("/proc/self/uid_map").read_text().split()[:3]
        return (inside, outside) == ("0", "0")
    return True


def _own_tasks() -> int:
    """Threads that this user runs already; the limit on processes counts them."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/task"):
        with contextlib.suppress(OSError):
            if path.stat().st_uid == os.getuid():
                found += len(os.listdir(path))
    return found


def _limit(limits: dict[str, Any], shared: bool) -> None:
    """Set the limits; ``shared``: the user has other processes too."""
    import resource

    others = _own_tasks() if shared else 0
    bounds = {
        "RLIMIT_AS": int(limits["memory_gigabytes"] * 2**30),
        "RLIMIT_CPU": int(limits["notebook_seconds"]),
        "RLIMIT_NPROC": int(limits["processes"]) + others,
        "RLIMIT_FSIZE": int(limits["file_megabytes"] * 2**20),
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
    }
    for name, value in bounds.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):  # macOS lacks some
            resource.setrlimit(getattr(resource, name), (value, value))


def main() -> None:
    """Become the worker."""
    job = json.loads(sys.argv[1])
    folder, limits = Path(job["folder"]), job["limits"]
    environment = dict(os.environ, HOME=HOME if job["isolated"] else str(folder))
    environment |= {"TMPDIR": "/tmp" if job["isolated"] else str(folder)}
    environment |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    environment |= {"MPLCONFIGDIR": environment["HOME"], "IPYTHONDIR": environment["HOME"]}
    run = job["run"]
    uid = None
    if job["isolated"]:
        uid = job["uid"] if _is_real_root() else None
        _build_tree(folder, limits["file_megabytes"])
    else:
        os.chdir(folder)
    _limit(limits, shared=not job["isolated"])
    _give_up_rights(uid)
    os.execve(run[0], run, environment)


if __name__ == "__main__":
    main()
