"""Scores of a Gaussian policy whose action the environment clips, by quadrature.

An action A = m + s Z is clipped to c = c(A) in [low, high], and h(c) is paid. The derivatives of
J = E h(c(A)) in m and log s are known without any score: inside the box they are the mean of
h'(A) dA, and outside the payment does not move. The raw score must reproduce them, and the score
at the clipped action may miss them by no more than the bounds of the book.
"""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from amgd.reinforce import GaussianPolicy

LAWS = [  # m, s, low, high
    (0.0, 1.0, -1.0, 1.0),
    (0.0, 0.2, -1.0, 1.0),
    (0.4, 3.0, -1.0, 1.0),
    (-0.9, 0.7, -1.0, 1.0),
    (1.0, 1.3, -1.0, 1.0),
    (0.5, 2.0, -0.4, 1.7),
]
PAYMENTS = {  # h and its derivative
    "constant": (lambda c: np.ones_like(c), lambda c: np.zeros_like(c)),
    "linear": (lambda c: c, lambda c: np.ones_like(c)),
    "cost": (lambda c: -((c - 0.3) ** 2), lambda c: -2 * (c - 0.3)),
    "wave": (lambda c: np.sin(4 * c), lambda c: 4 * np.cos(4 * c)),
}


def nodes(m, s, low, high, n=60):
    """Gauss-Legendre points and weights for the density of A, cut where the payment has a kink."""
    x, w = np.polynomial.legendre.leggauss(n)
    edges = np.unique(np.clip([m - 12 * s, m - 4 * s, low, m, high, m + 4 * s, m + 12 * s],
                              m - 12 * s, m + 12 * s))  # fmt: skip
    half, middle = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
    points = (middle + half * x).ravel()
    return points, (half * w).ravel() * norm.pdf(points, m, s)


def scores(a, m, s):
    """Derivatives of log p(a) in m and in log s, shape (2, n)."""
    return np.stack([(a - m) / s**2, ((a - m) / s) ** 2 - 1])


def bounds(m, s, low, high):
    """The lemma's bounds for |h| <= 1, in m and in log s."""
    u, v = (high - m) / s, (m - low) / s
    psi = sum(norm.pdf(t) - t * norm.sf(t) for t in (u, v))
    inside = norm.cdf(u) - norm.cdf(-v) - u * norm.pdf(u) - v * norm.pdf(v)
    return np.array([psi / s, 1 - inside - u**2 * norm.sf(u) - v**2 * norm.sf(v)])


@pytest.mark.theorem("lem-12-clipping")
@pytest.mark.parametrize("payment", PAYMENTS)
@pytest.mark.parametrize("law", LAWS)
def test_raw_score_is_exact_and_clipped_score_within_the_bound(law, payment, record):
    m, s, low, high = law
    h, slope = PAYMENTS[payment]
    a, weight = nodes(*law)
    assert weight.sum() == pytest.approx(1, abs=1e-13)
    c = np.clip(a, low, high)
    moves = (a > low) & (a < high)
    exact = np.stack([slope(c) * moves, slope(c) * moves * (a - m)]) @ weight
    np.testing.assert_allclose((h(c) * scores(a, m, s)) @ weight, exact, rtol=0, atol=1e-12)

    bias = np.abs((h(c) * scores(c, m, s)) @ weight - exact)
    bound = np.abs(h(np.linspace(low, high, 10_001))).max() * bounds(*law)
    assert (bias <= bound + 1e-12).all()
    record("lem-12-clipping", (bias / bound).max())


@pytest.mark.theorem("lem-12-clipping")
@pytest.mark.parametrize("law", LAWS)
def test_bounds_are_attained(law):
    """In m by a payment of +1 at the lower end and -1 at the upper, in log s by a constant."""
    m, s, low, high = law
    a, weight = nodes(*law)
    c = np.clip(a, low, high)
    ends = (a < low).astype(float) - (a > high)
    missed = scores(c, m, s) - scores(a, m, s)
    np.testing.assert_allclose((ends * missed[0]) @ weight, bounds(*law)[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(-missed[1] @ weight, bounds(*law)[1], rtol=0, atol=1e-12)


# Two steps of a robot on a line: it is at o, moves by the clipped action, and pays for both.
START = 0.3


def move(o, c):
    return o + c


def pay(o, c):
    return np.cos(2 * move(o, c)) - 0.1 * c**2


def pairs(weight, bias, s):
    """All pairs of actions of two steps, what is seen, and the probabilities of the pairs."""
    first, p = nodes(weight * START + bias, s, -1.0, 1.0, 24)
    seen = move(START, np.clip(first, -1, 1))
    rows = [nodes(weight * o + bias, s, -1.0, 1.0, 24) for o in seen]
    second = np.concatenate([row[0] for row in rows])
    q = np.concatenate([row[1] for row in rows])
    count = [len(row[0]) for row in rows]
    return (*(np.repeat(x, count) for x in (first, seen)), second, np.repeat(p, count) * q)


def value(weight, bias, log_std):
    first, seen, second, p = pairs(weight, bias, np.exp(log_std))
    total = pay(START, np.clip(first, -1, 1)) + pay(seen, np.clip(second, -1, 1))
    return (p * total).sum()


@pytest.mark.theorem("lem-12-clipping")
@pytest.mark.parametrize("theta", [(0.5, 0.2, 0.0), (-1.0, 0.4, 0.5), (0.3, -0.8, -1.0)])
def test_an_episode_takes_raw_scores(theta):
    """The policy's own log_prob over two steps, against differences of the exact value."""
    policy = GaussianPolicy((1, 1), std="free", rng=np.random.default_rng(0))
    for parameter, number in zip(
        (policy.network.weight0, policy.network.bias0, policy.log_std), theta, strict=True
    ):
        parameter.data.fill_(number)
    first, seen, second, p = pairs(theta[0], theta[1], np.exp(theta[2]))
    total = pay(START, np.clip(first, -1, 1)) + pay(seen, np.clip(second, -1, 1))

    def gradient(a, b):
        log = policy.log_prob(np.full((len(a), 1), START), a[:, None])
        log = log + policy.log_prob(seen[:, None], b[:, None])
        loss = (torch.as_tensor(p * total) * log).sum()
        parameters = (policy.network.weight0, policy.network.bias0, policy.log_std)
        return np.array([g.item() for g in torch.autograd.grad(loss, parameters)])

    def difference(i, step=1e-3):
        at = [np.array(theta) + j * step * np.eye(3)[i] for j in (-2, -1, 1, 2)]
        return np.dot([1, -8, 8, -1], [value(*x) for x in at]) / (12 * step)

    exact = np.array([difference(i) for i in range(3)])
    np.testing.assert_allclose(gradient(first, second), exact, rtol=0, atol=1e-9)
    wrong = gradient(np.clip(first, -1, 1), np.clip(second, -1, 1))
    assert np.abs(wrong - exact).max() > 0.05
