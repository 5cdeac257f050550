"""How sharp each constant is: the worst instance found for every bound with noise.

An instance is a list of numbers: a chain with two states, a function on the line, noise and a
start. The left side of a bound is its exact mean over all paths. A search by random draws, then by
small changes that are kept when they are worse, looks for the largest left side over the bound.

    python -m tools.sharpness                 writes book/sharpness.csv
"""

import argparse
import csv
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from amgd._checks import FloatArray
from amgd.descent import bounds, steps
from amgd.markov import MarkovChain, two_state

TABLE = Path(__file__).resolve().parents[1] / "book" / "sharpness.csv"
COLUMNS = ("statement", "k", "ratio", "seed", "instance")
SIZE = 12  # numbers of an instance
STEPS = (1, 2, 3, 5)
PATHS = {k: np.array(list(itertools.product((0, 1), repeat=k))) for k in range(1, max(STEPS) + 1)}


def squash(z: FloatArray) -> FloatArray:
    """Return numbers between 0 and 1."""
    return np.asarray(1 / (1 + np.exp(-z)))


class Walk(NamedTuple):
    """All paths xi_1, ..., xi_k of a chain with two states, and their probabilities."""

    chain: MarkovChain
    states: Any
    weight: FloatArray

    @classmethod
    def of(cls, z: FloatArray, k: int) -> "Walk":
        """Take p, q and the state xi_0 from the first three numbers."""
        p, q = squash(z[:2]) * 0.998 + 0.001
        chain, states = two_state(float(p), float(q)), PATHS[k]
        before = np.column_stack([np.full(len(states), int(z[2] > 0)), states[:, :-1]])
        return cls(chain, states, chain.transition[before, states].prod(axis=1))

    @property
    def contrast(self) -> FloatArray:
        """A number for each state, of mean 0."""
        first, second = self.chain.stationary
        return np.array([second, -first])


class Segment:
    """f = g x + h x^2 / 2 on [-1, 1] with samples G = f' + n_s + m_s x: convex, for Algorithm 2."""

    def __init__(self, z: FloatArray, walk: Walk) -> None:
        self.L, self.slope = float(np.exp(z[3])), float(z[4])
        self.h, self.mu = (float(self.L * part) for part in np.cumprod(squash(z[5:7])))
        self.n, self.m = (np.exp(z[7]) * walk.contrast, z[8] * walk.contrast)
        self.x0, self.c = float(np.tanh(z[9])), float(np.exp(z[10]))
        ends = np.array([[-1.0], [1.0]])
        noise = self.n + self.m * ends
        best = float(np.clip(-self.slope / self.h, -1, 1))
        self.best, self.walk = best, walk
        self.known = {
            "L": self.L,
            "M": float(np.abs(self.slope + self.h * ends + noise).max()),
            "B": 2.0,
            "sigma": float(np.abs(noise).max()),
            "ell": float(np.abs(self.m).max()),
        }
        self.start = {"r0": abs(self.x0 - best)}

    def sample(self, x: FloatArray, xi: Any) -> FloatArray:
        """G(x; xi)."""
        return np.asarray(self.slope + self.h * x + self.n[xi] + self.m[xi] * x)

    def gap(self, x: FloatArray) -> FloatArray:
        """f(x) - f*."""
        return self.slope * (x - self.best) + self.h / 2 * (x**2 - self.best**2)

    def run(self, k: int, gamma: Callable[[int], float], mu: float = 0.0) -> float:
        """Mean of f(x_bar_k) - f* + mu/2 |x_k - x*|^2 over all paths of Algorithm 2."""
        x = x_bar = np.full(len(self.walk.states), self.x0)
        for t in range(1, k + 1):
            a, step = 2 / (t + 1), gamma(t)
            b = a / (a + (1 - a) * (1 + mu * step))
            y = (1 - b) * x_bar + b * x
            G = self.sample(y, self.walk.states[:, t - 1])
            x = np.clip((x + mu * step * y - step * G) / (1 + mu * step), -1, 1)
            x_bar = (1 - a) * x_bar + a * x
        return float(self.walk.weight @ (self.gap(x_bar) + mu / 2 * (x - self.best) ** 2))


class Line:
    """Samples G = h_s clip(x - c_s, -w_s, w_s) on the whole line, for Algorithm 1."""

    def __init__(self, z: FloatArray, walk: Walk) -> None:
        self.h, self.w = np.exp(z[3:5]), np.exp(z[5:7])
        self.c, self.walk = np.array([z[7], -z[7]]), walk
        self.x0, self.beta, self.room = float(z[8]), float(np.exp(z[9])), float(squash(z[10]))
        self.pi = walk.chain.stationary
        corners = np.sort(np.concatenate([self.c - self.w, self.c + self.w]))
        slope = self.slope(corners)
        i = int(np.searchsorted(slope, 0.0, side="right").clip(1, 3))
        share = slope[i - 1] / (slope[i - 1] - slope[i])
        best = corners[i - 1] + np.clip(share, 0, 1) * (corners[i] - corners[i - 1])
        self.minimum = float(self.value(np.array([best]))[0])
        self.known = {"L": float(self.h.max()), "M": float((self.h * self.w).max())}

    def sample(self, x: FloatArray, xi: Any) -> FloatArray:
        """G(x; xi)."""
        return np.asarray(self.h[xi] * np.clip(x - self.c[xi], -self.w[xi], self.w[xi]))

    def slope(self, x: FloatArray) -> FloatArray:
        """Gradient of f."""
        return np.asarray(sum(self.pi[s] * self.sample(x, s) for s in (0, 1)))

    def value(self, x: FloatArray) -> FloatArray:
        """Value of f."""
        total = np.zeros_like(x)
        for s in (0, 1):
            r = np.abs(x - self.c[s])
            inner = np.minimum(r, self.w[s])
            total += self.pi[s] * self.h[s] * inner * (r - inner / 2)
        return total

    @property
    def gap(self) -> float:
        """f(x_0) - f*."""
        return max(0.0, float(self.value(np.array([self.x0]))[0]) - self.minimum)

    def gamma(self, k: Any) -> Any:
        """Between beta and (1 + alpha_k) beta, falling."""
        return (1 + self.room * 2 / (k + 1)) * self.beta

    def run(self, k: int, gamma: Callable[[int], float]) -> tuple[list[float], list[float]]:
        """E f(x_t) for t = 0, ..., k and E |grad f(y_t)|^2 for t = 1, ..., k."""
        x = x_bar = np.full(len(self.walk.states), self.x0)
        values, squares = [float(self.walk.weight @ self.value(x))], []
        for t in range(1, k + 1):
            a = 2 / (t + 1)
            y = (1 - a) * x_bar + a * x
            G = self.sample(y, self.walk.states[:, t - 1])
            x, x_bar = x - gamma(t) * G, y - self.beta * G
            values.append(float(self.walk.weight @ self.value(x)))
            squares.append(float(self.walk.weight @ self.slope(y) ** 2))
        return values, squares


def _bias(z: FloatArray, k: int) -> float:
    walk = Walk.of(z, k)
    s = Segment(z, walk)
    xi = walk.states[:, -1]
    x = np.full(xi.size, s.x0)
    mean = walk.weight @ s.sample(x, xi) - (s.slope + s.h * s.x0)
    bound = float(bounds.corollary1(k, M=s.known["M"], chain=walk.chain))
    if bound < 1e-9 * s.known["M"]:
        return 0.0  # as good as independent: both sides are rounding
    return abs(float(mean)) / bound


def _lemma1(z: FloatArray, k: int) -> float:
    line = Line(z, Walk.of(z, k))
    values, squares = line.run(k, line.gamma)
    rule = steps.theorem1(line.beta, line.gamma)
    s = np.arange(1, k + 1)
    error = bounds.lemma1(np.full(k, k), s, steps=rule, chain=line.walk.chain, **line.known).min()
    change = (values[-1] - values[-2]) / line.gamma(k) + squares[-1]
    return float(change / error)


def _theorem1(z: FloatArray, k: int, *, lag: bool = False, plain: bool = False) -> float:
    line = Line(z, Walk.of(z, k))
    gamma = (lambda t: line.beta) if plain else line.gamma
    _, squares = line.run(k, gamma)
    weights = np.array([gamma(t) for t in range(1, k + 1)])
    known: dict[str, Any] = line.known | {"initial_gap": line.gap, "beta": line.beta}
    known["schedule"] = "sgd" if plain else "theorem1"
    if lag:
        bound = bounds.theorem1_lag(k, chain=line.walk.chain, **known)
    else:
        T = line.walk.chain.poisson_mixing
        bound = bounds.theorem1(k, T=T, nonincreasing=not plain, **known)
    return float(weights @ squares / weights.sum() / bound)


def _theorem2(z: FloatArray, k: int, *, lag: bool = False, still: bool = False) -> float:
    s = Segment(z, Walk.of(z, k))
    if still:
        s.x0, s.start = s.best, {"r0": 0.0}
    gap = s.run(k, lambda t: t / (4 * s.L + s.c * t**1.5))
    known: dict[str, Any] = s.known | s.start | {"c": s.c}
    return gap / float(
        bounds.theorem2_lag(k, chain=s.walk.chain, **known)
        if lag
        else bounds.theorem2(k, T=s.walk.chain.poisson_mixing_centred, **known)
    )


def _proposition_a(z: FloatArray, k: int) -> float:
    s = Segment(z, Walk.of(z, k))
    gap = s.run(k, lambda t: 1 / (2 * s.L * (t + 1) ** 0.5))
    T = s.walk.chain.poisson_mixing_centred
    return gap / float(bounds.proposition_a(k, T=T, **s.known))


def _theorem3(z: FloatArray, k: int, *, lag: bool = False, still: bool = False) -> float:
    s = Segment(z, Walk.of(z, k))
    if still:
        s.x0, s.start = s.best, {"r0": 0.0}
    gap = s.run(k, lambda t: 1 / (s.mu * (t - 1) / 2 + 4 * s.L / t), s.mu)
    known: dict[str, Any] = s.known | s.start | {"mu": s.mu}
    return gap / float(
        bounds.theorem3_lag(k, chain=s.walk.chain, **known)
        if lag
        else bounds.theorem3(k, T=s.walk.chain.poisson_mixing_centred, **known)
    )


def _proposition_c(z: FloatArray, k: int) -> float:
    s = Segment(z, Walk.of(z, k))
    gap = s.run(k, lambda t: 2 / (s.mu * t), s.mu)
    known: dict[str, Any] = s.known | s.start | {"mu": s.mu}
    T = s.walk.chain.poisson_mixing_centred
    return gap / float(bounds.proposition_c(k, T=T, **known))


# What is attacked: (left side over bound, the constants in question, what is known).
STATEMENTS: dict[str, tuple[Callable[[FloatArray, int], float], str, str]] = {
    "cor-1": (_bias, "2 in 2M d(k)", "sharp"),
    "lem-1": (_lemma1, "1/2, 2, 4 of the error", "open"),
    "thm-1": (lambda z, k: _theorem1(z, k, lag=True), "3/2, 20/3, 2, 4", "open"),
    "thm-1-poisson": (_theorem1, "3/2, 20/3, 8", "open"),
    "thm-1-poisson, SGD": (lambda z, k: _theorem1(z, k, plain=True), "1/2, 4, 4", "open"),
    "thm-2": (_theorem2, "4; 4/3, 8/3; 8, 16", "the first 4 sharp as k grows, no noise"),
    "thm-2, lag": (lambda z, k: _theorem2(z, k, lag=True), "4; 4/3 and those of the lag", "open"),
    "thm-2, from x*": (lambda z, k: _theorem2(z, k, still=True), "4/3, 8/3; 8, 16", "open"),
    "prop-a": (_proposition_a, "2; 2/3, 4/3; 8, 16", "open"),
    "thm-3": (_theorem3, "4; 4; 8, 16", "the first 4 sharp as k grows and μ falls, no noise"),
    "thm-3, lag": (lambda z, k: _theorem3(z, k, lag=True), "4; 4 and those of the lag", "open"),
    "thm-3, from x*": (lambda z, k: _theorem3(z, k, still=True), "4; 8, 16", "open"),
    "prop-c": (_proposition_c, "8√2; 8; 16, 32", "open; loose"),
}


def evaluate(statement: str, k: int, instance: str) -> float:
    """Return left side over bound of a stored instance."""
    return STATEMENTS[statement][0](np.array(instance.split(), dtype=np.float64), k)


def search(statement: str, k: int, seed: int, tries: int = 1200) -> tuple[float, str]:
    """Return the largest ratio found and its instance, in three decimals."""
    rng = np.random.default_rng([seed, k, *statement.encode()])
    ratio = STATEMENTS[statement][0]
    draws = np.clip(2 * rng.normal(size=(tries // 3, SIZE)), -6, 6).round(3)
    best, z = max((ratio(z, k), tuple(z)) for z in draws)
    for i in range(2 * tries // 3):
        change = 2.0 * 0.995**i * rng.normal(size=SIZE) * (rng.random(SIZE) < 0.4)
        trial = np.clip(np.array(z) + change, -6, 6).round(3)
        found = ratio(trial, k)
        if found > best:
            best, z = found, tuple(trial)
    return best, " ".join(f"{number:g}" for number in z)


def main() -> None:
    """Search for each statement and write the worst instance of each."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=TABLE)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for statement in STATEMENTS:
            tried = itertools.product(STEPS, range(options.seeds))
            found = ((*search(statement, k, seed), k, seed) for k, seed in tried)
            ratio, instance, k, seed = max(found)
            table.writerow((statement, k, f"{ratio:.6f}", seed, instance))
            file.flush()


if __name__ == "__main__":
    main()
