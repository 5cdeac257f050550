"""Write ``book/explorables/records.js``: what the explorables show of the records in book/results.

    python -m tools.explorable_records

``make book`` calls it, so the pages follow the records. Curves keep at most 51 rows a run, as they
were recorded; a verdict after K updates is that of the book's rule for all rows up to K.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from amgd import figures
from amgd.experiments.named import EXPERIMENTS, reading_of
from amgd.experiments.records import Curves, Record
from amgd.experiments.verdicts import Comparison, Runs, compare_runs
from amgd.statistics import area_under_curve

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "book" / "results"
FILE = ROOT / "book" / "explorables" / "records.js"
NOTE = "Written by `make book`, with tools/explorable_records.py."
ROWS = 51
LENGTHS = 25
TASKS = {
    "grid10": "GridWorld 10",
    "grid50": "GridWorld 50",
    "cartpole": "CartPole",
    "acrobot": "Acrobot",
    "swimmer": "Swimmer",
    "walker2d": "Walker2d",
    "halfcheetah": "HalfCheetah",
    "ant": "Ant",
}
GAMMA = ("gamma_k = k beta / 2", "γ = kβ/2")
# The pairs of chapter 13, which are one family in each record, and the column of the page for each.
QUESTIONS = {
    ("accelerated", "plain"): "TD(0)-Acc",
    ("theorem1", "plain"): "Theorem 1",
    ("ghadimi_lan", "plain"): "kβ/2",
    ("nesterov", "plain"): "Nesterov",
    ("matched", "plain"): "matched",
    ("accelerated", "matched"): "control",
    ("ghadimi_lan", "matched"): "control",
    ("tuned_accelerated", "tuned"): "tuned",
    ("tuned_matched", "tuned"): "tuned matched",
    ("tuned_accelerated", "tuned_matched"): "tuned control",
    ("tuned_momentum", "tuned"): "momentum",
    ("tuned_adam", "tuned"): "Adam",
}


def opened(results: Path = RESULTS) -> dict[str, Record]:
    """Return the records that hold runs, by name."""
    found = {
        n: Record(results / n) for n in EXPERIMENTS if (results / n / "manifest.json").exists()
    }
    return {name: record for name, record in found.items() if record.files}


def title(name: str) -> str:
    """Return the words for a record: its task, its reading and what else its name says."""
    task, *rest = name.split("-")[1:]
    reading = reading_of(name)
    words = TASKS[task] + (f", reading {reading}" if reading else "")
    return words + "".join(f", {word}" for word in rest if word != reading)


def curves(record: Record, column: str) -> dict[str, Curves]:
    """Return the curves of all variants that have a finished run."""
    found = {v: record.curves(v, column) for v in record.spec.variants if record.seeds(v)}
    return {variant: curve for variant, curve in found.items() if curve.seeds}


def kept_rows(k: np.ndarray) -> np.ndarray:
    """Return the places of the rows that are kept, the first and the last among them."""
    return np.unique(np.linspace(0, len(k) - 1, min(ROWS, len(k))).round().astype(int))


def lengths(k: np.ndarray) -> np.ndarray:
    """Return the places of the rows after which a verdict is taken."""
    return np.unique(np.linspace(0, len(k) - 1, LENGTHS + 1).round().astype(int))[1:]


def verdicts(found: dict[str, Curves], last: int, better: str) -> dict[str, Comparison]:
    """Judge the questions of a record by the first ``last`` rows after the start."""
    runs = {
        v: Runs(
            dict(
                zip(
                    c.seeds,
                    area_under_curve(
                        c.k[: last + 1], c.samples[:, : last + 1], rule="right"
                    ).tolist(),
                    strict=True,
                )
            ),
            len(c.diverged),
        )
        for v, c in found.items()
    }
    family = {
        question: (runs[first], runs[second])
        for (first, second), question in QUESTIONS.items()
        if first in runs and second in runs
    }
    return compare_runs(family, better=better) if family else {}


def panel(name: str, record: Record) -> dict[str, Any]:
    """Return what the pages show of one record."""
    spec = record.spec
    quantity = spec.quantity(spec.column)
    found = curves(record, spec.column)
    distances = curves(record, "distance") if "distance" in spec.quantities else {}
    k = next(iter(found.values())).k
    rows = kept_rows(k)
    judged = {int(k[row]): verdicts(found, row, quantity.better) for row in lengths(k)}
    return {
        "title": title(name),
        "quantity": quantity.label,
        "log": quantity.log,
        "better": quantity.better,
        "planned": spec.seeds,
        "k": k[rows].tolist(),
        "curves": {
            variant: {
                "words": spec.words(variant, tex=False).replace(*GAMMA),
                "colour": figures.line_style(variant)["color"],
                "seeds": list(curve.seeds),
                "diverged": len(curve.diverged),
                "samples": curve.samples[:, rows].tolist(),
                "distance": distances[variant].samples.mean(axis=0)[rows].tolist()
                if variant in distances
                else None,
            }
            for variant, curve in found.items()
        },
        "verdicts": [
            {
                "k": last,
                "of": {
                    question: [c.word, c.n, c.difference.mean, c.difference.low, c.difference.high]
                    for question, c in answers.items()
                    if c.difference is not None
                },
            }
            for last, answers in judged.items()
        ],
    }


def write(results: Path = RESULTS, file: Path = FILE) -> None:
    """Write the file, unless it holds the same already."""
    panels = {name: panel(name, record) for name, record in opened(results).items()}
    text = json.dumps(panels, ensure_ascii=False, separators=(",", ":"))
    content = f'// {NOTE}\n"use strict";\n\nconst RECORDS = {text};\n'
    if not file.exists() or file.read_text("utf8") != content:
        file.write_text(content, "utf8")


if __name__ == "__main__":
    write()
