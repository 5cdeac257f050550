"""REINFORCE and its accelerated form: policies, simulators, episodes, gradient, training."""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        'amgd.reinforce needs PyTorch, which is not installed; run: pip install "amgd[torch]"'
    ) from error

from amgd.errors import Diverged, EnvironmentFault
from amgd.reinforce.baselines import LinearBaseline
from amgd.reinforce.environments import check_environment, importable
from amgd.reinforce.episodes import Episodes, collect_episodes
from amgd.reinforce.gradient import (
    policy_gradient,
    policy_gradient_loss,
    returns_to_go,
    standardise,
    step_weights,
)
from amgd.reinforce.policies import GaussianPolicy, Policy, SoftmaxPolicy, policy_for
from amgd.reinforce.simulators import Simulator, make_simulator
from amgd.reinforce.training import (
    Trainer,
    TrainingLog,
    TrainingResult,
    TrainingSpec,
    train,
)

__all__ = [
    "Diverged",
    "EnvironmentFault",
    "Episodes",
    "GaussianPolicy",
    "LinearBaseline",
    "Policy",
    "Simulator",
    "SoftmaxPolicy",
    "Trainer",
    "TrainingLog",
    "TrainingResult",
    "TrainingSpec",
    "check_environment",
    "collect_episodes",
    "importable",
    "make_simulator",
    "policy_for",
    "policy_gradient",
    "policy_gradient_loss",
    "returns_to_go",
    "standardise",
    "step_weights",
    "train",
]
