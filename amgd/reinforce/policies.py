"""Stochastic policies: a tanh network, and the law of the action that its outputs stand for.

A policy with parameters theta is a law pi_theta(a | o) of the action a given the observation o.
REINFORCE needs two things of it: actions, and the gradient of log pi_theta(a | o). The second
comes from `torch.distributions` and autograd. The first is a deterministic map of noise::

    softmax     u uniform on [0, 1)      a = the first action whose cumulated probability exceeds u
    Gaussian    z standard normal        a = mean(o) + std(o) * z

The noise is drawn by a NumPy generator that the caller owns, so no global random state is touched
and an action does not depend on which other observations are in the batch.

Several independent policies (one for each seed of an experiment) can advance together: with
``replicates=S`` every parameter has a leading axis of length S, observations have shape
(S, n, size), and a loss summed over the replicates gives each of them its own gradient.

Weights start Glorot uniform with gain 1 and biases at zero, in the output layer too, as in rllab
(Duan et al. 2016).

Plan of the module: the network, normalised observations, what all policies share, the two policies,
a maker that lets the action space decide.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Protocol, cast, runtime_checkable

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.distributions import Categorical, Distribution, Independent, Normal

from amgd import _checks as check
from amgd._checks import FloatArray

__all__ = [
    "MLP",
    "GaussianPolicy",
    "ObservationNormaliser",
    "Policy",
    "SoftmaxPolicy",
    "policy_for",
]

ActionKind = Literal["discrete", "continuous"]
Generators = Annotated[np.random.Generator | Sequence[np.random.Generator], check.later]
Sizes = Annotated[Sequence[int], check.later]
DType = Annotated[torch.dtype, check.instance, torch.dtype, "pass torch.float64"]
Clip = Annotated[float | None, check.positive, "10 is usual"]
Std = Literal["network", "free"]
Floor = Annotated[float, check.real, "1e-6 is rllab's", "(0, 1]"]


# --- the network ----------------------------------------------------------------------------------
class MLP(nn.Module):
    """Fully connected layers with tanh between them and a linear output.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of units from input to output, such as (4, 8, 2).
    rng : Generator, or a sequence of S of them
        Draws the weights. A sequence makes S stacked networks, and network s is the one that
        ``rng[s]`` alone would make.
    dtype : torch.dtype
        Type of the parameters.

    Examples
    --------
    >>> net = MLP((4, 8, 2), rng=np.random.default_rng(0))
    >>> net(torch.zeros(5, 4, dtype=torch.float64)).shape
    torch.Size([5, 2])
    """

    _kept: list[tuple[NDArray[Any], NDArray[Any]]] | None = None  # see kept_arrays

    @check.arguments
    def __init__(self, sizes: Sizes, *, rng: Generators, dtype: DType = torch.float64) -> None:
        super().__init__()
        self.sizes = _checked_sizes(sizes)
        generators, self.replicates = _generators(rng)
        shapes = list(pairwise(self.sizes))
        drawn = [[_glorot(shape, generator) for shape in shapes] for generator in generators]
        for i, layer in enumerate(zip(*drawn, strict=True)):
            weight = torch.as_tensor(
                layer[0] if self.replicates is None else np.stack(layer), dtype=dtype
            )
            bias = torch.zeros_like(weight[..., :1, :])
            self.register_parameter(f"weight{i}", nn.Parameter(weight))
            self.register_parameter(f"bias{i}", nn.Parameter(bias))

    @property
    def layers(self) -> list[tuple[Tensor, Tensor]]:
        """Weights (inputs, outputs) and bias (1, outputs) of each layer; in a stack (S, ...)."""
        # The dict of torch.nn.Module keeps the order above; its iterators cost more than a layer.
        values = cast(list[Tensor], list(self._parameters.values()))
        return list(zip(values[::2], values[1::2], strict=True))

    def forward(self, observations: Tensor) -> Tensor:
        """Return the outputs, shape (n, out); with replicates (S, n, out)."""
        affine = torch.addmm if self.replicates is None else torch.baddbmm
        (weight, bias), *rest = self.layers
        hidden = affine(bias, observations, weight)
        for weight, bias in rest:
            hidden = affine(bias, torch.tanh(hidden), weight)
        return hidden

    def _arrays(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Return the layers as arrays that share the memory of the parameters."""
        return [(weight.detach().numpy(), bias.detach().numpy()) for weight, bias in self.layers]

    def evaluate(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return the same numbers in NumPy, without a graph, to rounding.

        A small network spends its time in the calls, and NumPy's cost half of torch's.
        """
        (weight, bias), *rest = self._kept or self._arrays()
        hidden: NDArray[Any] = observations @ weight
        hidden += bias
        for weight, bias in rest:
            np.tanh(hidden, out=hidden)
            hidden = hidden @ weight
            hidden += bias
        return hidden


@contextmanager
def kept_arrays(policy: nn.Module) -> Iterator[None]:
    """Make the arrays of all networks once; inside, no parameter moves to other memory.

    Making them at each step takes a third of the time of a small network.
    """
    networks = [module for module in policy.modules() if isinstance(module, MLP)]
    for network in networks:
        network._kept = network._arrays()
    try:
        yield
    finally:
        for network in networks:
            network._kept = None


def _checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    cure = "pass the units of each layer from input to output, such as (4, 8, 2)"
    if not isinstance(sizes, list | tuple):
        raise TypeError(f"sizes must be a list or tuple of integers: got {sizes!r}; {cure}")
    if len(sizes) < 2:
        raise ValueError(f"sizes must name an input and an output: got {tuple(sizes)}; {cure}")
    return tuple(check.integer("a size", size, 1, cure) for size in sizes)


def _generators(rng: Generators) -> tuple[list[np.random.Generator], int | None]:
    """Return the generators and the number of replicates, None for a single policy."""
    if isinstance(rng, list | tuple):
        if not rng:
            raise ValueError("rng must hold at least one Generator: got an empty sequence")
        return [check.generator("rng", one) for one in rng], len(rng)
    return [check.generator("rng", rng)], None


def _glorot(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Draw uniform weights on (-limit, limit) with limit^2 = 6 / (inputs + outputs)."""
    check.room("sizes, or hidden,", *shape, cure="take fewer units")
    limit = math.sqrt(6.0 / sum(shape))
    return rng.uniform(-limit, limit, size=shape)


# --- normalised observations ----------------------------------------------------------------------
class ObservationNormaliser(nn.Module):
    """Observations less their mean, over their deviation, cut to [-clip, clip].

    Mean and deviation are those of all observations that `update` was given, and change in no other
    way: a policy that acts, or is evaluated, leaves them alone. Before the first update the mean is
    0 and the deviation 1. They are buffers, so they are saved with the policy's parameters.

    Parameters
    ----------
    size : int
        Length of an observation.
    clip : float
        Bound of what comes out, in deviations.
    replicates : int, optional
        Number of stacked policies, each with numbers of its own.
    dtype : torch.dtype
        Type of the numbers.

    Notes
    -----
    The variance is divided by the number of observations, and 1e-8 is added to it before its root
    is taken, as Gymnasium's wrapper does: a coordinate that never changes becomes 0.

    Examples
    --------
    >>> normaliser = ObservationNormaliser(1, clip=10.0)
    >>> normaliser.update([[1.0], [3.0]])
    >>> normaliser.normalised(np.array([[3.0], [100.0]])).round(3)
    array([[ 1.],
           [10.]])
    """

    count: Tensor
    mean: Tensor
    squares: Tensor

    @check.arguments
    def __init__(
        self,
        size: Annotated[int, check.count, "an observation has one number at least"],
        clip: Annotated[float, check.positive, "10 is usual"],
        *,
        replicates: Annotated[int | None, check.count, "None for a single policy"] = None,
        dtype: DType = torch.float64,
    ) -> None:
        super().__init__()
        self.clip = clip
        lead = () if replicates is None else (replicates,)
        check.room("size and replicates", size, *lead, cure="take fewer")
        self.register_buffer("count", torch.zeros(*lead, 1, dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(*lead, size, dtype=dtype))
        self.register_buffer("squares", torch.zeros(*lead, size, dtype=dtype))  # of deviations

    @property
    def deviation(self) -> Tensor:
        """Standard deviation of each coordinate, 1 before the first update."""
        variance = self.squares / self.count.clamp(min=1)
        return torch.where(self.count > 0, (variance + 1e-8).sqrt(), 1.0)

    def forward(self, observations: Tensor) -> Tensor:
        """Return normalised observations, (n, size) or (S, n, size)."""
        centred = observations - self.mean.unsqueeze(-2)
        return (centred / self.deviation.unsqueeze(-2)).clamp(-self.clip, self.clip)

    def normalised(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return the same numbers in NumPy."""
        mean, deviation = (value.numpy()[..., None, :] for value in (self.mean, self.deviation))
        result: NDArray[Any] = ((observations - mean) / deviation).clip(-self.clip, self.clip)
        return result

    def update(self, observations: ArrayLike) -> None:
        """Take the observations (N, size) of a batch into mean and deviation.

        Numbers of two sets give those of their union by the formula of Chan et al. (1979). A stack
        of one takes them as a single policy does.
        """
        if self.mean.numel() != self.mean.shape[-1]:
            raise ValueError(
                f"update is for a single policy: got {len(self.mean)} replicates; update each alone"
            )
        size = self.mean.shape[-1]
        given = check.array("observations", observations, ("N", size), "pass those of a batch")
        old, new = int(self.count), len(given)
        mean = given.mean(axis=0)
        squares = np.square(given - mean).sum(axis=0)
        before = self.mean.numpy().astype(np.float64).reshape(size)
        gap = mean - before
        self.count += new
        self.mean.copy_(torch.from_numpy(before + gap * (new / (old + new))).view_as(self.mean))
        squares += np.square(gap) * (old * new / (old + new))
        self.squares += torch.from_numpy(squares).view_as(self.squares)

    def extra_repr(self) -> str:
        """Show the size and the bound in `repr`."""
        return f"size={self.mean.shape[-1]}, clip={self.clip:g}"


# --- what all policies share ----------------------------------------------------------------------
class Policy(nn.Module, ABC):
    """A law of the action given the observation, with parameters that torch can differentiate.

    Attributes
    ----------
    action_kind : "discrete" or "continuous"
        The kind of action space it serves.
    sizes : tuple of int
        Units of the network from the observation to the actions.
    replicates : int or None
        Number of stacked policies; None for a single one without the leading axis.
    normaliser : ObservationNormaliser or None
        What the observations go through before the networks; None leaves them as they are.
    """

    action_kind: ClassVar[ActionKind]

    @check.arguments
    def __init__(
        self,
        sizes: Sizes,
        *,
        rng: Generators,
        dtype: DType = torch.float64,
        normalise_observations: Clip = None,
    ) -> None:
        super().__init__()
        self._set_dtype(dtype)
        self.network = MLP(sizes, rng=rng, dtype=dtype)
        self.sizes = self.network.sizes
        self.replicates = self.network.replicates
        self.normaliser: ObservationNormaliser | None = None
        if normalise_observations is not None:
            self.normaliser = ObservationNormaliser(
                self.sizes[0], normalise_observations, replicates=self.replicates, dtype=dtype
            )

    def _set_dtype(self, dtype: torch.dtype) -> None:
        if not isinstance(dtype, torch.dtype) or dtype not in (torch.float32, torch.float64):
            raise ValueError(
                f"dtype must be torch.float32 or torch.float64: got {dtype}; NumPy and the "
                "simulators work in these"
            )
        self.dtype = dtype
        self._numpy_dtype = np.float32 if dtype == torch.float32 else np.float64

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Go along with ``float()``, ``double()`` and ``to(dtype)``, or refuse them unchanged."""
        self._set_dtype(fn(torch.empty(0, dtype=self.dtype)).dtype)
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call]

    @property
    def observation_size(self) -> int:
        """Length of an observation."""
        return self.sizes[0]

    @property
    def action_size(self) -> int:
        """Number of actions (discrete) or of coordinates of an action (continuous)."""
        return self.sizes[-1]

    @property
    def n_parameters(self) -> int:
        """Number of parameters of one policy."""
        return sum(p.numel() for p in self.parameters()) // (self.replicates or 1)

    @abstractmethod
    def distribution(self, observations: Tensor | ArrayLike) -> Distribution:
        """Return the law of the actions at `observations`, shape (n, size) or (S, n, size)."""

    @abstractmethod
    def noise(self, shape: tuple[check.Natural, ...], *, rng: np.random.Generator) -> FloatArray:
        """Draw the noise of `shape` actions, for `act`."""

    @abstractmethod
    def act(self, observations: Tensor | ArrayLike, noise: FloatArray) -> NDArray[Any]:
        """Return the actions that `noise` stands for, one for each observation."""

    def log_prob(self, observations: Tensor | ArrayLike, actions: Tensor | ArrayLike) -> Tensor:
        """Return log pi(action | observation), shape (n,) or (S, n); differentiable.

        The actions are those that `act` returned, not clipped.
        """
        law = self.distribution(observations)
        given = _tensor("actions", actions)
        wanted = law.batch_shape + law.event_shape
        if given.shape != wanted:
            raise ValueError(
                f"actions must have shape {tuple(wanted)}: got {tuple(given.shape)}; "
                "pass one action for each observation"
            )
        if given.is_floating_point() and bool(torch.isnan(given).any()):
            raise ValueError("actions must not be NaN: mask the padding before log_prob")
        result: Tensor = law.log_prob(given)
        return result

    def entropy(self, observations: Tensor | ArrayLike) -> Tensor:
        """Return the entropy (nats) of the law at each observation, shape (n,) or (S, n)."""
        result: Tensor = self.distribution(observations).entropy()
        return result

    @check.arguments
    def sample(self, observations: Tensor | ArrayLike, *, rng: check.Generator) -> NDArray[Any]:
        """Draw one action for each observation.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> policy = SoftmaxPolicy((4, 8, 2), rng=rng)
        >>> policy.sample(np.zeros((5, 4)), rng=rng)
        array([0, 1, 1, 0, 1])
        """
        given = self._array(observations)
        return self.act(given, self.noise(given.shape[:-1], rng=rng))

    def extra_repr(self) -> str:
        """Show the sizes in `repr`."""
        return f"sizes={self.sizes}, replicates={self.replicates}"

    def _observations(self, observations: Tensor | ArrayLike) -> Tensor:
        """Return what the networks see of observations, a tensor of the policy's type."""
        given = _tensor("observations", observations).to(self.dtype)
        self._check_shape(tuple(given.shape))
        return given if self.normaliser is None else self.normaliser.forward(given)

    def _seen(self, observations: Tensor | ArrayLike) -> NDArray[Any]:
        """Return the same as an array."""
        given = self._array(observations)
        return given if self.normaliser is None else self.normaliser.normalised(given)

    def _array(self, observations: Tensor | ArrayLike) -> NDArray[Any]:
        """Return observations as an array of the policy's type and the right shape."""
        if type(observations) is not np.ndarray or observations.dtype.kind not in "fiu":
            observations = check.numeric("observations", observations, "pass one row a step")
        given = observations.astype(self._numpy_dtype, copy=False)
        self._check_shape(given.shape)
        return given

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        lead = () if self.replicates is None else (self.replicates,)
        if shape[:-2] != lead or len(shape) < 2 or shape[-1] != self.observation_size:
            wanted = ", ".join([*map(str, lead), "n", str(self.observation_size)])
            raise ValueError(
                f"observations must have shape ({wanted}): got {shape}; "
                "the first size of the network is that of an observation"
            )

    def _refuse_non_finite(self, what: str, values: NDArray[Any]) -> None:
        finite = np.isfinite(values)
        if not finite.all():
            where = tuple(int(i[0]) for i in np.nonzero(~finite))
            raise FloatingPointError(
                f"{type(self).__name__}: {what} must be finite: entry {where} is "
                f"{values[where]}; the parameters or the observations have blown up: "
                "lower the step size, or look at the observations"
            )


def _tensor(name: str, value: Tensor | ArrayLike) -> Tensor:
    """Return a tensor of real numbers, as it is if it is one."""
    if not isinstance(value, Tensor):
        given = check.as_array(name, value, "pass one row a step")
        if given.dtype.kind not in "biuf":
            raise TypeError(
                f"{name} must hold real numbers: got dtype {given.dtype}; pass one row a step"
            )
        value = torch.as_tensor(np.require(given, requirements=["C", "W"]))
    if value.is_complex():
        raise TypeError(f"{name} must hold real numbers: got {value.dtype}; pass one row a step")
    return value


# --- the two policies -----------------------------------------------------------------------------
class SoftmaxPolicy(Policy):
    """Finitely many actions, with probabilities proportional to exp(network output).

    Parameters
    ----------
    sizes : sequence of int
        Units from observation to actions; the paper has (4, 8, 2) for CartPole and (6, 16, 3) for
        Acrobot.
    rng : Generator, or a sequence of S of them
        Draws the initial weights; a sequence stacks S independent policies.
    dtype : torch.float64 or torch.float32
        Type of the parameters.
    normalise_observations : float, optional
        Bound of an `ObservationNormaliser` before the networks; without it they see observations
        as they are.

    Raises
    ------
    FloatingPointError
        When a logit is not finite.

    Examples
    --------
    >>> policy = SoftmaxPolicy((4, 8, 2), rng=np.random.default_rng(0))
    >>> policy.n_parameters
    58
    >>> policy.log_prob(np.zeros((1, 4)), [1]).exp()  # zero biases: a fair coin at the origin
    tensor([0.5000], dtype=torch.float64, grad_fn=<ExpBackward0>)
    """

    action_kind: ClassVar[ActionKind] = "discrete"

    def __init__(
        self,
        sizes: Sizes,
        *,
        rng: Generators,
        dtype: DType = torch.float64,
        normalise_observations: Clip = None,
    ) -> None:
        super().__init__(sizes, rng=rng, dtype=dtype, normalise_observations=normalise_observations)
        if self.action_size < 2:
            raise ValueError(
                f"a softmax policy needs at least 2 actions: got sizes {self.sizes}; "
                "the last size is the number of actions"
            )

    def logits(self, observations: Tensor | ArrayLike) -> Tensor:
        """Return the network's outputs, shape (..., n, actions)."""
        logits: Tensor = self.network(self._observations(observations))
        self._refuse_non_finite("a logit", logits.detach().numpy())
        return logits

    def distribution(self, observations: Tensor | ArrayLike) -> Categorical:
        """Return the categorical law of the actions."""
        return Categorical(logits=self.logits(observations), validate_args=False)

    def log_prob(self, observations: Tensor | ArrayLike, actions: Tensor | ArrayLike) -> Tensor:
        """Return log pi(action | observation); the actions are integers from 0."""
        given = _tensor("actions", actions)
        if given.is_floating_point() or given.dtype == torch.bool:
            raise TypeError(f"actions must be integers: got {given.dtype}; pass what act returned")
        if given.numel() and not 0 <= int(given.min()) <= int(given.max()) < self.action_size:
            raise ValueError(
                f"actions must lie in 0..{self.action_size - 1}: got {int(given.min())} to "
                f"{int(given.max())}; the last size of the network is the number of actions"
            )
        return super().log_prob(observations, given)

    @check.arguments
    def noise(self, shape: tuple[check.Natural, ...], *, rng: np.random.Generator) -> FloatArray:
        """Draw uniform numbers on [0, 1), one an action."""
        check.room("shape", *shape, cure="draw parts")
        return rng.random(shape)

    def act(self, observations: Tensor | ArrayLike, noise: FloatArray) -> NDArray[np.int64]:
        """Invert the cumulative law: the first action whose cumulated probability exceeds u."""
        logits = self.network.evaluate(self._seen(observations))
        self._refuse_non_finite("a logit", logits)
        # The axis of the actions goes first: NumPy is slow along a short last axis.
        logits = np.ascontiguousarray(logits.transpose(-1, *range(logits.ndim - 1)))
        cumulated = np.exp(logits - logits.max(axis=0))
        for before, after in pairwise(cumulated):  # faster than np.add.accumulate along this axis
            after += before
        # Comparing with u times the total spares the division; the last action needs no test,
        # so rounding cannot name an action that does not exist.
        passed = _fitting(noise, cumulated[-1].shape) * cumulated[-1] >= cumulated[:-1]
        return np.asarray(passed.sum(axis=0, dtype=np.int64))


class GaussianPolicy(Policy):
    """Actions in R^d with independent normal coordinates, neither squashed nor clipped.

    The environment clips what it gets; the probability is that of the raw action, as in rllab.
    The standard deviation is ``exp(s)`` kept in [floor, 1 / floor], where s is

    - ``std="network"``: the output of a second network of the same sizes ("mean and variance
      learned");
    - ``std="free"``: one parameter a coordinate, whatever the observation, starting at 0.

    Outside the interval the derivative with respect to s is 0.

    No number becomes infinite when the deviation explodes, so nothing stops the training. Far
    above the bounds of the actions nearly every clipped action is a bound, whatever the mean; the
    gradient for the mean falls like 1 / std, and at the upper end of the interval that for s is 0:
    such a policy learns no more. The column ``std`` of the training log shows it.

    Parameters
    ----------
    sizes : sequence of int
        Units from observation to action, such as (17, 32, 32, 6).
    std : "network" or "free"
        Where the standard deviation comes from.
    floor : float
        Least standard deviation, in (0, 1].
    rng : Generator, or a sequence of S of them
        Draws the initial weights, the mean's before the deviation's.
    dtype : torch.float64 or torch.float32
        Type of the parameters.
    normalise_observations : float, optional
        Bound of an `ObservationNormaliser` before the networks; without it they see observations
        as they are.

    Raises
    ------
    FloatingPointError
        When a mean or a deviation is not finite.

    Examples
    --------
    >>> policy = GaussianPolicy((8, 32, 32, 2), std="free", rng=np.random.default_rng(0))
    >>> policy.n_parameters  # 1410 for the mean, 2 for the deviation
    1412
    >>> policy.act(np.zeros((1, 8)), noise=np.array([[0.5, -1.0]]))
    array([[ 0.5, -1. ]])
    """

    action_kind: ClassVar[ActionKind] = "continuous"

    @check.arguments
    def __init__(
        self,
        sizes: Sizes,
        std: Std = "network",
        floor: Floor = 1e-6,
        *,
        rng: Generators,
        dtype: DType = torch.float64,
        normalise_observations: Clip = None,
    ) -> None:
        super().__init__(sizes, rng=rng, dtype=dtype, normalise_observations=normalise_observations)
        self.std, self.floor = std, floor
        self._limit = -math.log(floor)
        self.std_network: MLP | None = None
        if std == "network":
            self.std_network = MLP(sizes, rng=rng, dtype=dtype)
        else:
            lead = () if self.replicates is None else (self.replicates,)
            self.log_std = nn.Parameter(torch.zeros(*lead, self.action_size, dtype=dtype))

    def mean_std(self, observations: Tensor | ArrayLike) -> tuple[Tensor, Tensor]:
        """Return the mean and the standard deviation, each of shape (..., n, d)."""
        given = self._observations(observations)
        mean: Tensor = self.network(given)
        if self.std_network is None:
            log_std = self.log_std.unsqueeze(-2).expand_as(mean)
        else:
            log_std = self.std_network(given)
        self._check_finite(mean.detach().numpy(), log_std.detach().numpy())
        return mean, log_std.clamp(-self._limit, self._limit).exp()

    def _check_finite(self, mean: NDArray[Any], log_std: NDArray[Any]) -> None:
        self._refuse_non_finite("a mean", mean)
        self._refuse_non_finite("a logarithm of a standard deviation", log_std)

    def distribution(self, observations: Tensor | ArrayLike) -> Independent[Normal]:
        """Return the normal law of the actions."""
        mean, std = self.mean_std(observations)
        normal = Normal(mean, std, validate_args=False)
        return Independent(normal, 1, validate_args=False)

    @check.arguments
    def noise(self, shape: tuple[check.Natural, ...], *, rng: np.random.Generator) -> FloatArray:
        """Draw standard normal numbers, d an action."""
        check.room("shape", *shape, self.action_size, cure="draw parts")
        return rng.standard_normal((*shape, self.action_size))

    def act(self, observations: Tensor | ArrayLike, noise: FloatArray) -> FloatArray:
        """Return mean + std * noise, as float64."""
        given = self._seen(observations)
        mean = self.network.evaluate(given)
        if self.std_network is None:
            log_std = self.log_std.detach().numpy()[..., None, :]
        else:
            log_std = self.std_network.evaluate(given)
        self._check_finite(mean, log_std)
        std = np.exp(np.clip(log_std, -self._limit, self._limit))
        return np.asarray(mean + std * _fitting(noise, mean.shape), dtype=np.float64)


def _fitting(noise: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return noise that has this shape."""
    fits = type(noise) is np.ndarray and noise.shape == shape and noise.dtype.kind == "f"
    return noise if fits else check.array("noise", noise, shape, "pass what noise() draws")


# --- the action space decides ---------------------------------------------------------------------
@runtime_checkable
class ActsOn(Protocol):
    """What a policy must know of a simulator; see `amgd.reinforce.simulators.Simulator`."""

    name: str
    observation_size: int
    action_kind: ActionKind
    action_size: int


@check.arguments
def policy_for(
    simulator: Annotated[ActsOn, check.instance, ActsOn, "make one with make_simulator"],
    hidden: Sequence[check.Count],
    *,
    rng: Generators,
    std: Std = "network",
    floor: Floor = 1e-6,
    dtype: DType = torch.float64,
    normalise_observations: Clip = None,
) -> Policy:
    """Make the policy that fits a simulator: softmax for finitely many actions, else Gaussian.

    Parameters
    ----------
    simulator : Simulator
        Gives the sizes of the first and the last layer and the kind of action.
    hidden : sequence of int
        Units of the hidden layers; may be empty.
    rng, std, floor, dtype, normalise_observations
        As for `SoftmaxPolicy` and `GaussianPolicy`.

    Examples
    --------
    >>> from amgd.reinforce.simulators import make_simulator
    >>> policy_for(make_simulator("CartPole-v0"), (8,), rng=np.random.default_rng(0)).sizes
    (4, 8, 2)
    """
    sizes = (simulator.observation_size, *hidden, simulator.action_size)
    if simulator.action_kind == "discrete":
        return SoftmaxPolicy(
            sizes, rng=rng, dtype=dtype, normalise_observations=normalise_observations
        )
    return GaussianPolicy(
        sizes, std, floor, rng=rng, dtype=dtype, normalise_observations=normalise_observations
    )


def check_fit(policy: Policy, simulator: ActsOn) -> None:
    """Refuse a policy that cannot act in a simulator."""
    if not isinstance(policy, Policy):
        raise TypeError(
            f"policy must be a SoftmaxPolicy or a GaussianPolicy: got {type(policy).__name__}; "
            "make one with policy_for(simulator, hidden, rng=rng)"
        )
    cure = "make one that fits with policy_for(simulator, hidden, rng=rng)"
    if policy.action_kind != simulator.action_kind:
        raise ValueError(
            f"{simulator.name} has a {simulator.action_kind} action space: got a "
            f"{type(policy).__name__}, which gives {policy.action_kind} actions; {cure}"
        )
    for what, got, expected in (
        ("observations", policy.observation_size, simulator.observation_size),
        ("actions", policy.action_size, simulator.action_size),
    ):
        if got != expected:
            raise ValueError(
                f"{simulator.name} has {what} of size {expected}: got a policy with sizes "
                f"{policy.sizes}, made for {got}; {cure}"
            )
