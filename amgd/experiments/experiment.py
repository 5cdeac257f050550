r"""What every experiment offers, so that runner, records, tables, figures and command know no kind.

An experiment is a frozen dataclass that holds everything which decides the numbers of its runs.
A new kind is one module with one subclass of `Experiment`; importing it makes the kind known.

**Runs.** The unit is one run: a variant with a number, its seed.
What decides the bits of a run is its *identity* (`Experiment.identity`).
The number of seeds, the other variants, a threshold or a label are no part of it, so a record can
grow by seeds and variants, and what is only for the eye can change.

Plan of the module: quantities, what a run gives, the interface, plain data and its hash.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from amgd import _checks as check
from amgd._checks import arguments

if TYPE_CHECKING:
    from amgd.experiments.checkpoints import Checkpoints

__all__ = [
    "FIRST_TUNING_RUN",
    "Experiment",
    "Outcome",
    "Quantity",
    "Tuning",
    "build",
    "from_plain",
    "from_toml",
    "plain_hash",
    "same_identity",
    "to_toml",
    "told",
]

FIRST_TUNING_RUN = 1000
"""Runs from this number on are for tuning, so no grid is tried on a run that is reported."""
Columns = Mapping[str, NDArray[Any]]


class Quantity(NamedTuple):
    """What a column of a record means.

    Attributes
    ----------
    label : str
        In words, for an axis or a table.
    better : {"larger", "smaller"} or None
        Which direction is better; None if neither is.
    log : bool
        Whether it is drawn on a logarithmic axis.
    least, most : float
        What is possible; a band is drawn no further.
    """

    label: str
    better: str | None = None
    log: bool = False
    least: float = -np.inf
    most: float = np.inf


class Tuning(NamedTuple):
    """What a grid gave on the tuning seeds.

    Attributes
    ----------
    tried : tuple of str
        The steps, such as "0.03", "0.3/k" or "delta 0.1".
    areas : tuple of float
        A cost for each; infinite if a seed diverged.
    """

    tried: tuple[str, ...]
    areas: tuple[float, ...]

    @property
    def best(self) -> str:
        """The one with the smallest cost."""
        return self.tried[int(np.argmin(self.areas))]


class Outcome(NamedTuple):
    """What became of one run.

    Attributes
    ----------
    seed : int
    columns : mapping of str to ndarray, shape (m,)
        The first counts the rows.
    seconds : float
        What it took, alone on one core.
    diverged : str or None
        Where and why it stopped before its end.
    tuning : Tuning or None
        Of an experiment that tries its grids by itself.
    """

    seed: int
    columns: Columns
    seconds: float
    diverged: str | None = None
    tuning: Tuning | None = None


class Experiment(ABC):
    """An experiment: what is run, how, and what its columns mean.

    A subclass is a frozen dataclass with the fields below and those of its own; fields are numbers,
    strings, tuples, tables of these, or None, so that TOML can hold them.

    Attributes
    ----------
    kind : str
        Class attribute: the name under which a file in TOML asks for it. That of a class outside of
        amgd gets its module before it, MODULE:KIND, so that another process finds it.
    column : str
        Class attribute: what the figure shows, the default of tables and figures.
    counter : str
        Class attribute: what the rows count, for an axis.
    quantities : mapping of str to Quantity
        Class attribute: what the columns mean.
    variants : tuple of str
        What is compared; the first is the one that the others are compared with.
    seeds : int
        Runs that are reported, numbered from 0.
    tuning_seeds : int
        Runs on which a grid is tried, numbered from `FIRST_TUNING_RUN`.
    threshold : float or None
        Height of `column` that counts as reached.
    """

    kind: ClassVar[str]
    column: ClassVar[str]
    counter: ClassVar[str]
    quantities: ClassVar[Mapping[str, Quantity]] = {}
    variants: tuple[str, ...]
    seeds: int
    tuning_seeds: int = 0
    threshold: float | None = None
    _kinds: ClassVar[dict[str, type[Experiment]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            if not cls.__module__.startswith("amgd.") and ":" not in cls.kind:
                cls.kind = f"{cls.__module__}:{cls.kind}"
            Experiment._kinds[cls.kind] = cls

    # What each kind says of itself
    @property
    @abstractmethod
    def task(self) -> str:
        """The task in words, a title."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rows of a run that gets to its end."""

    @abstractmethod
    def run(
        self, variant: str, seeds: Sequence[int], rate: float | None, checkpoints: Checkpoints
    ) -> Iterator[Outcome]:
        """Run some seeds of a variant from their checkpoints on, and yield what became of each.

        A run gives the same bits in any company.
        """

    # What most kinds leave as it is
    def identity(self, variant: str, rate: float | None = None) -> dict[str, Any]:
        """Return all that decides the bits of a variant's run besides the seed, as plain data."""
        whole = {"kind": self.kind, "variant": variant, "rate": rate}
        return whole | plain_fields(self, ("variants", "seeds", "tuning_seeds", "threshold"))

    def rerun(
        self, variant: str, seeds: Sequence[int], rate: float | None, rows: int
    ) -> dict[int, Columns]:
        """Compute runs anew, at least their first rows; fewer if a run diverges before."""
        from amgd.experiments.checkpoints import NO_CHECKPOINTS

        return {o.seed: o.columns for o in self.run(variant, seeds, rate, NO_CHECKPOINTS)}

    @property
    def size(self) -> str:
        """How much it is, in words."""
        return f"{self.rows} rows"

    @property
    def environment(self) -> str | None:
        """Name of the environment whose code the runs depend on, if they do."""
        return None

    def words(self, variant: str, *, tex: bool = True) -> str:
        """Return the name of a variant in words, for a terminal without TeX."""
        return variant.replace("_", " ")

    @arguments
    def quantity(self, column: str) -> Quantity:
        """Return what a column means; an unknown one is called by its name."""
        return self.quantities.get(column, Quantity(column.replace("_", " ")))

    @arguments
    def grid(self, variant: str) -> tuple[float, ...]:
        """Return the rates that a variant tries in runs of their own, none if it has no grid."""
        return ()

    @arguments
    def tunes(self, variant: str) -> bool:
        """Whether a variant tries a grid, in runs of their own or inside its run."""
        return bool(self.grid(variant))

    @arguments
    def groups(
        self, seeds: Sequence[int], done: Mapping[int, int], workers: int
    ) -> list[tuple[int, ...]]:
        """Cut seeds into those that one task runs together, given the rows that each has done."""
        return [(seed,) for seed in seeds]

    def check(self) -> None:  # noqa: B027  (most kinds have nothing to look at)
        """Look at what the fields name, such as an environment, before the first run.

        Raises
        ------
        ValueError, TypeError
            That says why no run of it could be trusted.
        """

    @arguments
    def widened(self, others: Sequence[Experiment]) -> Experiment:
        """Return it with the variants and the seeds of the others too."""
        names = [name for one in (self, *others) for name in one.variants]
        seeds = max(one.seeds for one in (self, *others))
        made: Any = self
        return replace(made, variants=tuple(dict.fromkeys(names)), seeds=seeds)  # type: ignore[no-any-return]

    def to_plain(self) -> dict[str, Any]:
        """Return it as numbers, strings, lists and tables; a field that is None is left out."""
        return {"kind": self.kind} | plain_fields(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Self:
        """Return the experiment that plain data (without `kind`) describe."""
        made: Self = build(cls, data, f"a specification of kind {cls.kind!r}")
        return made

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the defaults of the fields, as in `identity`."""
        return default_fields(cls)


def check_variants(
    name: str, variants: Any, known: tuple[str, ...] | Callable[[], tuple[str, ...]]
) -> tuple[str, ...]:
    """Return a tuple of distinct names out of the known ones."""
    known = known() if callable(known) else known
    if not isinstance(variants, list | tuple) or not variants:
        kind = ValueError if isinstance(variants, str | list | tuple) else TypeError
        raise kind(
            f"{name} must list names: got {variants!r} (expected some of {known}); "
            f"pass for example {known[:2]}"
        )
    listed = tuple(check.choice(name, one, known) for one in variants)
    if len(set(listed)) < len(listed):
        raise ValueError(
            f"{name} lists a name twice: got {listed} (expected distinct names); drop one"
        )
    return listed


def check_rates(name: str, values: Any) -> tuple[float, ...]:
    """Return a tuple of distinct positive floats."""
    if not check.fits(values, Sequence):
        raise TypeError(
            f"{name} must be a sequence of numbers: got {values!r} (expected for example "
            "(0.01, 0.1)); list the values to try"
        )
    grid = tuple(check.positive(f"{name}[{i}]", v, "list steps") for i, v in enumerate(values))
    if len({f"{value:g}" for value in grid}) < len(grid):  # by which the tries are named
        raise ValueError(
            f"{name} lists a value twice: got {grid} (expected values that differ in their first "
            "six digits); drop one of the two"
        )
    return grid


# --- plain data -----------------------------------------------------------------------------------
def plain_fields(of: Any, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass as plain data; those that are None are left out."""
    named = {f.name: getattr(of, f.name) for f in fields(of) if f.name not in without}
    return {name: _plain(value) for name, value in named.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return value + 0.0 if isinstance(value, float) else value  # -0.0 equals 0.0


def default_fields(made: Any, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return the defaults of a dataclass as plain data."""
    found = {}
    for f in fields(made):
        if f.name not in without and f.default is not MISSING:
            found[f.name] = _plain(f.default)
        elif f.name not in without and f.default_factory is not MISSING:
            found[f.name] = _plain(f.default_factory())
    return found


def plain_hash(data: Any) -> str:
    """Return the SHA-256 of plain data, 64 hexadecimal digits, the same on every machine.

    Examples
    --------
    >>> plain_hash({"a": 1, "b": [2.0]}) == plain_hash({"b": [2.0], "a": 1})
    True
    """
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"data must be numbers, strings, lists and tables: got {data!r:.80}; {error}"
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()


@arguments
def same_identity(
    recorded: Mapping[str, Any], wanted: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return in which entries two identities differ: nothing if they are of the same run.

    An entry that one of them lacks has its default there: a record stays valid when a field with a
    default is added.

    Examples
    --------
    >>> same_identity({"lr": 0.1}, {"lr": 0.1, "new": 0}, {"new": 0})
    {}
    >>> same_identity({"lr": 0.1}, {"lr": 0.2}, {})
    {'lr': (0.1, 0.2)}
    """
    old, new, usual = map(_flat, (recorded, wanted, defaults))
    pairs = {
        name: (old.get(name, usual.get(name)), new.get(name, usual.get(name)))
        for name in sorted(old.keys() | new.keys())
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@arguments
def told(different: Mapping[str, tuple[Any, Any]]) -> str:
    """Say what `same_identity` found; of another kind nothing is the same.

    Examples
    --------
    >>> told({"lr": (0.1, 0.2)})
    'lr was 0.1, is 0.2'
    """
    if "kind" in different:
        different = {"kind": different["kind"]}
    return ", ".join(f"{name} was {old!r}, is {new!r}" for name, (old, new) in different.items())


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


@arguments
def to_toml(experiment: Experiment) -> str:
    """Return an experiment as TOML, with every field.

    Examples
    --------
    >>> from amgd.experiments.named import named
    >>> print(to_toml(named("figure1-grid10")).splitlines()[0])
    kind = "gridworld"
    """
    import tomli_w

    return tomli_w.dumps(experiment.to_plain())


@check.arguments
def from_toml(text: Annotated[str, check.instance, str, "read the file first"]) -> Any:
    """Return the experiment that a TOML text describes.

    Parameters
    ----------
    text : str
        With `kind` ("gridworld", "reinforce" or MODULE:KIND) and fields of that class; what is left
        out has its default.

    Returns
    -------
    Experiment

    Raises
    ------
    ValueError, TypeError
        For text that is not TOML, an unknown kind or field, or a value that the class refuses.

    Examples
    --------
    >>> from_toml('kind = "gridworld"\\nn = 5\\nepisodes = 20').length
    50
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"the text of a specification must be TOML: got {error}; `amgd list --toml NAME` "
            "shows one"
        ) from error
    return from_plain(data)


def from_plain(data: Mapping[str, Any]) -> Any:
    """Return the experiment that plain data describe, as `Experiment.to_plain` returns them.

    Raises
    ------
    ValueError, TypeError
        For an unknown kind or field, or a value that the class refuses.

    Examples
    --------
    >>> from amgd.experiments.named import named
    >>> spec = named("figure1-grid50")
    >>> from_plain(spec.to_plain()) == spec
    True
    """
    values = dict(check.instance("data", data, dict, "as Experiment.to_plain returns it"))
    return _class_of(values.pop("kind", None)).from_plain(values)


_BUILT_IN = ("gridworld", "reinforce")


def _class_of(kind: Any) -> type[Experiment]:
    """Return the class of a kind: one that is imported, one of ours, or MODULE:KIND."""
    if isinstance(kind, str) and kind not in Experiment._kinds:
        module = kind.rpartition(":")[0]
        try:
            if kind in _BUILT_IN:
                importlib.import_module(f"amgd.experiments.{kind}")
            elif module:
                importlib.import_module(module)
        except ImportError as error:
            raise ValueError(
                f"the kind {kind!r} cannot be imported: {error}; its module must lie in the "
                "working directory or be installed"
            ) from error
    return Experiment._kinds[
        check.choice("kind", kind, tuple(dict.fromkeys((*_BUILT_IN, *Experiment._kinds))))
    ]


@arguments
def build(made: Any, data: Mapping[str, Any], where: str, without: Sequence[str] = ()) -> Any:
    """Return a dataclass made from plain data, with lists as tuples.

    Raises
    ------
    ValueError
        That says `where` a field is unknown or missing.
    """
    if not is_dataclass(made):
        raise TypeError(f"made must be a dataclass: got {made!r:.60}; pass a specification's class")
    known = [f for f in fields(made) if f.name not in without]
    names = [f.name for f in known]
    unknown = [name for name in data if name not in names]
    if unknown:
        raise ValueError(
            f"data of {where} has no field {unknown[0]!r}: got it with {data[unknown[0]]!r} "
            f"(expected some of {names}); correct its name, or leave it out"
        )
    needed = {f.name for f in known if f.default is MISSING and f.default_factory is MISSING}
    missing = sorted(needed - set(data))
    if missing:
        raise ValueError(
            f"data of {where} is not complete: got {list(data)} (expected {missing} too); add them"
        )
    return made(**{name: tuple(v) if isinstance(v, list) else v for name, v in data.items()})  # type: ignore[operator]
