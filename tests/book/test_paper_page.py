"""The page that goes through the paper: nothing numbered is passed over, every link arrives."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "paper.md").read_text("utf8")
SOURCES = [*(ROOT / "notebooks" / "src").glob("*.md"), *(ROOT / "book").rglob("*.md")]

# All labels of the paper's source, in its order: sections, statements, equations, figures, tables.
LABELS = re.findall(
    r"\S+",
    """
sec:intro prob:main notation:f assump:ergodicity notation:tau sec:nonconvex alg_nonconvex:y
alg_nonconvex:x alg_nonconvex:xbar thm_nonconvex:pk alg:ASGD_nonconvex assump:lower_bound
ass:Lipschitz ass_Lipschitz:Ineq1 assump:bounded_gradient assump_bounded_gradient:Ineq
notation:Gamma lem:nonconvex lem_nonconvex:Ineq thm:nonconvex thm_nonconvex:stepsizes
thm_nonconvex:Ineq thm_nonconvex:Eq0 thm_nonconvex:Eq1a thm_nonconvex:Eq1b
thm_nonconvex:Eq1c thm_nonconvex:Eq1 sec:convex alg:y alg:x alg:xbar alg:ASGD_convex
notation:DM condition:stepsizes thm:convex thm_convex:stepsizes thm_convex:Ineq ass:sc
ass_sc:Ineq thm:sc thm_sc:stepsizes thm_sc:Ineq sec_experiment fig:gridworld
sec:simulation:TD fig:acrobot_cartpole fig:acrobot tab:environments tab:params
fig:mujoco_envs sec_conclusion appendix:cor:mixing:ineq appendix:lem_nonconvex
lem_nonconvex:Eq1 lem_nonconvex:Eq1aa lem_nonconvex:Eq1a lem_nonconvex:Eq2
lem_nonconvex:Eq2a lem_nonconvex:Eq2b lem:f_xbar lem_f_xbar:stepsizes lem_f_xbar:Ineq
apx_notation:xtilde apx_lem:Eq1 lem_f_xbar:Eq2 lem_f_xbar:Eq2a lem_f_xbar:Eq2b
lem_f_xbar:Eq2c lem_f_xbar:Eq3 cond:alpha_Gamma apx_alg:xbar apx_alg:x
apx_lem_convex:mixing_grad apx_lem_convex_mixing_grad:Ineq apx_lem_convex_mixing_grad:Eq1a
apx_lem_convex_mixing_grad:Eq1 apx_lem_convex_mixing_grad:Eq1b
apx_lem_convex_mixing_grad:Eq1c apx_lem_sc:mixing_grad apx_lem_sc_mixing_grad:Ineq
apx_lem_sc_mixing_grad:Eq1a apx_lem_sc_mixing_grad:Eq1b apx_lem_sc_mixing_grad:Eq1c
apx_lem_sc_mixing_grad:Eq1 apx_lem_sc_mixing_grad:Eq1d apx_lem_sc_mixing_grad:Eq1e
apx_lem_sc_mixing_grad:Eq1f thm_sc:Eq1 thm_sc:Eq1a thm_sc:Eq1b thm_sc:Eq1c
""",
)
NUMBERED = {
    "Assumption": 5,
    "Algorithm": 2,
    "Lemma": 4,
    "Theorem": 3,
    "Corollary": 1,
    "Remark": 3,
    "Figure": 3,
    "Table": 2,
    "Section": 6,
}
ROWS = [
    [cell.strip() for cell in row.strip("| ").split(" | ")]
    for row in re.findall(r"^\|.*\|$", PAGE.split("## Abstract")[1], re.M)
    if not re.match(r"\| (?:---|the paper says)", row)
]
VERDICTS = re.findall(r"^\| (\w[\w ]*) \| ", PAGE.split("## Abstract")[0], re.M)[1:]


def targets() -> set[str]:
    """Names that a reference can lead to."""
    found: set[str] = set()
    for path in SOURCES:
        text = path.read_text("utf8")
        found |= set(re.findall(r"^:label: (\S+)$", text, re.M))
        found |= set(re.findall(r"^\((\S+)\)=$", text, re.M))
        found |= set(re.findall(r"^\$\$ \((\S+)\)$", text, re.M))
        found |= set(re.findall(r"^ +name: (fig-\S+)$", text, re.M))
    return found


@pytest.mark.parametrize("label", LABELS)
def test_everything_with_a_label_is_mentioned(label: str):
    assert f"`{label}`" in PAGE


@pytest.mark.parametrize(
    ("kind", "number"), [(k, i + 1) for k, n in NUMBERED.items() for i in range(n)]
)
def test_everything_with_a_number_is_mentioned(kind: str, number: int):
    assert re.search(rf"\b{kind} {number}\b", PAGE)


def test_every_reference_arrives():
    known = targets()
    shown = re.findall(r"\{(?:prf:ref|ref|eq|numref)\}`(?:[^`<]*<)?([\w-]+)>?`", PAGE)
    assert len(shown) > 100
    assert sorted({label for label in shown if label not in known}) == []
    for doc in re.findall(r"\{doc\}`([^`]+)`", PAGE):
        folder = ROOT / "notebooks" / "src" if "notebooks" in doc else ROOT / "book"
        assert (folder / f"{doc.removeprefix('../notebooks/')}.md").exists(), doc


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_every_claim_has_a_verdict_and_a_place(row: list[str]):
    claim, verdict, place = row
    assert claim.endswith(".")
    assert verdict in VERDICTS
    assert re.search(r"\{(?:prf:ref|ref|eq|numref|doc)\}`", place)


def test_verdicts_agree_with_the_errata():
    """What the errata call false of a printed statement is not said to hold."""
    for claim, verdict, place in ROWS:
        if re.match(r"(Lemma|Theorem|Corollary) \d", claim):
            assert "-printed`" in place or "lem-lag" in place, claim
            assert verdict == "repaired", claim
