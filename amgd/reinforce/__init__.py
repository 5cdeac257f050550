"""REINFORCE and its accelerated form: policies, simulators, episodes."""

from amgd.reinforce.episodes import Episodes, collect_episodes
from amgd.reinforce.policies import GaussianPolicy, Policy, SoftmaxPolicy, policy_for
from amgd.reinforce.simulators import Simulator, make_simulator

__all__ = [
    "Episodes",
    "GaussianPolicy",
    "Policy",
    "Simulator",
    "SoftmaxPolicy",
    "collect_episodes",
    "make_simulator",
    "policy_for",
]
