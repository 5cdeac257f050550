"""The package as a whole: what an import costs, and which way imports point."""

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import amgd

ROOT = Path(amgd.__file__).parent
# A module may import from the layers before its own, and from its own.
LAYERS = [
    "errors",
    "_checks",
    "statistics",
    "figures",
    "markov",
    "descent",
    "optim",
    "td",
    "reinforce",
    "experiments",
]
WITHOUT_TORCH = ["amgd", "amgd.markov", "amgd.descent", "amgd.td", "amgd.statistics"]


def test_version_is_the_installed_one() -> None:
    assert amgd.__version__ == version("amgd")


@pytest.mark.parametrize("module", WITHOUT_TORCH)
def test_parts_one_to_three_never_import_torch(module: str) -> None:
    code = f"import sys, {module}; assert not {{'torch', 'matplotlib'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def imports(path: Path) -> set[str]:
    """Layers that a file imports from; a relative import stays in its own folder."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {n.split(".")[1] for n in names if n.startswith("amgd.")} & set(LAYERS)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if own in LAYERS:
        allowed = LAYERS[: LAYERS.index(own) + 1]
        assert imports(path) <= set(allowed)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("[a-z]*.py")), ids=lambda p: p.stem)
def test_modules_list_their_public_names(path: Path) -> None:
    assert "\n__all__ = [" in path.read_text("utf8")


def test_no_pickle_and_no_global_random_state() -> None:
    banned = (
        "import pickle",
        "np.random.seed",
        "torch.manual_seed",
        "allow_pickle=True",
        "random.seed",
    )
    found = [(p.name, b) for p in ROOT.rglob("*.py") for b in banned if b in p.read_text("utf8")]
    assert found == []
