r"""Sample functions on a finite state space, with exact means and certified constants.

A problem is a family :math:`F(x;\xi)`, :math:`\xi\in\{0,\dots,n-1\}`, a law :math:`\pi` of
:math:`\xi` and a convex set :math:`\mathcal X`.
The descent methods see the sample gradients :math:`G(x;\xi)=\nabla F(x;\xi)` only;
the experiments compare with the mean :math:`f(x)=\sum_\xi\pi_\xi F(x;\xi)`, which is exact here
because the state space is finite.

The bounds of the book need constants. With :math:`H=G-\nabla f` they are, on :math:`\mathcal X`,

============  =====================================================================
``L``         Lipschitz constant of :math:`\nabla f`
``L_sample``  Lipschitz constant of every :math:`G(\cdot;\xi)` (the nonconvex theorems use it)
``ell``       Lipschitz constant of every :math:`H(\cdot;\xi)`
``M``         bound of :math:`\|G\|`, hence of :math:`\|\nabla f\|`
``sigma``     bound of :math:`\|H\|`
``mu``        modulus of strong convexity of :math:`f` (0: none is claimed)
``diameter``  diameter of :math:`\mathcal X`
``minimum``   :math:`f^*=\inf_{\mathcal X}f`
============  =====================================================================

Each class says which of them are exact.
Those that are not are certified: upper bounds of ``L, L_sample, ell, M, sigma``,
lower bounds of ``mu`` and ``minimum``.
``inf`` means that no finite constant exists or none is known.

The module holds three sets (:class:`WholeSpace`, :class:`Ball`, :class:`Box`) and one class for
each mathematical family (:class:`Quadratic`, :class:`Linear`, :class:`Huber`, :class:`Logistic`,
:class:`Sigmoid`, :class:`Cosines`), followed by makers of the counterexamples of the book.
"""

from abc import ABC, abstractmethod
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray

__all__ = [
    "Ball",
    "Box",
    "Cosines",
    "Domain",
    "Huber",
    "Linear",
    "Logistic",
    "Problem",
    "Quadratic",
    "Sigmoid",
    "WholeSpace",
    "clipped_linear",
    "cosines",
    "huber_cross",
    "huber_pair",
    "huber_simplex",
    "sine_counterexample",
]


def _vectors(name: str, x: ArrayLike) -> FloatArray:
    """Return points (..., d) as float64."""
    if type(x) is np.ndarray and x.dtype == np.float64 and x.ndim:
        return x
    given = check.numeric(name, x, "the last axis has the coordinates")
    if not given.ndim:
        raise ValueError(f"{name} must have shape (..., d): got a number; pass its coordinates")
    return given


# Feasible sets --------------------------------------------------------------------------------


class Domain(ABC):
    """A closed convex set of points x with shape (..., d)."""

    @abstractmethod
    def project(self, x: FloatArray) -> FloatArray:
        """Nearest point of the set, shape (..., d)."""

    @abstractmethod
    def diameter_in(self, dim: int) -> float:
        """Largest distance of two points of the set in dimension `dim`.

        Raises
        ------
        ValueError
            If the set does not have this dimension.
        """

    @abstractmethod
    def farthest(self, point: FloatArray) -> float:
        """Largest distance of a point of the set from `point`, shape (d,)."""

    @abstractmethod
    def minimise_linear(self, slope: FloatArray) -> FloatArray:
        """A point of the set where <slope, x> is least; shape (d,)."""

    @check.arguments
    def contains(self, x: FloatArray, tolerance: check.Positive = 1e-12) -> bool:
        """Whether every point is within `tolerance` (relative to its size) of the set."""
        x = _vectors("x", x)
        gap = np.abs(self.project(x) - x)
        return bool((gap <= tolerance * np.maximum(1.0, np.abs(x))).all())


class WholeSpace(Domain):
    """All of R^d: no constraint.

    Examples
    --------
    >>> WholeSpace().diameter_in(3)
    inf
    """

    def project(self, x: FloatArray) -> FloatArray:
        """Return `x` itself."""
        return _vectors("x", x)

    @check.arguments
    def diameter_in(self, dim: int) -> float:
        """Infinite."""
        return np.inf

    def farthest(self, point: FloatArray) -> float:
        """Infinite."""
        _vectors("point", point)
        return np.inf

    def minimise_linear(self, slope: FloatArray) -> FloatArray:
        """Only a zero slope has a minimum."""
        slope = _vectors("slope", slope)
        if slope.any():
            raise ValueError(
                f"slope must be 0: got {slope.tolist()}, and such a linear function has no minimum "
                "on the whole space; pass domain=Ball(radius) or domain=Box(lower, upper)"
            )
        return np.zeros_like(slope)


class Ball(Domain):
    """The Euclidean ball of the given radius about the origin.

    Parameters
    ----------
    radius : float
        Positive; the paper's D.

    Examples
    --------
    >>> Ball(2.0).project(np.array([3.0, 4.0]))
    array([1.2, 1.6])
    """

    @check.arguments
    def __init__(
        self, radius: Annotated[float, check.positive, "for all of R^d pass WholeSpace()"]
    ) -> None:
        self.radius = radius

    def project(self, x: FloatArray) -> FloatArray:
        """Scale the points outside the ball back to its surface."""
        x = _vectors("x", x)
        with np.errstate(over="ignore", under="ignore"):
            norm = np.sqrt(np.einsum("...i,...i->...", x, x))
        if self.radius < 1e-140 or np.isinf(norm).any():  # squares leave the range before the norm
            size = np.abs(x).max(axis=-1, keepdims=True)
            unit = x / np.where(size > 0, size, 1.0)
            length = np.maximum(1.0, np.sqrt((unit**2).sum(axis=-1, keepdims=True)))
            return np.where(size > self.radius / length, unit / length * self.radius, x)
        scale: FloatArray = self.radius / np.maximum(norm, self.radius)
        return x * scale[..., None]

    @check.arguments
    def diameter_in(self, dim: int) -> float:
        """Twice the radius."""
        return 2.0 * self.radius

    @check.in_range
    def farthest(self, point: FloatArray) -> float:
        """Radius plus the norm of the point."""
        return self.radius + float(np.linalg.norm(_vectors("point", point)))

    @check.in_range
    def minimise_linear(self, slope: FloatArray) -> FloatArray:
        """The point of the sphere opposite to the slope."""
        slope = _vectors("slope", slope)
        norm = np.linalg.norm(slope)
        return np.zeros_like(slope) if norm == 0 else -self.radius * slope / norm


Bound = Annotated[ArrayLike, check.array, [(), ("d",)], "give one bound, or one for each axis"]


class Box(Domain):
    """The box lower <= x <= upper, coordinate by coordinate; an interval when d = 1.

    Parameters
    ----------
    lower, upper : float or array_like, shape (d,)
        lower < upper in every coordinate.

    Examples
    --------
    >>> Box(-1.0, 1.0).project(np.array([3.0, 0.5]))
    array([1. , 0.5])
    """

    @check.arguments
    def __init__(self, lower: Bound, upper: Bound) -> None:
        self.lower: FloatArray = np.asarray(lower)
        self.upper: FloatArray = np.asarray(upper)
        if not np.all(self.lower < self.upper):
            raise ValueError(
                f"lower must be below upper: got lower={lower!r}, upper={upper!r}; swap them"
            )

    def project(self, x: FloatArray) -> FloatArray:
        """Clip every coordinate."""
        return np.minimum(np.maximum(self._fitting("x", x), self.lower), self.upper)

    def _fitting(self, name: str, point: FloatArray) -> FloatArray:
        """Return a point that has as many coordinates as the box."""
        point, size = _vectors(name, point), max(self.lower.size, self.upper.size)
        if size > 1 and point.shape[-1:] != (size,):
            raise ValueError(
                f"{name} must have {size} coordinates: got shape {point.shape}; the box has them"
            )
        return point

    @check.arguments
    def diameter_in(self, dim: check.Count) -> float:
        """Length of the diagonal."""
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound.ndim == 1 and bound.size != dim:
                raise ValueError(
                    f"{name} must have {dim} entries, the dim of x: got {bound.size}; give one for "
                    "each axis"
                )
        check.room("dim", dim, cure="give lower and upper for a smaller space")
        return float(np.linalg.norm(np.broadcast_to(self.upper - self.lower, dim)))

    @check.in_range
    def farthest(self, point: FloatArray) -> float:
        """Distance to the corner farthest away."""
        point = self._fitting("point", point)
        corner = np.maximum(self.upper - point, point - self.lower)
        return float(np.linalg.norm(corner))

    def minimise_linear(self, slope: FloatArray) -> FloatArray:
        """The corner that the slope points away from (0 clipped where the slope is 0)."""
        slope = self._fitting("slope", slope)
        best = np.where(slope > 0, self.lower, self.upper)
        return np.where(slope == 0, np.clip(0.0, self.lower, self.upper), best)


# The interface --------------------------------------------------------------------------------


AnyDomain = Annotated[Domain | None, check.instance, Domain, "pass a WholeSpace, Ball or Box"]


class Problem(ABC):
    r"""Minimise :math:`f(x)=\sum_\xi\pi_\xi F(x;\xi)` over a convex set.

    A subclass gives ``_sample_value`` and ``_sample_gradient`` and fills in the constants;
    it may give the mean in closed form too.

    Attributes
    ----------
    n_states, dim : int
        Number of states :math:`\xi` and dimension of x.
    stationary : ndarray, shape (n_states,)
        The law :math:`\pi` that the mean is taken under.
    domain : Domain
        The feasible set.
    L, L_sample, ell, M, sigma, mu, diameter, minimum : float
        See the head of the module.
    minimiser : ndarray, shape (d,), or None
        A point where f is least on the set; None when there is none or none is known.
    """

    L: float
    L_sample: float
    ell: float
    M: float
    sigma: float
    mu: float
    minimum: float
    minimiser: FloatArray | None

    @check.arguments
    def __init__(
        self, n_states: int, dim: int, stationary: ArrayLike | None, domain: AnyDomain
    ) -> None:
        self.n_states = n_states
        self.dim = dim
        if stationary is None:
            self.stationary = np.full(n_states, 1.0 / n_states)
        else:
            self.stationary = check.probabilities("stationary", stationary, (n_states,))
        self.stationary.flags.writeable = False
        self.domain = WholeSpace() if domain is None else domain
        self.diameter = self.domain.diameter_in(dim)

    @abstractmethod
    def _sample_value(self, x: FloatArray, xi: IntArray) -> FloatArray: ...

    @abstractmethod
    def _sample_gradient(self, x: FloatArray, xi: IntArray) -> FloatArray: ...

    def _value(self, x: FloatArray) -> FloatArray:
        terms = (p * self._sample_value(x, np.asarray(i)) for i, p in enumerate(self.stationary))
        return np.asarray(sum(terms))

    def _gradient(self, x: FloatArray) -> FloatArray:
        terms = (p * self._sample_gradient(x, np.asarray(i)) for i, p in enumerate(self.stationary))
        return np.asarray(sum(terms))

    def value(self, x: ArrayLike) -> FloatArray:
        """Mean value f(x): shape (..., d) to (...)."""
        return self._value(self._points(x, finite=True))

    def gradient(self, x: ArrayLike) -> FloatArray:
        """Mean gradient: shape (..., d) to (..., d)."""
        return self._gradient(self._points(x, finite=True))

    def sample_value(self, x: ArrayLike, xi: ArrayLike) -> FloatArray:
        """F(x; xi) for x of shape (..., d) and states of shape (...)."""
        return self._sample_value(*self._pairs(x, xi))

    def sample_gradient(self, x: ArrayLike, xi: ArrayLike) -> FloatArray:
        """G(x; xi) for x of shape (..., d) and states of shape (...); the result is a new array."""
        return self._sample_gradient(*self._pairs(x, xi))

    def project(self, x: ArrayLike) -> FloatArray:
        """Nearest feasible point, (..., d) to (..., d); x itself when there is no constraint."""
        return self.domain.project(self._points(x, finite=True))

    def _points(self, x: ArrayLike, finite: bool = False) -> FloatArray:
        return check.points("x", x, self.dim, "the last axis has the coordinates", finite=finite)

    def _pairs(self, x: ArrayLike, xi: ArrayLike) -> tuple[FloatArray, IntArray]:
        points, states = self._points(x), self._states(xi)
        lead = points.shape[:-1]
        if states.shape != lead:
            try:
                np.broadcast_shapes(lead, states.shape)
            except ValueError:
                raise ValueError(
                    f"xi must fit the points: got shape {states.shape} for x of shape "
                    f"{points.shape}; give one state, or one for each point"
                ) from None
        return points, states

    def _states(self, xi: ArrayLike) -> IntArray:
        return check.integers("xi", xi, 0, "states are counted from 0", self.n_states - 1)


# Families -------------------------------------------------------------------------------------


class Quadratic(Problem):
    r"""Convex quadratic with additive and, if wished, multiplicative noise.

    .. math:: F(x;\xi)=\tfrac12(x-x^*)^\top A_\xi(x-x^*)+n_\xi^\top(x-x^*)+f^*,\qquad
              \sum_\xi\pi_\xi n_\xi=0,

    so :math:`f(x)=\frac12(x-x^*)^\top A(x-x^*)+f^*` with :math:`A=\sum\pi_\xi A_\xi`.

    Parameters
    ----------
    matrix : array_like
        Shape (d,): the spectrum of a diagonal A.
        Shape (d, d): A, the same for every state.
        Shape (n, d, d): one symmetric matrix for each state; their mean must be positive
        semidefinite, the single ones need not be.
    noise : array_like, shape (n, d), optional
        The vectors :math:`n_\xi`, of mean 0 under `stationary`. Default: none.
    stationary : array_like, shape (n,), optional
        Default: uniform.
    minimiser : array_like, shape (d,), optional
        :math:`x^*`, inside the domain. Default: the origin.
    offset : float
        :math:`f^*`.
    domain : Domain, optional
        Default: the whole space, where M is infinite unless A is 0.

    Notes
    -----
    Exact: ``L, L_sample, mu, ell, minimum, minimiser``, and ``sigma`` for additive noise.
    Upper bounds: ``M``, and ``sigma`` for multiplicative noise.

    Examples
    --------
    >>> problem = Quadratic([1.0, 0.25], noise=[[0.3, 0.15], [-0.3, -0.15]], domain=Ball(2.0))
    >>> problem.L, problem.mu, problem.diameter
    (1.0, 0.25, 4.0)
    >>> problem.sample_gradient([1.0, -1.0], 0)
    array([ 1.3, -0.1])
    """

    @check.arguments
    def __init__(
        self,
        matrix: Annotated[
            ArrayLike,
            check.array,
            [("d",), ("d", "d"), ("n", "d", "d")],
            "give A, its diagonal or one A for each state",
        ],
        noise: ArrayLike | None = None,
        *,
        stationary: ArrayLike | None = None,
        minimiser: ArrayLike | None = None,
        offset: Annotated[float, check.real, "it is the minimum of f"] = 0.0,
        domain: AnyDomain = None,
    ) -> None:
        given = np.asarray(matrix)
        matrices = np.diag(given)[None] if given.ndim == 1 else given.reshape(-1, *given.shape[-2:])
        dim = matrices.shape[-1]
        size = np.abs(matrices).max()
        if np.abs(matrices - matrices.swapaxes(1, 2)).max() > 1e-12 * size:
            raise ValueError("matrix must be symmetric; pass (A + A.T) / 2")
        n_matrices = matrices.shape[0]
        if noise is None:
            noise = np.zeros((n_matrices, dim))
        shifts = check.array("noise", noise, ("n", dim), "give one vector for each state")
        n_states = max(n_matrices, shifts.shape[0])
        if n_matrices not in (1, n_states) or len(shifts) != n_states:
            raise ValueError(
                f"noise must have shape (n, {dim}) with n the number of states: got "
                f"{shifts.shape} for matrix of shape {given.shape}; give one vector for each state"
            )
        super().__init__(n_states, dim, stationary, domain)
        mean_shift = np.abs(self.stationary @ shifts).max()
        if mean_shift > 1e-12 * max(1.0, np.abs(shifts).max()):
            raise ValueError(
                f"noise must have mean 0 under stationary: got {mean_shift:.3g}; "
                "subtract its mean and move the minimiser instead"
            )
        if minimiser is None:
            minimiser = np.zeros(dim)
        x_star = check.array("minimiser", minimiser, (dim,), "give a point")
        if not self.domain.contains(x_star):
            raise ValueError(
                f"minimiser must lie in the domain: got {x_star.tolist()}; enlarge the domain"
            )
        mean = matrices[0] if n_matrices == 1 else np.tensordot(self.stationary, matrices, axes=1)
        eigenvalues = np.linalg.eigvalsh(mean)
        if eigenvalues[0] < -1e-12 * max(size, 1e-300):
            raise ValueError(
                f"matrix must be positive semidefinite in the mean: "
                f"its least eigenvalue is {eigenvalues[0]:.6g}; add a multiple of the identity"
            )
        self._matrices, self._mean, self._noise, self._centre = matrices, mean, shifts, x_star
        # Rows by state: for many points of few coordinates a look-up by state (which the noise
        # needs anyhow) is several times faster than broadcasting one row.
        self._centres = np.tile(x_star, (n_states, 1)) if x_star.any() else None
        diagonals = np.diagonal(matrices, axis1=1, axis2=2)
        plain = np.count_nonzero(matrices) == np.count_nonzero(diagonals)
        self._diagonals = np.broadcast_to(diagonals, (n_states, dim)).copy() if plain else None

        norms = np.abs(np.linalg.eigvalsh(matrices)).max(axis=1)
        spread = np.abs(np.linalg.eigvalsh(matrices - mean)).max(axis=1)
        lengths = np.linalg.norm(shifts, axis=1)
        reach = self.domain.farthest(x_star)
        self.L = float(eigenvalues[-1])
        self.L_sample = float(norms.max())
        self.mu = float(max(eigenvalues[0], 0.0))
        self.ell = float(spread.max())
        self.sigma = float((_times(spread, reach) + lengths).max())
        self.M = float((_times(norms, reach) + lengths).max())
        self.minimum = offset
        self.minimiser = x_star

    def _value(self, x: FloatArray) -> FloatArray:
        shift = x - self._centre
        energy = 0.5 * np.einsum("...i,...i->...", shift, self._gradient(x))
        return np.asarray(energy + self.minimum)

    def _gradient(self, x: FloatArray) -> FloatArray:
        return np.asarray((x - self._centre) @ self._mean)

    def _sample_value(self, x: FloatArray, xi: IntArray) -> FloatArray:
        shift = self._shift(x, xi)
        half = 0.5 * self._bend(shift, xi) + self._noise.take(xi, axis=0)
        return np.asarray(np.einsum("...i,...i->...", shift, half) + self.minimum)

    def _sample_gradient(self, x: FloatArray, xi: IntArray) -> FloatArray:
        gradient = self._bend(self._shift(x, xi), xi)
        gradient += self._noise.take(xi, axis=0)
        return gradient

    def _shift(self, x: FloatArray, xi: IntArray) -> FloatArray:
        """x - x*, one for each state; x itself when x* = 0 and there is nothing to repeat."""
        if self._centres is not None:
            return np.asarray(x - self._centres.take(xi, axis=0))
        return x if xi.shape in ((), x.shape[:-1]) else x - np.zeros((*xi.shape, self.dim))

    def _bend(self, shift: FloatArray, xi: IntArray) -> FloatArray:
        """A_xi times shift, a new array."""
        if self._diagonals is not None:
            return np.asarray(shift * self._diagonals.take(xi, axis=0))
        if len(self._matrices) == 1:
            return np.asarray(shift @ self._mean)
        return np.asarray(np.einsum("...ij,...j->...i", self._matrices[xi], shift))


class Linear(Problem):
    r"""Linear function :math:`F(x;\xi)=g_\xi^\top x` on a bounded set.

    Parameters
    ----------
    slopes : array_like, shape (n, d)
        The sample gradients :math:`g_\xi`.
    stationary : array_like, shape (n,), optional
        Default: uniform.
    domain : Domain
        A Ball or a Box (the whole space only if the mean slope is 0).

    Notes
    -----
    All constants are exact; ``L = L_sample = ell = mu = 0``.
    A linear function is L-smooth for every L, so a step rule may use any L with it
    (Proposition B of the book does).

    Examples
    --------
    >>> problem = Linear([[1.5], [0.5]], domain=Box(-2.0, 2.0))
    >>> problem.minimum, problem.minimiser, problem.sigma
    (-2.0, array([-2.]), 0.5)
    """

    @check.arguments
    def __init__(
        self,
        slopes: Annotated[ArrayLike, check.array, ("n", "d"), "give one slope for each state"],
        *,
        stationary: ArrayLike | None = None,
        domain: Annotated[Domain, check.later],
    ) -> None:
        self._slopes = np.asarray(slopes)
        n_states, dim = self._slopes.shape
        super().__init__(n_states, dim, stationary, domain)
        self._slope = self.stationary @ self._slopes
        self.L = self.L_sample = self.ell = self.mu = 0.0
        self.M = float(np.linalg.norm(self._slopes, axis=1).max())
        self.sigma = float(np.linalg.norm(self._slopes - self._slope, axis=1).max())
        self.minimiser = self.domain.minimise_linear(self._slope)
        self.minimum = float(self._slope @ self.minimiser)

    def _value(self, x: FloatArray) -> FloatArray:
        return np.asarray(x @ self._slope)

    def _gradient(self, x: FloatArray) -> FloatArray:
        return np.broadcast_to(self._slope, x.shape).copy()

    def _sample_value(self, x: FloatArray, xi: IntArray) -> FloatArray:
        return np.asarray(np.einsum("...i,...i->...", x, self._slopes[xi]))

    def _sample_gradient(self, x: FloatArray, xi: IntArray) -> FloatArray:
        return np.asarray(self._slopes.take(xi, axis=0) + 0.0 * x)


class Huber(Problem):
    r"""Radial Huber functions about a centre for each state.

    .. math:: F(x;\xi)=h(\|x-c_\xi\|),\qquad h'(r)=\min(Lr,M).

    The gradient is :math:`L(x-c_\xi)` scaled back to length M when it is longer.
    In one dimension this is the usual Huber function.

    Parameters
    ----------
    centres : array_like, shape (n, d)
        Their mean must lie in the domain and within M/L of each centre: then it is the minimiser.
    curvature, clip : float
        The L and M of the formula, both positive.
    stationary : array_like, shape (n,), optional
        Default: uniform.
    domain : Domain, optional
        Default: the whole space.

    Notes
    -----
    Exact: ``M, minimum, minimiser, L_sample``, and ``L`` when the minimiser is strictly within M/L
    of each centre.
    Bounds: ``L, sigma, ell`` from above, ``mu`` from below (curvature where the set lies in the
    quadratic part of every sample, else 0).

    Examples
    --------
    >>> problem = Huber([[-0.5], [0.5]], curvature=1.0, clip=1.0)
    >>> problem.sample_gradient([[3.0], [0.0]], [0, 1])
    array([[ 1. ],
           [-0.5]])
    """

    @check.in_range
    @check.arguments
    def __init__(
        self,
        centres: Annotated[ArrayLike, check.array, ("n", "d"), "give one centre for each state"],
        curvature: Annotated[float, check.positive, "it is the L of the formula"],
        clip: Annotated[float, check.positive, "it is the M of the formula"],
        *,
        stationary: ArrayLike | None = None,
        domain: AnyDomain = None,
    ) -> None:
        self._centres, self._curvature, self._clip = np.asarray(centres), curvature, clip
        n_states, dim = self._centres.shape
        super().__init__(n_states, dim, stationary, domain)
        knee = self._clip / self._curvature
        mean = self.stationary @ self._centres
        far = float(np.linalg.norm(self._centres - mean, axis=1).max())
        if far > knee or not self.domain.contains(mean):
            raise ValueError(
                "the mean of the centres must lie in the domain and within clip/curvature = "
                f"{knee:g} of each centre: got {mean.tolist()}, farthest centre {far:g} away; "
                "move the centres together or raise clip"
            )
        reach = max(self.domain.farthest(c) for c in self._centres)
        quadratic = reach <= knee
        between = np.linalg.norm(self._centres[:, None] - self._centres, axis=2)
        gaps = np.minimum(self._curvature * between, 2.0 * self._clip)
        self.L = self.L_sample = self._curvature
        self.M = float(min(self._clip, self._curvature * reach))
        self.mu = self._curvature if quadratic else 0.0
        self.sigma = float((gaps @ self.stationary).max())
        self.ell = 0.0 if quadratic else self._curvature * float(1.0 - self.stationary.min())
        self.minimiser = mean
        self.minimum = float(self._value(mean))

    def _sample_value(self, x: FloatArray, xi: IntArray) -> FloatArray:
        r = np.linalg.norm(x - self._centres[xi], axis=-1)
        inner = np.minimum(r, self._clip / self._curvature)
        return np.asarray(self._curvature * inner * (r - 0.5 * inner))

    def _sample_gradient(self, x: FloatArray, xi: IntArray) -> FloatArray:
        slope = self._curvature * (x - self._centres.take(xi, axis=0))
        return Ball(self._clip).project(slope)


class _MarginLoss(Problem):
    r"""Losses :math:`F(x;\xi)=\phi(z_\xi^\top x)+\frac\lambda2\|x\|^2`, z = label * feature."""

    @check.arguments
    def __init__(
        self,
        features: Annotated[ArrayLike, check.array, ("n", "d"), "give one data point a row"],
        labels: ArrayLike | None,
        ridge: Annotated[float, check.real, "0 leaves the ridge out", "[0, inf)"],
        stationary: ArrayLike | None,
        domain: AnyDomain,
    ) -> None:
        self._z = np.asarray(features)
        n_states, dim = self._z.shape
        super().__init__(n_states, dim, stationary, domain)
        if labels is not None:
            signs = check.array("labels", labels, (n_states,), "give one label for each state")
            if not np.isin(signs, (-1.0, 1.0)).all():
                raise ValueError(f"labels must be -1 or 1: got {labels!r}; map 0 to -1")
            self._z = self._z * signs[:, None]
        self._ridge = ridge

    @staticmethod
    @abstractmethod
    def _loss(margin: FloatArray) -> FloatArray: ...

    @staticmethod
    @abstractmethod
    def _slope(margin: FloatArray) -> FloatArray: ...

    def _sample_value(self, x: FloatArray, xi: IntArray) -> FloatArray:
        loss = self._loss(np.einsum("...i,...i->...", self._z[xi], x))
        return np.asarray(loss + 0.5 * self._ridge * np.einsum("...i,...i->...", x, x))

    def _sample_gradient(self, x: FloatArray, xi: IntArray) -> FloatArray:
        z = self._z[xi]
        slope = self._slope(np.einsum("...i,...i->...", z, x))
        return np.asarray(slope[..., None] * z + self._ridge * x)

    def _second_moments(self) -> tuple[float, FloatArray, FloatArray]:
        """Largest eigenvalue of E zz' with all states, |z_i|^2, and that without state i."""
        outer = self.stationary[:, None, None] * self._z[:, :, None] * self._z[:, None, :]
        total = outer.sum(axis=0)
        rest = np.array([np.linalg.eigvalsh(total - part)[-1] for part in outer])
        return float(np.linalg.eigvalsh(total)[-1]), (self._z**2).sum(axis=1), np.maximum(rest, 0)

    def _deviation(self, lengths: FloatArray) -> float:
        """Bound of |G_i - mean G| when the loss part of G_j has length at most lengths[j]."""
        pi = self.stationary
        return float(((1.0 - pi) * lengths + (pi @ lengths - pi * lengths)).max())


class Logistic(_MarginLoss):
    r"""Logistic regression on a ball: :math:`\phi(t)=\log(1+e^{-t})`.

    Parameters
    ----------
    features : array_like, shape (n, d)
        One data point for each state.
    labels : array_like of -1 and 1, shape (n,), optional
        Default: all 1.
    radius : float
        Radius of the ball.
    ridge : float
        :math:`\lambda\ge0`.
    stationary : array_like, shape (n,), optional
        Default: uniform.

    Notes
    -----
    Exact: ``L, L_sample`` (the curvature of every term is largest at 0).
    Bounds: ``M, sigma, ell`` from above, ``mu`` from below.
    ``minimum`` and ``minimiser`` are computed by Newton's method and are good to rounding:
    the Frank-Wolfe gap, which bounds :math:`f(x)-f^*`, is at most ``1e-12 * (1 + M radius)``.

    Examples
    --------
    >>> problem = Logistic([[1.0], [1.0]], labels=[1, -1], radius=2.0)
    >>> problem.L, problem.minimiser
    (0.25, array([0.]))
    """

    @check.in_range
    def __init__(
        self,
        features: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        radius: float,
        ridge: float = 0.0,
        stationary: ArrayLike | None = None,
    ) -> None:
        ball = Ball(radius)
        super().__init__(features, labels, ridge, stationary, ball)
        top, squares, rest = self._second_moments()
        lengths = np.sqrt(squares)
        slopes = lengths * expit(lengths * ball.radius)
        least = expit(lengths * ball.radius) * expit(-lengths * ball.radius)
        weighted = np.einsum("n,ni,nj->ij", self.stationary * least, self._z, self._z)
        self.L = self._ridge + top / 4
        self.L_sample = self._ridge + float(squares.max()) / 4
        self.M = float(slopes.max()) + self._ridge * ball.radius
        self.mu = self._ridge + max(float(np.linalg.eigvalsh(weighted)[0]), 0.0)
        self.sigma = self._deviation(slopes)
        self.ell = float(np.maximum((1.0 - self.stationary) * squares, rest).max()) / 4
        self.minimiser = self._solve(ball)
        self.minimum = float(self._value(self.minimiser))

    @staticmethod
    def _loss(margin: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -margin)

    @staticmethod
    def _slope(margin: FloatArray) -> FloatArray:
        return np.asarray(-expit(-margin))

    def _solve(self, ball: Ball) -> FloatArray:
        """Minimise on the ball: x(nu) minimises f + nu |x|^2 / 2, and |x(nu)| falls with nu."""

        def inner(nu: float) -> FloatArray:
            x = np.zeros(self.dim)
            for _ in range(200):  # damped Newton; a handful of steps is enough
                slope = self._gradient(x) + nu * x
                weight = self.stationary * expit(self._z @ x) * expit(-self._z @ x)
                hessian = np.einsum("n,ni,nj->ij", weight, self._z, self._z)
                hessian += (self._ridge + nu) * np.eye(self.dim)
                step = np.linalg.lstsq(hessian, slope, rcond=1e-14)[0]
                decrement = float(slope @ step)
                energy = float(self._value(x)) + nu * float(x @ x) / 2
                scale = 1.0
                while scale > 1e-10:
                    trial = x - scale * step
                    if float(self._value(trial)) + nu * float(trial @ trial) / 2 <= (
                        energy - 0.25 * scale * decrement + 1e-16 * (1.0 + abs(energy))
                    ):
                        break
                    scale /= 2
                x = x - scale * step
                # A point far outside settles the question the caller asks.
                if np.linalg.norm(step) <= 1e-15 * ball.radius or x @ x > (10 * ball.radius) ** 2:
                    break
            return x

        def excess(nu: float) -> float:
            return float(np.linalg.norm(inner(nu))) - ball.radius

        x = inner(0.0)
        if np.linalg.norm(x) > ball.radius:
            # |x(nu)| <= |gradient at 0| / nu, so this bracket holds the root.
            high = 2.0 * float(np.linalg.norm(self._gradient(np.zeros(self.dim)))) / ball.radius
            nu = brentq(excess, 0.0, high, xtol=1e-16 * high, rtol=1e-15)
            x = inner(nu)
            x *= ball.radius / np.linalg.norm(x)
        slope = self._gradient(x)
        gap = float(slope @ x) + ball.radius * float(np.linalg.norm(slope))
        if gap > 1e-12 * (1.0 + self.M * ball.radius):
            raise ArithmeticError(
                f"the minimum of the logistic problem is known only to {gap:.3g}; "
                "rescale the features to lengths near 1"
            )
        return x


class Sigmoid(_MarginLoss):
    r"""Sigmoid loss, bounded and nonconvex: :math:`\phi(t)=1/(1+e^t)`.

    Parameters
    ----------
    features : array_like, shape (n, d)
        One data point for each state.
    labels : array_like of -1 and 1, shape (n,), optional
        Default: all 1.
    stationary : array_like, shape (n,), optional
        Default: uniform.
    domain : Domain, optional
        Default: the whole space.

    Notes
    -----
    Exact on the whole space: ``M`` (attained at 0) and ``L_sample``.
    Bounds: ``L, sigma, ell`` from above; ``minimum`` is 0, a lower bound that is the infimum when
    the data are separable; ``minimiser`` is None; ``mu`` is 0.

    Examples
    --------
    >>> Sigmoid([[2.0], [-1.0]]).M
    0.5
    """

    def __init__(
        self,
        features: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        stationary: ArrayLike | None = None,
        domain: AnyDomain = None,
    ) -> None:
        super().__init__(features, labels, 0.0, stationary, domain)
        top, squares, rest = self._second_moments()
        lengths = np.sqrt(squares)
        bend = 1.0 / (6.0 * np.sqrt(3.0))  # the largest |phi''|
        self.L = bend * top
        self.L_sample = bend * float(squares.max())
        self.M = float(lengths.max()) / 4
        self.mu = 0.0
        self.sigma = self._deviation(lengths / 4)
        self.ell = bend * float(((1.0 - self.stationary) * squares + rest).max())
        self.minimum, self.minimiser = 0.0, None

    @staticmethod
    def _loss(margin: FloatArray) -> FloatArray:
        return np.asarray(expit(-margin))

    @staticmethod
    def _slope(margin: FloatArray) -> FloatArray:
        return np.asarray(-expit(margin) * expit(-margin))


_ROW = "give the amplitudes of one state a row"


class Cosines(Problem):
    r"""Waves along the axes, nonconvex with bounded gradients.

    .. math:: F(x;\xi)=\sum_j a_{\xi j}\cos(\omega_jx_j)+b_{\xi j}\sin(\omega_jx_j).

    Parameters
    ----------
    cosine, sine : array_like, shape (n, d)
        The amplitudes a and b.
    frequency : array_like, shape (d,)
        Positive :math:`\omega`.
    stationary : array_like, shape (n,), optional
        Default: uniform.

    Notes
    -----
    The set is the whole space and every constant is exact
    (``mu`` is 0: the function is not convex).
    The functions :func:`cosines` and :func:`sine_counterexample` make the usual cases.

    Examples
    --------
    >>> problem = Cosines([[0.0], [2.0]], [[0.0], [0.0]], frequency=[1.0])
    >>> problem.minimum, problem.L, problem.M
    (-1.0, 1.0, 2.0)
    """

    @check.in_range
    @check.arguments
    def __init__(
        self,
        cosine: Annotated[ArrayLike, check.array, ("n", "d"), _ROW],
        sine: ArrayLike,
        frequency: ArrayLike,
        *,
        stationary: ArrayLike | None = None,
    ) -> None:
        self._cosine = np.asarray(cosine)
        self._sine = check.array("sine", sine, self._cosine.shape, _ROW)
        n_states, dim = self._cosine.shape
        super().__init__(n_states, dim, stationary, None)
        omega = check.array("frequency", frequency, (dim,), "give one frequency for each axis")
        if omega.min() <= 0:
            raise ValueError(
                f"frequency must be positive: got {frequency!r}; flip the sine instead"
            )
        self._omega = omega
        wave = self._cosine + 1j * self._sine
        mean = self.stationary @ wave
        self.L = float((omega**2 * np.abs(mean)).max())
        self.L_sample = float((omega**2 * np.abs(wave)).max())
        self.ell = float((omega**2 * np.abs(wave - mean)).max())
        self.M = float(np.linalg.norm(omega * np.abs(wave), axis=1).max())
        self.sigma = float(np.linalg.norm(omega * np.abs(wave - mean), axis=1).max())
        self.mu = 0.0
        self.minimum = -float(np.abs(mean).sum())
        # rho cos(omega x - theta) is least at omega x = theta + pi, taken in (-pi, pi].
        self.minimiser = np.angle(-mean) / omega
        self._mean_cosine, self._mean_sine = mean.real, mean.imag

    def _value(self, x: FloatArray) -> FloatArray:
        angle = self._omega * x
        return np.asarray(np.cos(angle) @ self._mean_cosine + np.sin(angle) @ self._mean_sine)

    def _gradient(self, x: FloatArray) -> FloatArray:
        angle = self._omega * x
        swing = self._mean_sine * np.cos(angle) - self._mean_cosine * np.sin(angle)
        return np.asarray(self._omega * swing)

    def _sample_value(self, x: FloatArray, xi: IntArray) -> FloatArray:
        angle = self._omega * x
        wave = self._cosine[xi] * np.cos(angle) + self._sine[xi] * np.sin(angle)
        return np.asarray(wave.sum(axis=-1))

    def _sample_gradient(self, x: FloatArray, xi: IntArray) -> FloatArray:
        angle = self._omega * x
        swing = self._sine[xi] * np.cos(angle) - self._cosine[xi] * np.sin(angle)
        return np.asarray(self._omega * swing)


def _times(a: FloatArray, b: float) -> FloatArray:
    """Product in which 0 times infinity is 0: a function that does not bend never grows steep."""
    return np.where(a == 0, 0.0, a * b if np.isfinite(b) else np.inf)


Curvature = Annotated[float, check.positive, "it is the curvature of the quadratic part"]
Clip = Annotated[float, check.positive, "it is the length at which gradients are clipped"]

# Makers ---------------------------------------------------------------------------------------


@check.in_range
@check.arguments
def cosines(
    phases: Annotated[ArrayLike, check.array, ("n", "d"), "give the phases of one state a row"],
    *,
    amplitude: Annotated[float, check.positive, "shift the phases by pi instead"] = 1.0,
    frequency: Annotated[float, check.positive, "it is the same for all axes"] = 1.0,
    stationary: ArrayLike | None = None,
) -> Cosines:
    r"""Cosines with a phase for each state: :math:`F=A\sum_j\cos(\omega x_j+\varphi_{\xi j})`.

    Parameters
    ----------
    phases : array_like, shape (n, d)
        :math:`\varphi`, radians.
    amplitude, frequency : float
        A > 0 and :math:`\omega` > 0; then ``L_sample`` is :math:`A\omega^2` and
        ``M`` is :math:`A\omega\sqrt d`.
    stationary : array_like, shape (n,), optional
        Default: uniform.

    Examples
    --------
    >>> cosines([[0.0], [1.0]], amplitude=2.0).M
    2.0
    """
    cosine, sine = amplitude * np.cos(phases), -amplitude * np.sin(phases)
    return Cosines(cosine, sine, np.full(cosine.shape[1], frequency), stationary=stationary)


@check.in_range
@check.arguments
def sine_counterexample(
    slopes: Annotated[ArrayLike, check.array, ("n",), "give one slope for each state"],
    *,
    frequency: Annotated[float, check.positive, "the limit 0 is the class Linear"] = 1e-6,
    stationary: ArrayLike | None = None,
) -> Cosines:
    r"""The functions :math:`g_\xi\sin(\omega x)/\omega` that refute the printed Lemma 1.

    Near 0 they are linear, so the bias of the samples acts without any help of curvature.

    Parameters
    ----------
    slopes : array_like, shape (n,)
        :math:`g_\xi`.
    frequency : float
        :math:`\omega` > 0; ``M`` is the largest modulus of g, ``L_sample`` that times omega.
    stationary : array_like, shape (n,), optional
        Default: uniform.

    Examples
    --------
    >>> problem = sine_counterexample([-4.0, 4.0], stationary=[0.25, 0.75])
    >>> problem.M, problem.gradient([0.0])
    (4.0, array([2.]))
    """
    g = np.asarray(slopes)[:, None] / frequency
    return Cosines(np.zeros_like(g), g, [frequency], stationary=stationary)


@check.in_range
@check.arguments
def huber_pair(L: Curvature, M: Clip) -> Huber:
    """Two Huber functions about -h and h, h = M / (2 L): the one-dimensional Theorem 1 example.

    Examples
    --------
    >>> huber_pair(L=2.0, M=1.0).minimiser
    array([0.])
    """
    h = M / (2.0 * L)
    return Huber([[-h], [h]], L, M)


@check.in_range
@check.arguments
def huber_cross(
    dim: Annotated[int, check.count, "it is the dimension of x"],
    L: Curvature,
    M: Clip,
    *,
    ratio: Annotated[float, check.real, "a larger one takes the minimiser away", "(0, 1]"] = 0.95,
) -> Huber:
    """Huber functions about -h e_j and h e_j, L h = ratio * M: 2 dim states in dimension dim.

    States 2j and 2j + 1 are the centres -h e_j and h e_j. The ratio lies in (0, 1].

    Examples
    --------
    >>> huber_cross(3, L=1.0, M=1.0).n_states
    6
    """
    check.room("dim", 2 * dim, dim, cure="take a smaller dimension")
    centres = ratio * M / L * np.eye(dim)
    return Huber(np.stack([-centres, centres], axis=1).reshape(2 * dim, dim), L, M)


@check.in_range
@check.arguments
def huber_simplex(
    n: Annotated[int, check.count, "a simplex has at least two vertices", 2], L: Curvature, M: Clip
) -> Huber:
    """Huber functions about the n vertices of a regular simplex of edge M / L about the origin.

    The dimension is n - 1, n at least 2.
    Seen from any point of the simplex, no sample gradient is clipped.

    Examples
    --------
    >>> problem = huber_simplex(3, L=1.0, M=1.0)
    >>> problem.dim, bool(np.abs(problem.minimiser).max() < 1e-15)
    (2, True)
    """
    check.room("n", n, n, cure="take fewer vertices")
    # Helmert's rows are an orthonormal basis of the space orthogonal to (1, ..., 1);
    # the n unit vectors, at mutual distance sqrt(2), are mapped there without distortion.
    rows = np.tril(np.ones((n - 1, n)), k=0)
    rows[np.arange(n - 1), np.arange(1, n)] = -np.arange(1.0, n)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Huber(M / L / np.sqrt(2.0) * rows.T, L, M)


@check.in_range
@check.arguments
def clipped_linear(
    slope: Annotated[float, check.positive, "it is the largest derivative"],
    L: float,
    D: Annotated[float, check.positive, "it is half the length of the interval"],
) -> Huber:
    """The function on [-D, D] with f'(x) = min(slope, L (x + D)), without noise.

    It is the Huber function about -D, with f* = 0 at -D.
    It is linear but for a smooth start, which makes the linear counterexample to the printed
    Theorem 2 robust.

    Examples
    --------
    >>> clipped_linear(slope=4.0, L=1.0, D=20.0).gradient([[-19.0], [20.0]])
    array([[1.],
           [4.]])
    """
    return Huber([[-D]], L, slope, domain=Box(-D, D))
