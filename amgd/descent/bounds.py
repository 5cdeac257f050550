"""Every bound of Part II as a function: as printed in the paper, and as corrected.

The module holds right-hand sides only. A function takes the iteration ``k`` (or the horizon
``K``) and the constants of the problem and the chain, and returns the number that the left-hand
side may not exceed::

    corollary1_printed   corollary1                        bias of a Markov sample
    lemma1_printed       lemma1                            one step of Algorithm 1
    theorem1_printed     theorem1_proof_line               E ||grad f(y_R)||^2, nonconvex f
                         theorem1     theorem1_lag
    lemma2_excess        lemma_lag    lemma_poisson        one step of Algorithm 2
    theorem2_printed     theorem2     theorem2_lag         E f(x_bar_k) - f*, convex f
                         proposition_a  proposition_b
                         theorem2_poisson               the same, samples in any space
    theorem3_printed     theorem3     theorem3_lag         the same, strongly convex f
                         proposition_c

Names ending in ``_printed`` give what the paper states. Those statements are false, and nothing
is repaired here: a logarithm of a number below one makes two of them negative. All other
functions give statements that the book proves. A theorem has two forms: the plain name takes the
mixing sum ``T``, the name ending in ``_lag`` the chain itself. (The book calls these forms of the
first theorem 1'' and 1'.) A statement that has one form has the plain name.

Symbols: ``L`` Lipschitz constant of grad f (in Algorithm 1 of every sample gradient, which is
``Problem.L_sample``), ``M`` bound on the sample gradients, ``mu`` strong convexity, ``B`` diameter
of the feasible set, ``D`` largest norm in it, ``r0`` = ||x_0 - x*||, ``sigma`` bound on the noise
H = G - grad f, ``ell`` its Lipschitz constant, d(k) the worst total variation distance after k
steps (with the 1/2), ``T`` = d(1) + d(2) + ... (``MarkovChain.mixing_sum``). Every bound with a
``T`` also holds with the smaller ``MarkovChain.poisson_mixing`` in its place, and then for periodic
chains too; `theorem2`, `theorem3`, `proposition_a` and `proposition_c` hold with
``MarkovChain.poisson_mixing_centred``. `constants` takes all of this from a problem and a chain.

The iteration, and after it the lag, stand first. Everything else is keyword-only and listed in
one order: steps; constants of f (``mu, L, M``), of the start (``initial_gap, f_x_bar0, r0``), of
the set (``B, D``), of the noise (``sigma, ell``), of the chain (``q, q_lip``, ``T``, ``chain`` or
``C``);
then what has a default. ``k`` or ``K`` is an integer or an integer array; a scalar gives a
``float``, an array a ``float64`` array of the same shape.
"""

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.problems import Problem, WholeSpace
from amgd.descent.steps import StepSizes
from amgd.markov import MarkovChain

__all__ = [
    "constants",
    "corollary1",
    "corollary1_printed",
    "dual_averaging",
    "lemma1",
    "lemma1_printed",
    "lemma2_excess",
    "lemma_lag",
    "lemma_poisson",
    "mirror",
    "proposition_a",
    "proposition_b",
    "proposition_c",
    "theorem1",
    "theorem1_lag",
    "theorem1_printed",
    "theorem1_proof_line",
    "theorem2",
    "theorem2_lag",
    "theorem2_poisson",
    "theorem2_printed",
    "theorem3",
    "theorem3_lag",
    "theorem3_printed",
]

# Constants that come out of an eigenvalue solver may break mu <= L or r0 <= B in the last digits.
SLACK = 1e-9


# Products of a few constants of these sizes neither overflow nor vanish.
SMALLEST, LARGEST = 1e-60, 1e60
LONGEST_CURVE = 10**7  # distances d(1), d(2), ... that a bound may ask for: some minutes


# --- what comes in -------------------------------------------------------------------------------


_CONSTANTS = {
    "L": "pass problem.L, for Algorithm 1 problem.L_sample",
    "M": "pass problem.M, which is finite on a bounded set",
    "B": "pass problem.diameter, which is finite on a bounded set",
    "D": "pass the largest norm in the feasible set",
    "mu": "pass problem.mu; when that is 0 use Theorem 2",
    "sigma": "pass problem.sigma, which is finite on a bounded set",
    "ell": "pass problem.ell",
    "T": "pass chain.mixing_sum or chain.poisson_mixing",
    "C": "pass chain.mixing_constant, or 0 for i.i.d. samples",
    "initial_gap": "pass the mean of f(x_0) - f*",
    "f_x_bar0": "pass a value of f",
    "r0": "pass the distance of x_0 from the minimiser",
    "V0": "pass the divergence of the minimiser from x_0",
    "beta": "leave it out for 1/sqrt(K)",
    "gamma": "pass the accuracy that defines tau(gamma)",
    "c": "leave it out for the best one",
    "delta": "it is a total variation distance; leave it out for the best one",
    "q": "pass a bound of the solution of Poisson's equation",
    "q_lip": "pass a Lipschitz constant of the solution of Poisson's equation",
}


def _real(name: str, value: Any, interval: str = "(-inf, inf)") -> float:
    number = check.real(name, value, _CONSTANTS[name], interval)
    if abs(number) > LARGEST:
        raise ValueError(_out_of_scale(name, number))
    return number


def _positive(name: str, value: Any) -> float:
    number = _real(name, value, "(0, inf)")
    if number < SMALLEST:
        raise ValueError(_out_of_scale(name, number))
    return number


def _out_of_scale(name: str, number: float) -> str:
    return (
        f"{name} is out of scale: got {number:g} (expected {SMALLEST:g} to {LARGEST:g}, whose "
        "products are floats); measure in other units"
    )


def _nonnegative(name: str, value: Any) -> float:
    return _real(name, value, "[0, inf)")


def _zero_or_positive(name: str, value: Any) -> float:
    return _positive(name, value) if _nonnegative(name, value) else 0.0


Real = Annotated[float, _real]
Positive = Annotated[float, _positive]
NonNegative = Annotated[float, _nonnegative]
MiddleTerm = Annotated[float | None, _zero_or_positive]
Counts = Annotated[ArrayLike, check.integers, 1, "iterations count from 1"]
Chain = Annotated[MarkovChain, check.instance, MarkovChain, "build one from the transition matrix"]
Steps = Annotated[StepSizes, check.instance, StepSizes, "use a rule of amgd.descent.steps"]
_START = "True takes the law of xi_0 for pi"
Schedule = Annotated[str, check.choice, ("theorem1", "sgd")]
Weights = Annotated[str, check.choice, ("gamma", "paper", "uniform")]


def _lags(k: ArrayLike, s: ArrayLike) -> tuple[IntArray, IntArray]:
    """k and s <= k, of one shape."""
    k, s = np.broadcast_arrays(k, s)
    if np.any(s > k):
        raise ValueError(
            f"s must be at most k: got s={int(s[s > k][0])}, k={int(k[s > k][0])}; "
            "the lag cannot reach behind the start"
        )
    return k, s


def _check_curvature(mu: float, L: float) -> None:
    """mu <= L, which strong convexity and smoothness of the same f imply."""
    if mu > L * (1 + SLACK):
        raise ValueError(
            f"mu must not exceed L: got mu={mu}, L={L}; a mu-strongly convex f that is "
            "L-smooth has mu <= L, so perhaps the two are swapped"
        )


def _check_distance(r0: float, B: float) -> None:
    """r0 <= B: the start lies in the feasible set."""
    if r0 > B * (1 + SLACK):
        raise ValueError(
            f"r0 must not exceed the diameter B: got r0={r0}, B={B}; "
            "r0 is the distance between two feasible points, not its square"
        )


def _result(values: Any) -> Any:
    """A float for scalar k, a float64 array otherwise."""
    array = np.asarray(values, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


# --- what the bounds are made of -----------------------------------------------------------------


def _tv_curve(chain: MarkovChain, length: int) -> FloatArray:
    """d(1), ..., d(length)."""
    if length > LONGEST_CURVE:
        raise ValueError(
            f"the chain is too slow for a bound by its lag: it needs d(1), ..., d({length}) "
            f"(expected at most {LONGEST_CURVE} distances); use the bound that takes "
            "T=chain.mixing_sum"
        )
    curve = np.asarray(chain.tv_distance(np.arange(1, length + 1)), dtype=np.float64)
    return np.minimum.accumulate(curve)  # d is nonincreasing; rounding is not


def _mixing_time(chain: MarkovChain, delta: float) -> int:
    """t_mix(delta); every chain has d(1) <= 1."""
    return 1 if delta >= 1 else int(chain.mixing_time(delta))


def _lag(chain: MarkovChain, k: IntArray) -> tuple[FloatArray, FloatArray]:
    """s = t_mix(1/k) for every k, and d(s)."""
    if k.size == 0:
        return np.zeros(k.shape), np.zeros(k.shape)
    levels, where = np.unique(k, return_inverse=True)
    longest = _mixing_time(chain, 1.0 / int(levels[-1]))
    if longest < 20 * levels.size:  # the curve is cheaper than a search for each k
        tie = 1 + 1e-12  # as in MarkovChain.mixing_time
        curve = _tv_curve(chain, longest)
        s = np.searchsorted(-curve, -tie / levels, side="left") + 1
        s = np.minimum(s, longest)
        d = curve[s - 1]
    else:
        s = np.array([_mixing_time(chain, 1.0 / int(level)) for level in levels])
        d = np.asarray(chain.tv_distance(s), dtype=np.float64)
    return s[where].reshape(k.shape).astype(np.float64), d[where].reshape(k.shape)


def _noise_pieces(
    steps: StepSizes, count: int, M: float, B: float
) -> tuple[FloatArray, FloatArray]:
    """How far y and x_tilde can move between t and t+1, for t = 1, ..., count.

    ||y_{t+1} - y_t|| <= alpha_t min(M eta_t, B) + beta_{t+1} B and
    ||x_tilde_t - x_tilde_{t-1}|| <= M eta_t + mu B eta_{t+1}, with eta = gamma / (1 + mu gamma).
    """
    check.room("k", 8, count, cure="take smaller k")
    t = np.arange(1, count + 2)
    alpha = np.asarray(steps.alpha(t), dtype=np.float64)
    beta = np.asarray(steps.beta(t), dtype=np.float64)
    eta = np.asarray(steps.eta(t), dtype=np.float64)
    y_move = alpha[:-1] * np.minimum(M * eta[:-1], B) + beta[1:] * B
    x_move = M * eta[:-1] + steps.mu * B * eta[1:]
    return y_move, x_move


def _sum_before(terms: FloatArray) -> FloatArray:
    """Array S with S[j] = terms of t = 1, ..., j (so S[0] = 0)."""
    return np.concatenate([[0.0], np.cumsum(terms)])


def _window(terms: FloatArray, start: IntArray, stop: IntArray) -> FloatArray:
    """Sum of the terms t = start, ..., stop - 1, counted from 1, for arrays of start and stop.

    Each window is summed by itself: a difference of two long sums would lose its digits.
    """
    sums = np.empty(start.shape)
    for index in np.ndindex(start.shape):
        sums[index] = terms[start[index] - 1 : stop[index] - 1].sum()
    return sums


def _extrapolation(alpha: FloatArray, excess: FloatArray) -> FloatArray:
    """E_k = (1 - alpha_k) E_{k-1} + excess_k for k = 1, 2, ..., with E_0 = 0."""
    values = np.empty_like(excess)
    previous = 0.0
    for index in range(excess.size):
        previous = (1 - alpha[index]) * previous + excess[index]
        values[index] = previous
    return values


def _one_over_Gamma(alpha: FloatArray) -> FloatArray:
    """1/Gamma_k for k = 1, 2, ..., where Gamma_1 = 1 and Gamma_k = (1 - alpha_k) Gamma_{k-1}."""
    if np.any(alpha[1:] >= 1):
        first = 2 + int(np.argmax(alpha[1:] >= 1))
        raise ValueError(
            f"alpha_k must be below 1 for k >= 2: alpha_{first} is {alpha[first - 1]}; "
            "otherwise Gamma_k is 0 and the statement divides by it"
        )
    return np.concatenate([[1.0], np.cumprod(1 / (1 - alpha[1:]))])


# --- Corollary 1: the bias of a Markov sample ----------------------------------------------------


@check.arguments
def corollary1_printed(*, gamma: Positive) -> float:
    """Corollary 1 as printed: the bias is at most gamma after tau(gamma) steps. It is false.

    Formula: ``gamma``. Book: :prf:ref:`cor-1-printed`.

    Parameters
    ----------
    gamma : float
        The accuracy that defines the mixing time tau(gamma), positive. Total variation has no
        unit, a gradient has one: this alone shows that a factor M is missing.

    Returns
    -------
    float

    Examples
    --------
    >>> corollary1_printed(gamma=0.25)
    0.25
    """
    return gamma


@check.arguments
def corollary1(
    k: Annotated[ArrayLike, check.integers, 0, "it counts the steps of the chain"],
    *,
    M: Positive,
    chain: Chain,
) -> Any:
    """Corollary 1': how far the mean of a sample gradient is from grad f after k steps.

    Formula: ``2 M d(k)``. Book: :prf:ref:`cor-1`.

    Parameters
    ----------
    k : int or int array
        Steps since the point at which the gradient is taken was known, k >= 0.
    M : float
        Bound on ||G(x; xi)||, positive. With L||x - x'|| for M the result bounds the bias of
        G(x; xi) - G(x'; xi).
    chain : MarkovChain

    Returns
    -------
    float or array, in units of a gradient.

    Examples
    --------
    >>> from amgd.markov import sticky
    >>> corollary1(2, M=4.0, chain=sticky([0.25, 0.75], 0.5))
    1.5
    """
    return _result(2 * M * np.asarray(chain.tv_distance(k)))


# --- Lemma 1: one step of Algorithm 1 ------------------------------------------------------------


@check.arguments
def lemma1_printed(k: Counts, tau: Counts, *, steps: Steps, L: Positive, M: Positive) -> Any:
    """Lemma 1 as printed: everything on its right side but the first two terms. It is false.

    The lemma says E f(x_k) <= E f(x_{k-1}) - gamma_k (1 - L gamma_k) E||grad f(y_k)||^2 + this::

        8 L M^2 tau gamma_{k-tau} gamma_k + (4 M^2 L + M) gamma_k^2
        + (M^2 L Gamma_k / 2) sum_{t<=k} (gamma_t - beta_t)^2 / (Gamma_t alpha_t)
        + 2 L M^3 gamma_k [sum_{t=k-tau}^{k-1} alpha_t Gamma_t]
          [sum_{t<=k} (gamma_t - beta_t) / Gamma_t]

    Book: :prf:ref:`lem-1-printed`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= tau + 1 (gamma_{k-tau} must exist).
    tau : int or int array
        The mixing time tau(gamma_k) as an integer >= 1.
    steps : StepSizes
        With gamma, beta nonincreasing, beta <= gamma: hypotheses of the lemma, not checked.
    L, M : float
        Lipschitz constant and bound of the sample gradients, positive.

    Returns
    -------
    float or array

    Examples
    --------
    >>> from amgd.descent.steps import sgd
    >>> lemma1_printed(3, 2, steps=sgd(0.25), L=4e-6, M=4.0)
    0.25008
    """
    k, tau = np.broadcast_arrays(k, tau)
    if np.any(tau >= k):
        raise ValueError(
            f"tau must be at most k - 1: got tau={int(tau[tau >= k][0])}, "
            f"k={int(k[tau >= k][0])}; gamma_(k-tau) does not exist, take a later k"
        )
    if k.size == 0:
        return _result(np.zeros(k.shape))
    check.room("k", 8, int(k.max()), cure="take smaller k")
    t = np.arange(1, int(k.max()) + 1)
    alpha, gamma = np.asarray(steps.alpha(t), float), np.asarray(steps.gamma(t), float)
    difference = gamma - np.asarray(steps.beta(t), float)
    inverse = _one_over_Gamma(alpha)
    squares = _sum_before(difference**2 * inverse / alpha)
    plain = _sum_before(difference * inverse)
    gamma_k = gamma[k - 1]
    return _result(
        8 * L * M**2 * tau * gamma[k - tau - 1] * gamma_k
        + (4 * M**2 * L + M) * gamma_k**2
        + M**2 * L / inverse[k - 1] / 2 * squares[k]
        + 2 * L * M**3 * gamma_k * _window(alpha / inverse, k - tau, k) * plain[k]
    )


@check.arguments
def lemma1(k: Counts, s: Counts, *, steps: Steps, L: Positive, M: Positive, chain: Chain) -> Any:
    """Lemma 1': the error b_k(s) of one step of Algorithm 1, for any lag 1 <= s <= k.

    The lemma says E f(x_k) <= E f(x_{k-1}) - gamma_k E||grad f(y_k)||^2 + gamma_k b_k(s) with::

        b_k(s) = L M^2 [gamma_k / 2 + (1 - alpha_k) E_{k-1}] + 2 M^2 d(s)
                 + 4 L M^2 sum_{t=k-s+1}^{k-1} (beta_t + alpha_{t+1} E_t)
        E_0 = 0,  E_k = (1 - alpha_k) E_{k-1} + |gamma_k - beta_k|

    for every alpha with alpha_1 = 1 and all beta, gamma >= 0. Book: :prf:ref:`lem-1`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    s : int or int array
        Lag, 1 <= s <= k.
    steps : StepSizes
    L, M : float
        Lipschitz constant and bound of the sample gradients, positive.
    chain : MarkovChain

    Returns
    -------
    float or array: b_k(s), without the factor gamma_k.

    Examples
    --------
    >>> from amgd.descent.steps import sgd
    >>> from amgd.markov import iid
    >>> lemma1(5, 1, steps=sgd(0.1), L=1.0, M=1.0, chain=iid([0.5, 0.5]))
    0.05
    """
    k, s = _lags(k, s)
    if k.size == 0:
        return _result(np.zeros(k.shape))
    check.room("k", 8, int(k.max()), cure="take smaller k")
    t = np.arange(1, int(k.max()) + 2)
    alpha, beta = np.asarray(steps.alpha(t), float), np.asarray(steps.beta(t), float)
    gamma = np.asarray(steps.gamma(t), float)
    E = _extrapolation(alpha, np.abs(gamma - beta))
    moves = _window(beta[:-1] + alpha[1:] * E[:-1], k - s + 1, k)
    E_before = np.where(k > 1, E[k - 2], 0.0)
    return _result(
        L * M**2 * (gamma[k - 1] / 2 + (1 - alpha[k - 1]) * E_before)
        + 2 * M**2 * np.asarray(chain.tv_distance(s))
        + 4 * L * M**2 * moves
    )


# --- Theorem 1: nonconvex f, Algorithm 1 ---------------------------------------------------------


def _printed_horizon(K: ArrayLike, L: float) -> FloatArray:
    horizon = np.asarray(K)
    if horizon.size and horizon.min() < 16 * L**2 * (1 - SLACK):
        raise ValueError(
            f"K must be at least 16 L^2 = {16 * L**2}: got {horizon.min()}; the printed theorem "
            "takes beta = 1/sqrt(K) <= 1/(4 L) (theorem1 holds for every K)"
        )
    return horizon.astype(np.float64)


@check.arguments
def theorem1_printed(
    K: Counts, *, L: Positive, M: Positive, initial_gap: NonNegative, C: NonNegative
) -> Any:
    """Theorem 1 as printed. It is false: with M < 1 it fails for some problems.

    Formula, with natural logarithm::

        2 gap (4 L + sqrt K) / K + 2 M (L M^2 (11 + 16 C log K) + 2) / sqrt K

    Book: :prf:ref:`thm-1-printed`.

    Parameters
    ----------
    K : int or int array
        Horizon, K >= 16 L^2.
    L, M : float
        Lipschitz constant and bound of the sample gradients, positive.
    initial_gap : float
        E f(x_0) - f*, at least 0.
    C : float
        The paper's mixing constant; 0 is the limit that i.i.d. samples allow.

    Returns
    -------
    float or array: bound on E||grad f(y_R)||^2.

    Examples
    --------
    >>> theorem1_printed(100, L=1.0, M=1.0, initial_gap=1.0, C=0.0)
    2.88...
    """
    n = _printed_horizon(K, L)
    root = np.sqrt(n)
    mixing = 11 + 16 * C * np.log(n)
    return _result(2 * initial_gap * (4 * L + root) / n + 2 * M * (L * M**2 * mixing + 2) / root)


@check.arguments
def theorem1_proof_line(
    K: Counts, *, L: Positive, M: Positive, initial_gap: NonNegative, C: NonNegative
) -> Any:
    """Theorem 1 as the printed proof ends: L M^2 where the statement has L M^3.

    Formula, with natural logarithm::

        2 gap (4 L + sqrt K) / K + [22 L M^2 + 4 M + 32 C L M^2 log K] / sqrt K

    The book proves it, even with 2 gap / sqrt K for the first term, for K >= 3,
    L sqrt K >= 1/3, gamma_k nonincreasing and C > 0 with d(k) <= exp(-k/C) for all k >= 1.
    Book: :prf:ref:`prop-printed-survives`.

    Parameters
    ----------
    K : int or int array
        Horizon, K >= 16 L^2.
    L, M : float
        Lipschitz constant and bound of the sample gradients, positive.
    initial_gap : float
        E f(x_0) - f*, at least 0.
    C : float
        The paper's mixing constant; 0 is the limit that i.i.d. samples allow.

    Returns
    -------
    float or array: bound on E||grad f(y_R)||^2.

    Examples
    --------
    >>> round(theorem1_proof_line(100, L=1.0, M=0.5, initial_gap=1.0, C=0.0), 12)
    1.03
    >>> round(theorem1_printed(100, L=1.0, M=0.5, initial_gap=1.0, C=0.0), 12)
    0.755
    """
    n = _printed_horizon(K, L)
    root = np.sqrt(n)
    constant = 22 * L * M**2 + 4 * M + 32 * C * L * M**2 * np.log(n)
    return _result(2 * initial_gap * (4 * L + root) / n + constant / root)


def _output_factor(n: FloatArray, schedule: str, weights: str) -> FloatArray:
    """rho_K = 1 + 2 (H_{K+1} - 1) / K, the price of an output rule other than p_k ~ gamma_k."""
    if weights == "gamma" or schedule == "sgd":
        return np.ones_like(n)
    harmonic = digamma(n + 2) + np.euler_gamma
    return np.asarray(1 + 2 * (harmonic - 1) / n)


def _step_beta(n: FloatArray, beta: Any, L: float, schedule: str, weights: str) -> FloatArray:
    """beta for every K, checked against what the paper's output rule needs."""
    values = 1 / np.sqrt(n) if beta is None else np.full_like(n, beta)
    limit = 1 / L if schedule == "sgd" else 1 / (4 * L)
    if weights == "paper" and values.size:
        largest = float(values.max())
        too_large = largest >= limit if schedule == "sgd" else largest > limit * (1 + SLACK)
        if too_large:
            raise ValueError(
                f"beta must be {'below' if schedule == 'sgd' else 'at most'} {limit} for the "
                f"paper's weights gamma_k (1 - L gamma_k): got {largest}; take a smaller beta, "
                'a larger K, or weights="gamma"'
            )
    return values


@check.arguments
def theorem1(
    K: Counts,
    *,
    L: Positive,
    M: Positive,
    initial_gap: NonNegative,
    T: NonNegative,
    beta: Annotated[float | None, _positive] = None,
    schedule: Schedule = "theorem1",
    weights: Weights = "gamma",
    nonincreasing: Annotated[bool, check.boolean, "True assumes gamma_1 >= gamma_2 >= ..."] = False,
) -> Any:
    """Theorem 1'': E||grad f(y_R)||^2 for Algorithm 1 without a logarithm, by Poisson's equation.

    Formula::

        gap / (beta K) + rho L M^2 beta (3/2 + 20/3 T) + 4 (1 + H_K) M^2 T / K

    For nonincreasing gamma_k, 4 (1 + H_K) becomes 8. rho is 1 for ``weights="gamma"`` and
    1 + 2 (H_{K+1} - 1) / K for the two other output rules.
    With ``schedule="sgd"``: gap / (beta K) + L M^2 beta (1/2 + 4 T) + 4 M^2 T / K.
    Book: :prf:ref:`thm-1-poisson`.

    Parameters
    ----------
    K : int or int array
        Horizon, K >= 1.
    L, M : float
        Lipschitz constant and bound of the sample gradients, positive.
    initial_gap : float
        E f(x_0) - f*, at least 0.
    T : float
        ``MarkovChain.mixing_sum`` or the smaller ``MarkovChain.poisson_mixing``.
    beta : float, optional
        The step, positive. Default 1 / sqrt(K).
    schedule : {"theorem1", "sgd"}
        gamma_k anywhere in [beta, (1 + alpha_k) beta], or gamma_k = beta.
    weights : {"gamma", "paper", "uniform"}
        Law of R: p_k ~ gamma_k, p_k ~ gamma_k (1 - L gamma_k) which needs beta <= 1/(4 L)
        (``"sgd"``: beta < 1/L), or 1/K.
    nonincreasing : bool
        Pass True if gamma_1 >= gamma_2 >= ..., as for gamma_k = (1 + alpha_k) beta.

    Returns
    -------
    float or array

    Examples
    --------
    >>> theorem1(100, L=1.0, M=1.0, initial_gap=1.0, T=0.0)
    0.25
    """
    K = np.asarray(K)
    n = K.astype(np.float64)
    b = _step_beta(n, beta, L, schedule, weights)
    if schedule == "sgd":
        return _result(initial_gap / (b * n) + L * M**2 * b * (0.5 + 4 * T) + 4 * M**2 * T / n)
    rho = _output_factor(n, schedule, weights)
    boundary = 8.0 if nonincreasing else 4 * (1 + digamma(n + 1) + np.euler_gamma)
    return _result(
        initial_gap / (b * n) + rho * L * M**2 * b * (1.5 + 20 / 3 * T) + boundary * M**2 * T / n
    )


@check.arguments
def theorem1_lag(
    K: Counts,
    *,
    L: Positive,
    M: Positive,
    initial_gap: NonNegative,
    chain: Chain,
    beta: Annotated[float | None, _positive] = None,
    schedule: Schedule = "theorem1",
    weights: Weights = "gamma",
    delta: Annotated[float | None, _real, "(0, 1]"] = None,
    stationary_start: Annotated[bool, check.boolean, _START] = False,
) -> Any:
    """Theorem 1': E||grad f(y_R)||^2 for Algorithm 1, by the mixing time. Holds for every K.

    Formula, with tau = t_mix(delta)::

        gap / (beta K) + rho L M^2 beta (3/2 + 20/3 (tau - 1)) + rho 2 M^2 delta
        + (4 M^2 / K) sum_{k=1}^{min(tau-1, K)} d(k)

    rho as in `theorem1`.
    With ``schedule="sgd"`` (gamma_k = beta) the numbers 3/2, 20/3, 4 become 1/2, 4, 2, and rho is
    1. A stationary start removes the last term. Book: :prf:ref:`thm-1`.

    Parameters
    ----------
    K, L, M, initial_gap, beta, schedule, weights
        As in `theorem1`.
    chain : MarkovChain
        Irreducible and aperiodic.
    delta : float, optional
        In (0, 1]. By default the best: tau runs over 1, 2, ... with delta = d(tau), and the
        smallest bound is returned (for each K its own).
    stationary_start : bool
        Whether xi_0 has the stationary law and x_0 is independent of it.

    Returns
    -------
    float or array

    Examples
    --------
    >>> from amgd.markov import iid, two_state
    >>> theorem1_lag(100, L=1.0, M=1.0, initial_gap=1.0, chain=iid([0.5, 0.5]))
    0.25
    >>> slow = theorem1_lag(10**6, L=1.0, M=1.0, initial_gap=1.0, chain=two_state(0.05, 0.05))
    >>> round(slow, 3)
    0.234
    """
    K = np.asarray(K)
    n = K.astype(np.float64)
    betas = _step_beta(n, beta, L, schedule, weights)
    first, slope, burn_in = (0.5, 4.0, 2.0) if schedule == "sgd" else (1.5, 20 / 3, 4.0)
    if n.size == 0:
        return _result(n)

    # m steps after tau the bound is larger by at least rho M^2 (m slope L beta - 2 d(tau)). So
    # nothing is gained after the first tau with 2 d(tau) <= slope L beta, nor (from tau = 1)
    # after 1 + 2 d(1) / (slope L beta).
    if delta is None:
        cost = slope * L * float(betas.min()) / 2
        reach = 1 + int(min(float(chain.tv_distance(1)) / cost, 2.0**62))
        longest = min(_mixing_time(chain, cost), reach)
        level = d = _tv_curve(chain, longest)
        tau = np.arange(1, longest + 1)
    else:
        tau = np.array([_mixing_time(chain, delta)])
        level = np.array([delta])
        d = _tv_curve(chain, min(int(tau[0]), int(K.max()) + 1))  # a run ends after K steps
    before = _sum_before(d[:-1])  # d(1) + ... + d(tau - 1) for tau = 1, 2, ...

    factor = _output_factor(n, schedule, weights)
    values = np.empty_like(n)
    for index in np.ndindex(n.shape):
        b, rho = betas[index], factor[index]
        bound = initial_gap / (b * n[index]) + rho * M**2 * (
            L * b * (first + slope * (tau - 1)) + 2 * level
        )
        if not stationary_start:
            spent = before[np.minimum(tau - 1, K[index])]
            bound = bound + burn_in * M**2 / n[index] * spent
        values[index] = bound.min()
    return _result(values)


# --- Lemmas 2, 3, 4: one step of Algorithm 2 -----------------------------------------------------


@check.arguments
def lemma2_excess(k: Counts, *, steps: Steps) -> Any:
    """Lemma 2': the excess eps_k, zero where the paper's condition holds.

    It is the weight of ||x_{k-1} - z||^2 / 2 in the bound.

    Formula::

        eps_1 = 1 / gamma_1
        eps_k = max(0, alpha_k / (gamma_k Gamma_k)
                     - alpha_{k-1} (1 + mu gamma_{k-1}) / (gamma_{k-1} Gamma_{k-1})),  k >= 2

    A positive eps_k with k >= 2 means that the steps violate the hypothesis of the printed Lemma 2
    at k. Where the two terms are equal the difference keeps a rounding error of about
    1e-16 k / gamma_k. Book: :prf:ref:`lem-2`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    steps : StepSizes
        Steps of Algorithm 2; mu is taken from ``steps.mu``.

    Returns
    -------
    float or array

    Examples
    --------
    >>> from amgd.descent.steps import theorem3_printed
    >>> round(lemma2_excess(7, steps=theorem3_printed(0.5)), 12)  # mu / 2 at every k >= 1
    0.25
    """
    k = np.asarray(k)
    if k.size == 0:
        return _result(np.zeros(k.shape))
    check.room("k", 8, int(k.max()), cure="take smaller k")
    t = np.arange(1, int(k.max()) + 1)
    alpha, gamma = np.asarray(steps.alpha(t), float), np.asarray(steps.gamma(t), float)
    weight = alpha * _one_over_Gamma(alpha) / gamma
    excess = weight.copy()
    excess[1:] = np.maximum(weight[1:] - weight[:-1] * (1 + steps.mu * gamma[:-1]), 0.0)
    return _result(excess[k - 1])


@check.arguments
def lemma_lag(
    k: Counts,
    s: Counts,
    *,
    steps: Steps,
    M: Positive,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    chain: Chain,
) -> Any:
    """Lemmas 3' and 4': the modulus of E<Delta_k, z - x_tilde_{k-1}>, by a lag 1 <= s <= k.

    Formula, with eta = gamma / (1 + mu gamma)::

        2 sigma B d(s) + ell B sum_{j=k-s+1}^{k-1} (alpha_j min(M eta_j, B) + beta_{j+1} B)
        + sigma sum_{j=k-s+1}^{k-1} (M eta_j + mu B eta_{j+1})

    Book: :prf:ref:`lem-lag`.

    Parameters
    ----------
    k, s : int or int array
        Iteration and lag, 1 <= s <= k.
    steps : StepSizes
        Steps of Algorithm 2; mu is taken from ``steps.mu``.
    M, B : float
        Bound of the sample gradients and diameter, positive.
    sigma, ell : float
        Bound and Lipschitz constant of the noise G - grad f, at least 0.
    chain : MarkovChain

    Returns
    -------
    float or array

    Examples
    --------
    >>> from amgd.descent.steps import theorem2
    >>> from amgd.markov import two_state
    >>> lemma_lag(9, 1, steps=theorem2(1.0, 1.0), M=1.0, B=1.0, sigma=1.0, ell=0.0,
    ...           chain=two_state(0.25, 0.25))
    0.5
    """
    k, s = _lags(k, s)
    if k.size == 0:
        return _result(np.zeros(k.shape))
    y_move, x_move = _noise_pieces(steps, int(k.max()), M, B)
    return _result(
        2 * sigma * B * np.asarray(chain.tv_distance(s))
        + ell * B * _window(y_move, k - s + 1, k)
        + sigma * _window(x_move, k - s + 1, k)
    )


@check.arguments
def lemma_poisson(
    k: Counts,
    *,
    steps: Steps,
    M: Positive,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    T: NonNegative,
) -> Any:
    """Lemma P: modulus of E sum_{t<=k} t <Delta_t, z - x_tilde_{t-1}>, alpha_t = 2 / (t + 1).

    Formula, with eta = gamma / (1 + mu gamma)::

        4 sigma T B k + 8 ell T B^2 (k - 1) + 2 sigma T sum_{t=1}^{k-1} t (M eta_t + mu B eta_{t+1})

    Book: :prf:ref:`lem-poisson`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    steps : StepSizes
        Steps of Algorithm 2 with alpha_t = 2 / (t + 1); mu is taken from ``steps.mu``.
    M, B : float
        Bound of the sample gradients and diameter, positive.
    sigma, ell : float
        Bound and Lipschitz constant of the noise G - grad f, at least 0.
    T : float
        ``MarkovChain.mixing_sum`` or the smaller ``MarkovChain.poisson_mixing``.

    Returns
    -------
    float or array

    Examples
    --------
    >>> from amgd.descent.steps import theorem2
    >>> lemma_poisson(1, steps=theorem2(1.0, 1.0), M=1.0, B=1.0, sigma=1.0, ell=1.0, T=2.0)
    8.0
    """
    k = np.asarray(k)
    if k.size == 0:
        return _result(np.zeros(k.shape))
    check.room("k", 8, int(k.max()), cure="take smaller k")
    t = np.arange(1, int(k.max()) + 1)
    alpha = np.asarray(steps.alpha(t), float)
    if not np.allclose(alpha, 2 / (t + 1.0), rtol=1e-12, atol=0):
        raise ValueError(
            f"steps must have alpha_k = 2/(k+1): got alpha_1..alpha_3 = {alpha[:3].tolist()}; "
            "the lemma weights the terms by alpha_t / Gamma_t = t"
        )
    _, x_move = _noise_pieces(steps, int(k.max()), M, B)
    moves = _sum_before(t * x_move)
    n = k.astype(np.float64)
    return _result(
        4 * sigma * T * B * n + 8 * ell * T * B**2 * (n - 1) + 2 * sigma * T * moves[k - 1]
    )


@check.arguments
def constants(
    problem: Annotated[Problem, check.instance, Problem, "take one of amgd.descent.problems"],
    chain: Chain,
    *,
    x0: ArrayLike,
) -> dict[str, dict[str, Any]]:
    """Keywords of every bound whose hypotheses the problem and the chain meet.

    The key is the name of the bound: ``theorem2(k, **known["theorem2"])``. Theorem 1 is about
    all of R^d, and its L is that of the samples; Theorems 2 and 3 are about a bounded set, and
    their L is that of the mean. T is the smallest constant that the book proves.
    The lag forms and the printed theorems need a chain that settles.

    Parameters
    ----------
    problem : Problem
    chain : MarkovChain
        Irreducible, with the states and the stationary law of the problem.
    x0 : array_like, shape (d,)
        The start, for the printed theorems that of x_bar too.

    Returns
    -------
    dict of str to dict

    Raises
    ------
    TypeError, ValueError
        If an argument is not of this kind, or the chain has another law than the problem.

    Examples
    --------
    >>> from amgd.descent.problems import Ball, Quadratic
    >>> from amgd.markov import sticky
    >>> problem = Quadratic([1.0, 0.5], noise=[[0.1, 0.0], [-0.1, 0.0]], domain=Ball(2.0))
    >>> known = constants(problem, sticky([0.5, 0.5], 0.1), x0=[1.0, 0.0])
    >>> sorted(known)[:4]
    ['proposition_a', 'proposition_c', 'theorem2', 'theorem2_lag']
    >>> round(theorem3(100, **known["theorem3"]), 3)
    0.436
    """
    law = chain.stationary
    if law.shape != problem.stationary.shape or np.abs(law - problem.stationary).max() > 1e-8:
        raise ValueError(
            f"chain has another stationary law than the problem: got {law.tolist()} (expected "
            f"{problem.stationary.tolist()}); make the problem with stationary=chain.stationary"
        )
    start = check.array("x0", x0, (problem.dim,), "give one start")
    M, value = {"M": problem.M}, float(problem.value(start))
    found: dict[str, dict[str, Any]] = {}
    if isinstance(problem.domain, WholeSpace):
        if (
            np.isfinite([problem.M, problem.L_sample, problem.minimum]).all()
            and problem.L_sample > 0
        ):
            known = {"L": problem.L_sample, **M, "initial_gap": max(0.0, value - problem.minimum)}
            found["theorem1"] = known | {"T": chain.poisson_mixing}
            if chain.is_aperiodic:
                found["theorem1_lag"] = known | {"chain": chain}
                found["theorem1_printed"] = known | {"C": chain.mixing_constant}
        return found
    if problem.minimiser is None:
        return found
    noise = {"sigma": problem.sigma, "ell": problem.ell}
    r0 = {"r0": float(np.linalg.norm(start - problem.minimiser))}
    known = {"L": problem.L, **M, "B": problem.diameter, **noise}
    forms = {"theorem2": known | r0}
    if problem.L > 0:
        forms["proposition_a"] = known
    if problem.mu > 0:
        forms["theorem3"] = forms["proposition_c"] = {"mu": problem.mu, **known, **r0}
    for name, keywords in forms.items():
        found[name] = keywords | {"T": chain.poisson_mixing_centred}
        if name.startswith("theorem") and chain.is_aperiodic:
            found[f"{name}_lag"] = keywords | {"chain": chain}
    printed = {"f_x_bar0": value, "D": problem.domain.farthest(np.zeros(problem.dim))}
    if problem.L_sample > 0:
        found["theorem2_printed"] = {"L": problem.L_sample, **M, **printed}
        if problem.mu > 0:
            found["theorem3_printed"] = found["theorem2_printed"] | {"mu": problem.mu}
    return found


# --- Theorem 2: convex f, Algorithm 2 with mu = 0 ------------------------------------------------


@check.arguments
def theorem2_printed(k: Counts, *, L: Positive, M: Positive, f_x_bar0: Real, D: Positive) -> Any:
    """Theorem 2 as printed. It is false, has no proof, and no constant of the chain in it.

    Formula, with natural logarithm::

        (f(x_bar_0) + 4 L D) / (2 k (k + 1)) + 2 (D + 2 M^2) / (3 L sqrt k)
        + 2 (4 D^2 L + M^2) (L + 1) log(2 L sqrt k) / sqrt k

    The logarithm is negative for k < 1 / (4 L^2), and the value may be too.
    Book: :prf:ref:`thm-2-printed`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    L, M : float
        Lipschitz constant and bound of the sample gradients, positive.
    f_x_bar0 : float
        f(x_bar_0), any real number.
    D : float
        Largest norm in the feasible set, positive.

    Returns
    -------
    float or array: "bound" on f(x_bar_k) - f*.

    Examples
    --------
    >>> round(theorem2_printed(10, L=1.0, M=1.0, f_x_bar0=0.5 - 1e4, D=1.0), 1)
    -33.1
    """
    n = np.asarray(k, np.float64)
    root = np.sqrt(n)
    return _result(
        (f_x_bar0 + 4 * L * D) / (2 * n * (n + 1))
        + 2 * (D + 2 * M**2) / (3 * L * root)
        + 2 * (4 * D**2 * L + M**2) * (L + 1) * np.log(2 * L * root) / root
    )


def _middle_term(noise: FloatArray, B: Any, sigma: float, c: Any, L: float) -> FloatArray:
    """c B^2 + noise / (3 c), at the best c = sqrt(noise / 3) / B when c is None."""
    if c is None:
        if L == 0 and not np.all(noise > 0):
            raise ValueError(
                "c must be given when L = 0 and sigma = 0: the best c is 0 and the step "
                "k / (4 L + c k^1.5) would be infinite; pass L > 0 or c > 0"
            )
        return np.asarray(2 * B * np.sqrt(noise / 3))
    if c > 0:
        return np.asarray(c * B**2 + noise / (3 * c))
    if sigma > 0:
        raise ValueError(
            f"c may be 0 only when sigma = 0: got sigma={sigma}; leave c out to take the best one"
        )
    if L == 0:
        raise ValueError("c must be positive when L = 0: got c=0 and an infinite step")
    return np.zeros_like(noise)


@check.arguments
def theorem2(
    k: Counts,
    *,
    L: NonNegative,
    M: Positive,
    r0: NonNegative,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    T: NonNegative,
    c: MiddleTerm = None,
) -> Any:
    """Theorem 2': E f(x_bar_k) - f* for convex f and gamma_k = k / (4 L + c k^1.5).

    Formula::

        4 L r0^2 / (k (k + 1)) + [c B^2 + (4 sigma^2 + 8 sigma M T) / (3 c)] / sqrt k
        + 8 T (sigma B + 2 ell B^2) / (k + 1)

    Book: :prf:ref:`thm-2`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    L : float
        Lipschitz constant of grad f, at least 0.
    M : float
        Bound of the sample gradients, positive.
    r0, B : float
        Distance of x_0 from the minimiser, diameter of the feasible set; 0 <= r0 <= B.
    sigma, ell : float
        Bound and Lipschitz constant of the noise G - grad f, at least 0.
    T : float
        ``MarkovChain.mixing_sum`` or the smaller ``MarkovChain.poisson_mixing``.
    c : float, optional
        The constant of the steps; 0 only when sigma = 0. By default the best for every k,
        sqrt((4 sigma^2 + 8 sigma M T) / 3) / B.

    Returns
    -------
    float or array

    Examples
    --------
    >>> theorem2(9, L=1.0, M=1.0, r0=1.5, B=2.0, sigma=0.0, ell=0.0, T=0.0)
    0.1
    """
    k = np.asarray(k)
    _check_distance(r0, B)
    n = k.astype(np.float64)
    noise = np.asarray(4 * sigma**2 + 8 * sigma * M * T)
    return _result(
        4 * L * r0**2 / (n * (n + 1))
        + _middle_term(noise, B, sigma, c, L) / np.sqrt(n)
        + 8 * T * (sigma * B + 2 * ell * B**2) / (n + 1)
    )


@check.arguments
def theorem2_poisson(
    k: Counts,
    *,
    L: Positive,
    M: Positive,
    r0: NonNegative,
    B: Positive,
    sigma: NonNegative,
    q: NonNegative,
    q_lip: NonNegative,
    c: MiddleTerm = None,
) -> Any:
    """Theorem 2' on any state space: a solution of Poisson's equation in the place of mixing.

    Formula::

        4 L r0^2 / (k (k + 1)) + [c B^2 + (4 sigma^2 + 4 M q) / (3 c)] / sqrt k
        + 4 (q B + 2 q_lip B^2) / (k + 1)

    For finite chains q = 2 sigma T and q_lip = 2 ell T give `theorem2`.
    Book: :prf:ref:`thm-14-poisson`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    L, r0, B, c
        As in :func:`theorem2`.
    M, sigma, q : float
        Largest root mean squares, over the times of the run, of sup ||G(y; xi_t)||,
        sup ||H(y; xi_t)|| and sup ||Q(y; xi_t)|| over y; M positive, the others at least 0.
    q_lip : float
        Largest mean of the Lipschitz constant of Q in y, at least 0.

    Returns
    -------
    float or array

    Examples
    --------
    >>> theorem2_poisson(9, L=1.0, M=1.0, r0=1.5, B=2.0, sigma=0.0, q=0.0, q_lip=0.0)
    0.1
    """
    k = np.asarray(k)
    _check_distance(r0, B)
    n = k.astype(np.float64)
    middle = _middle_term(np.asarray(4 * sigma**2 + 4 * M * q), B, sigma, c, L)
    if q > 0 and middle == 0:  # c = 0, which only sigma = 0 allows
        raise ValueError(f"c may be 0 only when q = 0: got q={q}; leave c out to take the best one")
    return _result(
        4 * L * r0**2 / (n * (n + 1))
        + middle / np.sqrt(n)
        + 4 * (q * B + 2 * q_lip * B**2) / (n + 1)
    )


@check.arguments
def theorem2_lag(
    k: Counts,
    *,
    L: NonNegative,
    M: Positive,
    r0: NonNegative,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    chain: Chain,
    c: MiddleTerm = None,
) -> Any:
    """Theorem 2', lag form: the paper's argument done right, with a logarithm in s.

    Formula, with s = t_mix(1/k) and the term marked * only when s > 1::

        4 L r0^2 / (k (k + 1)) + [c B^2 + (4 sigma^2 + 4 sqrt2 sigma M (s - 1)) / (3 c)] / sqrt k
        + 4 sigma B s^2 / (k (k + 1)) * + 2 sigma B d(s) + 16 ell B^2 (s - 1) / (k + 1)

    Book: :prf:ref:`thm-2-lag`.

    Parameters
    ----------
    k, L, M, r0, B, sigma, ell
        As in `theorem2`.
    chain : MarkovChain
        Irreducible and aperiodic.
    c : float, optional
        The constant of the steps; 0 only when sigma = 0. The best one,
        sqrt((4 sigma^2 + 4 sqrt2 sigma M (s - 1)) / 3) / B, depends on k through s: the default
        takes it at each k, so an array then belongs to runs with different steps.

    Returns
    -------
    float or array

    Examples
    --------
    >>> from amgd.markov import iid
    >>> theorem2_lag(9, L=1.0, M=1.0, r0=1.5, B=2.0, sigma=0.0, ell=0.0, chain=iid([0.5, 0.5]))
    0.1
    """
    k = np.asarray(k)
    _check_distance(r0, B)
    n = k.astype(np.float64)
    s, d = _lag(chain, k)
    noise = np.asarray(4 * sigma**2 + 4 * math.sqrt(2) * sigma * M * (s - 1))
    return _result(
        4 * L * r0**2 / (n * (n + 1))
        + _middle_term(noise, B, sigma, c, L) / np.sqrt(n)
        + np.where(s > 1, 4 * sigma * B * s**2 / (n * (n + 1)), 0.0)
        + 2 * sigma * B * d
        + 16 * ell * B**2 * (s - 1) / (n + 1)
    )


@check.arguments
def proposition_a(
    k: Counts,
    *,
    L: Positive,
    M: Positive,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    T: NonNegative,
) -> Any:
    """Proposition A: what the printed steps of Theorem 2, 1 / (2 L sqrt(k + 1)), do give.

    Formula::

        2 L B^2 / sqrt(k + 1) + (2 sigma^2 + 4 sigma M T) / (3 L sqrt k)
        + 8 T (sigma B + 2 ell B^2) / (k + 1)

    Book: :prf:ref:`prop-a`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    L, M, B : float
        Lipschitz constant of grad f, bound of the sample gradients, diameter; positive.
    sigma, ell : float
        Bound and Lipschitz constant of the noise G - grad f, at least 0.
    T : float
        ``MarkovChain.mixing_sum`` or the smaller ``MarkovChain.poisson_mixing``.

    Returns
    -------
    float or array: bound on E f(x_bar_k) - f*.

    Examples
    --------
    >>> proposition_a(3, L=1.0, M=1.0, B=2.0, sigma=0.0, ell=0.0, T=0.0)
    4.0
    """
    n = np.asarray(k, np.float64)
    return _result(
        2 * L * B**2 / np.sqrt(n + 1)
        + (2 * sigma**2 + 4 * sigma * M * T) / (3 * L * np.sqrt(n))
        + 8 * T * (sigma * B + 2 * ell * B**2) / (n + 1)
    )


@check.arguments
def proposition_b(k: Counts, *, L: Positive, D: Positive) -> Any:
    """Proposition B: a gap that the printed steps of Theorem 2 cannot avoid, without any noise.

    Formula: ``L D^2 / sqrt(k + 1)``, a *lower* bound on f(x_bar_k) - f* for
    f(x) = x L D / sqrt(k + 1) on [-D, D] from x_0 = D. Book: :prf:ref:`prop-b`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    L, D : float
        The L of the steps 1 / (2 L sqrt(k + 1)), half the length of the interval; positive.

    Returns
    -------
    float or array

    Examples
    --------
    >>> proposition_b(3, L=1.0, D=2.0)
    2.0
    """
    return _result(L * D**2 / np.sqrt(np.asarray(k) + 1.0))


# --- Theorem 3: strongly convex f, Algorithm 2 ---------------------------------------------------


@check.arguments
def theorem3_printed(
    k: Counts, *, mu: Positive, L: Positive, M: Positive, f_x_bar0: Real, D: Positive
) -> Any:
    """Theorem 3 as printed. It is false, and no constant of the chain is in it.

    Formula, with natural logarithm::

        (2 f(x_bar_0) + 6 mu D) / (k (k + 1))
        + 4 (M^2 + 2 mu M D + 12 mu L D^2) (2 + mu) log(mu (k + 1) / 2) / (mu k)
        + (2 D + 10 M^2 + 8 mu M D) / (mu (k + 1))

    The logarithm is negative for k < 2/mu - 1, and the value often is too.
    Book: :prf:ref:`thm-3-printed`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    mu, L : float
        Strong convexity and Lipschitz constant, 0 < mu <= L.
    M : float
        Bound of the sample gradients, positive.
    f_x_bar0 : float
        f(x_bar_0), any real number.
    D : float
        Largest norm in the feasible set, positive.

    Returns
    -------
    float or array: "bound" on f(x_bar_k) - f*.

    Examples
    --------
    >>> round(theorem3_printed(1, mu=0.1, L=0.1, M=0.1, f_x_bar0=0.05, D=1.0), 1)
    -17.8
    """
    _check_curvature(mu, L)
    n = np.asarray(k, np.float64)
    mixing = M**2 + 2 * mu * M * D + 12 * mu * L * D**2
    return _result(
        (2 * f_x_bar0 + 6 * mu * D) / (n * (n + 1))
        + 4 * mixing * (2 + mu) * np.log(mu * (n + 1) / 2) / (mu * n)
        + (2 * D + 10 * M**2 + 8 * mu * M * D) / (mu * (n + 1))
    )


@check.arguments
def theorem3(
    k: Counts,
    *,
    mu: Positive,
    L: Positive,
    M: Positive,
    r0: NonNegative,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    T: NonNegative,
) -> Any:
    """Theorem 3': E f(x_bar_k) - f* + (mu/2) E||x_k - x*||^2, 1/gamma_k = mu (k-1)/2 + 4 L/k.

    Formula::

        4 L r0^2 / (k (k + 1)) + 4 sigma^2 / (mu (k + 1))
        + 8 T [sigma M / mu + 2 sigma B + 2 ell B^2] / (k + 1)

    Book: :prf:ref:`thm-3`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    mu, L : float
        Strong convexity of f and Lipschitz constant of grad f, 0 < mu <= L.
    M : float
        Bound of the sample gradients, positive.
    r0, B : float
        Distance of x_0 from the minimiser, diameter of the feasible set; 0 <= r0 <= B.
    sigma, ell : float
        Bound and Lipschitz constant of the noise G - grad f, at least 0.
    T : float
        ``MarkovChain.mixing_sum`` or the smaller ``MarkovChain.poisson_mixing``.

    Returns
    -------
    float or array

    Examples
    --------
    >>> theorem3(9, mu=0.5, L=1.0, M=1.0, r0=1.5, B=2.0, sigma=1.0, ell=0.0, T=0.0)
    0.9
    """
    _check_curvature(mu, L)
    _check_distance(r0, B)
    n = np.asarray(k, np.float64)
    return _result(
        4 * L * r0**2 / (n * (n + 1))
        + 4 * sigma**2 / (mu * (n + 1))
        + 8 * T * (sigma * M / mu + 2 * sigma * B + 2 * ell * B**2) / (n + 1)
    )


@check.arguments
def theorem3_lag(
    k: Counts,
    *,
    mu: Positive,
    L: Positive,
    M: Positive,
    r0: NonNegative,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    chain: Chain,
) -> Any:
    """Theorem 3', lag form: the paper's argument done right, O(log k / k).

    Formula, with s = t_mix(1/k) and the term marked * only when s > 1::

        4 L r0^2 / (k (k + 1)) + 4 sigma^2 / (mu (k + 1)) + 4 sigma B s^2 / (k (k + 1)) *
        + 2 sigma B d(s) + 8 (s - 1) [sigma M / mu + sigma B + 2 ell B^2] / (k + 1)

    Book: :prf:ref:`thm-3-lag`.

    Parameters
    ----------
    k, mu, L, M, r0, B, sigma, ell
        As in `theorem3`.
    chain : MarkovChain
        Irreducible and aperiodic.

    Returns
    -------
    float or array

    Examples
    --------
    >>> from amgd.markov import iid
    >>> theorem3_lag(9, mu=0.5, L=1.0, M=1.0, r0=1.5, B=2.0, sigma=1.0, ell=0.0,
    ...              chain=iid([0.5, 0.5]))
    0.9
    """
    k = np.asarray(k)
    _check_curvature(mu, L)
    _check_distance(r0, B)
    n = k.astype(np.float64)
    s, d = _lag(chain, k)
    return _result(
        4 * L * r0**2 / (n * (n + 1))
        + 4 * sigma**2 / (mu * (n + 1))
        + np.where(s > 1, 4 * sigma * B * s**2 / (n * (n + 1)), 0.0)
        + 2 * sigma * B * d
        + 8 * (s - 1) * (sigma * M / mu + sigma * B + 2 * ell * B**2) / (n + 1)
    )


@check.arguments
def proposition_c(
    k: Counts,
    *,
    mu: Positive,
    L: Positive,
    M: Positive,
    r0: NonNegative,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    T: NonNegative,
    denominator: Annotated[str, check.choice, ("k", "k+1")] = "k",
) -> Any:
    """Proposition C: what the printed steps of Theorem 3 do give, for every condition number.

    Formula, with kappa = L / mu, for gamma_k = 2 / (mu k)::

        [mu r0^2 + 8 sqrt(2 kappa) L B^2] / (k + 1)^2 + 8 sigma^2 / (mu (k + 1))
        + 16 T [sigma M / mu + 2 sigma B + 2 ell B^2] / (k + 1)

    and for gamma_k = 2 / (mu (k + 1))::

        [3 mu r0^2 + 12 sqrt(2 kappa) L B^2] / ((k + 1) (k + 2)) + 12 sigma^2 / (mu (k + 1))
        + 24 T [sigma M / mu + 2 sigma B + 2 ell B^2] / (k + 1)

    Book: :prf:ref:`prop-c`.

    Parameters
    ----------
    k, mu, L, M, r0, B, sigma, ell, T
        As in `theorem3`.
    denominator : {"k", "k+1"}
        The steps of the theorem's statement, or those of its proof and of the experiments.

    Returns
    -------
    float or array: bound on E f(x_bar_k) - f*.

    Examples
    --------
    >>> proposition_c(3, mu=0.5, L=1.0, M=1.0, r0=2.0, B=2.0, sigma=0.0, ell=0.0, T=0.0)
    4.125
    """
    _check_curvature(mu, L)
    _check_distance(r0, B)
    n = np.asarray(k, np.float64)
    clipping = math.sqrt(2 * L / mu) * L * B**2
    if denominator == "k":
        initial, scale = (mu * r0**2 + 8 * clipping) / (n + 1) ** 2, 1.0
    else:
        initial, scale = (3 * mu * r0**2 + 12 * clipping) / ((n + 1) * (n + 2)), 1.5
    noise = 8 * sigma**2 / mu + 16 * T * (sigma * M / mu + 2 * sigma * B + 2 * ell * B**2)
    return _result(initial + scale * noise / (n + 1))


@check.arguments
def mirror(
    K: Counts,
    *,
    L: Positive,
    M: Positive,
    V0: Positive,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    T: NonNegative,
    c: MiddleTerm = None,
) -> Any:
    """Mirror step with known horizon: E f(x_bar_K) - f* for gamma_k = k / (4 L + c (K + 1) K^.5).

    Formula::

        8 L V0 / (K (K + 1)) + [2 c V0 + (2 sigma^2 + 4 sigma M T) / (3 c)] / sqrt K
        + 8 T (sigma B + 2 ell B^2) / (K + 1)

    Book: :prf:ref:`thm-14-mirror`.

    Parameters
    ----------
    K : int or int array
        Number of steps, K >= 1.
    L, M, sigma, ell : float
        As in :func:`theorem2`, in the norm of the step and its dual. For the entropy step on the
        simplex: the largest entries of gradients and noise, and L the largest entry of the Hessian.
    V0 : float
        Divergence of the minimiser from the start, positive; log n is enough from the middle of
        the simplex.
    B : float
        Diameter of the set, positive; 2 for the simplex.
    T : float
        ``MarkovChain.poisson_mixing_centred``, or anything larger.
    c : float, optional
        The constant of the steps. By default the best for every K.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(mirror(99, L=1.0, M=1.0, V0=0.7, B=2.0, sigma=0.0, ell=0.0, T=0.0), 6)
    0.000566
    """
    return _divergence_bound(np.asarray(K), L, M, V0, B, sigma, ell, T, c, (2.0, 4.0), 0.0)


@check.arguments
def dual_averaging(
    k: Counts,
    *,
    L: Positive,
    M: Positive,
    V0: Positive,
    B: Positive,
    sigma: NonNegative,
    ell: NonNegative,
    T: NonNegative,
    c: MiddleTerm = None,
) -> Any:
    """Dual averaging: E f(x_bar_k) - f* for A_k = 4 L + c (k + 1)^1.5, at every k.

    Formula::

        8 L V0 / (k (k + 1))
        + [2 sqrt(1 + 1/k) c V0 + (4 sigma^2 + 14 sigma M T) / (3 c)] / sqrt k
        + 8 T (sigma B + 2 ell B^2) / (k + 1)

    Book: :prf:ref:`thm-14-dual`.

    Parameters
    ----------
    k : int or int array
        Iteration, k >= 1.
    L, M, V0, B, sigma, ell, T, c
        As for :func:`mirror`.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(dual_averaging(99, L=1.0, M=1.0, V0=0.7, B=2.0, sigma=0.0, ell=0.0, T=0.0), 6)
    0.000566
    """
    return _divergence_bound(np.asarray(k), L, M, V0, B, sigma, ell, T, c, (4.0, 14.0), 1.0)


def _divergence_bound(
    k: IntArray,
    L: float,
    M: float,
    V0: float,
    B: float,
    sigma: float,
    ell: float,
    T: float,
    c: float | None,
    weights: tuple[float, float],
    delay: float,
) -> Any:
    """The two bounds with a divergence; `delay` is 1 where A_k runs ahead of the step."""
    n = k.astype(np.float64)
    noise = np.asarray(weights[0] * sigma**2 + weights[1] * sigma * M * T)
    reach = np.sqrt(2 * V0 * np.sqrt(1 + delay / n))
    return _result(
        8 * L * V0 / (n * (n + 1))
        + _middle_term(noise, reach, sigma, c, L) / np.sqrt(n)
        + 8 * T * (sigma * B + 2 * ell * B**2) / (n + 1)
    )
