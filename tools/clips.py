"""Film what the kept policies do, for chapters 11 and 12.

    MUJOCO_GL=egl python tools/clips.py [TASK ...]

Needs OpenGL, on screen or off, ffmpeg with VP9, and pygame for the classic tasks. For each task it
writes `book/clips/TASK-PLAYER.webm` with a poster, and to `book/clips/returns.csv` what the player
earns. They are committed, so the pages are built without any of this. The players are the policy of
seed 0 before training, and the same one trained by SGD and by AMGD in reading L; the swimmer has
the hand-written gait of chapter 12 as well.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from amgd.experiments.records import Record
from amgd.reinforce import Policy, Simulator, collect_episodes, make_simulator
from amgd.reinforce.simulators import Robot
from tools.keep_policies import file_of, kept_policy, trainer_of

ROOT = Path(__file__).resolve().parents[1]
RESULTS, CLIPS = ROOT / "book" / "results", ROOT / "book" / "clips"


class Task(NamedTuple):
    """What is filmed, and how."""

    environment: str
    record: str
    seconds: float  # one step of the task
    every: int = 1  # steps between two pictures
    speed: int = 1  # Acrobot decides five times a second: at that pace one sees single pictures


TASKS = {
    "cartpole": Task("CartPole-v0", "figure2-cartpole-L", 0.02, every=2),
    "acrobot": Task("Acrobot-v1", "figure2-acrobot-L", 0.2, speed=3),
    "swimmer": Task("Swimmer-v5", "figure3-swimmer-L", 0.04),
    "walker2d": Task("Walker2d-v5", "figure3-walker2d-L", 0.008, every=5),
    "halfcheetah": Task("HalfCheetah-v5", "figure3-halfcheetah-L", 0.05),
    "ant": Task("Ant-v5", "figure3-ant-L", 0.05),
}
LEARNED = {"sgd": "plain", "amgd": "ghadimi_lan"}
PLAYERS = ("untrained", *LEARNED)
SECONDS, EPISODES, SEED = 8, 100, 0
WIDTH, HEIGHT = 320, 240
ELEVATION = {"Swimmer-v5": -40, "Ant-v5": -25}  # degrees below the horizon
FIELDS = ("task", "player", "return", "length")

Frame = NDArray[Any]
Act = Callable[[NDArray[Any], int], NDArray[Any]]


def players(task: str) -> Iterator[tuple[str, Policy]]:
    """Yield the policies of a task that there are, by name."""
    if not (RESULTS / TASKS[task].record).exists():
        return
    record = Record(RESULTS / TASKS[task].record)
    [start] = trainer_of(record, "plain", SEED).result().policies
    yield "untrained", start
    for name, variant in LEARNED.items():
        if file_of(record, variant, SEED).exists():
            yield name, kept_policy(record, variant, SEED)


def gait(step: int, period: int = 55, lag: float = 1.1) -> NDArray[Any]:
    """Torques (1, 2) of the swimmer's joints, written by hand."""
    return np.sign(np.sin(2 * np.pi * step / period - np.array([[0.0, lag]])))


def camera(simulator: Simulator, env: gymnasium.Env[Any, Any]) -> Callable[[], Frame]:
    """Return what takes a picture of a simulator's first episode; a robot is followed."""
    body: Any = env.unwrapped
    if not isinstance(simulator, Robot):

        def draw() -> Frame:
            body.state = np.ravel(simulator.get_state()["state"])
            return np.asarray(env.render())

        return draw
    renderer, lens = mujoco.Renderer(body.model, HEIGHT, WIDTH), mujoco.MjvCamera()
    lens.type, lens.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, 1
    lens.azimuth, lens.distance, lens.elevation = 90, 4, ELEVATION.get(simulator.name, -10)

    def follow() -> Frame:
        body.set_state(simulator.positions[0], simulator.velocities[0])
        renderer.update_scene(body.data, lens)
        return np.array(renderer.render())

    return follow


def pictures(simulator: Simulator, act: Act, every: int, count: int) -> Iterator[Frame]:
    """Yield pictures (H, W, 3) of episodes one after the other."""
    env = gymnasium.make(simulator.name, render_mode="rgb_array")
    env.reset(seed=SEED)
    draw = camera(simulator, env)
    rng = np.random.default_rng(SEED)
    observations, step = simulator.reset(1, rng=rng), 0
    for frame in range(count * every):
        if frame % every == 0:
            picture = Image.fromarray(draw())
            yield np.asarray(picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))
        made = simulator.step(act(observations, step))
        observations, step = made.observations, step + 1
        if made.terminated[0] or made.truncated[0]:
            observations, step = simulator.reset(1, rng=rng), 0
    env.close()


def film(frames: Sequence[Frame], per_second: float, path: Path) -> None:
    """Write pictures as a clip, and one from the first seconds as its poster."""
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{WIDTH}x{HEIGHT}", "-r", f"{per_second:g}", "-i", "-", "-an"]
    command += ["-c:v", "libvpx-vp9", "-crf", "44", "-b:v", "0", "-pix_fmt", "yuv420p"]
    command += ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", str(path)]
    subprocess.run(command, input=np.stack(frames).tobytes(), check=True)
    Image.fromarray(frames[len(frames) // 4]).save(path.with_suffix(".webp"), quality=70)


def make(task: str) -> list[dict[str, str]]:
    """Film a task's players, and return what each earns."""
    environment, _, seconds, every, speed = TASKS[task]
    simulator = make_simulator(environment)
    per_second = speed / (every * seconds)

    def shoot(player: str, act: Act) -> None:
        frames = pictures(simulator, act, every, round(SECONDS * per_second))
        film(list(frames), per_second, path_of(task, player))

    rows = []
    for player, policy in players(task):
        rng = np.random.default_rng(SEED)
        shoot(player, lambda seen, step, p=policy, rng=rng: p.sample(seen, rng=rng))  # type: ignore[misc]
        batch = collect_episodes(policy, simulator, EPISODES, rng=np.random.default_rng(SEED))
        earned = {"return": f"{batch.returns.mean():.1f}", "length": f"{batch.lengths.mean():.1f}"}
        rows.append({"task": task, "player": player, **earned})
    if task == "swimmer":
        shoot("gait", lambda seen, step: gait(step))
    return rows


def path_of(task: str, player: str) -> Path:
    """Return where a clip is kept."""
    return CLIPS / f"{task}-{player}.webm"


def main(arguments: Sequence[str] | None = None) -> None:
    """Film the tasks that are named, or all whose records are there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    chosen = parser.parse_args(arguments).tasks
    if unknown := sorted(set(chosen) - set(TASKS)):
        parser.error(f"no such task: {', '.join(unknown)}; there are {', '.join(TASKS)}")
    if shutil.which("ffmpeg") is None:
        parser.error("ffmpeg is not on the path: install it (apt install ffmpeg)")
    mujoco.set_mju_user_warning(lambda text: None)  # half_cheetah.xml has a deprecated attribute
    CLIPS.mkdir(exist_ok=True)
    table = CLIPS / "returns.csv"
    rows = {}
    if table.exists():
        with table.open(newline="") as file:
            rows = {(row["task"], row["player"]): row for row in csv.DictReader(file)}
    for task in chosen or TASKS:
        rows |= {(row["task"], row["player"]): row for row in make(task)}
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))
    print(table)


if __name__ == "__main__":
    main()
