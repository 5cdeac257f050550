r"""Where a run takes place: all that its bits may depend on besides its specification.

**The place** is the processor, the system and its C library, the versions of the packages, and the
kernels that these choose at run time. Another place may take a sum in another order or round a sine
another way; learning is chaotic, so the last bit of one row is soon the first digit of another.
A run that differs from its record in another place says nothing against the record.

**The program** is the source of this package and that of the environment. What changes when
it is edited is what a comparison is to show.

`surroundings` writes both down, `changes` says how two of them differ.

Plan of the module: the machine and its kernels, the program, all of it, what differs.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import amgd
from amgd import _checks as check

__all__ = ["Changes", "changes", "surroundings"]

PACKAGE = Path(amgd.__file__).parent
PACKAGES = ("amgd", "numpy", "scipy", "torch", "gymnasium", "mujoco")
# Variables that choose kernels which no library tells; other ones show up in what they choose.
SETTINGS = ("GLIBC_TUNABLES", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS")


# --- the machine and its kernels ------------------------------------------------------------------
def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _libc() -> str:
    """Return the C library, whose sines and powers differ; elsewhere it comes with the system."""
    return " ".join(platform.libc_ver()).strip() or f"of {platform.system()} {platform.release()}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _simd() -> str:
    """Return the instruction sets of NumPy's own loops, as of exp and sin."""
    extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    return " ".join([*extensions["baseline"], *extensions["found"]])


def _blas() -> dict[str, str]:
    """Return library, version and kernel of each BLAS by the package that brings it."""
    import scipy.linalg  # noqa: F401  (what is not loaded cannot be seen)
    import threadpoolctl

    found = {}
    for library in threadpoolctl.threadpool_info():
        if library["user_api"] == "blas":
            folders = Path(library["filepath"]).parts
            owners = [name for name in PACKAGES if {name, f"{name}.libs"} & set(folders)]
            parts = (library["internal_api"], library["version"], library.get("architecture"))
            found[owners[0] if owners else "the system"] = " ".join(str(p) for p in parts if p)
    return dict(sorted(found.items()))


def _torch() -> str:
    """Return the instruction set that PyTorch has chosen."""
    import torch

    return str(torch.backends.cpu.get_cpu_capability())


# --- the program ----------------------------------------------------------------------------------
def _digest(files: Mapping[str, Path]) -> str:
    """Return the SHA-256 of some files and their names, whatever their ends of lines."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        digest.update(f"{name}\0".encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def _package_files(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}


# Now, and not when a run ends: a process runs the code that it imported, whatever is edited later.
_SOURCE = _digest(_package_files(PACKAGE))


@functools.cache
def _revision() -> str:
    """Return the commit of the package, with "+changes" if it is not committed as it is."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(PACKAGE), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        # In an environment inside of some other repository, git would tell that one's commit.
        git("ls-files", "--error-unmatch", "__init__.py")
        return git("rev-parse", "HEAD") + ("+changes" if git("status", "--short", ".") else "")
    except (OSError, subprocess.CalledProcessError):
        return "not a git checkout"


def _file(module: str) -> Path | None:
    """Return where the source of a module is, without a look inside; None if it has no file."""
    if module in sys.modules:
        found = getattr(sys.modules[module], "__file__", None)
    else:
        top, *inner = module.split(".")
        spec = importlib.util.find_spec(top)
        for depth in range(len(inner)):
            if spec is not None:
                name = ".".join([top, *inner[: depth + 1]])
                spec = PathFinder.find_spec(name, spec.submodule_search_locations)
        found = None if spec is None else spec.origin
    return Path(found) if found is not None and Path(found).is_file() else None


def _installed(path: Path) -> bool:
    return bool({"site-packages", "dist-packages"} & set(path.parts))


def _own_files(module: str, path: Path) -> dict[str, Path]:
    """Return the file of a module and those that it imports from beside it, and they in turn."""
    if _installed(path):
        return {path.name: path}  # its distribution has a version
    is_package = path.name == "__init__.py"
    base = path.parents[module.count(".") + is_package]  # the folder that it is imported from
    files: dict[str, Path] = {}
    waiting = [(module, path)]
    while waiting:
        name, path = waiting.pop()
        key = path.relative_to(base).as_posix()
        if key not in files:
            files[key] = path
            for imported in _imports(name, path):
                place = imported.replace(".", "/")
                candidates = (base / f"{place}.py", base / place / "__init__.py")
                waiting += [(imported, file) for file in candidates if file.is_file()]
    return files


def _imports(module: str, path: Path) -> Iterator[str]:
    """Return what may be modules among the names in a file's import statements, but for amgd."""
    with warnings.catch_warnings(action="ignore"):  # Python tells them when it runs the file
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # not Python, such as a compiled module
            return
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    names = [module]  # importing it runs the packages around it
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names += [source, *(f"{source}.{alias.name}" for alias in node.names)]
    for name in names:
        parts = name.split(".")
        if parts[0] not in ("", "amgd"):
            yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))


@functools.cache
def _environment(name: str) -> tuple[str, str | None, dict[str, str]]:
    """Return an environment's module, the hash of its source, and versions of what brings it."""
    from amgd.reinforce.environments import find  # which imports PyTorch

    entry = find(name)
    modules = [_module(entry.entry_point), *name.split(":")[:-1]]
    modules += [_module(wrapper.entry_point) for wrapper in entry.additional_wrappers]
    files: dict[str, Path] = {}
    versions: dict[str, str] = {}
    for module in dict.fromkeys(modules):
        path = _file(module)
        if path is None:
            return modules[0], None, versions
        files |= _own_files(module, path)
        top = module.partition(".")[0]
        if _installed(path) and top not in PACKAGES:
            versions |= {one: _version(one) for one in packages_distributions().get(top, [])}
    return modules[0], _digest(files), versions


def _module(entry_point: Any) -> str:
    """Return the module of what makes an environment, a class or "module:Name"."""
    if isinstance(entry_point, str):
        return entry_point.partition(":")[0]
    return str(getattr(getattr(entry_point, "func", entry_point), "__module__", type(entry_point)))


# --- all of it ------------------------------------------------------------------------------------
@functools.cache
def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "libc": _libc(),
        "processor": _processor(),
        "simd": _simd(),
        "blas": _blas(),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "versions": {name: _version(name) for name in PACKAGES},
    }


@check.arguments
def surroundings(environment: str | None = None) -> dict[str, Any]:
    """Return what the bits of a run may depend on besides its specification.

    Parameters
    ----------
    environment : str, optional
        Gymnasium's name of the environment of a REINFORCE run. Without one nothing is said of an
        environment, nor of PyTorch's kernels, and PyTorch is not imported: temporal differences and
        descent do not use it.

    Returns
    -------
    dict
        Of strings, None and dicts of strings:

        - ``revision``: the commit of the package; ``source``: the SHA-256 of its files;
        - ``environment``: ``module`` and ``source`` of the environment, or None;
        - ``python``, ``system``, ``libc``, ``processor`` and ``versions`` of the packages;
        - ``simd``, ``blas`` and ``torch``: the kernels of NumPy's loops, of matrix products and of
          PyTorch (or None); ``settings``: variables that choose kernels.

    Raises
    ------
    ImportError
        If threadpoolctl is missing, which the extra "experiments" brings.
    ValueError
        If the environment is not registered, or its module cannot be imported.

    Notes
    -----
    The source of an environment is that of the module of its entry point, of its wrappers and of
    the module that the name imports, ``"mine:Mine-v0"``; of one that is not installed, also the
    modules beside it that it imports. Files that it reads are not looked at.
    It is read at the first call for that environment: call it before the run.

    Examples
    --------
    >>> place = surroundings("Acrobot-v1")
    >>> place["environment"]["module"], len(place["source"])
    ('gymnasium.envs.classic_control.acrobot', 64)
    >>> sorted(surroundings().keys() - {"environment", "torch"})  # doctest: +NORMALIZE_WHITESPACE
    ['blas', 'libc', 'processor', 'python', 'revision', 'settings', 'simd', 'source', 'system',
     'versions']
    """
    place: dict[str, Any] = {
        "revision": _revision(),
        "source": _SOURCE,
        "environment": None,
        "torch": None,
    }
    place |= copy.deepcopy(_machine())
    if environment is not None:
        module, source, versions = _environment(environment)
        place["environment"] = {"module": module, "source": source}
        place["torch"] = _torch()
        place["versions"] |= versions
    return place


# --- what differs ---------------------------------------------------------------------------------
class Changes(NamedTuple):
    """How two surroundings differ, in words such as "numpy 2.1.0 there, 2.4.1 here".

    Attributes
    ----------
    place : list of str
        Machine, kernels and versions: the same program may give other bits.
    program : list of str
        Source of the package and of the environment: the program itself may be another.
    unrecorded : list of str
        What older surroundings do not say; it may be equal or not.
    """

    place: list[str]
    program: list[str]
    unrecorded: list[str]


_WORDS = {
    "python": "Python",
    "system": "system",
    "libc": "C library",
    "processor": "processor",
    "versions": "versions",
    "simd": "NumPy's instruction sets",
    "blas": "BLAS kernel",
    "torch": "PyTorch's instruction set",
    "settings": "settings of kernels",
    "source": "source of amgd",
    "environment": "source of the environment",
}
_PROGRAM = ("source of amgd", "source of the environment")


@check.arguments
def changes(there: Mapping[str, Any], here: Mapping[str, Any]) -> Changes:
    """Return what differs between two surroundings and may change the bits of a run.

    Parameters
    ----------
    there, here : mapping
        From `surroundings`, perhaps of another version of the package that wrote fewer things down.
        The commit and the version of amgd are left out: its source says more.

    Examples
    --------
    >>> here = surroundings()
    >>> any(changes(here, here))
    False
    >>> there = here | {"processor": "Z80", "source": "f" * 64}
    >>> changes(there, here | {"processor": "PDP-11"}).place
    ['processor Z80 there, PDP-11 here']
    >>> old = {key: value for key, value in here.items() if key != "libc"}
    >>> changes(old, here).unrecorded
    ['C library not recorded there']
    """
    sides = (there, here)
    common = [key for key in _WORDS if all(_known(side, key) for side in sides)]
    unrecorded = [
        f"{word} not recorded {_where(_known(there, key), _known(here, key))}"
        for key, word in _WORDS.items()
        if key not in common
    ]
    one, other = (_facts(side, common) for side in sides)
    words = {
        name: f"{name} {one.get(name, 'none')} there, {other.get(name, 'none')} here"
        for name in dict.fromkeys([*one, *other])
        if one.get(name) != other.get(name)
    }
    program = [words.pop(name) for name in _PROGRAM if name in words]
    return Changes([*words.values()], program, unrecorded)


def _known(place: Mapping[str, Any], key: str) -> bool:
    """Return whether something is recorded; an environment that has no file has no source."""
    return key in place and not (
        key == "environment" and place[key] is not None and place[key]["source"] is None
    )


def _where(there: bool, here: bool) -> str:
    """Say on which side something is missing."""
    return "there" if here else "here" if there else "in either"


def _facts(place: Mapping[str, Any], keys: Iterable[str]) -> dict[str, str]:
    """Return the values of some keys by the words for them."""
    facts: dict[str, str] = {}
    for key in keys:
        value = place[key]
        if key == "versions":
            facts |= {name: text for name, text in value.items() if name != "amgd"}
        elif key == "blas":
            facts |= {f"BLAS kernel of {name}": text for name, text in value.items()}
        elif key == "settings":
            facts |= value
        elif key == "source":
            facts[_WORDS[key]] = f"{value:.12}"
        elif key == "environment" and value is not None:
            facts[_WORDS[key]] = f"{value['module']} {value['source']:.12}"
        else:
            facts[_WORDS[key]] = "none" if value is None else value
    return facts
