r"""Exact expected errors on quadratics, without random numbers, and what no method can beat.

On a quadratic without projection every method of the book is affine in what it sees.
Its second moments then obey a linear recursion, and the expected error needs no sample.

- `exact_gap`: any finite chain, noise that may multiply the iterate, any start; one coordinate of
  the state space of the recursion for each state of the chain.
- `exact_average` and `exact_convex`: one curvature at a time, noise that is added, many curvatures
  and many steps at once. The answer is split: the squared factor of the start and the factor of
  the variance of the noise.
- `lower_sgd` and `lower_accelerated`: the least error that a family of methods can have on its
  worst quadratic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.algorithms import check_average, check_states, recorded
from amgd.descent.problems import Problem
from amgd.descent.steps import StepSizes, check_moduli, sgd
from amgd.markov import MarkovChain

__all__ = ["exact_average", "exact_convex", "exact_gap", "lower_accelerated", "lower_sgd"]

_FAR = 1e6  # a distance at which gradients that are not affine show it
_Step = tuple[FloatArray, FloatArray]  # z <- M z + noise of covariance V


@check.arguments
def exact_gap(
    problem: Problem,
    chain: MarkovChain,
    steps: StepSizes,
    n_steps: check.Steps,
    *,
    x0: ArrayLike,
    initial: int | ArrayLike | None = None,
    average: check.Average = "none",
    record: ArrayLike | None = None,
) -> tuple[IntArray, FloatArray]:
    r"""Return :math:`E f(\bar x_k)-f^*` on a quadratic, exactly (equation ``eq-14-moments``).

    With :math:`z=(x-x^*,\bar x-x^*,1)`, each step is :math:`z_k=M_k(\xi_k)z_{k-1}`, so
    :math:`S_k(j)=E[z_kz_k^\top;\xi_k=j]` obeys
    :math:`S_k(j)=M_k(j)\sum_iP_{ij}S_{k-1}(i)M_k(j)^\top`.
    The cost of a step grows like n² d² + n d³ for n states in d dimensions.

    Parameters
    ----------
    problem : Quadratic
        Or anything unconstrained whose sample gradients are affine in x.
    chain : MarkovChain
        Irreducible; it may be periodic.
    steps : StepSizes
        For Algorithm 1 (SGD among them) or Algorithm 2.
    n_steps : int
    x0 : array_like, shape (d,)
        The start, deterministic.
    initial : int or array_like, shape (n,), optional
        The state :math:`\xi_0`, from which the first sample is one step away, or its law.
        Default: the stationary law.
    average : {"none", "uniform", "linear"}
        For steps with gamma = beta, as in :func:`amgd.descent.sgd`: the average that stands for
        :math:`\bar x_k`.
    record : array_like of int, optional
        As in :func:`amgd.descent.sgd`; default: every step.

    Returns
    -------
    k : ndarray of int64, shape (r,)
    gap : ndarray, shape (r,)

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, the problem is constrained, not affine, or has another
        law than the chain, or an average is asked of anything but SGD.

    Examples
    --------
    >>> from amgd.descent import problems, steps
    >>> from amgd.markov import sticky
    >>> task = problems.Quadratic([1.0], noise=[[0.1], [-0.1]])
    >>> k, gap = exact_gap(task, sticky([0.5, 0.5], 0.2), steps.sgd(0.5), 2, x0=[1.0])
    >>> gap.round(6).tolist()
    [0.12625, 0.033812]
    """
    check.room("n_steps", 8, n_steps, cure="take fewer steps")
    if np.isfinite(problem.diameter):
        raise ValueError(
            f"problem must be unconstrained: got diameter {problem.diameter:g}; a projection is "
            "not affine, so leave the domain out"
        )
    n, d = chain.n_states, problem.dim
    check_states(chain, problem)
    check_average(average, steps)
    if average != "none":
        steps = sgd(steps)  # which refuses those of an accelerated method
    x_star = np.zeros(d) if problem.minimiser is None else problem.minimiser
    start = check.array("x0", x0, (d,), "give one point") - x_star
    noise = np.array([problem.sample_gradient(x_star, i) for i in range(n)])
    unit = np.eye(d)
    bend = np.array(
        [
            [problem.sample_gradient(x_star + unit[j], i) - noise[i] for j in range(d)]
            for i in range(n)
        ]
    ).swapaxes(1, 2)  # (n, d, d): G(x; i) = bend (x - x*) + noise
    expected = noise + _FAR * bend.sum(axis=2)
    far = np.array([problem.sample_gradient(x_star + _FAR, i) for i in range(n)])
    if problem.minimiser is None or np.abs(far - expected).max() > 1e-6 * np.abs(expected).max():
        raise ValueError(
            "problem must have a minimiser and sample gradients that are affine in x: got "
            f"{type(problem).__name__}; pass a Quadratic"
        )
    mean = np.tensordot(chain.stationary, bend, axes=1)
    law = _first(chain, initial)
    z = np.concatenate([start, start, [1.0]])
    second = law[:, None, None] * np.outer(z, z)
    to = np.asarray(_dense(chain).T)
    x, x_bar, one = (
        np.eye(2 * d + 1)[rows] for rows in (slice(d), slice(d, 2 * d), slice(-1, None))
    )
    k = np.arange(1, n_steps + 1)
    rules = zip(*(f(k).tolist() for f in (steps.alpha, steps.beta, steps.gamma)), strict=True)
    wanted = recorded(record, n_steps)
    kept, places = np.empty(len(wanted)), {int(w): place for place, w in enumerate(wanted)}
    for step, (alpha, beta, gamma) in enumerate(rules, 1):
        if steps.algorithm == "convex":
            y = (1.0 - beta) * x_bar + beta * x
            gradient = bend @ y + noise[:, :, None] * one
            after = (x + steps.mu * gamma * y - gamma * gradient) / (1.0 + steps.mu * gamma)
            mixed = (1.0 - alpha) * x_bar + alpha * after
        else:
            y = x if average != "none" else (1.0 - alpha) * x_bar + alpha * x
            gradient = bend @ y + noise[:, :, None] * one
            after, mixed = x - gamma * gradient, y - beta * gradient
            if average != "none":
                weight = 1.0 / step if average == "uniform" else 2.0 / (step + 1)
                mixed = (1.0 - weight) * x_bar + weight * after
        M = np.concatenate([after, mixed, np.broadcast_to(one, (n, 1, 2 * d + 1))], axis=1)
        second = M @ np.tensordot(to, second, axes=1) @ M.swapaxes(1, 2)
        if step in places:
            block = second.sum(axis=0)[d : 2 * d, d : 2 * d]
            kept[places[step]] = 0.5 * np.sum(mean * block)
    return wanted, kept


def _first(chain: MarkovChain, initial: int | ArrayLike | None) -> FloatArray:
    """The law of xi_0."""
    n = chain.n_states
    if initial is None:
        return np.asarray(chain.stationary)
    if check.as_array("initial", initial, "pass a state or a law").ndim > 0:
        return check.probabilities("initial", initial, (n,))
    state = check.integer("initial", initial, 0, "states are counted from 0", n - 1)
    return np.asarray(np.eye(n)[state])


def _dense(chain: MarkovChain) -> FloatArray:
    matrix: Any = chain.transition
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


# One curvature, added noise -----------------------------------------------------------------------


@check.arguments
def exact_average(
    curvatures: ArrayLike,
    beta: ArrayLike,
    n_steps: Annotated[int, check.integer, 1, "take at least one step"],
    *,
    theta: ArrayLike = 0.0,
    tail: int = 1,
    correlation: Annotated[float, check.real, "0 is independent noise", "(-1, 1)"] = 0.0,
) -> tuple[FloatArray, FloatArray]:
    r"""Split the exact error of a constant step and momentum (equation ``eq-14-split``).

    On :math:`f(x)=\frac a2x^2` with gradients :math:`ax+\varepsilon_t` the iterates are

    .. math:: x_{t+1}=y_t-\beta(ay_t+\varepsilon_{t+1}),\qquad y_t=x_t+\theta(x_t-x_{t-1}),

    from :math:`x_0=x_{-1}`; theta 0 is SGD.
    The mean of the last `tail` of :math:`x_1,\dots,x_k` has the second moment
    :math:`\text{start}\cdot x_0^2+\text{noise}\cdot s^2`, where :math:`s^2` is the variance of
    :math:`\varepsilon` and :math:`E\varepsilon_t\varepsilon_{t+j}=s^2\,\text{correlation}^j`: that
    of a sticky chain with p = 1 - correlation, and of AR(1) noise.
    The k steps are composed by repeated squaring, so the cost grows like log k.

    Parameters
    ----------
    curvatures, beta, theta : array_like
        a, step and momentum, of shapes that broadcast; a, theta >= 0 and beta > 0.
    n_steps : int
        k.
    tail : int
        At most k.
    correlation : float in (-1, 1)

    Returns
    -------
    start, noise : ndarray
        Of the broadcast shape. Infinite or NaN where the method is far from stable.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> start, noise = exact_average([1.0, 0.1], 0.5, 2)
    >>> start.round(6).tolist(), noise.round(6).tolist()
    ([0.0625, 0.814506], [0.3125, 0.475625])
    """
    k, q = n_steps, correlation
    tail = check.integer("tail", tail, 1, "average at least one iterate, at most n_steps", k)
    given = (("curvatures", curvatures), ("beta", beta), ("theta", theta))
    cure = "give finite numbers of shapes that broadcast"
    arrays = [check.numeric(*pair, cure) for pair in given]
    try:
        a, beta, theta = np.broadcast_arrays(*arrays)
    except ValueError:
        raise ValueError(
            "curvatures, beta and theta must have shapes that broadcast: got "
            f"{[array.shape for array in arrays]}; {cure}"
        ) from None
    for name, value, bad in (
        ("curvatures", a, ~((a >= 0) & (a < np.inf))),
        ("beta", beta, ~((beta > 0) & (beta < np.inf))),
        ("theta", theta, ~((theta >= 0) & (theta < np.inf))),
    ):
        if bad.any():
            limit = "above 0" if name == "beta" else "at least 0"
            raise ValueError(f"{name} must be {limit} and finite: got {value[bad][0]}; {cure}")
    # z = (x_t, x_{t-1}, eps_t, sum of the averaged x)
    keep = 1.0 - beta * a
    M = np.zeros((*a.shape, 4, 4))
    M[..., 0, 0], M[..., 0, 1], M[..., 0, 2] = keep * (1 + theta), -keep * theta, -beta * q
    M[..., 1, 0], M[..., 2, 2], M[..., 3, 3] = 1.0, q, 1.0
    push = np.stack([-beta, 0 * a, 1 + 0 * a, 0 * a], axis=-1)
    summed, pushed = M.copy(), push.copy()
    summed[..., 3, :] += M[..., 0, :]
    pushed[..., 3] = push[..., 0]

    def moved(matrix: FloatArray, vector: FloatArray) -> _Step:
        return matrix, (1 - q * q) * vector[..., :, None] * vector[..., None, :]

    with np.errstate(over="ignore", invalid="ignore"):
        before, inside = _repeat(moved(M, push), k - tail), _repeat(moved(summed, pushed), tail)
        M, V = _then(before, inside)
        start = ((M[..., 3, 0] + M[..., 3, 1]) / tail) ** 2
        noise = (V[..., 3, 3] + M[..., 3, 2] ** 2) / tail**2
    return start, noise


def _then(first: _Step, second: _Step) -> _Step:
    (A, V), (B, W) = first, second
    return B @ A, B @ V @ B.swapaxes(-1, -2) + W


def _repeat(step: _Step, times: int) -> _Step:
    """The same step many times, by repeated squaring."""
    result = np.broadcast_to(np.eye(step[0].shape[-1]), step[0].shape), np.zeros_like(step[1])
    while times:
        if times & 1:
            result = _then(result, step)
        times >>= 1
        if times:
            step = _then(step, step)
    return result


@check.arguments
def exact_convex(
    curvatures: Annotated[ArrayLike, check.array, ("m",), "give the curvatures in a list"],
    rules: Sequence[StepSizes],
    *,
    record: Annotated[ArrayLike, check.integers, 1, "steps count from 1"],
    restarts: Sequence[Sequence[int]] | None = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Split the exact error of Algorithm 2 for several rules (equation ``eq-14-split``).

    On :math:`f(x)=\frac a2x^2` with gradients :math:`ax+\varepsilon_t`, independent,
    :math:`E\bar x_k^2=\text{start}\cdot x_0^2+\text{noise}\cdot s^2`.

    Parameters
    ----------
    curvatures : array_like, shape (m,)
    rules : sequence of StepSizes
        For Algorithm 2.
    record : array_like of int, shape (r,)
        The k that are wanted, increasing.
    restarts : sequence of sequence of int, optional
        For each rule the steps after which it starts anew from :math:`\bar x_k`, at its first
        step size. Default: never.

    Returns
    -------
    start, noise : ndarray, shape (r, number of rules, m)

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or range.

    Examples
    --------
    >>> from amgd.descent.steps import theorem2
    >>> start, noise = exact_convex([1.0], [theorem2(1.0, 0.0)], record=[1, 2])
    >>> start.ravel().tolist(), noise.ravel().round(4).tolist()
    ([0.5625, 0.25], [0.0625, 0.1389])
    """
    a, wanted = np.asarray(curvatures), np.asarray(record)
    if wanted.ndim != 1 or wanted.size == 0 or (np.diff(wanted) <= 0).any():
        raise ValueError(f"record must be increasing numbers of steps: got {wanted}; sort them")
    for rule in rules:
        if rule.algorithm != "convex":
            raise ValueError(
                f"rules must be made for Algorithm 2: got '{rule.name}'; use theorem2 or theorem3"
            )
    if not rules:
        raise ValueError("rules must hold at least one rule: got none; pass steps.theorem2(1.0, 0)")
    check.room("record", 8 * len(rules), int(wanted[-1]), cure="take fewer steps")
    last = int(wanted[-1])
    again = np.zeros((last, len(rules)), dtype=bool)  # a step with number 1
    again[0] = True
    if restarts is not None:
        if len(restarts) != len(rules):
            raise ValueError(
                f"restarts must hold one entry for each of the {len(rules)} rules: got "
                f"{len(restarts)}; give an empty list to a rule without restarts"
            )
        for column, given in enumerate(restarts):
            after = check.integers("restarts", [last, *given], 1, "steps count from 1")
            again[after[after < last], column] = True
    steps = np.arange(last)[:, None]
    k = steps - np.maximum.accumulate(np.where(again, steps, 0)) + 1
    parts = [
        (rule.alpha(own), rule.beta(own), rule.eta(own))
        for rule, own in zip(rules, k.T, strict=True)
    ]
    alpha, beta, eta = np.array(parts).transpose(1, 2, 0)[..., None]
    mu = np.array([[rule.mu] for rule in rules])
    shape = (len(mu), a.size)
    x, x_bar = np.ones(shape), np.ones(shape)  # factors of x_0
    xx, xb, bb = np.zeros(shape), np.zeros(shape), np.zeros(shape)  # moments of the noise part
    start, noise = np.empty((2, len(wanted), *shape))
    places = {int(w): place for place, w in enumerate(wanted)}
    for t in range(last):
        if again[t].any():
            new = again[t, :, None]
            x, xx, xb = np.where(new, x_bar, x), np.where(new, bb, xx), np.where(new, bb, xb)
        bend = (mu - a) * eta[t]
        on_x, on_bar = 1 - mu * eta[t] + bend * beta[t], bend * (1 - beta[t])
        x = on_x * x + on_bar * x_bar
        x_bar = (1 - alpha[t]) * x_bar + alpha[t] * x
        with_bar = on_x * xb + on_bar * bb  # E x' x_bar
        xx = on_x * (on_x * xx + on_bar * xb) + on_bar * with_bar + eta[t] ** 2
        xb = (1 - alpha[t]) * with_bar + alpha[t] * xx
        bb = (1 - alpha[t]) ** 2 * bb + alpha[t] * (xb + (1 - alpha[t]) * with_bar)
        if t + 1 in places:
            start[places[t + 1]], noise[places[t + 1]] = x_bar**2, bb
    return start, noise


# What no method can beat --------------------------------------------------------------------------


@check.in_range
def lower_sgd(k: ArrayLike, *, mu: float, L: float, r0: float, sigma: float) -> Any:
    r"""Return a lower bound for SGD on its worst quadratic (Proposition ``prop-14-lower``).

    For every predetermined sequence of steps in [0, 1/L] and every convex average of the iterates
    there is a quadratic with curvatures in [mu, L], a start at distance at most r0 and independent
    noise of variance at most sigma² on which :math:`Ef-f^*` is at least

    .. math:: \max_{\mu\le a\le L}\frac a2\Big[h_a^2r_0^2+(1-h_a)^2\frac{\sigma^2}{ka^2}\Big],\quad
              h_a=\max\Big((1-\tfrac aL)^k,\frac{\sigma^2}{\sigma^2+ka^2r_0^2}\Big).

    Parameters
    ----------
    k : array_like of int
        Number of gradients, >= 1.
    mu, L, r0, sigma : float
        0 < mu <= L, r0 > 0, sigma >= 0.

    Returns
    -------
    float or ndarray, of the shape of k

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> round(lower_sgd(1, mu=1.0, L=1.0, r0=1.0, sigma=0.0), 6)
    0.0
    >>> round(lower_sgd(10, mu=0.01, L=1.0, r0=1.0, sigma=0.0), 6)  # L r0² / (2e (2k + 1)) = 0.0088
    0.008974
    """
    n, grid = _lower(k, mu, L, r0, sigma)
    slowest = (1 - np.minimum(grid / L, 1.0)) ** n
    head = np.maximum(slowest, sigma**2 / (sigma**2 + n * grid**2 * r0**2))
    error = 0.5 * grid * (head**2 * r0**2 + (1 - head) ** 2 * sigma**2 / (n * grid**2))
    return _number(error.max(axis=-1))


@check.in_range
def lower_accelerated(k: ArrayLike, *, mu: float, L: float, r0: float, sigma: float) -> Any:
    r"""Return a lower bound for all predetermined methods (Proposition ``prop-14-lower``).

    The methods are those whose output is :math:`x_0` plus a combination, fixed beforehand, of the k
    gradients seen: SGD, Nesterov's method, Algorithm 2, and all averages.
    The bound is the larger of two. That of the noise is the maximum over a of
    :math:`\frac a2\frac{r_0^2\sigma^2}{\sigma^2+ka^2r_0^2}`.
    That of the start is :math:`\frac{Lr_0^2}{2(2k+1)^2}` if :math:`\mu\le L\sin^2\frac\pi{4k+2}`,
    and :math:`\frac{\mu r_0^2}{2T_k^2}` in any case, with the Chebyshev polynomial :math:`T_k` at
    :math:`\frac{L+\mu}{L-\mu}`.

    Parameters
    ----------
    k, mu, L, r0, sigma
        As for :func:`lower_sgd`.

    Returns
    -------
    float or ndarray, of the shape of k

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> round(lower_accelerated(10, mu=0.001, L=1.0, r0=1.0, sigma=0.0), 6)  # 1 / (2 * 21²)
    0.001134
    """
    n, grid = _lower(k, mu, L, r0, sigma)
    noise = 0.5 * grid * r0**2 * sigma**2 / (sigma**2 + n * grid**2 * r0**2)
    n = n[..., 0]
    flat = mu <= L * np.sin(np.pi / (4 * n + 2)) ** 2
    start = np.where(flat, 0.5 * L * r0**2 / (2 * n + 1) ** 2, 0.0)
    if mu < L:
        # 1 / T_k = 2 / (r^k + r^-k)
        root = np.sqrt(mu / L)
        decay = ((1 - root) / (1 + root)) ** n
        start = np.maximum(start, 0.5 * mu * (r0 * 2 * decay / (1 + decay**2)) ** 2)
    return _number(np.maximum(noise.max(axis=-1), start))


@check.arguments
def _lower(
    k: Annotated[ArrayLike, check.integers, 1, "count gradients from 1"],
    mu: Annotated[float, check.positive, "a modulus"],
    L: Annotated[float, check.positive, "a curvature"],
    r0: Annotated[float, check.positive, "it is the distance of the start"],
    sigma: Annotated[float, check.real, "0 is for no noise", "[0, inf)"],
) -> tuple[FloatArray, FloatArray]:
    """k with a last axis, and curvatures on it: a grid, and where the parts are largest."""
    n, low, high = np.asarray(k, np.float64)[..., None], mu, L
    check_moduli(mu, L)
    grid = np.broadcast_to(np.geomspace(low, high, 65), (*n.shape[:-1], 65))
    special = [high / (2 * n + 1), sigma / (r0 * np.sqrt(n))]
    return n, np.concatenate([grid, *(np.clip(s, low, high) for s in special)], axis=-1)


def _number(values: FloatArray) -> Any:
    return float(values) if values.ndim == 0 else values
