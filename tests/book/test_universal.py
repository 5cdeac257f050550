"""Sentences with "never", "always", "for every chain", "we do not know": each has its evidence.

The table names, for each such sentence of chapters 02 to 09, the statement that proves it, the
assertion of the page that checks it, or that it claims nothing: it describes what was set up, what
is asked, or what is not known. A new sentence of this kind has to be added here.
"""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "notebooks" / "src"
WORDS = re.compile(
    r"\bnever\b|\balways\b|\bevery chain\b|\bno method\b|do not know|not known|know no\b"
)
SET_UP, OPEN = "set up", "open"
EVIDENCE = {
    "02": {
        "Forgetting never reverses": "lem-contraction",
        "never increase;": "lem-contraction",
        "never subtracts": SET_UP,
        "Since $d$ never increases": "lem-contraction",
        "For every chain and every $k$ the constant 2 is attained": "cor-1",
        "A periodic chain never settles": "assert np.allclose(ring.tv_distance(",
        "returns the uniform law for every chain": SET_UP,
        "the factor $2M$ is always missing": SET_UP,
        "attained for every chain": "cor-1",
    },
    "03": {
        "always makes sense": "thm-1",
        "is never farther from": "prop-mild",
        "a gradient that never changes": SET_UP,
        "always $\\beta_k=\\beta>0$ where not given": SET_UP,
        "would never enter the buffer": "lem-gap",
    },
    "04": {
        "we know no such number": OPEN,
        "(c) We do not know;": OPEN,
    },
    "05": {
        "never enters the method": "alg-amgd-convex",
        "and always $|\\E": "lem-lag",
        "the projection never acts": "prop-b",
        "it always misses the newest point": SET_UP,
        "(b) We do not know.": OPEN,
        "so $\\xbar_0$ never enters": "alg-amgd-convex",
        "You do not know $T$": SET_UP,
    },
    "06": {
        "for a chain that never moves": SET_UP,
        "We know no answer": OPEN,
        "it is the same for every chain": SET_UP,
    },
    "07": {
        "no method can know": "prop-07-lower",
        "no method escapes": "prop-07-lower",
        "It is never below 1": "and ratio >= 1",
        "The gap is never more than": "ass-convex",
        "and not always real": 'assert min(win["scaled gradient"][300]) > 4',
        "(b) We do not know.": OPEN,
    },
    "08": {
        "always steps the same way round": SET_UP,
        "We do not know $P$": SET_UP,
        "practically never": "08-far50",
    },
    "09": {
        "by a walk that never arrives": SET_UP,
        "it never forgets the largest update": "prop-09-lag",
        "the value of never arriving": "prop-09-constant",
        "the goal is never seen": "assert visited.max() < large.problem.n_states - 1",
    },
}


def prose(text):
    """Lines outside of code cells and figure options."""
    text = re.sub(r"```\{code-cell\}.*?\n```\n", "", text, flags=re.S)
    return [line for line in text.splitlines() if WORDS.search(line)]


def page(number):
    (path,) = SOURCES.glob(f"{number}_*.md")
    return path.read_text("utf8")


@pytest.mark.parametrize("number", EVIDENCE)
def test_universal_sentences_have_evidence(number):
    text, table = page(number), dict(EVIDENCE[number])
    for line in prose(text):
        found = [fragment for fragment in table if fragment in line]
        assert found, f"no evidence named for: {line[:200]}"
    everything = "\n".join(p.read_text("utf8") for p in SOURCES.glob("*.md"))
    for fragment, evidence in table.items():
        assert any(fragment in line for line in prose(text)), f"no such sentence: {fragment}"
        if evidence not in (SET_UP, OPEN):
            assert f":label: {evidence}" in everything or evidence in text, evidence
