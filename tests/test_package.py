"""The package as a whole: what an import costs, and which way imports point."""

import ast
import re
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
    "_imports",
    "statistics",
    "markov",
    "descent",
    "figures",
    "optim",
    "td",
    "reinforce",
    "experiments",
    "_command",
]
PAGE = (ROOT.parent / "book" / "api.md").read_text("utf8")
MODULES = re.findall(r"^\.\. automodule:: (\S+)$", PAGE, re.M)


def test_version_is_the_installed_one() -> None:
    assert amgd.__version__ == version("amgd")


def test_parts_one_to_three_never_import_torch() -> None:
    parts = "amgd, amgd.markov, amgd.descent, amgd.td, amgd.statistics"
    code = f"import sys, {parts}; assert not {{'torch', 'matplotlib'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_the_api_page_names_what_needs_torch() -> None:
    """Where PyTorch cannot be imported, these modules cannot either, and all others can."""
    (sentence,) = re.findall(r"^PyTorch is needed by .*$", PAGE, re.M)
    named = re.findall(r"`(amgd[\w.]+)`", sentence)
    expected = [m for m in MODULES if any(f"{m}.".startswith(f"{name}.") for name in named)]
    code = f"""
import importlib, sys
class Absent:
    def find_spec(name, *_):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name=name)
sys.meta_path.insert(0, Absent)
for name in {MODULES}:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error, sep=": ")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    refused = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert list(refused) == expected
    for module, words in refused.items():
        if not module.startswith("amgd.experiments."):
            assert f"{'.'.join(module.split('.')[:2])} needs PyTorch" in words
            assert 'pip install "amgd[torch]"' in words


def test_the_command_says_which_extra_brings_it() -> None:
    code = """
import sys
sys.modules["typer"] = None
from amgd._command import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"amgd {amgd.__version__}: the command needs typer, which is not installed; "
        'run: pip install "amgd[experiments]"\n'
    )


def test_the_package_is_typed() -> None:
    assert (ROOT / "py.typed").exists()


def test_the_api_page_has_the_order_of_the_layers() -> None:
    shown = [module.split(".")[1] for module in MODULES]
    assert list(dict.fromkeys(shown)) == [layer for layer in LAYERS if layer[0] != "_"]
    assert shown == sorted(shown, key=LAYERS.index)


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


@pytest.mark.parametrize("folder", ["amgd", "tools"])
def test_contributing_says_where_every_module_is(folder: str) -> None:
    """In the order in which they may import, as far as folders go."""
    text = (ROOT.parent / "CONTRIBUTING.md").read_text("utf8")
    (table,) = re.findall(rf"^\| the [a-z]+, `{folder}/` \|.*\n((?:\|.*\n)+)", text, re.M)
    named = re.findall(r"^\| `(\S+\.py)` \|", table, re.M)
    files = (ROOT.parent / folder).rglob("*.py")
    present = {p.relative_to(ROOT.parent / folder).as_posix() for p in files}
    assert len(named) == len(set(named))
    assert set(named) <= present
    assert {p for p in present if not Path(p).name.startswith("_")} <= set(named)
    if folder == "amgd":
        layers = [name.split("/")[0].removesuffix(".py") for name in named]
        assert layers == sorted(layers, key=LAYERS.index)


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
