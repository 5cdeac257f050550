"""How tests give the command amgd: inside this process, or in one of its own."""

import os
import subprocess
import sys

from typer.testing import CliRunner

from amgd.experiments import cli

# As the installed program: modules of the working directory are no more at hand than there (-P).
PROGRAM = [
    sys.executable,
    "-P",
    "-c",
    "from amgd.experiments.cli import app; app(prog_name='amgd')",
]


class Done:
    """What a command printed, and its exit code."""

    def __init__(self, *arguments):
        result = CliRunner().invoke(cli.app, [str(one) for one in arguments], prog_name="amgd")
        # Anything but an exit is a traceback for the user.
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            result.exception
        )
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr


def amgd(*arguments, code=0):
    done = Done(*arguments)
    assert done.code == code, (done.code, done.out, done.err)
    return done


def refused(*arguments, code=1):
    """Give a command that fails and return its message, which is one line."""
    done = amgd(*arguments, code=code)
    assert "Traceback" not in done.err
    if code == 1:
        assert len([line for line in done.err.splitlines() if line.startswith("amgd: ")]) == 1
    return done.err


def from_outside(*arguments, cwd, code=0, **environ):
    """Give a command in a process of its own, as a user does, and return what it printed."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done
