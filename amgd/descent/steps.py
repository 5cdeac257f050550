r"""Step sizes of the two algorithms, as printed in the paper and as corrected in the book.

Algorithm 1 (nonconvex) and SGD read :math:`\beta_k` and :math:`\gamma_k` as step sizes;
Algorithm 2 (convex) reads :math:`\beta_k` as the mixing weight

.. math:: \beta_k=\frac{\alpha_k}{\alpha_k+(1-\alpha_k)(1+\mu\gamma_k)},\qquad k\ge1 .

So a rule belongs to one of the two, and :class:`StepSizes` says to which.
The index k starts at 1 everywhere and :math:`\alpha_1=1`, which makes :math:`\bar x_0` irrelevant.
All rules but Nesterov's with constant momentum use :math:`\alpha_k=2/(k+1)`.

====================  ================================================  ==========
rule                  gamma                                             algorithm
====================  ================================================  ==========
``sgd``               beta_k (Algorithm 1 is then SGD)                  nonconvex
``theorem1``          anything in [beta, (1 + alpha_k) beta]            nonconvex
``nesterov``          beta_k / alpha_k (Nesterov's method)              nonconvex
``ghadimi_lan``       k beta_k / 2                                      nonconvex
``theorem2_printed``  1 / (2 L sqrt(k + 1))                             convex
``theorem2``          k / (4 L + c k^(3/2))                             convex
``theorem3_printed``  2 delta / (mu k) or 2 delta / (mu (k + 1))        convex
``theorem3``          1 / (mu (k - 1) / 2 + 4 L / k)                    convex
====================  ================================================  ==========
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray

__all__ = [
    "SCHEDULES",
    "Named",
    "Schedule",
    "StepSizes",
    "check_steps",
    "from_name",
    "ghadimi_lan",
    "matched",
    "nesterov",
    "sgd",
    "theorem1",
    "theorem2",
    "theorem2_printed",
    "theorem3",
    "theorem3_printed",
]

Rule = Callable[[Any], Any]
ALGORITHMS = ("nonconvex", "convex")
_BLOCK = 65536  # indices checked at a time: memory does not grow with n_steps
_LIPSCHITZ = "it is a Lipschitz constant of the gradient, such as problem.L"
Modulus = Annotated[
    float, check.positive, "it is the modulus of strong convexity, such as problem.mu"
]
_ROUNDING = 1e-12  # relative slack of every inequality between two computed step sizes


class Schedule:
    """A sequence indexed by k = 1, 2, ...: one index gives a float, an array gives an array.

    Parameters
    ----------
    name : str
        The symbol, for error messages.
    rule : callable
        Takes an int64 array of k, returns one number or an array of the same shape. One that can
        take only a single k (``lambda k: 1.0 if k == 1 else 0.5``) is asked for each, an int.

    Raises
    ------
    TypeError, ValueError
        When called with anything but integers >= 1, or when the rule returns another shape.

    Examples
    --------
    >>> alpha = Schedule("alpha", lambda k: 2 / (k + 1))
    >>> alpha(1), alpha([1, 3])
    (1.0, array([1. , 0.5]))
    """

    def __init__(self, name: str, rule: Rule) -> None:
        if not callable(rule) or isinstance(rule, type):
            raise TypeError(
                f"{name} must be a callable of k: got {rule!r}; pass for example lambda k: 0.1"
            )
        self.name = name
        self._rule = rule

    def __repr__(self) -> str:
        """Tell the symbol and the first values.

        >>> Schedule("alpha", lambda k: 2 / (k + 1))
        <alpha(k) = 1, 0.666667, 0.5, ...>
        """
        try:
            values = ", ".join(f"{self(k):g}" for k in (1, 2, 3))
        except Exception:  # a rule that fails is reported when it is called, not when it is shown
            return f"<{self.name}(k)>"
        return f"<{self.name}(k) = {values}, ...>"

    @overload
    def __call__(self, k: int) -> float: ...
    @overload
    def __call__(self, k: IntArray | list[int]) -> FloatArray: ...
    def __call__(self, k: ArrayLike) -> float | FloatArray:
        """Value at k."""
        index = check.integers("k", k, 1, "steps count from 1")
        try:
            values = np.asarray(self._rule(index))
        except Exception:  # a rule for one k, such as one with an `if`; what it raises then is told
            values = np.array([self._rule(one) for one in index.ravel().tolist()])
            values = values.reshape(index.shape)
        if values.dtype.kind not in "iuf":
            raise TypeError(
                f"{self.name}(k) must give real numbers: got dtype {values.dtype}; mend the rule"
            )
        if values.shape not in ((), index.shape):
            raise ValueError(
                f"{self.name}(k) must give one value for each k: "
                f"got shape {values.shape} for k of shape {index.shape}; let it work entry by entry"
            )
        result = np.broadcast_to(values, index.shape).astype(np.float64)
        return float(result) if result.ndim == 0 else result


@dataclass(frozen=True)
class StepSizes:
    r"""The three sequences of an accelerated method.

    Parameters
    ----------
    name : str
        Shown in error messages and legends.
    alpha, beta, gamma : callable
        Functions of k >= 1 (an int64 array); they become :class:`Schedule` objects, which refuse
        other k.
    mu : float
        The :math:`\mu\ge0` of Algorithm 2; 0 for Algorithm 1.
    algorithm : {"nonconvex", "convex"}
        Whether beta is a step size (Algorithm 1, SGD) or a mixing weight (Algorithm 2).
    conditions : tuple of str
        Conditions that the rule claims for every k, among the names :func:`check_steps` knows.

    Examples
    --------
    >>> rule = StepSizes("mine", lambda k: 2 / (k + 1), lambda k: 0.1, lambda k: 0.1 * k)
    >>> rule.alpha(1), rule.gamma([1, 2])
    (1.0, array([0.1, 0.2]))
    """

    name: str
    alpha: Annotated[Rule, check.later]
    beta: Annotated[Rule, check.later]
    gamma: Annotated[Rule, check.later]
    mu: Annotated[
        float, check.real, "0 is for Algorithm 1 and for functions that are only convex", "[0, inf)"
    ] = 0.0
    algorithm: Annotated[Literal["nonconvex", "convex"], check.choice, ALGORITHMS] = "nonconvex"
    conditions: Annotated[tuple[str, ...], check.instance, tuple, 'pass names such as ("C1",)'] = ()

    def __post_init__(self) -> None:
        """Check the fields and wrap the callables."""
        check.fields(self)
        for name in self.conditions:
            check.choice("conditions", name, tuple(_CONDITIONS))
        for field in ("alpha", "beta", "gamma"):
            rule = getattr(self, field)
            if not isinstance(rule, Schedule):
                object.__setattr__(self, field, Schedule(field, rule))

    @property
    def eta(self) -> Schedule:
        r"""Step of Algorithm 2 after its proximal term: :math:`\eta_k=\gamma_k/(1+\mu\gamma_k)`.

        >>> theorem3_printed(mu=1.0, denominator="k+1", delta=0.1).eta([1, 9])  # 1/11 and 1/51
        array([0.09090909, 0.01960784])
        """
        return Schedule("eta", lambda k: self.gamma(k) / (1.0 + self.mu * self.gamma(k)))


Step = Annotated[float | Rule | StepSizes, check.later]  # of a method with one: `sgd` reads it

# Checks ---------------------------------------------------------------------------------------
#
# A condition is a list of inequalities (text, k, left, right, strict), one entry for each k.

Inequality = tuple[str, IntArray, FloatArray, FloatArray, bool]


def _ranges(k: IntArray, s: StepSizes) -> list[Inequality]:
    """What both algorithms need: alpha_k in (0, 1], finite beta_k and gamma_k >= 0."""
    alpha, beta, gamma = s.alpha(k), s.beta(k), s.gamma(k)
    zero, one, top = np.zeros(k.size), np.ones(k.size), np.full(k.size, 1e300)
    limits: list[Inequality] = [
        ("0 < alpha_k", k, zero, alpha, True),
        ("alpha_k <= 1", k, alpha, one, False),
        ("0 <= beta_k", k, zero, beta, False),
        ("beta_k <= 1e300", k, beta, top, False),
        ("0 <= gamma_k", k, zero, gamma, False),
        ("gamma_k <= 1e300", k, gamma, top, False),
    ]
    if k[0] == 1:
        limits.insert(2, ("alpha_1 = 1", k[:1], one[:1], alpha[:1], False))
    return limits


def _convex(k: IntArray, s: StepSizes) -> list[Inequality]:
    """For Algorithm 2: beta_k (1 - alpha_k)(1 + mu gamma_k) = alpha_k (1 - beta_k)."""
    alpha, beta = s.alpha(k), s.beta(k)
    mixed = alpha + (1 - alpha) * (1 + s.mu * s.gamma(k))
    gap = np.abs(beta * mixed - alpha)
    text = "|beta_k (1 - alpha_k) (1 + mu gamma_k) - alpha_k (1 - beta_k)| <= rounding"
    return [(text, k, gap, _ROUNDING * alpha, False)]


def _theorem1(k: IntArray, s: StepSizes, L: float) -> list[Inequality]:
    alpha, beta, gamma = s.alpha(k), s.beta(k), s.gamma(k)
    return [
        ("beta_k <= gamma_k", k, beta, gamma, False),
        ("gamma_k <= (1 + alpha_k) beta_k", k, gamma, (1 + alpha) * beta, False),
    ]


def _mu(k: IntArray, s: StepSizes, L: float) -> list[Inequality]:
    """Nothing in the sequences: the methods compare mu with the problem's, see `check_modulus`."""
    return []


def _c1(k: IntArray, s: StepSizes, L: float) -> list[Inequality]:
    gamma = s.gamma(k)
    text = "L alpha_k gamma_k < 1 + mu gamma_k"
    return [(text, k, L * s.alpha(k) * gamma, 1 + s.mu * gamma, True)]


def _c2(k: IntArray, s: StepSizes, L: float) -> list[Inequality]:
    # The paper's alpha_k / (gamma_k Gamma_k) <= alpha_{k-1} (1 + mu gamma_{k-1}) /
    # (gamma_{k-1} Gamma_{k-1}) with Gamma_k = (1 - alpha_k) Gamma_{k-1} put in; from k = 2 on.
    k = k[k > 1]
    if k.size == 0:
        return []
    with np.errstate(divide="ignore"):
        now, before = 1 / s.gamma(k), 1 / s.gamma(k - 1) + s.mu
    weight = (1 - s.alpha(k)) * s.alpha(k - 1) / s.alpha(k)
    text = "1/gamma_k <= (1 - alpha_k) (alpha_{k-1} / alpha_k) (1/gamma_{k-1} + mu)"
    return [(text, k, now, weight * before, False)]


def _paper_weights(k: IntArray, s: StepSizes, L: float) -> list[Inequality]:
    return [("L gamma_k < 1", k, L * s.gamma(k), np.ones(k.size), True)]


_CONDITIONS: dict[str, Callable[[IntArray, StepSizes, float], list[Inequality]]] = {
    "theorem1": _theorem1,
    "C1": _c1,
    "C2": _c2,
    "paper_weights": _paper_weights,
    "mu": _mu,
}
_NEED_L = ("C1", "paper_weights")


def check_modulus(steps: StepSizes, mu: float | None) -> None:
    """Refuse steps with the condition mu and a larger mu than that of a problem that has one."""
    if "mu" in steps.conditions and mu is not None and steps.mu > mu * (1 + 1e-9):
        rest = tuple(name for name in steps.conditions if name != "mu")
        raise ValueError(
            f"mu of the steps '{steps.name}' must be at most the modulus of strong convexity of "
            f"the problem, {mu:g}: got {steps.mu:g}; pass mu=problem.mu, or drop the condition: "
            f"dataclasses.replace(steps, conditions={rest})"
        )


def check_moduli(mu: float, L: float) -> None:
    """Refuse a modulus of strong convexity above the Lipschitz constant, up to rounding."""
    if mu > L * (1 + _ROUNDING):
        raise ValueError(f"mu must not exceed L: got mu={mu}, L={L}; perhaps the two are swapped")


def check_block(
    steps: StepSizes, k: IntArray, algorithm: str, conditions: tuple[str, ...], L: float | None
) -> None:
    """Check the consecutive indices `k`: :func:`check_steps` without its own loop over blocks."""
    found = _ranges(k, steps)
    if algorithm == "convex":
        found += _convex(k, steps)
    for name in conditions:
        if name in _NEED_L and L is None:
            raise ValueError(f"condition {name} needs the Lipschitz constant: got L=None; pass L")
        found += _CONDITIONS[name](k, steps, np.nan if L is None else L)
    # The first k that fails comes first, whatever the inequality.
    failures = []
    for text, index, left, right, strict in found:
        slack = 0.0 if strict else _ROUNDING * np.abs(right)
        holds = left < right if strict else left <= right + slack  # NaN holds nowhere
        if not holds.all():
            i = int(holds.argmin())
            failures.append((int(index[i]), text, float(left[i]), float(right[i])))
    if failures:
        first, text, a, b = min(failures, key=lambda failure: failure[0])
        raise ValueError(
            f"step sizes '{steps.name}' break {text} at k = {first} (the first such k): "
            f"the left side is {a:.6g}, the right side {b:.6g}, off by {abs(a - b):.3g}"
        )


@check.arguments
def check_steps(
    steps: StepSizes,
    n_steps: Annotated[int, check.count, "check at least one step"],
    *,
    algorithm: Literal["nonconvex", "convex"] | None = None,
    conditions: tuple[str, ...] | None = None,
    L: Annotated[float | None, check.real, _LIPSCHITZ, "[0, inf)"] = None,
) -> None:
    r"""Check the step sizes for k = 1, ..., n_steps, in constant memory.

    Always: :math:`\alpha_1=1`, :math:`\alpha_k\in(0,1]`, :math:`\beta_k,\gamma_k\ge0` and finite;
    for Algorithm 2 also that beta is the mixing weight that belongs to alpha, gamma and mu.

    Parameters
    ----------
    steps : StepSizes
    n_steps : int
    algorithm : {"nonconvex", "convex"}, optional
        Default: the one the rule is made for.
    conditions : tuple of str, optional
        Default: what the rule claims (``steps.conditions``). Known names:

        - ``"theorem1"``: :math:`\beta_k\le\gamma_k\le(1+\alpha_k)\beta_k`;
        - ``"C1"``: :math:`1+\mu\gamma_k>L\alpha_k\gamma_k`;
        - ``"C2"``: :math:`\frac{\alpha_k}{\gamma_k\Gamma_k}\le
          \frac{\alpha_{k-1}(1+\mu\gamma_{k-1})}{\gamma_{k-1}\Gamma_{k-1}}` for k >= 2;
        - ``"paper_weights"``: :math:`L\gamma_k<1`, which makes the paper's :math:`p_k` positive;
        - ``"mu"``: the problem is strongly convex with the rule's :math:`\mu`, which
          `amgd_convex` compares with the problem's.
    L : float, optional
        Lipschitz constant; ``"C1"`` and ``"paper_weights"`` need it.

    Raises
    ------
    ValueError
        Names the first k that fails, both sides of the inequality and their difference.

    Examples
    --------
    >>> check_steps(theorem3(mu=0.1, L=1.0), 1000, L=1.0)
    >>> check_steps(theorem2_printed(L=1.0), 10, conditions=("C2",))
    Traceback (most recent call last):
        ...
    ValueError: step sizes 'theorem2_printed' break 1/gamma_k <= (1 - alpha_k) (alpha_{k-1} /
    alpha_k) (1/gamma_{k-1} + mu) at k = 2 (the first such k): the left side is 3.4641, the right
    side 1.41421, off by 2.05
    """
    wanted = steps.conditions if conditions is None else tuple(conditions)
    for name in wanted:
        check.choice("conditions", name, tuple(_CONDITIONS))
    kind = steps.algorithm if algorithm is None else algorithm
    for start in range(1, n_steps + 1, _BLOCK):
        k = np.arange(start, min(start + _BLOCK, n_steps + 1))
        check_block(steps, k, kind, wanted, L)


# Rules of Algorithm 1 -------------------------------------------------------------------------


def _alpha(k: IntArray) -> FloatArray:
    return np.asarray(2.0 / (k + 1.0))


def _step(beta: float | Rule, name: str = "beta") -> Rule:
    """Turn a positive number into a constant rule; leave a callable of k as it is."""
    if callable(beta):
        return Schedule(name, beta)
    value = check.positive(name, beta, "pass a step size or a function of k")
    return lambda k: value


def sgd(step: Step) -> StepSizes:
    r"""Plain SGD: :math:`\gamma_k=\beta_k`, for which Algorithm 1 is SGD.

    The methods with one step, SGD and TD(0), read theirs with this function.

    Parameters
    ----------
    step : float, callable or StepSizes
        Positive step size, a function of k such as a `Schedule`, or step sizes for Algorithm 1
        with equal beta and gamma.

    Raises
    ------
    TypeError, ValueError
        If it is none of these; that gamma is beta is checked for each k that is asked for.

    Examples
    --------
    >>> sgd(lambda k: 1 / k).gamma([1, 2, 4])
    array([1.  , 0.5 , 0.25])
    >>> sgd(nesterov(0.1)).beta([1, 2, 4])
    Traceback (most recent call last):
        ...
    ValueError: step must be one sequence: the steps 'nesterov' have gamma_k != beta_k at k = 2;
    pass a number, a function of k, or one of their sequences
    """
    if not isinstance(step, StepSizes):
        rule = _step(step, "step")
        return StepSizes("sgd", _alpha, rule, rule)
    if step.algorithm == "convex":
        raise ValueError(
            f"step must be one sequence: the steps '{step.name}' are made for Algorithm 2, where "
            "beta is a weight; pass their eta"
        )

    def beta(k: IntArray) -> FloatArray:
        values = np.asarray(step.beta(k))
        differs = values != step.gamma(k)
        if differs.any():
            raise ValueError(
                f"step must be one sequence: the steps '{step.name}' have gamma_k != beta_k at "
                f"k = {np.ravel(k)[differs.argmax()]}; pass a number, a function of k, or one of "
                "their sequences"
            )
        return values

    return replace(step, beta=beta, gamma=beta)


def theorem1(beta: float, gamma: Literal["largest", "smallest"] | Rule = "largest") -> StepSizes:
    r"""Steps of Theorem 1 (label ``thm-1``): constant beta, gamma in a narrow range.

    Parameters
    ----------
    beta : float
        Positive.
    gamma : {"largest", "smallest"} or callable
        :math:`(1+\alpha_k)\beta`, :math:`\beta`, or a function of k with values in between.
        The range is checked when the steps are used.

    Examples
    --------
    >>> theorem1(0.3).gamma([1, 2, 5])
    array([0.6, 0.5, 0.4])
    """
    step = check.positive("beta", beta, "this rule has one constant step size")
    rules: dict[Any, Rule] = {
        "largest": lambda k: (1.0 + _alpha(k)) * step,
        "smallest": lambda k: step,
    }
    rule = gamma if callable(gamma) else rules[check.choice("gamma", gamma, tuple(rules))]
    return StepSizes("theorem1", _alpha, _step(step), rule, conditions=("theorem1",))


@check.arguments
def nesterov(
    beta: float | Rule,
    momentum: Annotated[float | None, check.real, "0.9 is usual", "[0, 1)"] = None,
) -> StepSizes:
    r"""Nesterov's method written as Algorithm 1: :math:`\gamma_k=\beta_k/\alpha_k`.

    Parameters
    ----------
    beta : float or callable
        Positive step size, or a function of k.
    momentum : float, optional
        None: :math:`\alpha_k=2/(k+1)`, whose momentum coefficient is (k - 1) / (k + 2).
        A number m in [0, 1): :math:`\alpha_1=1`, then :math:`\alpha_k=1-m`, and
        :math:`\gamma_k=\beta_k/(1-m)` from k = 1 on.
        With constant beta this is SGD with Nesterov momentum m as PyTorch has it.

    Examples
    --------
    >>> nesterov(0.1).gamma(3)
    0.2
    >>> nesterov(0.1, momentum=0.5).alpha([1, 2, 3])
    array([1. , 0.5, 0.5])
    """
    step = _step(beta)
    if momentum is None:
        return StepSizes("nesterov", _alpha, step, lambda k: 0.5 * (k + 1) * step(k))
    rest = 1.0 - momentum
    return StepSizes(
        "nesterov", lambda k: np.where(k == 1, 1.0, rest), step, lambda k: step(k) / rest
    )


def ghadimi_lan(beta: float | Rule) -> StepSizes:
    r"""Convex choice of Ghadimi and Lan for Algorithm 1: :math:`\gamma_k=k\beta_k/2`.

    Parameters
    ----------
    beta : float or callable
        Positive step size, or a function of k.

    Examples
    --------
    >>> ghadimi_lan(0.1).gamma([2, 4])
    array([0.1, 0.2])
    """
    step = _step(beta)
    return StepSizes("ghadimi_lan", _alpha, step, lambda k: 0.5 * k * step(k))


# Schedules with a name -------------------------------------------------------------------------
#
# The only list of them: the optimizer, the training, the experiments, the tables and the figures
# look here. A new one is a rule above and a line below.


@dataclass(frozen=True)
class Named:
    """A rule of Algorithm 1 that can be chosen by its name.

    Attributes
    ----------
    make : callable
        ``make(beta)`` returns its `StepSizes`.
    label : str
        What a legend or a table calls the method, with TeX between dollar signs.
    text : str
        The same without TeX, for a terminal or a file.
    place : int
        Of its colour and line style in the cycle of the book's figures, from 0.
    """

    make: Callable[..., StepSizes]
    label: str
    text: str
    place: int


SCHEDULES: dict[str, Named] = {
    "sgd": Named(sgd, "SGD", "SGD", 0),
    "theorem1": Named(theorem1, "AMGD of Theorem 1", "AMGD of Theorem 1", 6),
    "ghadimi_lan": Named(
        ghadimi_lan, r"AMGD with $\gamma_k=k\beta/2$", "AMGD with gamma_k = k beta / 2", 1
    ),
    "nesterov": Named(nesterov, "Nesterov", "Nesterov", 5),
}
"""The schedules of Algorithm 1 by their names."""


def from_name(name: str, beta: float | Rule = 1.0, momentum: float | None = None) -> StepSizes:
    """Return the step sizes of a schedule of `SCHEDULES`.

    Parameters
    ----------
    name : str
        One of `SCHEDULES`.
    beta : float or callable
        Positive step size, or a function of k where the rule takes one.
    momentum : float in [0, 1), optional
        Constant momentum, for ``"nesterov"`` alone.

    Raises
    ------
    ValueError
        For another name, or momentum with another rule than Nesterov's.

    Examples
    --------
    >>> from_name("ghadimi_lan", 0.1).gamma([2, 4])
    array([0.1, 0.2])
    """
    if momentum is None:
        return SCHEDULES[check.choice("schedule", name, tuple(SCHEDULES))].make(beta)
    if not isinstance(name, str) or name != "nesterov":
        raise ValueError(
            f"momentum belongs to 'nesterov': got {name!r} with momentum={momentum}; leave it out"
        )
    return nesterov(beta, momentum)


@check.arguments
def matched(steps: StepSizes) -> StepSizes:
    r"""Return SGD's steps that move as far as Algorithm 1 does along a constant gradient.

    Accelerated methods move further per gradient.
    Along a gradient G that does not change, Algorithm 1 moves y by :math:`-\eta_kG` in step k,

    .. math:: \eta_k=\beta_k+\alpha_{k+1}c_k,\qquad
              c_k=(1-\alpha_k)c_{k-1}+\gamma_k-\beta_k,\qquad c_0=0 .

    Plain SGD with the steps :math:`\eta_k` is the control: what it gains is owed to the length of
    the steps alone.
    For :math:`\gamma_k=k\beta/2` they are :math:`\eta_k=(3k+5)\beta/12`, for Nesterov's method
    :math:`(k+3)\beta/4`, for Theorem 1's largest :math:`\gamma_k` they are
    :math:`(1+2/(k+2))\beta`.

    Parameters
    ----------
    steps : StepSizes
        Those of the accelerated method.

    Returns
    -------
    StepSizes
        With beta_k = gamma_k = eta_k, so that Algorithm 1 is SGD.

    Raises
    ------
    TypeError, ValueError
        For anything but step sizes of Algorithm 1.

    Examples
    --------
    >>> matched(ghadimi_lan(12.0)).beta([1, 2, 3])
    array([ 8., 11., 14.])
    """
    if steps.algorithm != "nonconvex":
        raise ValueError(
            f"steps must be those of Algorithm 1: got {steps.name!r} of Algorithm 2; "
            "use theorem1, ghadimi_lan or nesterov"
        )
    known: list[float] = []  # eta_1, eta_2, ...
    carried = 0.0  # c_k for k = len(known)

    def displacement(k: IntArray) -> FloatArray:
        nonlocal carried
        for j in range(len(known) + 1, int(k.max(initial=0)) + 1):
            beta = steps.beta(j)
            carried = (1.0 - steps.alpha(j)) * carried + steps.gamma(j) - beta
            known.append(beta + steps.alpha(j + 1) * carried)
        return np.asarray(known)[k - 1]

    return StepSizes(f"matched to {steps.name}", steps.alpha, displacement, displacement)


# Rules of Algorithm 2 -------------------------------------------------------------------------


def _convex_rule(name: str, gamma: Rule, mu: float, conditions: tuple[str, ...]) -> StepSizes:
    def beta(k: IntArray) -> FloatArray:
        alpha = _alpha(k)
        return np.asarray(alpha / (alpha + (1.0 - alpha) * (1.0 + mu * gamma(k))))

    weight = beta if mu > 0 else _alpha  # beta_k = alpha_k to the last bit when mu = 0
    return StepSizes(name, _alpha, weight, gamma, mu, "convex", conditions)


@check.arguments
def theorem2_printed(L: Annotated[float, check.positive, _LIPSCHITZ]) -> StepSizes:
    r"""Steps of the paper's Theorem 2: :math:`\gamma_k=1/(2L\sqrt{k+1})`.

    They break condition C2 at every k >= 2 and lose the acceleration (Proposition B).

    Parameters
    ----------
    L : float
        Positive Lipschitz constant of the mean gradient.

    Examples
    --------
    >>> theorem2_printed(L=0.5).gamma(3)
    0.5
    """
    return _convex_rule("theorem2_printed", lambda k: 0.5 / (L * np.sqrt(k + 1.0)), 0.0, ("C1",))


@check.arguments
def theorem2(
    L: Annotated[float, check.real, _LIPSCHITZ, "[0, inf)"],
    c: Annotated[float, check.real, "0 is for problems without noise", "[0, inf)"],
) -> StepSizes:
    r"""Steps of the corrected Theorem 2: :math:`\gamma_k=k/(4L+ck^{3/2})`.

    Parameters
    ----------
    L : float
        Lipschitz constant of the mean gradient, >= 0.
    c : float
        Noise parameter, >= 0, in the unit of L; 0 is for problems without noise.
        L and c must not both be 0.

    Examples
    --------
    >>> theorem2(L=1.0, c=0.0).gamma([4, 8])
    array([1., 2.])
    """
    if L == 0 and c == 0:
        raise ValueError("L and c must not both be 0: the step would be infinite; pass c > 0")
    return _convex_rule(
        "theorem2",
        lambda k: k / (4.0 * L + c * k**1.5),
        0.0,
        ("C1", "C2") if c == 0 else ("C1",),
    )


@check.arguments
def theorem3_printed(
    mu: Modulus,
    denominator: Literal["k", "k+1"] = "k",
    delta: Annotated[float, check.positive, "it scales the step"] = 1.0,
) -> StepSizes:
    r"""Steps of the paper's Theorem 3: :math:`\gamma_k=2\delta/(\mu k)` or over :math:`\mu(k+1)`.

    With delta <= 1 they break C2 at every k >= 2, and C1 for k up to about
    :math:`2\sqrt{\delta L/\mu}`.

    Parameters
    ----------
    mu : float
        Positive modulus of strong convexity.
    denominator : {"k", "k+1"}
        "k" is the statement; "k+1" is its proof and the experiments.
    delta : float
        Positive; 1 in the theorem, 0.1 in the experiments.

    Examples
    --------
    >>> theorem3_printed(mu=0.5).gamma(2), theorem3_printed(mu=0.5, denominator="k+1").gamma(1)
    (2.0, 2.0)
    """
    shift = 0.0 if denominator == "k" else 1.0
    return _convex_rule("theorem3_printed", lambda k: 2.0 * delta / (mu * (k + shift)), mu, ())


@check.arguments
def theorem3(mu: Modulus, L: Annotated[float, check.positive, _LIPSCHITZ]) -> StepSizes:
    r"""Steps of the corrected Theorem 3: :math:`1/\gamma_k=\mu(k-1)/2+4L/k`.

    Parameters
    ----------
    mu, L : float
        Positive modulus of strong convexity and Lipschitz constant of the mean gradient, mu <= L.

    Examples
    --------
    >>> theorem3(mu=1.0, L=1.0).gamma([1, 2])
    array([0.25, 0.4 ])
    """
    check_moduli(mu, L)
    return _convex_rule(
        "theorem3",
        lambda k: 1.0 / (0.5 * mu * (k - 1.0) + 4.0 * L / k),
        mu,
        ("C1", "C2", "mu"),
    )
