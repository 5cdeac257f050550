"""Put what a learning platform exports where `grade` looks for it.

    python -m tools.course.collect FROM SUBMISSIONS ASSIGNMENT [--roster roster.csv]

FROM is a zip file or a folder: Moodle's (``Name_12345_assignsubmission_file/x.ipynb``), Canvas's
(``namefirst_LATE_123_456_x.ipynb``), or one with a folder or a notebook for each student.
The roster has the columns ``id`` and ``name`` and any others, such as an address or the number that
the platform uses: whoever has a file's number or name, in any order and with any accents, is meant.
Without a roster the name itself becomes the id.

Called again, it adds what is new and replaces what has changed; what was there stays in
SUBMISSIONS/.before. SUBMISSIONS/collected.csv says of each student: collected, twice, unreadable,
unknown (not on the roster) or missing.
"""

import argparse
import itertools
import re
import sys
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tools.course.build import COURSE, assignments
from tools.course.marks import read_table, write_table
from tools.course.submissions import FILE_LIMIT, STUDENT, identity, read_regular, shown

COLUMNS = ("id", "name", "assignment", "state", "file")
ENTRY_LIMIT = 20_000  # files of an export
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)")
CANVAS = re.compile(r"(?P<name>[^_/]+)(?:_LATE)?_(?P<number>\d+)_\d+_(?P<rest>.+)")
COPY = re.compile(r"[- ]?\(?(\d+)\)?$")  # x-2.ipynb and x (2).ipynb are later than x.ipynb


@dataclass(frozen=True)
class File:
    """A file of an export, and who has handed it in."""

    name: str  # of the student, as the platform writes it
    number: str  # of the student on the platform, if it is told
    path: str
    read: Callable[[], bytes] = field(compare=False)


def parse(path: str, read: Callable[[], bytes]) -> File | None:
    """Who a path belongs to; None for what no student has written."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if not parts or any(p.startswith((".", "__MACOSX")) or p == ".." for p in parts):
        return None
    for pattern in (MOODLE, CANVAS):
        for part in parts:
            if found := pattern.fullmatch(part):
                return File(found["name"], found["number"], path, read)
    name = parts[0] if len(parts) > 1 else parts[0].removesuffix(".ipynb")
    return File(name, "", path, read)


def export_files(source: Path) -> Iterator[File]:
    """All files of an export.

    Raises
    ------
    ValueError
        If there are too many of them, or the file is no zip.
    """
    if source.is_dir():
        paths = (p for p in sorted(source.rglob("*")) if not p.is_dir() or p.is_symlink())
        told = ((p.relative_to(source).as_posix(), lambda p=p: read_regular(p)) for p in paths)
    elif zipfile.is_zipfile(source):
        archive = zipfile.ZipFile(source)
        entries = [e for e in archive.infolist() if not e.is_dir()]
        told = ((e.filename, lambda e=e: _unzip(archive, e)) for e in entries)
    else:
        raise ValueError(f"{source} is neither a folder nor a zip file: give what was exported")
    for count, (path, read) in enumerate(told):
        if count >= ENTRY_LIMIT:
            raise ValueError(f"{source} holds more than {ENTRY_LIMIT} files: is it an export?")
        if file := parse(path, read):
            yield file


def _unzip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        content = file.read(FILE_LIMIT + 1)
    if len(content) > FILE_LIMIT:
        raise ValueError(f"it has more than {FILE_LIMIT} bytes")
    return content


def words(text: str) -> list[str]:
    """The words of a name without accents and capitals."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ø", "o")).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return re.findall(r"\w+", plain.replace("'", "").replace("’", "").replace("_", " "))


class Roster:
    """Who is in the course.

    Parameters
    ----------
    rows : list of dict
        Rows with an ``id`` each.
    """

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.rows = {row["id"].strip(): row for row in rows}
        ids = [row["id"].strip() for row in rows]
        if bad := [i for i in ids if ids.count(i) > 1 or not STUDENT.fullmatch(i)]:
            raise ValueError(f"roster: ids must be different, of letters and digits: got {bad}")
        self.known: dict[str, set[str]] = {}
        for student, row in self.rows.items():
            for value in row.values():
                for way in self.ways(value):
                    self.known.setdefault(way, set()).add(student)

    @staticmethod
    def ways(value: str) -> set[str]:
        """Ways to write a name: its words in any order, with and without spaces."""
        found = words(value)
        joined = {"".join(w) for w in itertools.permutations(found[:4])} if found else set()
        return joined | ({" ".join(sorted(found))} if found else set())

    def find(self, file: File) -> str | None:
        """Id of a student, by number first; None if nobody or more than one is meant."""
        for told in (file.number, file.name):
            for way in (" ".join(sorted(words(told))), "".join(words(told))):
                if len(found := self.known.get(way, set())) == 1:
                    return next(iter(found))
        return None


def later(path: str) -> tuple[int, str]:
    """Order of the copies of a notebook: the one with the largest number is the last."""
    found = COPY.search(PurePosixPath(path).stem)
    return (int(found[1]) if found else 0, path)


def collect(
    source: Path,
    submissions: Path,
    assignment: str,
    roster: Path | None = None,
    course: Path = COURSE,
) -> list[dict[str, str]]:
    """Collect one assignment; give the rows of collected.csv that belong to it."""
    names = {a.name: f"{a.notebook}.ipynb" for a in assignments(course)}
    if assignment not in names:
        raise ValueError(f"no assignment {assignment!r}: there are {sorted(names)}")
    submissions.mkdir(parents=True, exist_ok=True)
    if roster is not None:
        rows = read_table(roster, ("id", "name"))
        columns = tuple(dict.fromkeys(c for row in rows for c in row))
        Roster(rows)  # refuses a bad one before it is kept
        write_table(submissions / "roster.csv", columns, rows)
    path = submissions / "roster.csv"
    people = Roster(read_table(path, ("id",))) if path.exists() else None
    found: dict[str, list[File]] = {}
    told = []
    for file in export_files(source):
        student = identity(file.name) if people is None else people.find(file)
        if student is None:
            told.append(row(identity(file.name), file.name, assignment, "unknown", file.path))
        else:
            found.setdefault(student, []).append(file)
    for student in [*found, *(people.rows if people else {})]:
        if any(r["id"] == student for r in told):
            continue
        files = found.get(student, [])
        name = people.rows[student].get("name", "") if people else files[0].name
        target = submissions / student / assignment / names[assignment]
        told.append(row(student, name, assignment, *take(submissions, target, files)))
    path = submissions / "collected.csv"
    others = [r for r in read_table(path) if r["assignment"] != assignment] if path.exists() else []
    write_table(path, COLUMNS, [*others, *told])
    return told


def take(submissions: Path, target: Path, files: list[File]) -> tuple[str, str]:
    """Put the last of a student's notebooks in its place; give state and file."""
    notebooks = sorted((f for f in files if f.path.endswith(".ipynb")), key=lambda f: later(f.path))
    if not notebooks:
        if files:
            return "unreadable", files[0].path
        return "collected" if target.exists() else "missing", ""
    last = notebooks[-1]
    try:
        put(submissions, target, last.read())
    except Exception as error:  # an archive can be broken in as many ways as it can be packed
        return "unreadable", f"{last.path}: {error}"
    return "twice" if len(notebooks) > 1 else "collected", last.path


def row(*values: str) -> dict[str, str]:
    """A row of collected.csv."""
    return dict(zip(COLUMNS, map(shown, values), strict=True))


def put(submissions: Path, target: Path, content: bytes) -> None:
    """Write a notebook; another one that stood there is kept."""
    old = target.read_bytes() if target.exists() else content
    if old != content:
        place = submissions / ".before" / target.parent.relative_to(submissions)
        place.mkdir(parents=True, exist_ok=True)
        number = len(list(place.iterdir())) + 1
        (place / f"{target.stem}.{number:04d}.ipynb").write_bytes(old)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("source", type=Path, metavar="FROM")
    parser.add_argument("submissions", type=Path)
    parser.add_argument("assignment")
    parser.add_argument("--roster", type=Path, help="default: roster.csv in SUBMISSIONS, if any")
    args = parser.parse_args()
    try:
        told = collect(args.source, args.submissions, args.assignment, args.roster)
    except (ValueError, OSError) as error:
        print(f"nothing was collected: {error}", file=sys.stderr)
        return 1
    for state in ("collected", "twice", "unreadable", "unknown", "missing"):
        names = [r["id"] for r in told if r["state"] == state]
        listed = "" if state == "collected" else f": {', '.join(names)}"
        print(f"{len(names)} {state}{listed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
