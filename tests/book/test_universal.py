"""Sentences with "never", "always", "for every chain", "faster", "ahead": each has its evidence.

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

# The same for sentences of order. An iterate or a point that lies ahead is a definition.
ORDER_WORDS = re.compile(r"(?<!look-)\b(?:ahead|behind|slower|faster)\b")
ORDER = {
    "03": {
        "the slow one gets faster": SET_UP,
        "seen from $\\xbar_k$ ahead": SET_UP,
        "looks ahead in the same way": SET_UP,
        "behind which a wrong index can hide": SET_UP,
        "They are ahead at first": "assert lead > 1.3 and loss > 100",
    },
    "04": {"SGD is slightly ahead": "assert 0 < relative < 0.05 and gap.low > 0"},
    "05": {
        "is slower than the method it is meant to": "assert min(on_one_line) > 1.9",
        "The lemma behind the theorem": SET_UP,
        "slower than in SGD": "prop-b",
        "the method is slower than averaged SGD": "< rival < measured[best]",
    },
    "06": {
        "That is slower than the $1/k$": "assert abs(slope + 0.4) < 0.002",
        "times behind, and at": "assert averaged[1] > 5 * ours[1]",
        "is the start forgotten faster than": "assert abs(slope / (-4 * delta) - 1) < 0.01",
        "The start is forgotten faster than": "assert abs(slope / (-4 * delta) - 1) < 0.01",
        "grows faster than $(1+T)^2$": OPEN,
    },
    "07": {
        "method ends ahead:": "assert acc < avg",
        "Yet acceleration survives": 'assert min(win["scaled gradient"][300]) > 4',
        "*behind* at $k=300$": 'assert win["one coordinate"][3000][0] > 3',
        "acceleration can end ahead": "assert acc < avg",
    },
    "08": {
        "faster along some directions": SET_UP,
        "the matrix behind them": SET_UP,
        "Theorem 3′ is ahead": "assert gaps[1][2] < gaps[0][2]",
        "is faster on *every* chain": OPEN,
    },
    "09": {
        "leaves both behind": '== c["tuned"].word == "worse"',
        "the runs behind the picture": SET_UP,
        "that it lies ahead": SET_UP,
        "looks ahead to $y$": SET_UP,
    },
}


def prose(text, words=WORDS):
    """Lines outside of code cells and figure options."""
    text = re.sub(r"```\{code-cell\}.*?\n```\n", "", text, flags=re.S)
    return [line for line in text.splitlines() if words.search(line)]


def page(number):
    (path,) = SOURCES.glob(f"{number}_*.md")
    return path.read_text("utf8")


@pytest.mark.parametrize(
    ("number", "evidence", "words"),
    [(n, EVIDENCE[n], WORDS) for n in EVIDENCE] + [(n, ORDER[n], ORDER_WORDS) for n in ORDER],
)
def test_sentences_have_evidence(number, evidence, words):
    text = page(number)
    for line in prose(text, words):
        found = [fragment for fragment in evidence if fragment in line]
        assert found, f"no evidence named for: {line[:200]}"
    everything = "\n".join(p.read_text("utf8") for p in SOURCES.glob("*.md"))
    for fragment, proof in evidence.items():
        assert any(fragment in line for line in prose(text, words)), f"no such sentence: {fragment}"
        if proof not in (SET_UP, OPEN):
            assert f":label: {proof}" in everything or proof in text, proof


def test_chapter_02_has_no_sentence_of_order():
    """It is about chains, not methods; so it has no table above."""
    assert not prose(page("02"), ORDER_WORDS)
