"""Render the four robots as MuJoCo shows them, for chapter 12.

Needs OpenGL, on screen or off: ``MUJOCO_GL=egl .venv/bin/python tools/render_robots.py`` writes
``book/_static/robots.png``. The picture is committed, so the page is built without OpenGL.
"""

from pathlib import Path

import gymnasium
import mujoco
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from PIL import Image, ImageDraw, ImageFont

# Seconds of full, constant torques, until all limbs show.
ROBOTS = {"Swimmer-v5": 0.5, "Walker2d-v5": 0.04, "HalfCheetah-v5": 0.15, "Ant-v5": 0.15}
WIDTH, HEIGHT = 480, 360
PICTURE = Path(__file__).resolve().parents[1] / "book" / "_static" / "robots.png"


def frame(name: str, seconds: float) -> np.ndarray:
    """Return the labelled picture of a robot after some seconds of full torques, (H, W, 3)."""
    env = gymnasium.make(name, render_mode="rgb_array", width=WIDTH, height=HEIGHT)
    env.reset(seed=0)
    robot = env.unwrapped
    assert isinstance(robot, MujocoEnv)
    torques = np.where(np.arange(robot.model.nu) % 2, -1.0, 1.0)
    for _ in range(round(seconds / robot.dt)):
        robot.step(torques)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    env.close()
    labelled = Image.fromarray(picture)
    draw, words = ImageDraw.Draw(labelled), name.split("-")[0]
    font = ImageFont.load_default(size=30)
    draw.text((14, 8), words, fill="white", font=font, stroke_width=2, stroke_fill="black")
    return np.asarray(labelled)


def main() -> None:
    """Write the four pictures into one, two by two."""
    mujoco.set_mju_user_warning(lambda text: None)  # half_cheetah.xml has a deprecated attribute
    frames = [frame(*robot) for robot in ROBOTS.items()]
    rows = [np.hstack(frames[:2]), np.hstack(frames[2:])]
    Image.fromarray(np.vstack(rows)).save(PICTURE, optimize=True)
    print(PICTURE)


if __name__ == "__main__":
    main()
