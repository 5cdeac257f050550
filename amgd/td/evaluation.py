r"""Policy evaluation by TD(0) with linear features, as linear algebra.

TD(0) sees transitions :math:`\xi = (s, s')` with reward :math:`r` and moves against
:math:`G(\theta; \xi) = \phi(s)\,(\phi(s) - \gamma\phi(s'))^\top\theta - r\phi(s)`
(:math:`\gamma` is the discount here and nowhere else).
If :math:`s` has law :math:`D` and :math:`s'` the law :math:`P(s, \cdot)`, the mean of :math:`G` is
:math:`A\theta - b` with

.. math:: A = \Phi^\top D (I - \gamma P)\Phi, \qquad b = \Phi^\top D r .

TD converges to :math:`\theta^* = A^{-1}b`.
:math:`A\theta - b` is a gradient if and only if :math:`A` is symmetric, which holds for every
:math:`\Phi` exactly when :math:`DP = P^\top D`: when :math:`P` is reversible and :math:`D` is its
stationary law.
A terminal state ends an episode: no transition is learned from it and its value is 0, so that its
weight in :math:`D` and its row in the second :math:`\Phi` are removed.

The error measure of the paper's Figure 1 is the norm of the expected TD update (NEU) of Sutton et
al. (2009), :math:`\|b - A\theta\|^2 = E[\delta\phi]^\top E[\delta\phi]`, which needs no solution.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray
from amgd.descent.problems import Ball, Problem
from amgd.markov import MarkovChain
from amgd.td.gridworld import GridWorld, frozen

__all__ = ["TDDescent", "TDProblem", "product_basis_spectrum"]

BLOCK = 1 << 20  # numbers in a working array of `sampled_sums` and `check_paths`


class TDProblem:
    r"""The linear system that TD(0) solves, and the transitions that it learns from.

    Parameters
    ----------
    transition : array_like or sparse array, shape (n, n)
        Stochastic matrix P of the states.
    reward : array_like, shape (n,)
        Reward for a step from each state.
    features : array_like, shape (n, d)
        Row s is :math:`\phi(s)`.
    discount : float in [0, 1)
    law : {"stationary", "episode"} or array_like, shape (n,)
        Law D of the states from which transitions are learned: the stationary law of P; the
        average over the steps of an episode of `length` steps from `start`; or a given one.
    length : int, optional
        Steps after which an episode is cut. Needed by ``law="episode"`` and to draw episodes.
    start : int
        First state of an episode.
    terminal : array_like of int
        States that end an episode: value 0, nothing learned from them. D is renormalised.
    arrival_reward : array_like, shape (n,), optional
        Further reward for a step that arrives at each state.

    Attributes
    ----------
    chain : MarkovChain
        The chain of states.
    transition : scipy.sparse.csr_array
        Its matrix, sparse whatever was given.
    features, law, reward, arrival_reward : ndarray
        `law` is D as it is used: 0 at terminal states, and summing to 1.
    is_terminal : ndarray of bool, shape (n,)
    discount, length, start, dim, n_states

    Raises
    ------
    ValueError, TypeError
        If an argument has the wrong shape, type or range; if the stationary law is not unique;
        if D charges terminal states only.

    Examples
    --------
    >>> problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5)
    >>> problem.theta_star  # with one feature per state: the value function
    array([1.5, 0.5])
    >>> problem.is_gradient, bool(problem.neu(problem.theta_star) < 1e-30)
    (True, True)
    """

    def __init__(
        self,
        transition: ArrayLike | sp.csr_array,
        reward: ArrayLike,
        features: ArrayLike,
        discount: float,
        *,
        law: str | ArrayLike = "stationary",
        length: int | None = None,
        start: int = 0,
        terminal: ArrayLike = (),
        arrival_reward: ArrayLike | None = None,
    ) -> None:
        self.chain = MarkovChain(transition)
        self.transition = sp.csr_array(self.chain.transition)
        n = self.n_states = self.chain.n_states
        self.reward = check.array("reward", reward, (n,), "give one reward per state")
        arrival = np.zeros(n) if arrival_reward is None else arrival_reward
        cure = "give one reward per state that is arrived at"
        self.arrival_reward = check.array("arrival_reward", arrival, (n,), cure)
        cure = "give one row of features per state"
        self.features = check.array("features", features, (n, "d"), cure)
        self.dim = self.features.shape[1]
        self.discount = check.discount_factor("discount", discount)
        self.length = length if length is None else self.check_length(length)
        self.start = check.integer("start", start, 0, "states are counted from 0", n - 1)
        self.is_terminal = _mask(terminal, n)
        if self.is_terminal[self.start]:
            raise ValueError(
                f"start is terminal: got state {self.start} (expected another state); "
                "an episode must have a step to learn from"
            )
        self.law = self._law(law)
        for owned in (self.reward, self.arrival_reward, self.features, self.law, self.is_terminal):
            owned.setflags(write=False)

    @classmethod
    def from_gridworld(
        cls,
        grid: GridWorld,
        features: ArrayLike,
        discount: float = 0.9,
        *,
        law: str | ArrayLike = "stationary",
        length: int | None = None,
        goal_ends: bool | None = None,
    ) -> TDProblem:
        """Return the problem of a grid.

        Parameters
        ----------
        grid : GridWorld
        features, discount, law
            As for the class.
        length : int, optional
            Steps of an episode; the paper's 10 n if not given.
        goal_ends : bool, optional
            Whether the goal is terminal. Default: only if it absorbs.

        Examples
        --------
        >>> from amgd.td import fourier_features
        >>> problem = TDProblem.from_gridworld(GridWorld(10), fourier_features(10))
        >>> round(problem.mu, 6), round(problem.L, 6), problem.is_gradient
        (0.061012, 0.1, True)
        """
        check.instance("grid", grid, GridWorld, "use TDProblem(transition, ...) for another chain")
        ends = grid.goal == "absorbing"
        if goal_ends is not None:
            ends = check.boolean("goal_ends", goal_ends, "or None, which asks the grid")
        return cls(
            grid.transition_sparse,
            grid.departure_reward,
            features,
            discount,
            law=law,
            length=10 * grid.n if length is None else length,
            start=grid.start,
            terminal=[grid.goal_state] if ends else [],
            arrival_reward=grid.arrival_reward,
        )

    # The system ---------------------------------------------------------------------------------

    @cached_property
    def A(self) -> FloatArray:
        r""":math:`\Phi^\top D(\Phi - \gamma P\Phi)`, shape (d, d)."""
        expected_next = self.transition @ self._live_features
        difference = self.features - self.discount * expected_next
        return frozen(self.features.T @ (self.law[:, None] * difference))

    @cached_property
    def b(self) -> FloatArray:
        r""":math:`\Phi^\top D r` with the expected reward r, shape (d,)."""
        expected = self.reward + self.transition @ self.arrival_reward
        return frozen(self.features.T @ (self.law * expected))

    @cached_property
    def theta_star(self) -> FloatArray:
        """The limit of TD(0), the solution of A theta = b, shape (d,).

        Raises
        ------
        ValueError
            If A is singular: features that are linearly dependent where D lives.
        """
        size = np.abs(self.features[self.law > 0]).max(axis=0)
        # Columns of about size 1, scaled without rounding: small features are not dependent ones.
        scale = np.exp2(-np.rint(np.log2(np.where(size > 0, size, 1.0))))
        scaled = self.A * scale * scale[:, None]
        if not np.linalg.cond(scaled) <= 1e14:
            raise ValueError(
                f"A is singular: its condition number is {np.linalg.cond(scaled):.3g} "
                "(expected below 1e14, with features scaled to size 1); drop the features that "
                "are linearly dependent on the states that the law charges"
            )
        return frozen(scale * np.linalg.solve(scaled, scale * self.b))

    @cached_property
    def mu(self) -> float:
        """Smallest eigenvalue of the symmetric part of A."""
        return float(self._spectrum[0])

    @cached_property
    def L(self) -> float:
        """Largest eigenvalue of the symmetric part of A."""
        return float(self._spectrum[-1])

    @cached_property
    def asymmetry(self) -> float:
        """Spectral norm of A - A^T over that of A: 0 exactly if TD follows a gradient."""
        gap = np.linalg.norm(self.A - self.A.T, 2)
        return float(gap / np.linalg.norm(self.A, 2)) if gap > 0 else 0.0

    @property
    def is_gradient(self) -> bool:
        """Whether A theta - b is the gradient of a function (asymmetry within 1e-12)."""
        return self.asymmetry <= 1e-12

    def neu(self, theta: ArrayLike) -> FloatArray:
        """Return the exact NEU, the squared norm of b - A theta, under the law D.

        Parameters
        ----------
        theta : array_like, shape (..., d)

        Returns
        -------
        ndarray, shape (...)
        """
        update = self.b - self._points(theta) @ self.A.T
        return np.asarray((update**2).sum(axis=-1))

    @cached_property
    def _spectrum(self) -> FloatArray:
        return np.asarray(np.linalg.eigvalsh((self.A + self.A.T) / 2.0))

    # Transitions --------------------------------------------------------------------------------

    @check.arguments
    def sample_episodes(
        self,
        episodes: Annotated[int, check.count, "draw at least one episode"],
        *,
        rng: check.Generator,
        replicates: check.Replicates = 1,
        length: int | None = None,
    ) -> IntArray:
        """Draw episodes from `start`, cut after `length` steps (default: the problem's).

        Returns
        -------
        ndarray of int64, shape (episodes, replicates, length + 1)
            The visited states. What stands after a terminal state is not learned from, unless
            the chain leaves that state again (a goal that resets: the next episode starts).

        Examples
        --------
        >>> problem = TDProblem([[0, 1], [1, 0]], [0, 0], [[1], [2]], 0.9, length=3)
        >>> problem.sample_episodes(1, rng=np.random.default_rng(0))
        array([[[0, 1, 0, 1]]])
        """
        length = self.check_length(length)
        sizes = (length + 1, episodes, replicates)
        check.room("length, episodes and replicates", *sizes, cure="draw fewer at a time")
        paths = self.chain.sample(
            length + 1, rng=rng, replicates=episodes * replicates, initial=self.start
        )
        return paths.reshape(episodes, replicates, length + 1)

    def sampled_sums(self, states: ArrayLike) -> tuple[FloatArray, FloatArray, IntArray]:
        r"""Sum the sample systems of the transitions of each path.

        Parameters
        ----------
        states : array_like of int, shape (..., length + 1)

        Returns
        -------
        A_sum : ndarray, shape (..., d, d)
            Sum of :math:`\phi(s)(\phi(s) - \gamma\phi(s'))^\top` over the path.
        b_sum : ndarray, shape (..., d)
            Sum of :math:`r\phi(s)`.
        count : ndarray of int64, shape (...)
            Number of transitions; those from terminal states do not count.
        """
        paths = self.check_paths(states)
        lead, length = paths.shape[:-1], paths.shape[-1] - 1
        flat = paths.reshape(-1, length + 1)
        A_sum = np.empty((len(flat), self.dim, self.dim))
        b_sum = np.empty((len(flat), self.dim))
        block = max(1, BLOCK // (length * self.dim))
        for low in range(0, len(flat), block):
            part = flat[low : low + block]
            left, arrived = part[:, :-1], part[:, 1:]
            phi = self._live_features[left]
            difference = self.features[left] - self.discount * self._live_features[arrived]
            reward = self.reward[left] + self.arrival_reward[arrived]
            A_sum[low : low + block] = np.swapaxes(phi, 1, 2) @ difference
            # In the order of time: a matrix product sums as the array happens to lie in memory.
            b_sum[low : low + block] = np.add.reduce(reward[:, :, None] * phi, axis=1)
        count = (~self.is_terminal[paths[..., :-1]]).sum(axis=-1)
        return (
            A_sum.reshape(*lead, self.dim, self.dim),
            b_sum.reshape(*lead, self.dim),
            np.asarray(count),
        )

    def neu_estimate(
        self,
        theta: ArrayLike,
        episodes: int,
        *,
        rng: np.random.Generator,
        length: int | None = None,
    ) -> FloatArray:
        r"""Estimate the NEU as the paper does, from a few test episodes.

        The update :math:`\delta\phi` is averaged over all transitions of the test episodes, and the
        squared norm of the average is returned. Its variance does not vanish at :math:`\theta^*`:
        the estimate has a floor of the order of one over the number of transitions.

        Parameters
        ----------
        theta : array_like, shape (..., d)
            Each point has test episodes of its own.
        episodes : int
            Test episodes for each point; the paper's 10.
        rng : numpy.random.Generator
        length : int, optional
            Steps of a test episode; the problem's if not given.

        Returns
        -------
        ndarray, shape (...)
        """
        points = self._points(theta)
        replicates = int(np.prod(points.shape[:-1], dtype=np.int64))
        states = self.sample_episodes(episodes, rng=rng, replicates=replicates, length=length)
        A, b = self.pooled_system(np.swapaxes(states, 0, 1))
        flat = points.reshape(-1, self.dim)
        update = b - (A @ flat[:, :, None])[:, :, 0]
        return np.asarray((update**2).sum(axis=-1).reshape(points.shape[:-1]))

    def pooled_system(self, states: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the estimates of A and b from all transitions of several episodes together.

        Parameters
        ----------
        states : array_like of int, shape (..., episodes, length + 1)

        Returns
        -------
        A : ndarray, shape (..., d, d)
        b : ndarray, shape (..., d)
        """
        A_sum, b_sum, count = self.sampled_sums(states)
        total = count.sum(axis=-1)
        if (total == 0).any():
            raise ValueError(
                "no transition to learn from: a group of episodes stays in terminal states "
                "(expected at least one step); draw the episodes from the start"
            )
        return (
            np.asarray(A_sum.sum(axis=-3) / total[..., None, None]),
            np.asarray(b_sum.sum(axis=-2) / total[..., None]),
        )

    @cached_property
    def _live_features(self) -> FloatArray:
        """Features with rows of 0 at terminal states: value 0, and nothing is learned there."""
        return frozen(np.where(self.is_terminal[:, None], 0.0, self.features))

    # As a problem of the theorems -----------------------------------------------------------------

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """The transitions xi = (s, s') of positive probability, as two arrays of states."""
        entries = self.transition.tocoo()
        return np.asarray(entries.row, np.int64), np.asarray(entries.col, np.int64)

    @cached_property
    def pair_chain(self) -> MarkovChain:
        """The chain of the transitions, sparse: after (s, s') comes (s', s'') with P(s', s'')."""
        P, pairs = self.transition, np.arange(self.transition.nnz + 1)
        arrive = sp.csr_array((np.ones(P.nnz), P.indices, pairs), shape=(P.nnz, self.n_states))
        leave = sp.csr_array((P.data, pairs[:-1], P.indptr), shape=(self.n_states, P.nnz))
        return MarkovChain(arrive @ leave)

    @cached_property
    def pair_mixing_sum(self) -> float:
        r"""The mixing sum T of `pair_chain`, from that of the states: T + 1 - min pi.

        A pair's law after t steps depends on the first pair through :math:`s'` only, so it is as
        far from stationarity as the state after t - 1 steps is: :math:`d_{pair}(t) = d(t - 1)`, and
        :math:`d(0) = 1 - \min\pi`. The states are fewer than the pairs: this is far cheaper.

        Examples
        --------
        >>> problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5)
        >>> problem.pair_mixing_sum, problem.pair_chain.mixing_sum
        (0.5, 0.5)
        """
        return self.chain.mixing_sum + 1.0 - float(self.chain.stationary.min())

    @check.arguments
    def as_problem(
        self, radius: Annotated[float, check.positive, "it is the radius of a ball"]
    ) -> TDDescent:
        """Return TD(0) on a ball as a problem of Theorems 2' and 3', over `pair_chain`.

        Parameters
        ----------
        radius : float
            Radius of the ball about 0; it must hold theta*.

        Raises
        ------
        ValueError
            If A is not symmetric, so that there is no function to descend; if the law is not the
            stationary one, so that no chain samples from it; if theta* is outside the ball.

        Examples
        --------
        >>> problem = TDProblem([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], np.eye(2), 0.5)
        >>> descent = problem.as_problem(radius=2.0)
        >>> descent.n_states, descent.diameter, bool(descent.ell > descent.L)
        (4, 4.0, True)
        """
        return TDDescent(self, radius)

    # Arguments ----------------------------------------------------------------------------------

    def _law(self, law: str | ArrayLike) -> FloatArray:
        if isinstance(law, str):
            check.choice("law", law, ("stationary", "episode"))
            if law == "stationary":
                weights = self.chain.stationary
            else:
                weights = self.chain.occupancy(self.check_length(self.length), self.start)
        else:
            weights = check.probabilities("law", law, (self.n_states,))
        weights = np.where(self.is_terminal, 0.0, weights)
        if weights.sum() <= 0.0:
            raise ValueError(
                "the law charges terminal states only: no transition is learned (expected weight "
                'elsewhere); use law="episode" with a length, or give the weights'
            )
        return np.asarray(weights / weights.sum())

    def check_length(self, length: int | None) -> int:
        """Return the steps of an episode: `length`, or the problem's if it is None."""
        length = self.length if length is None else length
        if length is None:
            raise ValueError(
                "length is missing: got None (expected the steps of an episode); episodes and "
                'law="episode" need it, here or for TDProblem'
            )
        return check.count("length", length, "an episode has at least one step")

    def _points(self, theta: ArrayLike) -> FloatArray:
        return check.points("theta", theta, self.dim, "pass the weights of the features")

    def check_paths(self, states: ArrayLike) -> IntArray:
        """Return `states` as an integer array (..., length + 1): paths that this chain can take."""
        cure = "pass what sample_episodes returns"
        paths = check.integers("states", states, 0, cure, self.n_states - 1)
        if paths.ndim == 0 or paths.shape[-1] < 2:
            raise ValueError(
                f"states must hold paths: got shape {paths.shape} (expected (..., length + 1), "
                "length >= 1); pass what sample_episodes returns"
            )
        n = self.n_states
        block = max(1, BLOCK // paths.shape[-1])
        flat = paths.reshape(-1, paths.shape[-1])
        for low in range(0, len(flat), block):
            left, arrived = flat[low : low + block, :-1], flat[low : low + block, 1:]
            moves = n * left + arrived
            kinds = _distinct(moves, n * n)  # each is looked up once, however often it is made
            never = kinds[self.transition[kinds // n, kinds % n] == 0]
            if len(never):
                row, time = np.argwhere(np.isin(moves, never))[0].tolist()
                raise ValueError(
                    f"states must be paths of the chain: one goes from {left[row, time]} to "
                    f"{arrived[row, time]}, which has probability 0 (expected time along the last "
                    f"axis of {paths.shape}); {cure}"
                )
        return paths


class TDDescent(Problem):
    r"""TD(0) on a ball in the form of the descent methods: xi runs over the transitions.

    :math:`f(\theta) = \frac12\theta^\top A\theta - b^\top\theta` has the gradient
    :math:`A\theta - b`.
    The samples :math:`G(\theta; \xi)` are not gradients themselves (their matrix has rank one and
    is not symmetric), which Theorems 2' and 3' do not need.
    `L`, `mu`, `M`, `ell`, `L_sample`, `minimum` and `minimiser` are exact on the ball; `sigma` is
    an upper bound, exact up to the angle of two vectors.

    Made by `TDProblem.as_problem`.
    """

    @check.arguments
    def __init__(self, td: TDProblem, radius: check.Positive) -> None:
        if not td.is_gradient:
            raise ValueError(
                f"A is not symmetric: its asymmetry is {td.asymmetry:.3g} (expected 0), so TD does "
                "not descend a function; use a reversible chain under its stationary law"
            )
        stationary = td.chain.stationary
        if td.is_terminal.any() or np.abs(stationary - td.law).max() > 1e-12:
            raise ValueError(
                "the law is not the stationary law of the chain (expected law='stationary' and no "
                "terminal state); no Markov chain draws its transitions from another law"
            )
        if np.linalg.norm(td.theta_star) > radius:
            raise ValueError(
                f"theta* is outside the ball: got norm {np.linalg.norm(td.theta_star):.6g} "
                f"(expected at most the radius {radius:g}); enlarge the radius"
            )
        left, arrived = td.pairs
        super().__init__(left.size, td.dim, stationary[left] * td.transition.data, Ball(radius))
        self.A, self.b = td.A, td.b
        self._phi = td.features[left]
        self._difference = self._phi - td.discount * td.features[arrived]
        self._reward = td.reward[left] + td.arrival_reward[arrived]

        self.mu, self.L = td.mu, td.L
        self.minimiser = td.theta_star
        self.minimum = float(self._value(td.theta_star))
        phi_norm = np.linalg.norm(self._phi, axis=1)
        slope = phi_norm * np.linalg.norm(self._difference, axis=1)
        self.L_sample = float(slope.max())
        # |phi| |u.theta - r| is largest where theta is parallel to u, on the sphere
        self.M = float((slope * radius + phi_norm * np.abs(self._reward)).max())
        noise = self._phi[:, :, None] * self._difference[:, None, :] - self.A
        offset = np.linalg.norm(self._reward[:, None] * self._phi - self.b, axis=1)
        spread = np.linalg.norm(noise, 2, axis=(1, 2))
        self.ell = float(spread.max())
        self.sigma = float((spread * radius + offset).max())

    def _value(self, x: FloatArray) -> FloatArray:
        return np.asarray(0.5 * ((x @ self.A) * x).sum(axis=-1) - x @ self.b)

    def _gradient(self, x: FloatArray) -> FloatArray:
        return np.asarray(x @ self.A.T - self.b)

    def _sample_value(self, x: FloatArray, xi: IntArray) -> FloatArray:
        raise TypeError(
            "a transition has no sample value: its TD update is not the gradient of a function; "
            "use value, gradient or sample_gradient"
        )

    def _sample_gradient(self, x: FloatArray, xi: IntArray) -> FloatArray:
        error = (self._difference[xi] * x).sum(axis=-1) - self._reward[xi]
        return np.asarray(error[..., None] * self._phi[xi])


@check.arguments
def product_basis_spectrum(
    n: Annotated[int, check.integer, 2, "a grid needs a start and a goal"],
    order: int,
    discount: check.Discount,
) -> FloatArray:
    r"""Return the diagonal of A for the product basis on the grid whose goal is ordinary.

    At the cells' mid-points the vectors :math:`\cos(\pi ix)\cos(\pi jy)`, :math:`i, j < n`, are the
    eigenvectors of the uniform walk that stays when it bumps, with eigenvalues
    :math:`\frac12(\cos\frac{\pi i}n + \cos\frac{\pi j}n)`, and orthogonal, so that A is diagonal:
    :math:`A_{ij} = 2^{-[i>0]-[j>0]}(1 - \frac\gamma2(\cos\frac{\pi i}n + \cos\frac{\pi j}n))`.

    Parameters
    ----------
    n : int
        Cells on a side.
    order : int
        Largest frequency, below n.
    discount : float in [0, 1)

    Returns
    -------
    ndarray, shape (order + 1, order + 1)

    Examples
    --------
    >>> product_basis_spectrum(10, 1, 0.9).round(6)
    array([[0.1     , 0.061012],
           [0.061012, 0.036012]])
    """
    cure = "higher frequencies repeat lower ones on the n cells"
    order = check.integer("order", order, 0, cure, n - 1)
    frequency = np.arange(order + 1)
    cosine = np.cos(np.pi * frequency / n)
    norm = np.where(frequency > 0, 0.5, 1.0)
    walk = (cosine[:, None] + cosine[None, :]) / 2.0
    return np.asarray(np.outer(norm, norm) * (1.0 - discount * walk))


def _distinct(numbers: IntArray, top: int) -> IntArray:
    """Return the different entries of `numbers`, which lie in 0..top - 1, in order."""
    if top > 16 * numbers.size:
        return np.unique(numbers)
    seen = np.zeros(top, dtype=bool)  # many times faster than sorting
    seen[numbers] = True
    return np.flatnonzero(seen)


def _mask(states: ArrayLike, n_states: int) -> NDArray[np.bool_]:
    """Return a mask of the listed states."""
    mask = np.zeros(n_states, dtype=bool)
    listed = check.as_array("terminal", states, "list states")
    if listed.size == 0:
        return mask
    if listed.ndim != 1:
        raise ValueError(f"terminal must list states: got {states!r}; pass for example [99]")
    listed = check.integers("terminal", listed, 0, "states are counted from 0", n_states - 1)
    mask[listed] = True
    return mask
