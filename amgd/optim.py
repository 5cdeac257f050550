"""AMGD as a PyTorch optimizer: three sequences held in one parameter and one buffer.

Algorithm 1 keeps three sequences. With ``x_bar_0 = x_0``, for k = 1, 2, ...::

    y_k     = (1 - alpha_k) x_bar_{k-1} + alpha_k x_{k-1}
    G_k     = a stochastic gradient at y_k
    x_k     = x_{k-1} - gamma_k G_k
    x_bar_k = y_k - beta_k G_k

An optimizer sees the gradient at the current value of the parameter, so the parameter holds y.
Subtract the last two lines: the gap ``e_k = x_bar_k - x_k`` has a recursion of its own, and y is
the only other thing to keep::

    e_k     = (1 - alpha_k) e_{k-1} + (gamma_k - beta_k) G_k,      e_0 = 0
    y_{k+1} = y_k - beta_k G_k - alpha_{k+1} e_k,                  y_1 = x_0

The two points that are not kept follow from the two that are::

    x_bar_k = y_{k+1} + alpha_{k+1} e_k
    x_k     = y_{k+1} - (1 - alpha_{k+1}) e_k

So AMGD costs the memory of SGD with momentum, and the same four passes over the parameters.

Plan of the module: the step sizes (`_schedule` and the named ones), the checks of options and saved
states, the class, and the two ways to apply one update (one call for all tensors, or a loop).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, Protocol, overload, runtime_checkable

try:
    import torch
except ImportError as error:
    raise ImportError(
        'amgd.optim needs PyTorch, which is not installed; run: pip install "amgd[torch]"'
    ) from error
import numpy as np
from torch import Tensor

from amgd import _checks as check
from amgd.descent.steps import SCHEDULES, StepSizes, check_block, from_name

__all__ = ["AMGD"]


@runtime_checkable
class _StepSizes(Protocol):
    """What `amgd.descent.steps.StepSizes` offers; any object with these three will do."""

    def alpha(self, k: int, /) -> float: ...
    def beta(self, k: int, /) -> float: ...
    def gamma(self, k: int, /) -> float: ...


# k -> (alpha_k, beta_k / lr, gamma_k / lr)
_Rule = Callable[[int], tuple[float, float, float]]


# --- step sizes -----------------------------------------------------------------------------------
_BLOCK = 1024  # values of a named schedule that are computed at a time


@lru_cache(maxsize=32)
def _block(make: Callable[..., StepSizes], number: int) -> list[tuple[float, float, float]]:
    """Return the values for the k of a block; one by one they would cost as much as the update."""
    steps, k = make(1.0), np.arange(number * _BLOCK, (number + 1) * _BLOCK) + 1
    check_block(steps, k, "nonconvex", (), None)
    columns = (rule(k).tolist() for rule in (steps.alpha, steps.beta, steps.gamma))
    return list(zip(*columns, strict=True))


@lru_cache(maxsize=32)
def _with_momentum(choice: Any, momentum: float) -> list[tuple[float, float, float]]:
    """Return the values for k = 1 and for every later k; a scheduler may change momentum."""
    steps = from_name(choice, 1.0, momentum)
    return [(float(steps.alpha(k)), steps.beta(k), steps.gamma(k)) for k in (1, 2)]


def _schedule(choice: str | _Rule | _StepSizes, momentum: float | None = None) -> _Rule:
    """Turn the options ``schedule`` and ``momentum`` into one function of k."""
    if momentum is not None:
        name: Any = choice
        first, later = _with_momentum(name, float(momentum))
        return lambda k: first if k == 1 else later
    if isinstance(choice, str):
        make = SCHEDULES[choice].make  # and not its name: a name may get another rule

        def named(k: int) -> tuple[float, float, float]:
            number, place = divmod(k - 1, _BLOCK)
            return _block(make, number)[place]

        return named

    def checked(k: int) -> tuple[float, float, float]:
        values: Any
        if isinstance(choice, _StepSizes):
            values = choice.alpha(k), choice.beta(k), choice.gamma(k)
        else:
            values = choice(k)
        try:
            alpha, beta, gamma = (float(value) for value in values)
        except (TypeError, ValueError):
            raise TypeError(
                f"schedule must give three numbers (alpha_k, beta_k, gamma_k): got {values!r} "
                f"at k = {k}; return a tuple such as (2 / (k + 1), 1.0, (k + 1) / 2)"
            ) from None
        if not (0 <= alpha <= 1 and 0 <= beta < math.inf and 0 <= gamma < math.inf):
            raise ValueError(
                f"schedule must keep 0 <= alpha_k <= 1 and beta_k, gamma_k finite and >= 0: got "
                f"alpha = {alpha}, beta = {beta}, gamma = {gamma} at k = {k}; mend the schedule"
            )
        return alpha, beta, gamma

    return checked


def _pushes(rule: _Rule, k: int) -> bool:
    """Whether step k puts something into e."""
    _, beta, gamma = rule(k)
    return beta != gamma


def _kind(choice: str | _Rule | _StepSizes) -> str:
    """Name a schedule in a message."""
    if isinstance(choice, str):
        return choice
    if isinstance(choice, _StepSizes):
        return f"step sizes {getattr(choice, 'name', '')!r}"
    return "callable"


def _label(choice: str | _Rule | _StepSizes) -> str:
    """Stand for a schedule in a state dict, where no callable can go: its kind, first values."""
    if isinstance(choice, str):
        return choice
    values = _schedule(choice)
    return f"{_kind(choice)} from {values(1)}, {values(2)}"


# --- checks ---------------------------------------------------------------------------------------


def _check_lr(lr: object) -> None:
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ValueError(
                f"lr must be a number or a tensor of one element: got shape {tuple(lr.shape)}; "
                "give each parameter group its own lr instead"
            )
        lr = lr.item()
    check.real("lr", lr, "0.1 is a common choice", "[0, inf)")


def _check_schedule(choice: Any, momentum: Any) -> None:
    given = choice
    if isinstance(choice, str) or momentum is not None:
        given = from_name(choice, 1.0, momentum)
    elif not (callable(choice) or isinstance(choice, _StepSizes)):
        raise TypeError(
            f"schedule must be one of {', '.join(map(repr, SCHEDULES))}, a callable "
            f"k -> (alpha, beta, gamma) or an object with alpha, beta, gamma: got {choice!r}"
        )
    first = _schedule(choice, momentum)(1)[0]
    if first != 1:
        raise ValueError(
            "schedule must have alpha_1 = 1 (k counts from 1), so that y_1 = x_0: got "
            f"alpha_1 = {first}; shift k by one, or set the first value to 1"
        )
    if getattr(given, "algorithm", "nonconvex") == "convex" or getattr(given, "mu", 0) != 0:
        raise ValueError(
            f"schedule must have the step sizes of Algorithm 1: got {_kind(choice)} of "
            f"Algorithm 2 (mu = {getattr(given, 'mu', 0)}), where beta_k is a weight; for mu = 0 "
            "give the callable k -> (alpha_k, alpha_k * gamma_k, gamma_k), else use "
            "amgd.descent.algorithms.amgd_convex"
        )


def _to_floats(options: dict[str, Any]) -> None:
    """Turn numbers of other libraries into floats, in place: a state dict holds plain data."""
    for name in ("lr", "weight_decay", "momentum"):
        value = options.get(name)
        if value is not None and not (name == "lr" and isinstance(value, Tensor)):
            options[name] = float(value)


def _check_options(group: dict[str, Any]) -> None:
    _check_lr(group["lr"])
    check.real("weight_decay", group["weight_decay"], "0 leaves it out", "[0, inf)")
    _check_schedule(group["schedule"], group.get("momentum"))
    check.boolean("maximize", group["maximize"], "True climbs")
    if group["foreach"] is not None:
        check.boolean("foreach", group["foreach"], "or None, which takes True where it can")


def _check_tensors(params: list[Tensor]) -> None:
    if len({id(p) for p in params}) != len(params):
        raise ValueError(
            "each parameter must be given once: a group holds the same tensor twice, which would "
            "take two steps at a time; drop the repeated one"
        )
    for i, p in enumerate(params):
        complex_cure = "optimise a real tensor and make the complex one by torch.view_as_complex"
        for bad, kind, got, cure in (
            (p.is_complex(), "real", p.dtype, complex_cure),
            (not p.is_floating_point(), "floating-point", p.dtype, "convert it with .float()"),
            (p.layout is not torch.strided, "dense", p.layout, "convert it with .to_dense()"),
        ):
            if bad:
                raise TypeError(
                    f"AMGD needs {kind} parameters: number {i} of the group is {got}; {cure}"
                )


def _refuse_unordered(params: object) -> None:
    if isinstance(params, torch.nn.Module):
        raise TypeError(
            f"params must be an iterable of tensors: got the module {type(params).__name__}; "
            "pass module.parameters()"
        )
    if isinstance(params, set | frozenset):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections: got a "
            f"{type(params).__name__}, whose order changes between runs; use a list"
        )
    if not isinstance(params, Iterable) or isinstance(params, str | bytes | np.ndarray):
        raise TypeError(
            f"params must be an iterable of tensors: got {params!r:.60}; pass module.parameters()"
        )


def _fit_state_dict(optimizer: torch.optim.Optimizer, state_dict: dict[str, Any]) -> dict[str, Any]:
    """Match a saved state to the optimizer that loads it, or say why they do not fit.

    PyTorch pairs saved and present parameters by their place. Where both sides have names, this
    reorders the saved side so that equal names meet. It is run as a load hook, after the user's.
    """
    groups, saved_groups = optimizer.param_groups, state_dict["param_groups"]
    if len(groups) != len(saved_groups):
        return state_dict  # PyTorch raises
    fitted, states = [], dict(state_dict["state"])
    for number, (group, saved) in enumerate(zip(groups, saved_groups, strict=True)):
        saved = _backfilled(saved)
        ours, theirs = _method(group), _method(saved)
        if ours != theirs:
            raise ValueError(
                f"loaded state of group {number} was made with {theirs}, this optimizer has "
                f"{ours}; build the optimizer with the saved schedule, then load"
            )
        _check_options({**saved, "schedule": group["schedule"]})
        rule = _schedule(group["schedule"], saved.get("momentum"))
        needs_e = cache(lambda k, rule=rule: any(_pushes(rule, j) for j in range(1, k + 1)))
        names, saved_names = group.get("param_names"), saved.get("param_names")
        if names and saved_names and names != saved_names:
            if sorted(names) != sorted(saved_names):
                missing = sorted(set(names) - set(saved_names))
                extra = sorted(set(saved_names) - set(names))
                raise ValueError(
                    f"loaded state of group {number} has other parameter names: missing {missing}, "
                    f"unexpected {extra}; load it into an optimizer of the same model"
                )
            place = dict(zip(saved_names, saved["params"], strict=True))
            saved["params"] = [place[name] for name in names]
            saved["param_names"] = list(names)
        # Lengths may differ here; PyTorch raises for that after this hook. It also takes the saved
        # tensors as they are, so e is copied: two optimizers must not share one buffer.
        for p, key in zip(group["params"], saved["params"], strict=False):
            state = states.get(key)
            if state is None:
                continue
            step = state.get("step") if isinstance(state, dict) else None
            known = type(step) is int and step >= 0 and set(state) <= {"step", "e"}
            if not known or not isinstance(state.get("e", p), Tensor):
                raise ValueError(
                    f"loaded state is not one of AMGD: parameter {key} has {state!r:.80}, expected "
                    "'step' (an int from 0) and 'e' (a tensor); load what AMGD saved"
                )
            if "e" in state and state["e"].shape != p.shape:
                raise ValueError(
                    f"loaded state does not fit: e of parameter {key} has shape "
                    f"{tuple(state['e'].shape)}, the parameter has {tuple(p.shape)}; give the "
                    "parameters in the order of the saved optimizer, or by named_parameters()"
                )
            if "e" in state:
                states[key] = {**state, "e": state["e"].clone()}
            elif needs_e(state["step"]):
                raise ValueError(
                    f"loaded state has no e of parameter {key}, which took {state['step']} steps: "
                    "the run would go on from another point; load what state_dict() returned, whole"
                )
        fitted.append(saved)
    return {**state_dict, "state": states, "param_groups": fitted}


def _name_schedules(_: torch.optim.Optimizer, state_dict: dict[str, Any]) -> None:
    """Put the names of the schedules in their place, so that a state dict holds plain data."""
    for group in state_dict["param_groups"]:
        group["schedule"] = _label(group["schedule"])


def _backfilled(options: dict[str, Any]) -> dict[str, Any]:
    """Add what a group may lack that was saved before it existed; no momentum is no entry."""
    defaults = {"schedule": "nesterov", "maximize": False, "foreach": None, "weight_decay": 0.0}
    filled = {**defaults, **options}
    return {k: v for k, v in filled.items() if not (k == "momentum" and v is None)}


def _method(group: dict[str, Any]) -> str:
    """Say what a state must share with the optimizer that loads it; momentum may be scheduled."""
    constant = "" if group.get("momentum") is None else " and constant momentum"
    return f"schedule={_label(group['schedule'])!r}{constant}"


# --- the optimizer --------------------------------------------------------------------------------


class _Batch(NamedTuple):
    """Parameters of one group, device and dtype that are at the same k, with what they need."""

    group: dict[str, Any]
    k: int
    params: list[Tensor]
    grads: list[Tensor]
    states: list[dict[str, Any]]


class _Coefficients(NamedTuple):
    """What one update takes of the schedule and lr."""

    alpha: float
    push: float  # gamma_k - beta_k
    beta: float
    alpha_next: float
    needs_e: bool  # whether step k or k + 1 puts something into e, whatever lr is


class AMGD(torch.optim.Optimizer):
    r"""Accelerated Markov gradient descent, Algorithm 1 of Doan, Nguyen, Pham and Romberg.

    ::

        input   y_1 = x_0 (the parameters), lr, alpha_k, beta_k, gamma_k with alpha_1 = 1
        e_0 = 0
        for k = 1, 2, ...
            G_k     = gradient at y_k           (minus it, if maximize)
            G_k     = G_k + weight_decay y_k
            e_k     = (1 - alpha_k) e_{k-1} + (gamma_k - beta_k) G_k
            y_{k+1} = y_k - beta_k G_k - alpha_{k+1} e_k
        output  y_{k+1};  on demand  x_bar_k = y_{k+1} + alpha_{k+1} e_k
                                     x_k     = y_{k+1} - (1 - alpha_{k+1}) e_k

    ===================  ================  ==========================================
    schedule             alpha_k           gamma_k  (beta_k = lr)
    ===================  ================  ==========================================
    ``"nesterov"``       2 / (k + 1)       lr / alpha_k: Nesterov's method
    ``"ghadimi_lan"``    2 / (k + 1)       k lr / 2
    ``"theorem1"``       2 / (k + 1)       (1 + alpha_k) lr, the largest of Theorem 1
    ``"sgd"``            2 / (k + 1)       lr: plain SGD, no buffer
    momentum = m         1, then 1 - m     lr / (1 - m): ``torch.optim.SGD(nesterov=True)``
    ===================  ================  ==========================================

    Parameters
    ----------
    params : iterable of Tensor, of (name, Tensor) or of dict
        Parameters or parameter groups, in an ordered collection. Real, dense, floating point.
    lr : float or Tensor of one element
        The step beta_k, finite and >= 0. It is read anew at each step and scales beta_k and
        gamma_k alike, so a learning-rate scheduler changes both and leaves alpha_k alone.
    schedule : str, callable or step sizes
        A name of `amgd.descent.steps.SCHEDULES`: "sgd", "theorem1", "ghadimi_lan", "nesterov".
        A callable maps k (from 1) to ``(alpha_k, beta_k, gamma_k)`` with beta and gamma in units
        of lr. An object with the methods ``alpha, beta, gamma`` of k, as
        `amgd.descent.steps` makes them, works too; give ``lr=1.0`` to use its values as they are.
        Step k asks for k and for k + 1.
    momentum : float in [0, 1), optional
        With ``"nesterov"`` only: constant momentum instead of (k - 1) / (k + 2). Like lr it is
        read anew at each step, so OneCycleLR and CyclicLR may cycle it; without it PyTorch
        refuses them (``cycle_momentum=False`` cycles lr alone). While it changes, ask `at` before
        the scheduler's step.
    maximize : bool
        Climb instead of descend.
    foreach : bool, optional
        One call for all tensors (True) or a loop over them (False); the results are equal bit for
        bit on a CPU. None takes the first unless a parameter is of a Tensor subclass.
    weight_decay : float
        L2 penalty: ``weight_decay * y_k`` is added to the gradient, before momentum.

    Raises
    ------
    TypeError, ValueError
        For an option out of its range, an unordered or repeated parameter, a complex or sparse
        one, an unknown schedule, or one with alpha_1 other than 1.
    RuntimeError
        From `step`: for a sparse gradient, or inside `at`.

    Notes
    -----
    *Counting.* k belongs to the parameter, not to the optimizer: it is ``state[p]["step"]``, the
    number of steps p has taken. The recursion needs alpha_1 = 1 at the first gradient of each
    parameter, so one that is unfrozen late, or whose group is added late, starts at k = 1. A
    parameter without a gradient is skipped: it keeps its k and its e.

    *Where this departs from the paper.* The paper's start x_bar_0 is x_0. The parameter is y,
    the point of the gradient; the paper's guarantees speak of y for the nonconvex case and of
    x_bar for the convex one, see `at`. Only ``"theorem1"`` and ``"sgd"`` are in the range of
    Theorem 1 (label ``thm-1``); the other two are the accelerated choices of the convex
    case (without its projection). The paper has neither weight decay nor a changing lr.

    *Beside* ``torch.optim.SGD``. ``AMGD(p, lr, momentum=m)`` equals
    ``SGD(p, lr, momentum=m, nesterov=True)`` as long as lr is constant. When lr changes, AMGD
    weighs each past gradient by the lr of its own step, SGD by the present one.

    *Saving.* ``state_dict`` holds plain data (it loads with ``weights_only=True``). A callable
    schedule is not in it, only its kind and its values at k = 1 and 2: build the optimizer with
    the same schedule, then load; another one is refused, and so is a state that lost an e. lr and
    momentum are the state's. Parameters given by ``named_parameters()`` are matched by name,
    others by place.

    *Compiling.* ``torch.compile`` leaves `step` out: it breaks the graph, runs as it is, to the
    same bits, and nothing is compiled anew while k grows. A compiled training step has one graph,
    that of the loss, and 0 recompilations; with ``fullgraph=True`` PyTorch refuses it.

    A gradient that is not finite is not looked for; it spoils the parameters as in any optimizer.

    Examples
    --------
    >>> import torch
    >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
    >>> opt = AMGD([w], lr=0.1, schedule="nesterov")
    >>> for _ in range(100):
    ...     opt.zero_grad()
    ...     loss = (w**2 * torch.tensor([0.5, 2.0])).sum()
    ...     loss.backward()
    ...     opt.step()
    >>> bool(loss < 1e-3)
    True
    >>> with opt.at("x_bar"):
    ...     at_x_bar = w.detach().clone()
    >>> bool((at_x_bar.abs() < 0.02).all())
    True
    """

    _away_from_y = False  # True inside `at`

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor,
        *,
        schedule: str | _Rule | _StepSizes = "nesterov",
        momentum: float | None = None,
        maximize: bool = False,
        foreach: bool | None = None,
        weight_decay: float = 0.0,
    ) -> None:
        """Check the options and register the parameters; state is made at the first step."""
        _refuse_unordered(params)
        defaults = {
            "lr": lr,
            "schedule": schedule,
            "maximize": maximize,
            "foreach": foreach,
            "weight_decay": weight_decay,
        }
        # OneCycleLR and CyclicLR cycle what has this default: it would change the method.
        if momentum is not None:
            defaults["momentum"] = momentum
        _check_options(defaults)
        _to_floats(defaults)
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own; they start at k = 1.

        Parameters
        ----------
        param_group : dict
            ``"params"`` and any option of the constructor; the others are the optimizer's.

        Raises
        ------
        TypeError, ValueError
            As the constructor does; the optimizer is then unchanged.
        """
        if isinstance(param_group, dict):
            if "params" not in param_group:
                raise ValueError(
                    f"param_group must have an entry 'params': got {param_group!r:.80}; add it"
                )
            _refuse_unordered(param_group["params"])
            param_group["params"] = (
                [param_group["params"]]
                if isinstance(param_group["params"], Tensor)
                else list(param_group["params"])
            )
            _check_tensors(
                [
                    tensor
                    for p in param_group["params"]
                    if isinstance(tensor := p[1] if isinstance(p, tuple) else p, Tensor)
                ]
            )
            options = {**self.defaults, **param_group}
            _check_options(options)
            _to_floats(param_group)
            lacks_momentum = options["schedule"] == "nesterov" and options.get("momentum") is None
            if "momentum" in self.defaults and lacks_momentum:
                raise ValueError(
                    "momentum must be a number in each group with schedule 'nesterov' if the "
                    "optimizer has one, which its schedulers set: got None; leave out the "
                    "optimizer's, and give it to the groups that have constant momentum"
                )
        super().add_param_group(param_group)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled or loaded optimizer; options it lacks get their defaults."""
        state = {**state, "param_groups": [_backfilled(group) for group in state["param_groups"]]}
        if "defaults" in state:  # PyTorch loads a state dict without them: they stay as they are
            state["defaults"] = _backfilled(state["defaults"])
        super().__setstate__(state)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle holds; refused inside `at`, where y is not at hand."""
        self._refuse_away("a copy or a pickle was asked for")
        return super().__getstate__()

    def _refuse_away(self, what: str) -> None:
        if self._away_from_y:
            raise RuntimeError(
                f"{what} inside `with opt.at(...)`, where the parameters do not hold y; "
                "leave the block first"
            )

    def state_dict(self) -> dict[str, Any]:
        """Return k and e of each parameter and the options of each group, as plain data.

        Raises
        ------
        RuntimeError
            Inside `at`: a run cannot go on from the parameters of the block.
        """
        self._refuse_away("state_dict() was called")
        hook = self.register_state_dict_post_hook(_name_schedules, prepend=True)
        try:
            return super().state_dict()
        finally:
            hook.remove()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned; the run then goes on as if it had not stopped.

        Parameters
        ----------
        state_dict : dict
            Saved by an optimizer with the same schedules.

        Raises
        ------
        ValueError
            If groups, schedules, names or shapes differ, or an e is missing; the optimizer is
            then unchanged.
        RuntimeError
            Inside `at`.
        """
        self._refuse_away("load_state_dict() was called")
        saved = check.instance("state_dict", state_dict, dict, "pass what state_dict() returned")
        missing = {"state", "param_groups"} - set(saved)
        if missing:
            raise ValueError(
                f"state_dict must be one of an optimizer: got one without {sorted(missing)}; pass "
                "what state_dict() returned"
            )
        schedules = [group["schedule"] for group in self.param_groups]
        hook = self.register_load_state_dict_pre_hook(_fit_state_dict)
        try:
            super().load_state_dict(state_dict)
        finally:
            hook.remove()
        for group, schedule in zip(self.param_groups, schedules, strict=True):
            group["schedule"] = schedule

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    # Compiled, the step would be compiled anew for each k; torch.compile leaves it out.
    @torch._disable_dynamo  # type: ignore[attr-defined]
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Take one step from y_k to y_{k+1}.

        Parameters
        ----------
        closure : callable, optional
            Clears the gradients, evaluates the loss, calls ``backward`` and returns the loss. It
            is called once, at y_k, with gradients enabled.

        Returns
        -------
        float or Tensor or None
            What the closure returned.

        Raises
        ------
        RuntimeError
            For a sparse gradient, or inside `at`; no parameter has then moved.
        ValueError
            For an lr, or a value of a callable schedule, out of its range; likewise.
        """
        self._refuse_away("step() was called")
        loss = None
        if closure is not None and not callable(closure):
            raise TypeError(f"closure must be a function: got {closure!r:.60}; or leave it out")
        if closure is not None:
            with torch.enable_grad():
                loss = closure()

        # All that can fail comes before the first parameter moves.
        batches = self._batches()
        updates = [(batch, self._coefficients(batch.group, batch.k)) for batch in batches]
        for batch, coefficients in updates:
            _apply(batch, coefficients)
            for p, state in zip(batch.params, batch.states, strict=True):
                if batch.k == 1:
                    self.state[p] = state
                state["step"] = batch.k
        return loss

    @contextmanager
    def at(self, sequence: Literal["y", "x_bar", "x"]) -> Iterator[None]:
        """Let the parameters hold another sequence inside a ``with`` block.

        Parameters
        ----------
        sequence : {"y", "x_bar", "x"}
            After k steps: y_{k+1}, x_bar_k or x_k. Before the first step all are x_0.

        Raises
        ------
        ValueError
            For another name.
        RuntimeError
            If blocks are nested, or `step`, `state_dict`, `load_state_dict`, a copy or a pickle is
            asked for inside.

        Notes
        -----
        On leaving, also by an exception, each parameter gets its y back bit for bit from a copy;
        whatever the block wrote to the parameters is undone. Saving a model inside the block
        saves that sequence, and a run cannot go on from it: copying or saving the optimizer is
        refused there.

        The optimizer does not know the buffers of a module. A forward pass in training mode inside
        the block changes the averages of BatchNorm; two lines keep them::

            kept = copy.deepcopy(dict(model.named_buffers()))   # before the block
            model.load_state_dict(kept, strict=False)           # after it

        Averages that belong to x_bar itself come from ``torch.optim.swa_utils.update_bn(loader,
        model)`` inside the block.

        Examples
        --------
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> opt = AMGD([w], lr=0.25)
        >>> for _ in range(2):
        ...     w.grad = w.detach().clone()
        ...     opt.step()
        >>> w.tolist()
        [0.515625]
        >>> with opt.at("x_bar"):
        ...     w.tolist()
        [0.5625]
        >>> w.tolist()
        [0.515625]
        """
        if sequence not in ("y", "x_bar", "x"):
            raise ValueError(f"sequence must be 'y', 'x_bar' or 'x': got {sequence!r}")
        if self._away_from_y:
            raise RuntimeError("blocks of opt.at(...) cannot be nested; leave the first one before")
        # Parameter and signed factor of e for each; computed first, as a schedule may raise.
        moves: list[tuple[Tensor, Tensor, float]] = []
        for group in self.param_groups:
            schedule = _schedule(group["schedule"], group.get("momentum"))
            for p in group["params"]:
                state = self.state.get(p)
                if sequence != "y" and state and "e" in state:
                    alpha = schedule(state["step"] + 1)[0]
                    moves.append((p, state["e"], alpha if sequence == "x_bar" else alpha - 1))
        kept = [(p, p.detach().clone()) for group in self.param_groups for p in group["params"]]
        self._away_from_y = True
        try:
            with torch.no_grad():
                for p, e, factor in moves:
                    p.add_(e, alpha=factor)
            yield
        finally:
            with torch.no_grad():
                for p, y in kept:
                    p.copy_(y)
            self._away_from_y = False

    def _batches(self) -> list[_Batch]:
        """Sort the parameters that have a gradient by group, k, device and dtype."""
        batches: list[_Batch] = []
        for number, group in enumerate(self.param_groups):
            by_kind: dict[tuple[int, torch.device, torch.dtype], _Batch] = {}
            for p in group["params"]:
                grad = p.grad
                if grad is None:
                    continue
                if grad.layout is not torch.strided:
                    raise RuntimeError(
                        f"AMGD needs dense gradients: one in group {number} has layout "
                        f"{grad.layout}; build the embedding with sparse=False, or set "
                        "p.grad = p.grad.to_dense() before step()"
                    )
                state = self.state.get(p)
                if not state:
                    state = {"step": 0}  # enters self.state once the step has been taken
                kind = (state["step"] + 1, p.device, p.dtype)
                batch = by_kind.get(kind)
                if batch is None:
                    batch = by_kind[kind] = _Batch(group, kind[0], [], [], [])
                batch.params.append(p)
                batch.grads.append(grad)
                batch.states.append(state)
            batches.extend(by_kind.values())
        return batches

    @staticmethod
    def _coefficients(group: dict[str, Any], k: int) -> _Coefficients:
        lr = float(group["lr"])
        if not 0 <= lr < math.inf:
            _check_lr(group["lr"])
        schedule = _schedule(group["schedule"], group.get("momentum"))
        (alpha, beta, gamma), (alpha_next, beta_next, gamma_next) = schedule(k), schedule(k + 1)
        needs_e = gamma != beta or gamma_next != beta_next
        return _Coefficients(alpha, lr * (gamma - beta), lr * beta, alpha_next, needs_e)


# --- one update -----------------------------------------------------------------------------------


def _apply(batch: _Batch, coefficients: _Coefficients) -> None:
    """Update e and y: e = (1 - alpha) e + push G, then y = y - beta G - alpha_next e.

    The product with 1 - alpha is taken as e - alpha e. torch._foreach_mul_ would first round
    1 - alpha to the dtype, and in bfloat16 that is 1 from k = 1023 on: e would never decay.
    """
    group, params, grads = batch.group, batch.params, batch.grads
    alpha, push, beta, alpha_next, needs_e = coefficients
    # While gamma = beta, e is 0 and is not stored. A step with lr = 0 makes it: PyTorch takes one
    # to learn which entries a state has.
    has_e = needs_e or any("e" in state for state in batch.states)
    buffers = [_buffer(p, s) for p, s in zip(params, batch.states, strict=True)] if has_e else []
    decay, foreach = float(group["weight_decay"]), group["foreach"]
    if foreach is None:
        foreach = all(type(p) in _PLAIN for p in params)

    if foreach:
        if group["maximize"]:
            grads = list(torch._foreach_neg(grads))
        if decay != 0:
            grads = list(torch._foreach_add(grads, params, alpha=decay))
        if has_e:
            torch._foreach_add_(buffers, buffers, alpha=-alpha)
            torch._foreach_add_(buffers, grads, alpha=push)
        torch._foreach_add_(params, grads, alpha=-beta)
        if has_e:
            torch._foreach_add_(params, buffers, alpha=-alpha_next)
        return
    for i, (p, grad) in enumerate(zip(params, grads, strict=True)):
        if group["maximize"]:
            grad = -grad
        if decay != 0:
            grad = grad.add(p, alpha=decay)
        if has_e:
            e = buffers[i]
            e.add_(e, alpha=-alpha).add_(grad, alpha=push)
        p.add_(grad, alpha=-beta)
        if has_e:
            p.add_(e, alpha=-alpha_next)


def _buffer(p: Tensor, state: dict[str, Any]) -> Tensor:
    """Return e of a parameter, made at its first use."""
    if "e" not in state:
        state["e"] = torch.zeros_like(p, memory_format=torch.preserve_format)
    e: Tensor = state["e"]
    return e


_PLAIN = (Tensor, torch.nn.Parameter)
