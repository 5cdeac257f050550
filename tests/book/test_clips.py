"""Clips of what policies do: small, of the policies that are kept, played by whoever wants to."""

import csv
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from amgd.reinforce import collect_episodes, make_simulator
from tools import clips

ROOT = Path(__file__).resolve().parents[2]
FILMS = sorted(clips.CLIPS.glob("*.webm"))
CHAPTERS = {"11_classic_control": ("cartpole", "acrobot"), "12_mujoco": tuple(clips.TASKS)[2:]}
LINK = re.compile(
    r"\[!\[(Clip: [^\]]+)\]\(\.\./book/clips/([\w-]+)\.webp\)\]\(\.\./book/clips/\2\.webm\)"
)


def returns() -> dict[tuple[str, str], dict[str, str]]:
    with (clips.CLIPS / "returns.csv").open(newline="") as file:
        return {(row["task"], row["player"]): row for row in csv.DictReader(file)}


def test_each_clip_is_small_has_a_poster_and_a_place_in_its_chapter() -> None:
    linked = set()
    for chapter, tasks in CHAPTERS.items():
        text = (ROOT / "notebooks" / "src" / f"{chapter}.md").read_text("utf8")
        here = {name for _, name in LINK.findall(text)}
        assert here == {p.stem for p in FILMS if p.stem.partition("-")[0] in tasks}
        linked |= here
    assert linked == {p.stem for p in FILMS}
    for path in FILMS:
        assert path.stat().st_size < 400_000
        with Image.open(path.with_suffix(".webp")) as poster:
            assert poster.size == (clips.WIDTH, clips.HEIGHT)
    assert {"-".join(key) for key in returns()} == linked - {"swimmer-gait"}


@pytest.mark.parametrize("player", ["untrained", "sgd", "amgd"])
def test_a_return_is_that_of_the_policy_that_is_kept(player: str) -> None:
    policy = dict(clips.players("cartpole"))[player]
    simulator = make_simulator(clips.TASKS["cartpole"].environment)
    batch = collect_episodes(
        policy, simulator, clips.EPISODES, rng=np.random.default_rng(clips.SEED)
    )
    row = returns()["cartpole", player]
    assert row["return"] == f"{batch.returns.mean():.1f}"
    assert row["length"] == f"{batch.lengths.mean():.1f}"


def test_a_clip_is_made_again_by_the_command(tmp_path: Path) -> None:
    if shutil.which("ffmpeg") is None or importlib.util.find_spec("pygame") is None:
        pytest.skip("ffmpeg or pygame is not installed: the clips that are committed are shown")
    code = "import sys; from pathlib import Path; from tools import clips; "
    code += "clips.CLIPS = Path(sys.argv[1]); clips.SECONDS = 1; clips.main(['cartpole'])"
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        check=True,
        cwd=ROOT,
        capture_output=True,
        env=os.environ | {"SDL_VIDEODRIVER": "dummy", "MUJOCO_GL": "disabled"},
    )
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(
        ["returns.csv"] + [f"cartpole-{p}.{end}" for p in clips.PLAYERS for end in ("webm", "webp")]
    )
    _, *rows = (tmp_path / "returns.csv").read_text().splitlines()
    assert set(rows) <= set((clips.CLIPS / "returns.csv").read_text().splitlines())
    assert len(rows) == len(clips.PLAYERS)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_clip_waits_is_played_by_keyboard_and_is_a_still_on_paper(chapter: str, opened) -> None:
    with opened(f"notebooks/{chapter}.html", 1280) as page:
        films = page.locator("article video")
        assert films.count() == sum(p.stem.partition("-")[0] in CHAPTERS[chapter] for p in FILMS)
        assert films.evaluate_all("vs => vs.every(v => v.paused && v.controls && v.poster)")
        assert films.evaluate_all("vs => vs.every(v => v.getAttribute('aria-label').length > 20)")
        first = films.first
        first.scroll_into_view_if_needed()
        first.focus()
        page.keyboard.press("Space")
        page.wait_for_function("document.querySelector('article video').currentTime > 0.2")
        assert not first.evaluate("v => v.error")
        assert page.locator("a.still:visible").count() == 0
        page.evaluate("dispatchEvent(new Event('beforeprint'))")  # printing opens the folds
        page.emulate_media(media="print")
        assert page.locator("article video:visible").count() == 0
        assert page.locator("a.still img:visible").count() == films.count()


def test_on_a_phone_clips_stand_one_below_the_other(opened) -> None:
    with opened("notebooks/11_classic_control.html", 390) as page:
        boxes = page.locator("article video").evaluate_all(
            "vs => vs.slice(0, 3).map(v => v.getBoundingClientRect()).map(b => [b.left, b.width])"
        )
        assert len({left for left, _ in boxes}) == 1
        assert all(width > 250 for _, width in boxes)
