"""DDP with ZeRO, and FSDP2, on two CPU processes that talk over the loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from contract import TWO_PROCESSES


@pytest.fixture(scope="module")
def differences(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    root = Path(__file__).parents[2]
    program = Path(__file__).with_name("two_processes.py")
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path_factory.mktemp("two"))],
        env={**os.environ, "PYTHONPATH": str(root), "GLOO_SOCKET_IFNAME": "lo"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", TWO_PROCESSES)
@pytest.mark.parametrize("kind", ["zero", "fsdp"])
def test_a_stopped_run_is_that_of_one_process(
    kind: str, name: str, differences: dict[str, float]
) -> None:
    assert differences[f"{kind} {name}"] == 0
