r"""Finite Markov chains: stationary law, distance to it, mixing times, exact sampling.

A chain on the states ``0, ..., n-1`` is a matrix :math:`P` with non-negative entries and rows that
sum to one. Two states communicate when each can be reached from the other; a communicating class
that cannot be left is recurrent. With one recurrent class the stationary law :math:`\pi = \pi P`
is unique. The book measures how far the chain is from it, from the worst start, by

.. math:: d(k) = \max_i \tfrac12 \sum_j |P^k_{ij} - \pi_j|.

Four numbers are read off this curve: ``mixing_time(delta)``, the first :math:`k \ge 1` with
:math:`d(k) \le \delta`; ``mixing_sum``, :math:`T = \sum_{t\ge1} d(t)`; ``mixing_constant``,
:math:`C^* = \sup_k k / \log(1/d(k))`; and ``poisson_mixing``, :math:`T_* \le T`, which needs no
curve at all.

How the numbers are kept accurate
---------------------------------
*Stationary law.* Elimination of Grassmann, Taksar and Heyman (1985): no subtraction occurs, so
every entry has a small relative error, however badly the chain is conditioned. A block of states
is eliminated at a time, by products of non-negative matrices. The states of a sparse chain are put
into an order in which links are short (reverse Cuthill-McKee), and only the states in reach of a
block take part in its elimination.

*Powers.* :math:`P^k` is a product of the matrices :math:`P^{2^j}`. All terms of such a product
are non-negative, so small entries keep their relative accuracy; after each product the largest
entry of a row is set to one minus the others, which stops the drift of the row sums. As soon as
:math:`d(k) \le 1/4` the matrix is centred, :math:`D^k = P^k - 1\pi^T`, because
:math:`D^a D^b = D^{a+b}` and the small numbers :math:`d(k)` then keep their relative accuracy too.
A binary exponent is carried beside a centred matrix, so it cannot underflow.

*Rounding floor.* A product of :math:`n \times n` matrices has a rounding error of up to
``n * eps`` times the product of the norms. A centred matrix below that level cannot be told from
zero, and is set to zero. Chains that forget their start exactly get :math:`d(k) = 0` in this way.

*Bounds on what is not computed.* :math:`\bar d(k) = \max_{i,j} TV(P^k_i, P^k_j)` obeys
:math:`d \le \bar d \le 2d`, :math:`\bar d(s+t) \le \bar d(s) \bar d(t)` and
:math:`d(s+t) \le d(s)\bar d(t)` (Levin and Peres, Markov Chains and Mixing Times, chapter 4).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from amgd import _checks as check
from amgd._checks import FloatArray, IntArray

__all__ = [
    "MarkovChain",
    "cyclic",
    "de_bruijn",
    "iid",
    "lazy_cycle",
    "reshuffled",
    "sticky",
    "two_clusters",
    "two_state",
]

_EPS = float(np.finfo(np.float64).eps)
_WELL_CONDITIONED = 1e4  # norm of (I - P + 1 pi^T)^-1 up to which it is inverted
_TIE = 1e-12  # d(k) and delta count as equal within this relative distance
_SUM_TOLERANCE = 1e-12  # relative accuracy aimed at by mixing_sum
_SUP_TOLERANCE = 1e-10  # relative accuracy aimed at by mixing_constant
_SPECTRAL_AFTER = 64  # terms that mixing_sum adds before it looks at the spectrum
_SPECTRAL_FROM = 8000  # terms from which it trades two digits for speed
_SPECTRAL_COST = 5e10  # multiplications that it then spends at most, some five seconds
_BLOCK = 2**20  # uniforms drawn at once by sample
_BLOCKS = (96, 8, 1)  # states eliminated at once; fewer if numbers within a block overflow
_DENSE_UP_TO = 4096  # states; powers of a larger sparse matrix are not taken
_ELIMINATION_COST = 2e12  # multiplications, a minute or two, that a sparse elimination may take
_ELIMINATION_MEMORY = 4.0  # and the gigabytes
_WALK_COST = 2e10  # additions, half a minute, for the laws after k steps from all starts


class _Power(NamedTuple):
    """``P^k`` if not centred, otherwise ``P^k - 1 pi^T = matrix * 2**exponent``."""

    matrix: FloatArray
    exponent: int
    centred: bool
    noise: float = 0.0  # what centring left of the rounding errors of P^k, in units of the matrix


class MarkovChain:
    r"""A Markov chain on the states ``0, ..., n-1``.

    Parameters
    ----------
    transition : array_like or SciPy sparse matrix, shape (n, n)
        Row ``i`` is the law of the next state when the present one is ``i``.
        Rows must sum to one within 1e-8, or within 1e-6 when the array is float32 (its own rounding
        is of that size); each row is then divided by its sum in float64.
        A sparse matrix stays sparse. Structure, stationary law, samples and laws of it cost what
        its entries cost. The quantities made of powers of P need a dense matrix, which is made for
        up to 4096 states; beyond, each says what it does.
    labels : sequence, optional
        What the states are called, each once: kept in the attribute ``labels``, a tuple.

    Raises
    ------
    TypeError
        Entries that are not real numbers, or labels that cannot be a key of a dict.
    ValueError
        Not square, empty, NaN, infinite, negative, a row that does not sum to one, or labels that
        are not n different ones.

    Examples
    --------
    >>> chain = MarkovChain([[0.9, 0.1], [0.3, 0.7]])
    >>> chain.stationary
    array([0.75, 0.25])
    >>> chain.mixing_time(0.01)
    9
    """

    labels: tuple[Any, ...] | None = None

    @check.arguments
    def __init__(self, transition: Transition, *, labels: Labels = None) -> None:
        """Check and copy the matrix."""
        matrix: Any = transition
        self._is_sparse = hasattr(matrix, "tocsr")
        self._transition: Any = _read_only(matrix)
        self._walked = np.empty(0)
        if labels is not None:
            try:
                if isinstance(labels, set | frozenset):
                    raise TypeError("a set has no order, so pass a list")
                self.labels = tuple(labels)
                different = len(set(self.labels))
            except TypeError as error:
                raise TypeError(f"labels must be names: got {labels!r:.80}; {error}") from None
            if not different == len(self.labels) == self.n_states:
                raise ValueError(
                    f"labels must be {self.n_states} different ones, one for each state: got "
                    f"{self.labels!r:.80}; leave them out to count from 0"
                )

    @classmethod
    def from_counts(
        cls, counts: ArrayLike, *, prior: float = 0.0, labels: Sequence[Any] | None = None
    ) -> MarkovChain:
        """Estimate a chain from the numbers of transitions that were seen.

        Parameters
        ----------
        counts : array_like, shape (n, n)
            Entry (i, j): how often j came after i; at least 0.
        prior : float
            Added to each entry. 0 gives the relative frequencies, which are the most likely
            chain; a > 0 the mean of the posterior under a Dirichlet law with all parameters a.
        labels : sequence, optional
            As for the class.

        Raises
        ------
        TypeError, ValueError
            For counts or a prior below 0, or a state that was never left and gets no prior.

        Examples
        --------
        >>> MarkovChain.from_counts([[6, 2], [1, 3]], labels=["dry", "wet"]).transition
        array([[0.75, 0.25],
               [0.25, 0.75]])
        """
        cure = "count how often j came after i"
        table = check.array("counts", counts, ("n", "n"), cure)
        if table.min() < 0:
            raise ValueError(f"counts must be at least 0: got {table.min():g}; {cure}")
        table += check.real("prior", prior, "0 adds nothing, 1 is the uniform law", "[0, inf)")
        left = table.sum(axis=1)
        if not left.all():
            state = int(np.argmin(left))
            raise ValueError(
                f"counts must have an entry in each row: row {state} has none, so the state was "
                "never left (expected a sum above 0); drop the state, or give a prior such as 1"
            )
        return cls(table / left[:, None], labels=labels)

    @classmethod
    def from_columns(
        cls, transition: ArrayLike | Any, *, labels: Sequence[Any] | None = None
    ) -> MarkovChain:
        """Make the chain of a matrix whose columns are laws: column j is the law after state j.

        Parameters
        ----------
        transition : array_like or SciPy sparse matrix, shape (n, n)
        labels : sequence, optional
            As for the class.

        Raises
        ------
        TypeError, ValueError
            As the class does, for the transposed matrix.

        Examples
        --------
        >>> MarkovChain.from_columns([[0.9, 0.3], [0.1, 0.7]]).stationary
        array([0.75, 0.25])
        """
        given: Any = transition
        if not hasattr(given, "tocsr"):
            given = check.as_array("transition", given, "give the law after state j as column j")
        return cls(given.T, labels=labels)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Fill a copy, or a chain from another process: its arrays are read-only, too."""
        self.__dict__.update(state)
        for name in {"_transition", "stationary"} & state.keys():
            _read_only(state[name])

    def __repr__(self) -> str:
        """Tell the number of states.

        >>> MarkovChain([[0.5, 0.5], [1, 0]])
        MarkovChain(n_states=2)
        """
        return f"MarkovChain(n_states={self.n_states})"

    @property
    def n_states(self) -> int:
        """Number of states.

        >>> de_bruijn(3).n_states
        8
        """
        return int(self._transition.shape[0])

    @property
    def transition(self) -> Any:
        """Transition matrix, float64, read-only, shape (n, n): an ndarray, or a sparse CSR array.

        >>> two_state(0.25, 0.5).transition
        array([[0.75, 0.25],
               [0.5 , 0.5 ]])
        """
        return self._transition

    @property
    def _sparse(self) -> Any:
        """The matrix as a CSR array."""
        if self._is_sparse:
            return self._transition
        # Imported here: it takes a quarter of a second.
        from scipy.sparse import csr_array

        positive = self._transition > 0  # SciPy itself is a hundred times slower at this
        columns = np.broadcast_to(np.arange(self.n_states), positive.shape)[positive]
        begin = np.append(0, np.cumsum(np.count_nonzero(positive, axis=1)))
        return csr_array((self._transition[positive], columns, begin), shape=positive.shape)

    @cached_property
    def _dense(self) -> FloatArray:
        if self._is_large:
            needs = f"dense matrices of {8e-9 * self.n_states**2:.2g} GB"
            most = f"{_DENSE_UP_TO} states"
            cure = "lump states, use tv_distance, or take the time: MarkovChain(P.toarray())"
            raise _out_of_reach("what powers of P tell", self.n_states, needs, most, cure)
        return np.asarray(self._transition.toarray() if self._is_sparse else self._transition)

    @property
    def _is_large(self) -> bool:
        return self._is_sparse and self.n_states > _DENSE_UP_TO

    # ------------------------------------------------------------------ structure

    @cached_property
    def _classes(self) -> tuple[IntArray, NDArray[np.bool_]]:
        """Class of each state, in the order of smallest states, and whether a class is closed."""
        from scipy.sparse.csgraph import connected_components

        graph = self._sparse
        _, found = connected_components(graph, directed=True, connection="strong")
        _, first, found = np.unique(found, return_index=True, return_inverse=True)
        label = np.argsort(np.argsort(first))[found]
        source, target = np.repeat(label, np.diff(graph.indptr)), label[graph.indices]
        closed = np.ones(len(first), dtype=bool)
        closed[source[source != target]] = False
        return label, closed

    @cached_property
    def communicating_classes(self) -> tuple[tuple[int, ...], ...]:
        """States that reach each other, ordered by their smallest state.

        >>> MarkovChain([[0.5, 0.5, 0], [0, 0, 1], [0, 1, 0]]).communicating_classes
        ((0,), (1, 2))
        """
        label = self._classes[0]
        ends = np.cumsum(np.bincount(label))[:-1]
        return tuple(tuple(c.tolist()) for c in np.split(np.argsort(label, kind="stable"), ends))

    @property
    def recurrent_classes(self) -> tuple[tuple[int, ...], ...]:
        """Communicating classes that cannot be left; every other state is transient.

        >>> MarkovChain([[0.5, 0.5, 0], [0, 0, 1], [0, 1, 0]]).recurrent_classes
        ((1, 2),)
        """
        return tuple(itertools.compress(self.communicating_classes, self._classes[1]))

    @property
    def is_irreducible(self) -> bool:
        """Whether every state reaches every other.

        >>> MarkovChain([[1, 0], [0.5, 0.5]]).is_irreducible
        False
        """
        return len(self._classes[1]) == 1

    @cached_property
    def period(self) -> int:
        """Least common multiple of the periods of the recurrent classes.

        For an irreducible chain this is the greatest common divisor of the lengths of its cycles.

        >>> MarkovChain([[0, 1, 0], [0, 0, 1], [1, 0, 0]]).period
        3
        """
        graph = self._sparse
        return math.lcm(*(_period(_within(graph, states)) for states in self.recurrent_classes))

    @property
    def is_aperiodic(self) -> bool:
        """Whether the period is one.

        >>> two_state(1, 1).is_aperiodic
        False
        """
        return self.period == 1

    @cached_property
    def is_reversible(self) -> bool:
        """Whether the chain is irreducible and ``pi_i P_ij = pi_j P_ji`` for all pairs.

        The two sides may differ by 1e-10 of the larger one.

        Raises
        ------
        ValueError
            If the stationary law is out of reach, see ``stationary``.

        Examples
        --------
        >>> lazy_cycle(5).is_reversible, de_bruijn(3).is_reversible
        (True, False)
        """
        if not self.is_irreducible:
            return False
        flow = self._sparse.multiply(self.stationary[:, None]).tocsr()
        back = flow.T.tocsr()
        return bool((abs(flow - back) - 1e-10 * flow.maximum(back)).max() <= 0.0)

    # ------------------------------------------------------------------ stationary law

    @cached_property
    def stationary(self) -> FloatArray:
        """The stationary law, read-only, shape (n,); zero on transient states.

        Every entry is accurate relative to itself, not only to the largest one. A sparse matrix of
        which each column sums to what its row sums to, exactly, has the uniform law, exactly.

        Raises
        ------
        ValueError
            If there are several recurrent classes, hence several stationary laws; or if the
            elimination of a sparse matrix would take more than 2e12 multiplications or 4 GB.

        Examples
        --------
        >>> two_state(1e-12, 3e-12).stationary
        array([0.75, 0.25])
        """
        label, closed = self._classes
        if closed.sum() > 1:
            raise ValueError(
                f"stationary law is not unique: the chain has {closed.sum()} recurrent classes "
                f"{_show(self.recurrent_classes)} "
                "(expected 1); study one class at a time, MarkovChain(P[np.ix_(states, states)])"
            )
        states = np.flatnonzero(label == closed.argmax())
        law = np.zeros(self.n_states)
        law[states] = _stationary(_within(self._transition, states))
        law.flags.writeable = False
        return law

    def law(self, k: int, initial: int | ArrayLike) -> FloatArray:
        """Law of the state after k steps, shape (n,).

        Parameters
        ----------
        k : int
            Number of steps, at least 0.
        initial : int or array_like, shape (n,)
            First state, or its law.

        Raises
        ------
        TypeError, ValueError
            If ``k`` or ``initial`` is not of this kind, or k steps of a sparse matrix are too many.

        Examples
        --------
        >>> two_state(0.5, 0.25).law(2, initial=0)
        array([0.375, 0.625])
        """
        count = check.integer("k", k, 0, "time does not run backwards")
        law = self._initial_law(initial)
        if self._is_sparse and (count <= self.n_states or self._is_large):
            self._require_steps("law", count, self._transition.nnz)
            for _ in range(count):
                law = self._backward @ law
            return law
        # Plain powers of P: the centred form would need the stationary law to be unique. A sum of
        # a row that is off by eps would be squared with the matrix, so rows are closed each time.
        power = _close_rows(self._dense.copy())
        while count:
            if count & 1:
                law = law @ power
            count >>= 1
            power = _close_rows(power @ power) if count else power
        return np.asarray(law / law.sum())

    def occupancy(self, length: int, initial: int | ArrayLike) -> FloatArray:
        """Average of the laws of the state at times ``0, ..., length - 1``, shape (n,).

        Parameters
        ----------
        length : int
            Number of laws, at least 1.
        initial : int or array_like, shape (n,)
            First state, or its law.

        Raises
        ------
        TypeError, ValueError
            If ``length`` or ``initial`` is not of this kind.

        Examples
        --------
        >>> two_state(0.5, 0.25).occupancy(2, initial=0)
        array([0.75, 0.25])
        """
        length = check.count("length", length, "it counts the initial law too")
        self._require_steps("occupancy, for this length,", length, self._sparse.nnz)
        law = self._initial_law(initial)
        total = np.zeros_like(law)
        for _ in range(length):
            total += law
            law = self._backward @ law
        return np.asarray(total / length)

    def _initial_law(self, initial: int | ArrayLike) -> FloatArray:
        if check.as_array("initial", initial, "pass a state or a law").ndim > 0:
            return check.probabilities("initial", initial, (self.n_states,))
        start = np.zeros(self.n_states)
        start[self._states(initial)] = 1.0
        return start

    @cached_property
    def _backward(self) -> Any:
        """What takes a law, as a column, one step further."""
        return self._transition.T.tocsr() if self._is_sparse else self._transition.T

    # ------------------------------------------------------------------ distance to stationarity

    def tv_distance(self, k: int | ArrayLike) -> Any:
        r"""Worst total variation distance to the stationary law after k steps.

        :math:`d(k) = \max_i \frac12 \sum_j |P^k_{ij} - \pi_j|`, from powers of the matrix; large k
        cost about :math:`2 \log_2 k` products. Of a sparse matrix of more than 4096 states the laws
        after 1, ..., k steps from all starts are followed, in half a minute or not at all; their
        rounding error is about ``k * eps``.

        Parameters
        ----------
        k : int or array_like of int
            Number of steps, at least 0; ``d(0) = 1 - min(pi)``.

        Returns
        -------
        float or ndarray of float64
            Shape of ``k``.

        Raises
        ------
        TypeError
            If ``k`` is not an integer.
        ValueError
            If ``k`` is negative, or too large for a large sparse matrix, or the chain has several
            stationary laws.

        Examples
        --------
        >>> two_state(0.25, 0.25).tv_distance([0, 1, 2])
        array([0.5  , 0.25 , 0.125])
        """
        steps = _step_counts(k)
        unique, where = np.unique(steps, return_inverse=True)
        values, reached = np.empty(len(unique)), 0
        power: _Power | None = None
        for index, target in enumerate(map(int, unique)):
            if self._is_large and target:
                values[index] = self._walk("tv_distance", int(unique[-1]))[target - 1]
            else:
                power, reached = self._advance(power, target - reached), target
                values[index] = self._distance(power)
        distances = values[where].reshape(steps.shape)
        if steps.ndim == 0:
            return float(distances)
        distances.flags.writeable = False
        return distances

    def mixing_time(self, delta: float) -> int:
        r"""Smallest :math:`k \ge 1` with :math:`d(k) \le \delta`.

        The curve never rises, so squaring finds a bracket and bisection the answer.
        Distances within a relative 1e-12 of ``delta`` count as equal to it. For a large sparse
        matrix see ``tv_distance``.

        Parameters
        ----------
        delta : float
            In (0, 1].

        Raises
        ------
        TypeError, ValueError
            If ``delta`` is not such a number, or the chain is reducible or periodic, or large and
            slow.

        Examples
        --------
        >>> two_state(0.05, 0.05).mixing_time(0.01)
        38
        >>> two_state(1e-9, 1e-9).mixing_time(0.25)
        346573590
        """
        delta = check.real("delta", delta, "it is a distance to the stationary law", "(0, 1]")
        self._require_ergodic("mixing_time")
        if self._is_large:
            return len(self._walk_down("mixing_time", delta * (1.0 + _TIE)))
        target = math.log(delta) + _TIE
        level = 0
        while self._log_distance(self._dyadic(level)) > target:
            level += 1
        if level == 0:
            return 1
        # d(2^(level-1)) > delta >= d(2^level): add the smaller powers of two from above.
        reached, power = 1 << (level - 1), self._dyadic(level - 1)
        for smaller in range(level - 2, -1, -1):
            candidate = self._multiply(power, self._dyadic(smaller))
            if self._log_distance(candidate) > target:
                reached, power = reached + (1 << smaller), candidate
        return reached + 1

    @property
    def mixing_sum(self) -> float:
        r"""Sum of the distances, :math:`T = \sum_{t \ge 1} d(t)`.

        The first terms are added one by one. The rest is a geometric series with the ratio
        ``second_modulus``, once the powers of P can be shown to follow one; ``mixing_sum_error``
        bounds what this leaves out. A slow chain whose powers follow no geometric series soon
        enough takes its terms from the eigenvectors of P if it is reversible (the rounding error
        is then about 1e-15 times the relaxation time, relative to the sum); otherwise it is summed
        in blocks, each between a lower and an upper bound. Of a large sparse matrix the terms are
        those of ``tv_distance``, up to one of 1e-12, and the rest lies between 0 and
        :math:`d(k) \sum_{s\ge1} \bar d(s)`. A sum beyond the range of float64 is ``inf``.

        Raises
        ------
        ValueError
            If the chain is reducible or periodic, or large and slow.

        Examples
        --------
        >>> round(two_state(0.05, 0.05).mixing_sum, 12)
        4.5
        >>> iid([0.2, 0.8]).mixing_sum
        0.0
        """
        self._require_ergodic("mixing_sum")
        return self._mixing_sum[0]

    @property
    def mixing_sum_error(self) -> float:
        """Bound on the truncation error of ``mixing_sum`` (absolute; rounding is not counted).

        It is at most 1e-12 of the sum for chains of up to a hundred states that mix within some
        thousand steps, and for slower ones soon ruled by one real eigenvalue; for others it tells
        how much is known.

        Raises
        ------
        ValueError
            If the chain is reducible or periodic.

        Examples
        --------
        >>> chain = two_clusters(8, 1e-6)
        >>> chain.mixing_sum_error < 1e-12 * chain.mixing_sum
        True
        """
        self._require_ergodic("mixing_sum_error")
        return self._mixing_sum[1]

    @property
    def mixing_constant(self) -> float:
        r"""The least C with :math:`d(k) \le e^{-k/C}` for all :math:`k \ge 1`.

        It is :math:`C^* = \sup_{k\ge1} k / \log(1/d(k))`, where k with :math:`d(k) = 0` count as
        zero. It is at least the limit of these quotients, which is
        :math:`1/\log(1/\rho)` with :math:`\rho` = ``second_modulus``. Branch and bound finds the
        supremum: on :math:`a \le k < b` the quotient is at most :math:`(b-1)/\log(1/d(a))`; beyond
        :math:`n` it is at most :math:`n/(n\log(1/\rho) - \log A_n)`, where
        :math:`d(k) \le A_n \rho^k` for :math:`k \ge n` comes from the eigenvectors, or
        :math:`(1 + 1/q)\, m/\log(1/\bar d(m))` for :math:`n = qm`.
        A constant beyond the range of float64 (a state of stationary mass below 1e-308) is ``inf``.

        Raises
        ------
        ValueError
            If the chain is reducible or periodic, or sparse with more than 4096 states.

        Examples
        --------
        >>> round(two_state(0.05, 0.05).mixing_constant, 3)
        9.491
        >>> round(de_bruijn(4).mixing_constant, 3)
        7.489
        """
        self._require_ergodic("mixing_constant")
        return self._mixing_constant[0]

    @property
    def mixing_constant_error(self) -> float:
        """How much larger than ``mixing_constant`` the supremum may be, by the bounds used.

        It is at most 1e-10 of the constant unless the search had to be cut short.

        Raises
        ------
        ValueError
            If the chain is reducible or periodic, or sparse with more than 4096 states.

        Examples
        --------
        >>> two_state(0.05, 0.05).mixing_constant_error < 1e-9
        True
        """
        self._require_ergodic("mixing_constant_error")
        return self._mixing_constant[1]

    @cached_property
    def second_modulus(self) -> float:
        r"""Largest modulus :math:`\rho` of the eigenvalues other than the one at 1.

        Computed as the limit of :math:`d(k)^{1/k}` by repeated squaring. Chains that become exactly
        stationary give 0, where a routine for eigenvalues returns noise; other matrices without a
        basis of eigenvectors still lose digits (the lazy de Bruijn chain with 5 bits gives 0.508
        for 1/2).

        Raises
        ------
        ValueError
            If the chain is reducible or periodic, or sparse with more than 4096 states.

        Examples
        --------
        >>> round(two_state(0.7, 0.8).second_modulus, 14), de_bruijn(6).second_modulus
        (0.5, 0.0)
        """
        self._require_ergodic("second_modulus")
        return math.exp(-self._rate)

    @cached_property
    def poisson_mixing(self) -> float:
        r"""Mixing measured through Poisson's equation, no more than ``mixing_sum``.

        :math:`T_* = \frac12 \|(I - P + 1\pi^T)^{-1} - I\|_\infty`. It is finite for periodic
        chains too, and takes the place of T in every bound that has one (not in the lag forms).

        Raises
        ------
        ValueError
            If the stationary law is not unique, or the chain sparse with more than 4096 states.

        Examples
        --------
        >>> round(two_state(0.05, 0.05).poisson_mixing, 10), two_state(1, 1).poisson_mixing
        (4.5, 0.25)
        """
        return 0.5 * _norm(self._poisson_matrix)

    @cached_property
    def poisson_mixing_centred(self) -> float:
        r"""Sharper than ``poisson_mixing`` where the noise is bounded itself, not the gradient.

        :math:`T_P = \frac12 \max_i \min_a \sum_j |Z_{ij} - \delta_{ij} + a \pi_j| \le T_*` with
        :math:`Z = (I - P + 1\pi^T)^{-1}`: the least constant with
        :math:`\|Q\| \le 2\sigma T_P` for all noise with mean zero and :math:`\|H\| \le \sigma`. It
        takes the place of T in Theorems 2' and 3' and Propositions A and C
        (:prf:ref:`prop-poisson-constant`). The inner minimum is a weighted median.

        Raises
        ------
        ValueError
            If the chain is reducible, or sparse with more than 4096 states.

        Examples
        --------
        >>> chain = two_state(0.025, 0.075)
        >>> round(chain.poisson_mixing_centred, 10), round(chain.poisson_mixing, 10)
        (4.5, 6.75)
        """
        self._require_irreducible("poisson_mixing_centred")
        matrix, law = self._poisson_matrix, self.stationary
        if not np.isfinite(matrix).all():
            return math.inf
        ratio = matrix / law
        order = ratio.argsort(axis=1)
        median = (law[order].cumsum(axis=1) >= 0.5).argmax(axis=1)
        rows = np.arange(self.n_states)
        return 0.5 * _norm(matrix - ratio[rows, order[rows, median]][:, None] * law)

    @cached_property
    def _poisson_matrix(self) -> FloatArray:
        r""":math:`Z - I`, which takes H to the solution Q of Poisson's equation, Q - PQ = PH."""
        dense, identity = self._dense, np.eye(self.n_states)
        try:
            inverse = np.linalg.inv(identity - dense + self.stationary).astype(np.float64)
        except np.linalg.LinAlgError:
            return self._slow_poisson_matrix
        if _norm(inverse) > _WELL_CONDITIONED:
            return self._slow_poisson_matrix
        matrix = inverse - identity
        if _norm(matrix) <= self.n_states * _EPS * _norm(inverse):
            return np.zeros_like(matrix)
        return np.asarray(matrix)

    @property
    def _slow_poisson_matrix(self) -> FloatArray:
        """The same by doubling the sums of powers of the lazy chain, which also settles."""
        lazy = MarkovChain(0.5 * (np.eye(self.n_states) + self._dense))
        total, level = lazy._centre(lazy._dyadic(0)).matrix, 0
        while True:
            power = lazy._centre(lazy._dyadic(level))
            if not power.matrix.any() or power.exponent < -60:  # what is left is below rounding
                return np.asarray(0.5 * (total + self.stationary - np.eye(self.n_states)))
            with np.errstate(over="ignore", invalid="ignore"):
                total = total + np.ldexp(power.matrix, power.exponent) @ total
            if not np.isfinite(total).all():
                return np.full_like(total, math.inf)
            level += 1

    # ------------------------------------------------------------------ sampling

    @check.arguments
    def sample(
        self,
        length: Annotated[int, check.count, "it counts the initial state too"],
        *,
        rng: check.Generator,
        replicates: check.Replicates = 1,
        initial: int | ArrayLike | None = None,
    ) -> IntArray:
        """Draw independent paths of the chain.

        One uniform number is used per replicate and step, time after time, and the next state is
        found by bisection in the cumulative sums of the row's positive entries. A path drawn in
        blocks, each started from the last states of the one before, equals the path drawn at once.
        A state of probability zero is never drawn.

        Parameters
        ----------
        length : int
            Number of states of a path, the initial one included; at least 1.
        rng : numpy.random.Generator
            Source of randomness.
        replicates : int
            Number of paths.
        initial : None, int, int array (replicates,) or float array (n_states,)
            First states: drawn from the stationary law, given, given for each path, or drawn from
            this law. Given states use no random number.

        Returns
        -------
        ndarray of int64, shape (replicates, length)
            Stored time after time: column ``t`` is contiguous.

        Raises
        ------
        TypeError, ValueError
            If an argument is not of the kind above.

        Examples
        --------
        >>> chain = MarkovChain([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
        >>> chain.sample(5, rng=np.random.default_rng(0), initial=1)
        array([[1, 2, 0, 1, 2]])
        """
        check.room(
            "length and replicates", length, replicates, cure="draw parts: go on from the end"
        )
        path = np.empty((length, replicates), dtype=np.int64)
        path[0] = self._initial_states(rng, replicates, initial)
        block = max(1, _BLOCK // replicates)
        for start in range(1, length, block):
            stop = min(start + block, length)
            uniforms = rng.random((stop - start, replicates))
            for time in range(start, stop):
                self._move(path[time - 1], uniforms[time - start], path[time])
        return path.T

    def _initial_states(
        self, rng: np.random.Generator, replicates: int, initial: int | ArrayLike | None
    ) -> IntArray:
        given = check.as_array("initial", initial, "pass a state, or one for each path")
        if initial is None:
            law = self.stationary
        elif given.ndim and given.dtype.kind == "f":
            law = check.probabilities("initial", given, (self.n_states,))
        else:
            states = self._states(given)
            if states.shape not in ((), (replicates,)):
                raise ValueError(
                    "initial states must be one int or one for each replicate: got shape "
                    f"{states.shape} (expected ({replicates},)); a law must be a float array"
                )
            return np.broadcast_to(states, (replicates,))
        sums = np.cumsum(law)
        sums[np.flatnonzero(law)[-1] :] = math.inf
        return np.searchsorted(sums, rng.random(replicates), side="right")

    def _states(self, initial: Any) -> IntArray:
        cure = "give states, or a law as a float array with one entry for each state"
        return check.integers("initial", initial, 0, cure, self.n_states - 1)

    @cached_property
    def _table(self) -> tuple[IntArray, IntArray | None, FloatArray, IntArray, int]:
        """Entries row by row, padded to 2**j if this costs little: places, sums, states, width."""
        matrix = self._sparse
        begin, length = matrix.indptr[:-1], np.diff(matrix.indptr).astype(np.int64)
        width = 1 << (int(length.max()) - 1).bit_length()
        padded = len(length) * width <= 4 * matrix.nnz
        first = np.arange(len(length)) * width if padded else begin.astype(np.int64)
        last = first + (width if padded else length) - 1
        sums, states = np.full(last[-1] + 1, math.inf), np.zeros(last[-1] + 1, dtype=np.int64)
        states[np.arange(matrix.nnz) + np.repeat(first - begin, length)] = matrix.indices
        for place, start, count in zip(first, begin, length - 1, strict=True):
            np.cumsum(matrix.data[start : start + count], out=sums[place : place + count])
        return first, None if padded else last, sums, states, width

    def _move(self, row: IntArray, uniform: FloatArray, out: IntArray) -> None:
        """Write the first state of each row whose cumulative sum exceeds ``uniform``."""
        first, last, sums, states, width = self._table
        place, step = first.take(row), width // 2
        while step:  # the sum at the last entry of a row, and beyond, is infinite
            ahead = place + (step - 1)
            if last is not None:
                np.minimum(ahead, last.take(row), out=ahead)
            place += step * (sums.take(ahead) <= uniform)
            step //= 2
        states.take(place, out=out)

    # ------------------------------------------------------------------ powers of the matrix

    def _dyadic(self, level: int) -> _Power:
        """``P**(2**level)``, kept for the next call."""
        ladder = self._ladder
        for known in range(len(ladder), level + 1):
            half = ladder[known - 1]
            ladder.setdefault(known, self._multiply(half, half))  # another thread may be first
        return ladder[level]

    @cached_property
    def _ladder(self) -> dict[int, _Power]:
        return {0: self._settle(_close_rows(self._dense.copy()))}

    def _multiply(self, left: _Power, right: _Power) -> _Power:
        if not (left.centred or right.centred):
            return self._settle(_close_rows(left.matrix @ right.matrix))
        # Both are centred: a factor P would leave rounding errors in the direction of pi undamped.
        left, right = self._centre(left), self._centre(right)
        sizes = _norm(left.matrix), _norm(right.matrix)
        noise = self.n_states * _EPS * sizes[0] * sizes[1]
        noise += left.noise * sizes[1] + right.noise * sizes[0]
        if noise == 0.0:
            return _Power(np.zeros_like(left.matrix), 0, True)
        return _rescale(left.matrix @ right.matrix, left.exponent + right.exponent, noise)

    def _settle(self, matrix: FloatArray) -> _Power:
        """Centre a power of P once its rows are close to pi."""
        centred = matrix - self.stationary
        if _norm(centred) > 0.5:
            return _Power(matrix, 0, False)
        noise = self.n_states * _EPS
        power = _rescale(centred, 0, noise)
        return power._replace(noise=math.ldexp(noise, -power.exponent))

    def _centre(self, power: _Power) -> _Power:
        if power.centred:
            return power
        return _Power(power.matrix - self.stationary, 0, True)

    def _advance(self, power: _Power | None, steps: int) -> _Power | None:
        """Multiply by ``P**steps``; None is the identity."""
        for level in range(steps.bit_length()):
            if steps >> level & 1:
                factor = self._dyadic(level)
                power = factor if power is None else self._multiply(power, factor)
        return power

    def _distance(self, power: _Power | None) -> float:
        if power is None:
            return 1.0 - float(self.stationary.min())
        return math.ldexp(0.5 * _norm(self._centre(power).matrix), power.exponent)

    def _log_distance(self, power: _Power) -> float:
        """``log d(k)``, also where d(k) would underflow or be rounded to one."""
        if not power.centred:  # d(k) = 1 - (least overlap of a row with pi)
            overlap = np.minimum(power.matrix, self.stationary).sum(axis=1).min()
            return math.log1p(-min(float(overlap), 1.0 - _EPS))
        half = 0.5 * _norm(power.matrix)
        return math.log(half) + power.exponent * math.log(2.0) if half > 0 else -math.inf

    @cached_property
    def _rate(self) -> float:
        """``log(1/rho)``; infinite when some power of P equals ``1 pi^T``.

        ``rho**m <= 2 d(m)`` and the two sides differ by a factor that is bounded or a power of m,
        so at ``m`` = 2**60 relaxation times the exponents agree to the last digit.
        """
        level = 0
        while not self._dyadic(level).centred:
            level += 1
        power = self._dyadic(level)
        for _ in range(60):
            power, level = self._multiply(power, power), level + 1
        if not power.matrix.any() and self._dyadic(0).matrix.any() and self.is_reversible:
            # All powers fell below the rounding floor at once, yet a reversible chain has a basis
            # of eigenvectors: rho is an eigenvalue of the similar matrix sqrt(P_ij P_ji).
            values = np.linalg.eigvalsh(np.sqrt(self._dense * self._dense.T))
            return -math.log(max(abs(values[0]), abs(values[-2])))
        return math.ldexp(-(self._log_distance(power) + math.log(2.0)), -level)

    # ------------------------------------------------------------------ sum of the distances

    @cached_property
    def _mixing_sum(self) -> tuple[float, float]:
        """Value and error bound of the sum."""
        try:
            return self._summed_distances()
        except OverflowError:
            return math.inf, math.inf

    def _summed_distances(self) -> tuple[float, float]:
        if self._is_large:
            curve = self._walk_down("mixing_sum", _SUM_TOLERANCE)
            known = curve[: np.argmax(curve <= 0.25) + 1]
            # dbar(s) <= 2 d(s) and dbar(qm + r) <= dbar(m)^q dbar(r)
            factor = np.minimum(1.0, 2.0 * known).sum() / (1.0 - 2.0 * known[-1])
            tail = 0.5 * float(curve[-1] * factor)
            return math.fsum(curve) + tail, tail
        budget = int(np.clip(3e10 / self.n_states**3, 100, 20_000))
        terms: list[float] = []
        power, first = self._dyadic(0), self._dyadic(0)
        look = 1  # the next term at which the tail is examined
        for time in range(1, budget):
            if time == look:
                total = math.fsum(terms)
                tail, radius = self._geometric_tail(power, _SUM_TOLERANCE * (total + 1.0))
                if radius <= _SUM_TOLERANCE * (total + tail):
                    return total + tail, radius
                look = time + max(1, time // 4)
            if time == _SPECTRAL_AFTER and self.is_reversible:
                spectral = self._spectral_sum(min(budget, _SPECTRAL_FROM))
                if spectral is not None:
                    return spectral
            terms.append(self._distance(power))
            power = self._multiply(power, first)
        return self._block_sum(math.fsum(terms), power, max(200, budget // 4))

    def _geometric_tail(self, power: _Power, enough: float = math.inf) -> tuple[float, float]:
        r"""Value and error bound of :math:`\sum_{s\ge0} d(t+s)` as the series d(t) rho^s.

        For any numbers :math:`\theta_h`, put :math:`e_h = \frac12\|D^{t+h} - \theta_h D^t\|`.
        Then :math:`|d(t+r+h) - |\theta_h| d(t+r)| \le e_h` for all :math:`r \ge 0`.
        With :math:`\theta_h = (\pm\rho)^h` and h = 1, 2, 4, ... this compares the sum over 2h terms
        with :math:`1 + \rho^h` times the sum over h terms, at a cost of :math:`h e_h`.
        When h is the mixing time m, the sums over later stretches of m terms follow one another by
        the factor :math:`\rho^m` at a cost of :math:`m e_m \bar d(m)^q`, :math:`q = 0, 1, ...`
        The work stops early, with an infinite bound, once some :math:`e_h (1-\rho)` is above
        ``enough``.
        """
        here = self._centre(power)
        start = self._distance(power)
        ratio_one = -math.expm1(-self._rate)
        error, level = 0.0, 0
        while True:
            length, factor = 2.0**level, math.exp(-self._rate * 2.0**level)
            step = self._dyadic(level)
            ahead = self._centre(self._multiply(power, step))
            ahead_matrix = np.ldexp(ahead.matrix, ahead.exponent - here.exponent)
            gap = _norm(ahead_matrix - factor * here.matrix)
            if level == 0:  # an eigenvalue -rho alternates
                gap = min(gap, _norm(ahead_matrix + factor * here.matrix))
            gap = 0.5 * math.ldexp(gap, here.exponent)
            if gap > enough / ratio_one:
                return start / ratio_one, math.inf
            if self._distance(step) <= 0.25:
                break
            error = error * (1.0 + factor) + length * gap
            level += 1
        later = length * gap / (1.0 - 2.0 * self._distance(step))
        ratio = -math.expm1(-self._rate * length)
        return start / ratio_one, (error + later) / ratio

    def _spectral_sum(self, longest: int) -> tuple[float, float] | None:
        r"""Value and error bound of the sum for a reversible chain, from its eigenvectors.

        :math:`D^t = \sum_m \lambda_m^t r_m l_m^T` needs the fewer terms the later t is, so one more
        time is far cheaper than one more product of matrices. Mode m adds at most
        :math:`w_m|\lambda_m|^t`, :math:`w_m = \frac12 \max_i |r_{mi}| \sum_j |l_{mj}|`, to d(t).
        From ``stop`` on only the modes of modulus rho are kept: a geometric series.
        None if the stop is before ``longest``, where powers of P are more accurate, or too far
        away, or if the eigenvectors are not accurate.
        """
        root = np.sqrt(self.stationary)
        similar = root[:, None] * (self._dense - self.stationary) / root
        if root.max() > 100.0 * root.min() or np.abs(similar - similar.T).max() > 100.0 * _EPS:
            return None
        values, basis = np.linalg.eigh((similar + similar.T) / 2.0)
        order = np.argsort(-np.abs(values))
        values, basis = values[order], basis[:, order]
        right, left = basis / root[:, None], np.ascontiguousarray(basis.T * root)
        modulus, weight = np.abs(values), 0.5 * np.abs(right).max(axis=0) * np.abs(left).sum(axis=1)
        slowest = np.abs(values - values[0]) <= 4.0 * self.n_states * _EPS
        if modulus[0] > 1.0 - 1e-7:  # the rounding of an eigenvalue this close to 1 matters
            return None

        # Between two times of the grid the number of modes above the rounding level is fixed.
        grid = np.unique((1.1 ** np.arange(200)).astype(np.int64))
        sizes = weight * modulus ** grid[:, None].astype(np.float64)
        alive = self.n_states - (sizes > 0.1 * _EPS * sizes[:, :1])[:, ::-1].argmax(axis=1)
        error = (sizes / (1.0 - modulus))[:, ~slowest].sum(axis=1)
        enough = error <= _SUM_TOLERANCE * self.poisson_mixing
        end = int(enough.argmax())
        each = (alive[:end] + 8) * float(self.n_states) ** 2 + 8e4  # the last for Python's loop
        cost = float(np.diff(grid[: end + 1]) @ each)
        if not enough.any() or grid[end] < longest or cost > _SPECTRAL_COST:
            return None
        terms = []
        work = np.empty_like(left)
        for start, stop, modes in zip(grid[:end], grid[1 : end + 1], alive[:end], strict=True):
            factors = values[:modes] ** float(start)
            for _ in range(start, stop):
                np.matmul(right[:, :modes] * factors, left[:modes], out=work)
                np.abs(work, out=work)
                terms.append(0.5 * float(work.sum(axis=1).max()))
                factors = factors * values[:modes]
        rest = 0.5 * _norm(right[:, slowest] @ left[slowest]) * modulus[0] ** float(grid[end])
        return math.fsum(terms) + rest / (1.0 - modulus[0]), float(error[end])

    def _block_sum(self, total: float, power: _Power, budget: int) -> tuple[float, float]:
        r"""Finish the sum in blocks of h = 2^j terms between two bounds.

        Below: :math:`\sum_{s<h} d(t+s) \ge \frac12\|\sum_{s<h} D^{t+s}\|`, and the terms fall.
        Above: a norm is convex, so :math:`d(t+s)` lies below the chord of d from t to t+h, plus
        :math:`\frac{s(h-s)}2 \cdot \frac12\|(I-P)^2 D^t\|` for the curvature of :math:`D^t`.
        """
        tolerance = 1e-8
        identity = np.eye(self.n_states)
        bend = (identity - self._dense) @ (identity - self._dense)
        sums = [identity]  # sum of P^s over s < 2^j
        low = high = total
        level, shortened = 0, False
        for count in range(budget):
            if count % 32 == 0:
                tail, radius = self._geometric_tail(power)
                if radius <= tolerance * (low + tail) or count + 32 >= budget:
                    break
            # Ask for less where blocks of this length would not reach the end in time.
            if shortened and 30.0 / self._rate > (budget - count) * 2.0**level:
                tolerance = min(0.5, 4.0 * tolerance)
            shortened = False
            matrix = self._centre(power).matrix
            curvature = 0.5 * math.ldexp(_norm(bend @ matrix), power.exponent)
            here = self._distance(power)
            while True:
                length = 2.0**level
                while len(sums) <= level:
                    half = self._dyadic(len(sums) - 1)
                    plain = np.ldexp(half.matrix, half.exponent) + half.centred * self.stationary
                    sums.append(sums[-1] + plain @ sums[-1])
                end = self._multiply(power, self._dyadic(level))
                there = self._distance(end)
                below = 0.5 * math.ldexp(_norm(matrix @ sums[level]), power.exponent)
                below = max(below, there * length)
                chord = here * length - (here - there) * (length - 1.0) / 2.0
                above = min(here * length, chord + curvature * (length**3 - length) / 12.0)
                if level == 0 or above - below <= tolerance * below:
                    break
                level -= 1
                shortened = True
            low, high = low + min(below, above), high + above
            power = end
            level += 1
        low, high = low + max(tail - radius, 0.0), high + tail + radius
        return 0.5 * (low + high), 0.5 * (high - low)

    # ------------------------------------------------------------------ mixing constant

    @cached_property
    def _mixing_constant(self) -> tuple[float, float]:
        """Value and error bound of the supremum, by best-first branch and bound."""
        limit = 1.0 / self._rate
        best = limit
        budget = int(np.clip(1e9 / self.n_states**3, 100, 3_000))

        def quotient(k: int, power: _Power | None = None) -> tuple[float, float]:
            """``k / log(1/d(k))`` and ``log(1/d(k))``."""
            power = self._advance(None, k) if power is None else power
            assert power is not None
            depth = -self._log_distance(power)
            return (k / depth if depth > 0 else math.inf), depth

        # Entries (-bound, first, end): end 0 is the open tail.
        queue: list[tuple[float, int, int, float]] = [(-math.inf, 1, 0, 0.0)]
        for _ in range(budget):
            bound, first, end, depth = heapq.heappop(queue)
            if -bound <= best * (1.0 + _SUP_TOLERANCE):
                return best, (max(0.0, -bound - best) if best < math.inf else 0.0)
            if end == 0:  # cut the next dyadic interval off the tail
                level = first.bit_length() - 1
                value, depth = quotient(first, self._dyadic(level))
                best = max(best, value)
                pieces = [(first, 2 * first, depth)]
                heapq.heappush(queue, (-self._tail_bound(2 * first), 2 * first, 0, 0.0))
            else:
                middle = (first + end) // 2
                value, deeper = quotient(middle)
                best = max(best, value)
                pieces = [(first, middle, depth), (middle, end, deeper)]
            for left, right, depth in pieces:
                if right - left > 1:  # the first point is evaluated already
                    bound = min(
                        (right - 1) / depth if depth > 0 else math.inf, self._tail_bound(left)
                    )
                    heapq.heappush(queue, (-bound, left, right, depth))
        return best, max(0.0, -queue[0][0] - best)

    def _tail_bound(self, first: int) -> float:
        """Upper bound of ``k / log(1/d(k))`` over ``k >= first``."""
        bound = math.inf
        for level in range(first.bit_length()):
            depth = -self._log_distance(self._dyadic(level)) - math.log(2.0)
            if depth > 0:
                bound = min(bound, (1.0 + 1.0 / (first >> level)) * 2.0**level / depth)
        if self._rate < math.inf:
            moduli, weights = self._modes
            log_ratio = np.log(np.maximum(moduli, 1e-300)) + self._rate
            damping = np.exp(np.minimum(log_ratio, 0.0) * float(first))
            depth = first * self._rate - max(0.0, math.log((damping @ weights).max()))
            if depth > 0:
                bound = min(bound, first / depth)
        return bound

    @cached_property
    def _modes(self) -> tuple[FloatArray, FloatArray]:
        r"""Moduli (m,) of the eigenvalues of :math:`P - 1\pi^T` and their weights (m, n).

        With :math:`P^k - 1\pi^T = \sum_g \lambda_g^k \Pi_g` row i of ``weights[g]`` is
        :math:`\frac12 \sum_j |\Pi_g(i, j)|`, so
        :math:`d(k) \le \max_i \sum_g |\lambda_g|^k w_g(i)`.
        Infinite weights tell that the eigenvectors are too close to dependent to be used.
        """
        centred = self._dense - self.stationary
        values: NDArray[Any]
        if self.is_reversible and self.stationary.min() > 0:  # similar to a symmetric matrix
            root = np.sqrt(self.stationary)
            values, basis = np.linalg.eigh(root[:, None] * centred / root)
            right, left = basis / root[:, None], basis.T * root
        else:
            values, right = np.linalg.eig(centred)
            if np.linalg.cond(right) > 1e8:
                return np.ones(1), np.full((1, self.n_states), math.inf)
            left = np.linalg.inv(right)
        moduli, weights = [], []
        free = np.ones(len(values), dtype=bool)
        for index, value in enumerate(values):
            if free[index]:
                group = free & (np.abs(values - value) <= 1e-12)
                free &= ~group
                moduli.append(float(np.abs(values[group]).max()))
                weights.append(0.5 * np.abs(right[:, group] @ left[group]).sum(axis=1))
        return np.array(moduli), np.array(weights)

    # ------------------------------------------------------------------ large sparse matrices

    def _walk(self, quantity: str, last: int) -> FloatArray:
        """d(1), ..., d(last) from the laws after each start, a block of starts at a time."""
        n = self.n_states
        self._require_steps(quantity, last, n * (self._transition.nnz + n))
        if len(self._walked) < last:
            worst, width = np.zeros(last), max(1, 2**19 // n)
            for start in range(0, n, width):
                laws = np.eye(n, min(width, n - start), -start)
                for time in range(last):
                    laws = self._backward @ laws
                    gap = laws - self.stationary[:, None]
                    gap = 0.5 * np.abs(gap, out=gap).sum(axis=0)
                    worst[time] = max(worst[time], gap.max())
            self._walked = worst
        return self._walked[:last]

    def _walk_down(self, quantity: str, level: float) -> FloatArray:
        """d(1), d(2), ... up to the first that is at most ``level``."""
        last, law = 0, np.zeros(self.n_states)
        law[self.stationary.argmin()] = 1.0
        # A single start tells cheaply how many steps there are at least.
        while last == 0 or np.abs(law - self.stationary).sum() > 2.0 * level:
            last, law = last + 1, self._backward @ law
            self._require_steps(quantity, last, self.n_states**2)
        while (curve := self._walk(quantity, last))[-1] > level:
            last += 1 + last // 4
        return curve[: np.argmax(curve <= level) + 1]

    def _require_steps(self, quantity: str, steps: int, each: int) -> None:
        if steps * each > _WALK_COST:
            needs = f"{steps} steps or more of {each:.1e} operations"
            cure = "ask for fewer steps, or follow a few starts only, with law(k, initial)"
            raise _out_of_reach(quantity, self.n_states, needs, f"{_WALK_COST:.0e} in all", cure)

    def _require_irreducible(self, quantity: str) -> None:
        if not self.is_irreducible:
            raise ValueError(
                f"{quantity} needs an irreducible chain: this one has the communicating classes "
                f"{_show(self.communicating_classes)}, of which {_show(self.recurrent_classes)} "
                "recurrent (expected one class); restrict the matrix to one recurrent class, "
                "MarkovChain(P[np.ix_(states, states)])"
            )

    def _require_ergodic(self, quantity: str) -> None:
        self._require_irreducible(quantity)
        if not self.is_aperiodic:
            raise ValueError(
                f"{quantity} needs an aperiodic chain: this one has period {self.period} "
                "(expected 1), so its law does not settle; use poisson_mixing, which is finite "
                "here and serves every bound that asks for T, or the lazy version "
                "MarkovChain((np.eye(n) + P) / 2)"
            )


# ---------------------------------------------------------------------- makers

Transition = Annotated[ArrayLike | Any, check.transition_matrix]
Labels = Annotated[Sequence[Any] | None, check.later]
Law = Annotated[ArrayLike, check.probabilities, ("n",)]
Leaving = Annotated[float, check.real, "it is the probability of leaving a state", "(0, 1]"]


@check.arguments
def iid(stationary: Law) -> MarkovChain:
    """Independent samples: every row is ``stationary``.

    Parameters
    ----------
    stationary : array_like, shape (n,)
        A law; its sum must be one within 1e-8.

    Raises
    ------
    TypeError, ValueError
        If it is not a law.

    Examples
    --------
    >>> iid([0.25, 0.75]).tv_distance(1)
    0.0
    """
    law = np.asarray(stationary)
    return MarkovChain(np.tile(law, (len(law), 1)))


@check.arguments
def sticky(
    stationary: Law,
    p: Annotated[float, check.real, "it is the probability of a refresh", "(0, 1]"],
) -> MarkovChain:
    r"""Refresh from ``stationary`` with probability p, otherwise stay: :math:`(1-p)I + p 1\pi^T`.

    Its distance is :math:`d(k) = (1 - \min \pi)(1-p)^k`.

    Parameters
    ----------
    stationary : array_like, shape (n,)
        A law; its sum must be one within 1e-8.
    p : float
        Probability of a refresh, in (0, 1].

    Raises
    ------
    TypeError, ValueError
        If an argument is not of this kind.

    Examples
    --------
    >>> round(sticky([0.25, 0.75], 0.5).mixing_sum, 12)
    0.75
    """
    law = np.asarray(stationary)
    matrix = np.tile(p * law, (len(law), 1))
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, np.maximum(0.0, 1.0 - matrix.sum(axis=1)))
    return MarkovChain(matrix)


@check.arguments
def two_state(p: Leaving, q: Leaving) -> MarkovChain:
    r"""Two states, 0 to 1 with probability p and 1 to 0 with probability q.

    The stationary law is :math:`(q, p)/(p+q)` and :math:`d(k) = \max(\pi)\,|1-p-q|^k`.

    Parameters
    ----------
    p, q : float
        Probabilities in (0, 1].

    Raises
    ------
    TypeError, ValueError
        If an argument is not of this kind.

    Examples
    --------
    >>> two_state(0.1, 0.3).stationary
    array([0.75, 0.25])
    """
    return MarkovChain([[1.0 - p, p], [q, 1.0 - q]])


@check.arguments
def lazy_cycle(n: Annotated[int, check.count, "a cycle has at least two states", 2]) -> MarkovChain:
    """Walk on a cycle of n states: stay with probability 1/2, else to a neighbour, 1/4 each.

    Parameters
    ----------
    n : int
        Number of states, at least 2 (for two states both neighbours are the other one).

    Raises
    ------
    TypeError, ValueError
        If ``n`` is not such an integer.

    Examples
    --------
    >>> lazy_cycle(4).transition[0]
    array([0.5 , 0.25, 0.  , 0.25])
    """
    check.room("n", n, n, cure="make a sparse matrix")
    identity = np.eye(n)
    return MarkovChain(
        0.5 * identity + 0.25 * (np.roll(identity, 1, axis=1) + np.roll(identity, -1, axis=1))
    )


@check.arguments
def cyclic(n: Annotated[int, check.count, "a pass has at least two samples", 2]) -> MarkovChain:
    r"""Passes over n samples in a fixed order: 0, 1, ..., n - 1, 0, ...

    Periodic: T is infinite, and :math:`T_*=\lfloor n^2/4\rfloor/(2n)`.
    A run with ``initial=n - 1`` begins with sample 0.

    Parameters
    ----------
    n : int
        At least 2.

    Raises
    ------
    TypeError, ValueError
        If ``n`` is not such an integer.

    Examples
    --------
    >>> cyclic(4).poisson_mixing
    0.5
    """
    check.room("n", n, n, cure="take fewer samples")
    return MarkovChain(np.roll(np.eye(n), 1, axis=1))


@check.arguments
def reshuffled(
    n: Annotated[int, check.integer, 2, "a pass has 2 to 8 samples", 8],
) -> tuple[MarkovChain, IntArray]:
    r"""Passes over n samples, each in a new random order: random reshuffling, as a chain.

    A state is the set of samples used in this pass, with the one used last: :math:`n2^{n-1}`
    states. A run with ``initial=-1 % n_states`` begins with a new pass.

    Parameters
    ----------
    n : int
        From 2 to 8.

    Returns
    -------
    chain : MarkovChain
        The last n states are those of a full set.
    sample : ndarray of int64, shape (n_states,)
        The sample of each state.

    Raises
    ------
    TypeError, ValueError
        If ``n`` is not such an integer.

    Examples
    --------
    >>> chain, sample = reshuffled(2)
    >>> sample.tolist(), chain.transition[-1].tolist()
    ([0, 1, 0, 1], [0.5, 0.5, 0.0, 0.0])
    """
    used = sorted(range(1, 2**n), key=lambda s: (s.bit_count(), s))
    states = [(s, i) for s in used for i in range(n) if s >> i & 1]
    place = {state: row for row, state in enumerate(states)}
    transition = np.zeros((len(states), len(states)))
    for row, (s, _) in enumerate(states):
        seen = s if s + 1 < 2**n else 0
        rest = [i for i in range(n) if not seen >> i & 1]
        for i in rest:
            transition[row, place[seen | 1 << i, i]] = 1.0 / len(rest)
    return MarkovChain(transition), np.array([i for _, i in states])


@check.arguments
def two_clusters(
    n: Annotated[int, check.count, "each half has at least one state", 2],
    eps: Annotated[float, check.real, "it is the probability of changing halves", "(0, 1]"],
) -> MarkovChain:
    r"""Two halves of n states: uniform in its own half, in the other one with probability eps.

    The stationary law is uniform and :math:`d(k) = \frac12 |1 - 2\epsilon|^k`.

    Parameters
    ----------
    n : int
        Number of states, even, at least 2.
    eps : float
        Probability of going to the other half, in (0, 1].

    Raises
    ------
    TypeError, ValueError
        If an argument is not of this kind.

    Examples
    --------
    >>> round(two_clusters(8, 0.01).mixing_sum, 10)
    24.5
    """
    check.room("n", n, n, cure="take fewer states")
    if n % 2:
        raise ValueError(f"n must be even, to be cut in two halves: got {n}; use {n + 1}")
    half = n // 2
    matrix = np.full((n, n), eps / half)
    matrix[:half, :half] = matrix[half:, half:] = (1.0 - eps) / half
    return MarkovChain(matrix)


@check.arguments
def de_bruijn(
    bits: Annotated[int, check.integer, 1, "the matrix has 2**bits rows", 20],
) -> MarkovChain:
    r"""A window of the last ``bits`` fair coin tosses, read as a binary number.

    State x goes to 2x or 2x+1 modulo :math:`2^b`, each with probability 1/2.
    The law is exactly uniform after b steps: :math:`d(k) = 1 - 2^{k-b}` for :math:`k \le b`.

    Parameters
    ----------
    bits : int
        Length of the window, 1 to 20. Above 12 (4096 states) the matrix is sparse.

    Raises
    ------
    TypeError, ValueError
        If ``bits`` is not such an integer.

    Examples
    --------
    >>> de_bruijn(3).tv_distance([1, 2, 3])
    array([0.75, 0.5 , 0.  ])
    """
    from scipy.sparse import csr_array

    n = 2**bits
    successors = np.add.outer(2 * np.arange(n), [0, 1]) % n
    parts = np.full(2 * n, 0.5), successors.ravel(), np.arange(0, 2 * n + 1, 2)
    matrix = csr_array(parts, shape=(n, n))
    return MarkovChain(matrix if n > _DENSE_UP_TO else matrix.toarray())


# ---------------------------------------------------------------------- linear algebra


def _read_only(matrix: Any) -> Any:
    """Forbid to write in an array, or in those of a CSR array, and return it."""
    owned = (matrix.data, matrix.indices, matrix.indptr) if hasattr(matrix, "tocsr") else (matrix,)
    for array in owned:
        array.flags.writeable = False
    return matrix


def _within(matrix: Any, states: Any) -> Any:
    return matrix if len(states) == matrix.shape[0] else matrix[np.ix_(states, states)]


def _stationary(matrix: Any) -> FloatArray:
    """Stationary law of an irreducible matrix by elimination without subtraction."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n, sparse = matrix.shape[0], hasattr(matrix, "tocsr")
    order, reach = np.arange(n), np.zeros(n, dtype=np.int64)
    if sparse:
        if _is_balanced(matrix):
            return np.full(n, 1.0 / n)
        order = reverse_cuthill_mckee((matrix + matrix.T).tocsr(), symmetric_mode=True)
        matrix = matrix[order][:, order]
        # The first state that is linked with any state from i on, before and during elimination
        links = (matrix + matrix.T).tocsr()
        first = np.minimum.reduceat(links.indices, links.indptr[:-1])
        reach = np.minimum.accumulate(first[::-1])[::-1]
        width = np.arange(n, dtype=np.float64) - reach
        cost, memory = 2.0 * (width @ width), 8e-9 * width.sum()
        if cost > _ELIMINATION_COST or memory > _ELIMINATION_MEMORY:
            needs = f"{cost:.1e} multiplications and {memory:.1f} GB, as its links are long"
            most = f"{_ELIMINATION_COST:.0e} and {_ELIMINATION_MEMORY:.0f} GB"
            cure = "if it mixes fast take law(k, initial) for a large k, otherwise lump states"
            raise _out_of_reach("stationary law", n, needs, most, cure)
    law = np.empty(n)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for block in _BLOCKS:
            law[order] = _eliminate(matrix, reach, block)
            if np.isfinite(law).all():
                return np.asarray(law / law.sum())
    if not sparse:  # try the order that a sparse matrix is put into
        return _stationary(csr_array(matrix))
    raise ValueError(
        "stationary law is beyond floating point: passages between states have probabilities "
        f"below 1e-308 in every order tried (got {n} states); lump states"
    )


def _is_balanced(matrix: Any) -> bool:
    """Whether each column sums to what its row sums to, exactly: the uniform law is stationary."""
    if (np.abs(matrix.sum(axis=0) - matrix.sum(axis=1)) > 1e-12).any():
        return False
    across = matrix.tocsc()
    gains = np.split(across.data, across.indptr[1:-1])
    losses = np.split(-matrix.data, matrix.indptr[1:-1])
    flows = (np.concatenate(both).tolist() for both in zip(gains, losses, strict=True))
    return all(math.fsum(flow) == 0.0 for flow in flows)


def _eliminate(matrix: Any, reach: IntArray, block: int) -> FloatArray:
    """Unscaled law: watch the chain in fewer and fewer states, then go back.

    ``front`` is the watched chain from state ``low`` on; before ``low`` it is still the matrix.
    """
    size = low = matrix.shape[0]
    front, passages = np.empty((0, 0)), []
    while size > 1:
        start = max(1, size - block)
        if reach[start] < low:
            known, begin = front, int(reach[start])
            window = matrix[begin:size, begin:size]
            front = getattr(window, "toarray", window.copy)()
            front[low - begin :, low - begin :] = known
            low = begin
        rest = start - low
        back = front[rest:, :rest]
        passage = front[:rest, rest:] @ _visits(front[rest:, rest:], back.sum(axis=1))
        front = front[:rest, :rest]
        for top in range(0, rest, 256):  # the product in pieces that the cache holds
            front[top : top + 256] += passage[top : top + 256] @ back
        passages.append((low, start, size, passage))
        size = start
    law = np.zeros(matrix.shape[0])
    law[0] = 1.0
    for low, start, size, passage in reversed(passages):
        law[start:size] = law[low:start] @ passage
        if law[start:size].max() > 1e150:  # what is smaller by more than a float can tell becomes 0
            law[:size] /= law[start:size].max()
    return law


def _visits(inner: FloatArray, leaving: FloatArray) -> FloatArray:
    r"""Expected visits :math:`(I - W)^{-1}` before leaving a set, without subtraction.

    ``inner`` (m, m) is W off the diagonal, ``leaving`` (m,) the probability of leaving at once.
    """
    visits, leaving = inner.copy(), leaving.copy()
    for k in range(len(leaving)):  # Gauss and Jordan; the pivot is a sum, not 1 - W[k, k]
        pivot = leaving[k] + visits[k, k + 1 :].sum()
        column, row = visits[:, k] / pivot, visits[k].copy()
        column[k], row[k] = 1.0 / pivot, 0.0
        visits[:, k] = visits[k] = 0.0
        visits += column[:, None] * row
        visits[:, k] = column
        leaving += column * leaving[k]
    return visits


def _period(graph: Any) -> int:
    """Period of a strongly connected graph: gcd of level(i) + 1 - level(j) over its edges."""
    from scipy.sparse.csgraph import breadth_first_order

    order, parent = breadth_first_order(graph, 0)
    level = np.zeros(len(order), dtype=np.int64)
    for state in order[1:].tolist():
        level[state] = level[parent[state]] + 1
    return int(np.gcd.reduce(np.repeat(level + 1, np.diff(graph.indptr)) - level[graph.indices]))


def _close_rows(matrix: FloatArray) -> FloatArray:
    """Set the largest entry of each row to one minus the others, in place."""
    rows = np.arange(len(matrix))
    largest = matrix.argmax(axis=1)
    matrix[rows, largest] = 0.0
    matrix[rows, largest] = np.maximum(0.0, 1.0 - matrix.sum(axis=1))
    return matrix


def _norm(matrix: FloatArray) -> float:
    """Largest absolute row sum."""
    return float(np.abs(matrix).sum(axis=1).max())


def _rescale(matrix: FloatArray, exponent: int, noise: float) -> _Power:
    """Centred power with a norm in [1/2, 1), or zero when it is not above the rounding noise."""
    size = _norm(matrix)
    if size <= noise:
        return _Power(np.zeros_like(matrix), 0, True)
    shift = math.frexp(size)[1]
    return _Power(np.ldexp(matrix, -shift), exponent + shift, True)


# ---------------------------------------------------------------------- input and text


def _step_counts(k: int | ArrayLike) -> NDArray[Any]:
    """Step counts as an array of Python or NumPy integers (Python's may be very large)."""
    steps = check.as_array("k", k, "count steps")
    if steps.size == 0 and not isinstance(k, np.ndarray):
        steps = steps.astype(np.int64)
    entries = steps.ravel().tolist() if steps.dtype.kind in "iuO" else None
    if entries is None or any(isinstance(e, bool) or not isinstance(e, int) for e in entries):
        raise TypeError(f"k must be an integer or an array of integers: got {k!r}; count steps")
    if any(entry < 0 for entry in entries):
        raise ValueError(f"k must be at least 0: got {min(entries)}; time does not run backwards")
    return steps


def _out_of_reach(quantity: str, n: int, needs: str, most: str, cure: str) -> ValueError:
    return ValueError(
        f"{quantity} is out of reach for a sparse chain of {n} states: it needs {needs} "
        f"(expected at most {most}); {cure}"
    )


def _show(classes: tuple[tuple[int, ...], ...]) -> str:
    """Classes as text, shortened when there are many."""

    def one(states: tuple[int, ...]) -> str:
        head = ", ".join(map(str, states[:8]))
        return "{" + head + (f", ... {len(states)} states" if len(states) > 8 else "") + "}"

    shown = ", ".join(one(states) for states in classes[:6])
    return shown + (f", ... {len(classes)} classes" if len(classes) > 6 else "")
