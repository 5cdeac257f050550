"""How the tester and a student's process talk.

The two speak over a socket in frames of JSON. The directions differ, because only one side is
trusted:

* the tester sends functions and arguments by cloudpickle: whatever it sends, it may be executed;
* the student's process answers with plain data that this module spells out (numbers, text,
  containers, arrays, tensors). Nothing that arrives is executed or unpickled. A value of another
  kind stays where it is, and the tester gets a number that stands for it.
"""

import base64
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

FRAME_LIMIT = 64 * 2**20  # bytes of one message
DEPTH_LIMIT = 20  # containers in containers
SEQUENCES: dict[str, Any] = {k.__name__: k for k in (list, tuple, set, frozenset, deque)}
ARRAY_KINDS = "biufcSU"  # no objects, no records


class WireError(Exception):
    """The other side is gone, too slow, or sent what it must not send."""


def send(sock: socket.socket, message: dict[str, Any]) -> None:
    """Send one message."""
    body = json.dumps(message).encode()
    if len(body) > FRAME_LIMIT:
        raise WireError(f"a message has {len(body)} bytes (limit {FRAME_LIMIT})")
    sock.sendall(struct.pack(">I", len(body)) + body)


def receive(sock: socket.socket, deadline: float | None = None) -> dict[str, Any]:
    """Receive one message before a time of ``time.monotonic()``."""
    (size,) = struct.unpack(">I", _exactly(sock, 4, deadline))
    if size > FRAME_LIMIT:
        raise WireError(f"an answer has {size} bytes (limit {FRAME_LIMIT})")
    try:
        message = json.loads(_exactly(sock, size, deadline))
    except (ValueError, RecursionError) as error:
        raise WireError("an answer is not readable") from error
    if not isinstance(message, dict):
        raise WireError("an answer is not a message")
    return message


def _exactly(sock: socket.socket, size: int, deadline: float | None) -> bytes:
    parts: list[bytes] = []
    while size:
        if deadline is not None:
            sock.settimeout(max(deadline - time.monotonic(), 1e-3))
        try:
            part = sock.recv(min(size, 2**20))
        except TimeoutError as error:
            raise WireError("time is up") from error
        except OSError as error:
            raise WireError("the process has ended") from error
        if not part:
            raise WireError("the process has ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def encode(value: Any, stand_in: Callable[[Any], Any], depth: int = 0) -> Any:
    """Spell out a value; ``stand_in(value)`` describes what cannot be spelled out."""
    if depth > DEPTH_LIMIT:
        raise ValueError(f"containers are nested more than {DEPTH_LIMIT} deep")

    def inside(items: Any) -> list[Any]:
        return [encode(item, stand_in, depth + 1) for item in items]

    kind = type(value)  # exact: a subclass may lie about itself
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is complex:
        return {"complex": [value.real, value.imag]}
    if kind in SEQUENCES.values():
        return {kind.__name__: inside(value)}
    if kind is dict:
        return {"dict": [inside(pair) for pair in value.items()]}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.generic) and value.dtype.kind in ARRAY_KINDS:
        return {"scalar": _array(np.asarray(value))}
    if kind is np.ndarray and value.dtype.kind in ARRAY_KINDS:
        return {"array": _array(value)}
    if kind.__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        return {"tensor": _array(value.detach().cpu().numpy())}
    return {"object": stand_in(value)}


def _array(value: np.ndarray) -> list[Any]:
    data = np.ascontiguousarray(value).tobytes()
    return [value.dtype.str, list(value.shape), base64.b64encode(data).decode()]


def decode(tree: Any, stand_in: Callable[[Any], Any], depth: int = 0) -> Any:
    """Read a value that was spelled out; refuse anything else."""
    if depth > DEPTH_LIMIT:
        raise WireError("an answer is nested too deep")
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    if not isinstance(tree, dict) or len(tree) != 1:
        raise WireError("an answer is not readable")
    ((kind, body),) = tree.items()

    def inside(items: Any) -> list[Any]:
        return [decode(item, stand_in, depth + 1) for item in items]

    try:
        match kind:
            case "complex":
                return complex(*body)
            case _ if kind in SEQUENCES:
                return SEQUENCES[kind](inside(body))
            case "dict":
                return dict(inside(pair) for pair in body)
            case "bytes":
                return base64.b64decode(body)
            case "scalar":
                return _read_array(body)[()]
            case "array":
                return _read_array(body)
            case "tensor":
                import torch

                return torch.from_numpy(_read_array(body))
            case "object":
                return stand_in(body)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"an answer of kind {kind} is not readable") from error
    raise WireError("an answer is not readable")


def _read_array(body: Any) -> np.ndarray:
    name, shape, data = body
    dtype = np.dtype(str(name))
    if dtype.kind not in ARRAY_KINDS:
        raise ValueError(f"arrays of type {dtype} are not accepted")
    return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()
