"""Exact expectations: the two algorithms on the tree of all paths of a finite chain.

A level of the tree holds every path xi_1, ..., xi_k with its probability and the iterates on it,
so the mean of anything at step k is a finite sum. Both algorithms are written out here once more,
independently of the package, which one test compares with them.
"""

from dataclasses import dataclass

import numpy as np


def step1(problem, steps, k, x, x_bar, xi):
    """One step of Algorithm 1: y, x, x_bar."""
    alpha = steps.alpha(k)
    y = (1 - alpha) * x_bar + alpha * x
    G = problem.sample_gradient(y, xi)
    return y, x - steps.gamma(k) * G, y - steps.beta(k) * G


def step2(problem, steps, k, x, x_bar, xi):
    """One step of Algorithm 2: y, x_tilde, x, x_bar."""
    alpha, beta, gamma, mu = steps.alpha(k), steps.beta(k), steps.gamma(k), steps.mu
    y = (1 - beta) * x_bar + beta * x
    x_tilde = (x + mu * gamma * y) / (1 + mu * gamma)
    G = problem.sample_gradient(y, xi)
    x = problem.project(x_tilde - gamma / (1 + mu * gamma) * G)
    return y, x_tilde, x, (1 - alpha) * x_bar + alpha * x


@dataclass
class Level:
    """All paths of length k: arrays over paths (first axis)."""

    k: int
    probability: np.ndarray
    xi_before: np.ndarray  # xi_{k-1}
    xi: np.ndarray  # xi_k
    parent: np.ndarray  # row of the level before
    y: np.ndarray
    x_before: np.ndarray  # x_{k-1}
    x: np.ndarray
    x_bar: np.ndarray
    x_tilde: np.ndarray | None  # x_tilde_{k-1}, Algorithm 2 only

    def mean(self, values):
        return float(self.probability @ values)


def tree(problem, chain, steps, x0, xi0, n_steps, algorithm, x_bar0=None):
    """Yield the levels k = 1, ..., n_steps. xi0 is a state or a law of the states."""
    P = chain.transition
    if np.ndim(xi0) == 0:
        probability, xi = np.ones(1), np.array([xi0])
    else:
        probability, xi = np.asarray(xi0, float), np.arange(chain.n_states)
    x = np.broadcast_to(np.asarray(x0, float), (xi.size, problem.dim)).copy()
    x_bar = x.copy() if x_bar0 is None else np.broadcast_to(np.asarray(x_bar0, float), x.shape)
    for k in range(1, n_steps + 1):
        parent, after = np.nonzero(P[xi])
        probability = probability[parent] * P[xi[parent], after]
        before, xi, x_before, x_bar = xi[parent], after, x[parent], x_bar[parent]
        x_tilde = None
        if algorithm == 1:
            y, x, x_bar = step1(problem, steps, k, x_before, x_bar, xi)
        else:
            y, x_tilde, x, x_bar = step2(problem, steps, k, x_before, x_bar, xi)
        yield Level(k, probability, before, xi, parent, y, x_before, x, x_bar, x_tilde)


def squared(v):
    """Squared Euclidean norm along the last axis."""
    return np.einsum("...i,...i->...", v, v)


def random_law(rng, n):
    """A law on n states, now and then far from uniform."""
    law = rng.dirichlet(np.full(n, rng.choice([0.7, 5.0]))) + 0.02
    return law / law.sum()


def random_chain(rng):
    """A small chain of one of the kinds that stress the theorems, and its kind."""
    from amgd import markov

    kind = str(rng.choice(["iid", "sticky", "slow", "periodic", "cycle", "de Bruijn", "dense"]))
    if kind == "iid":
        return kind, markov.iid(random_law(rng, int(rng.integers(2, 4))))
    if kind == "sticky":
        return kind, markov.sticky(random_law(rng, int(rng.integers(2, 4))), rng.uniform(0.05, 1))
    if kind == "slow":
        return kind, markov.two_state(*(10 ** rng.uniform(-3, -1, 2)))
    if kind == "periodic":
        if rng.random() < 0.5:
            return kind, markov.two_state(*rng.uniform(0.9, 0.999, 2))
        noise = rng.uniform(0.005, 0.1)
        turn = np.roll(np.eye(3), 1, axis=1)
        return kind, markov.MarkovChain((1 - noise) * turn + noise / 3)
    if kind == "cycle":
        return kind, markov.lazy_cycle(3)
    if kind == "de Bruijn":
        return kind, markov.de_bruijn(2)
    return kind, markov.MarkovChain(rng.dirichlet(np.full(3, 0.8), size=3) * 0.97 + 0.01)


def depth(chain, paths=3000):
    """The largest number of steps (at most 11) for which the tree has at most so many paths."""
    branching = int((chain.transition > 0).sum(axis=1).max())
    return min(11, max(3, int(np.log(paths) / np.log(branching)))) if branching > 1 else 11
