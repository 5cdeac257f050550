"""Finite chains with sparse transition matrices: stationary law, occupancy, paths.

`amgd.markov.MarkovChain` stores a dense matrix and knows everything about a chain.
A grid of 200 x 200 cells has 40000 states, for which the dense matrix needs 12.8 GB; its sparse
form needs 2 MB.
The few functions here work on the sparse form.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray


def as_transition(transition: object) -> sp.csr_array:
    """Return a stochastic matrix as a CSR array without stored zeros, after checking it."""
    if sp.issparse(transition):
        matrix = sp.csr_array(transition, copy=True)
        if matrix.dtype.kind not in "iuf":
            raise TypeError(
                f"transition must hold real numbers: got dtype {matrix.dtype}; "
                "pass a square stochastic matrix"
            )
        single = matrix.dtype.kind == "f" and matrix.dtype.itemsize < 8
        matrix = matrix.astype(np.float64)
    else:
        cure = "pass a square stochastic matrix"
        single = getattr(transition, "dtype", None) == np.float32
        matrix = sp.csr_array(check.array("transition", transition, ("m", "n"), cure))  # type: ignore[arg-type]
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(
            f"transition must be square: got shape {matrix.shape} (expected (n, n), n >= 1); "
            "row i holds the law of the next state from state i"
        )
    if not np.isfinite(matrix.data).all() or (matrix.data < 0.0).any():
        raise ValueError(
            "transition has an entry that is negative or not finite (expected probabilities); "
            "check how the matrix was built"
        )
    sums = matrix.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1.0)))
    tolerance = 1e-6 if single else 1e-8  # as MarkovChain has it: the rounding of the dtype
    if abs(sums[worst] - 1.0) > tolerance:
        raise ValueError(
            f"transition rows must sum to 1: row {worst} sums to {sums[worst]:.12g} "
            f"(expected 1 within {tolerance:g}); divide the row by its sum if it holds counts"
        )
    matrix.data /= np.repeat(sums, np.diff(matrix.indptr))
    return matrix


def closed_classes(transition: sp.csr_array) -> list[IntArray]:
    """Return the closed communicating classes: the sets of states that are never left."""
    count, label = connected_components(transition, directed=True, connection="strong")
    entries = transition.tocoo()
    left = np.zeros(count, dtype=bool)
    left[label[entries.row[label[entries.row] != label[entries.col]]]] = True
    return [np.flatnonzero(label == c) for c in np.flatnonzero(~left)]


def stationary_law(transition: sp.csr_array) -> FloatArray:
    """Return the only stationary law; refuse a chain that has several."""
    classes = closed_classes(transition)
    if len(classes) > 1:
        raise ValueError(
            f"the stationary law is not unique: the chain has {len(classes)} closed classes "
            "(expected 1); use a policy under which every state leads to one class"
        )
    (states,) = classes
    law = np.zeros(transition.shape[0])
    law[states] = 1.0
    if states.size > 1:
        # Fix the weight of the class's last state at 1 and solve the other balance equations:
        # unlike a row of ones for the normalisation, this keeps the system sparse.
        block = transition[states][:, states]
        system = sp.eye_array(states.size - 1) - block[:-1, :-1].T
        inflow = block[[-1], :-1].toarray()[0]
        law[states[:-1]] = splu(sp.csc_array(system)).solve(inflow)
    return np.asarray(law / law.sum())


def occupancy(transition: sp.csr_array, start: FloatArray, length: int) -> FloatArray:
    """Return the average over t = 0, ..., length - 1 of the law of the state at time t."""
    backward = transition.T.tocsr()
    law, total = start, np.zeros_like(start)
    for _ in range(length):
        total += law
        law = backward @ law
    return np.asarray(total / length)


def sample_paths(
    transition: sp.csr_array,
    start: FloatArray,
    length: int,
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> IntArray:
    """Draw `shape` independent paths of `length` transitions: int64 array (*shape, length + 1).

    One uniform is drawn per path and step, time by time; a start that is certain costs none.
    """
    # Row s of the two tables lists the successors of s and the cumulative probabilities; 2.0
    # (never reached by a uniform) closes each row, so that rounding cannot lead outside.
    n_states = transition.shape[0]
    degree = np.diff(transition.indptr)
    width = int(degree.max())
    row = np.repeat(np.arange(n_states), degree)
    place = np.arange(transition.nnz) - np.repeat(transition.indptr[:-1], degree)
    successor = np.zeros((width, n_states), dtype=np.int64)
    successor[place, row] = transition.indices
    probability = np.zeros((width, n_states))
    probability[place, row] = transition.data
    threshold = np.cumsum(probability, axis=0)
    threshold[np.arange(width)[:, None] >= degree - 1] = 2.0

    # Stored time first, so that a step reads and writes contiguous memory.
    paths = np.empty((length + 1, *shape), dtype=np.int64)
    certain = np.flatnonzero(start == 1.0)
    if certain.size:
        paths[0] = certain[0]
    else:
        cumulative = np.cumsum(start)
        cumulative[np.flatnonzero(start)[-1] :] = 2.0
        paths[0] = np.searchsorted(cumulative, rng.random(shape), side="right")
    for t in range(length):
        state, uniform = paths[t], rng.random(shape)
        choice = np.zeros(shape, dtype=np.int64)
        for column in threshold[:-1]:
            choice += uniform >= column[state]
        paths[t + 1] = successor[choice, state]
    return np.moveaxis(paths, 0, -1)
