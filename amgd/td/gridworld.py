r"""The GridWorld of the paper's Figure 1, exactly, and as a Gymnasium environment.

An agent walks on n x n cells from the top-left to the bottom-right corner; a step against a wall
leaves it where it is.
State s = n * row + column; the actions are those of the paper, in its order: up, down, left,
right.
What the goal does is left open by the paper, and it decides whether its claims hold:

- ``"ordinary"``: the goal is a cell like any other. Under the uniform policy the transition matrix
  is symmetric: doubly stochastic, reversible, with uniform stationary law.
- ``"absorbing"``: the episode ends there. The chain of states stays in the goal for ever, so its
  stationary law is the point mass at the goal.
- ``"reset"``: the next step, whatever the action, leads back to the start. This chain goes on for
  ever, is neither doubly stochastic nor reversible, and its stationary law is not uniform.

Every reward is a number for leaving a state plus a number for arriving at one, so that a
transition :math:`(s, s')` has one reward and simulation and linear algebra agree.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

import gymnasium as gym
import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import splu

from amgd import _checks as check
from amgd._checks import FloatArray
from amgd.markov import MarkovChain

__all__ = ["GridWorld", "GridWorldEnv"]

ACTIONS = ("up", "down", "left", "right")
GOALS = ("ordinary", "absorbing", "reset")
REWARDS = ("step", "goal")
DENSE_LIMIT = 2500  # states; a dense matrix of this size fills 50 MB


class GridWorld:
    r"""The n x n grid under a fixed policy, with everything about it computed exactly.

    Parameters
    ----------
    n : int
        Cells on a side, at least 2; the number of states is n * n.
    goal : {"ordinary", "absorbing", "reset"}
        What happens at the goal (see the head of this module).
    reward : {"step", "goal"}
        ``"step"``: -1 for each step, except from the goal, from which it is 0.
        ``"goal"``: +1 for each step that arrives at the goal (also by bumping into a wall beside
        it, if the goal is ordinary), 0 for every other; once absorbed nothing more is earned.
    policy : array_like of shape (n * n, 4), optional
        Probabilities of up, down, left, right in each state. Default: 1/4 each.

    Attributes
    ----------
    n, n_states, start, goal_state : int
    goal, reward_kind : str
    policy : ndarray, shape (n_states, 4)
    successors : ndarray of int64, shape (n_states, 4)
        The state to which each action leads.
    departure_reward, arrival_reward : ndarray, shape (n_states,)
        The reward of a transition (s, s') is ``departure_reward[s] + arrival_reward[s']``.

    Raises
    ------
    ValueError, TypeError
        For n < 2, an unknown name, or a policy whose rows are not probability vectors.

    Examples
    --------
    >>> grid = GridWorld(10)
    >>> grid.is_doubly_stochastic, grid.is_reversible
    (True, True)
    >>> GridWorld(10, goal="reset").is_doubly_stochastic
    False
    >>> round(float(GridWorld(10, goal="absorbing").value(0.9)[0]), 4)
    -9.9985
    """

    @check.arguments
    def __init__(
        self,
        n: Annotated[int, check.count, "a grid needs a start and a goal", 2],
        goal: Annotated[str, check.choice, GOALS] = "ordinary",
        reward: Annotated[str, check.choice, REWARDS] = "step",
        policy: ArrayLike | None = None,
    ) -> None:
        check.room("n", n**2, 4 * len(ACTIONS), cure="take a smaller grid")
        self.n, self.goal, self.reward_kind = n, goal, reward
        self.n_states = n * n
        self.start, self.goal_state = 0, self.n_states - 1
        actions = (self.n_states, len(ACTIONS))
        given = np.full(actions, 0.25) if policy is None else policy
        self.policy = frozen(check.probabilities("policy", given, actions))

        row, column = np.divmod(np.arange(self.n_states), self.n)
        last = self.n - 1
        moves = [
            (np.maximum(row - 1, 0), column),
            (np.minimum(row + 1, last), column),
            (row, np.maximum(column - 1, 0)),
            (row, np.minimum(column + 1, last)),
        ]
        self.successors = np.stack([r * self.n + c for r, c in moves], axis=1)
        if self.goal != "ordinary":
            self.successors[self.goal_state] = (
                self.goal_state if self.goal == "absorbing" else self.start
            )

        self.departure_reward = np.zeros(self.n_states)
        self.arrival_reward = np.zeros(self.n_states)
        if self.reward_kind == "step":
            self.departure_reward[:] = -1.0
            self.departure_reward[self.goal_state] = 0.0
        else:
            self.arrival_reward[self.goal_state] = 1.0
            if self.goal == "absorbing":  # the goal "arrives" at itself, which earns nothing
                self.departure_reward[self.goal_state] = -1.0
        for owned in (self.successors, self.departure_reward, self.arrival_reward):
            owned.setflags(write=False)

    def __repr__(self) -> str:
        uniform = "uniform" if np.all(self.policy == 0.25) else "given"
        return (
            f"GridWorld(n={self.n}, goal={self.goal!r}, reward={self.reward_kind!r}, "
            f"policy: {uniform})"
        )

    @cached_property
    def chain(self) -> MarkovChain:
        """The chain of states."""
        states = np.repeat(np.arange(self.n_states), len(ACTIONS))
        entries = (self.policy.ravel(), (states, self.successors.ravel()))
        return MarkovChain(sp.csr_array(entries, shape=(self.n_states, self.n_states)))

    @property
    def transition_sparse(self) -> sp.csr_array:
        """Transition matrix P as a read-only CSR array, for every size."""
        return self.chain.transition

    @cached_property
    def transition(self) -> FloatArray:
        """Transition matrix P, a read-only dense array of shape (n_states, n_states).

        Raises
        ------
        ValueError
            Above 2500 states (n = 50): use `transition_sparse` there.
        """
        if self.n_states > DENSE_LIMIT:
            raise ValueError(
                f"the dense transition matrix is too large: got {self.n_states} states "
                f"(expected at most {DENSE_LIMIT}); use transition_sparse"
            )
        return frozen(self.transition_sparse.toarray())

    @cached_property
    def reward(self) -> FloatArray:
        """Expected reward r(s) of the step from each state, shape (n_states,)."""
        return frozen(self.departure_reward + self.transition_sparse @ self.arrival_reward)

    @property
    def stationary(self) -> FloatArray:
        """Stationary law pi, shape (n_states,).

        Under the uniform policy it is uniform if the goal is ordinary.
        If the goal is absorbing it is the point mass there.

        Raises
        ------
        ValueError
            If the policy leaves more than one recurrent class, so that pi is not unique.
        """
        return self.chain.stationary

    @cached_property
    def is_doubly_stochastic(self) -> bool:
        """Whether every column of P sums to 1 as well (within 1e-12)."""
        return bool(np.abs(self.transition_sparse.sum(axis=0) - 1.0).max() <= 1e-12)

    @property
    def is_irreducible(self) -> bool:
        """Whether every state leads to every other."""
        return self.chain.is_irreducible

    @property
    def is_reversible(self) -> bool:
        """Whether pi(s) P(s, s') is symmetric, for a law pi that charges every state.

        The absorbing grid is not: its law does not even charge the states of an episode.
        """
        return self.chain.is_reversible

    @check.arguments
    def value(self, discount: check.Discount) -> FloatArray:
        r"""Return the value function V, the solution of ``V = r + discount * P V``.

        Where the goal absorbs, V is 0 there: the episode is over. Where it resets, the next
        episode counts too.

        Parameters
        ----------
        discount : float in [0, 1)

        Returns
        -------
        ndarray, shape (n_states,)
        """
        system = sp.eye_array(self.n_states) - discount * self.transition_sparse
        solution: FloatArray = splu(sp.csc_array(system)).solve(np.array(self.reward))
        if self.goal == "absorbing":
            solution[self.goal_state] = 0.0  # known exactly; the solve leaves rounding
        return solution

    def episode_occupancy(self, length: int) -> FloatArray:
        r"""Return the average law of the states of a truncated episode.

        :math:`\bar D = \frac1H \sum_{t<H} P^t(s_0, \cdot)` with :math:`H` = `length`: the states
        from which the transitions of an episode of :math:`H` steps from the start depart. This, and
        not the stationary law, is what truncated episodes sample from. Where the goal absorbs, its
        entry is the share of the time that is left after the goal.

        Parameters
        ----------
        length : int
            Steps of an episode, at least 1; the paper's is 10 n.

        Returns
        -------
        ndarray, shape (n_states,)
            Sums to 1.
        """
        return self.chain.occupancy(length, self.start)


def frozen(value: ArrayLike) -> FloatArray:
    """Return a float64 array that cannot be written to."""
    result = np.asarray(value, dtype=np.float64)
    result.setflags(write=False)
    return result


class GridWorldEnv(gym.Env[Any, Any]):
    """A walk on a square grid from the top-left to the bottom-right corner.

    ## Description
    The agent stands on one of n x n cells and moves one cell at a time. A move against a wall
    leaves it where it is. This is the GridWorld of Example 4.1 in Sutton and Barto's book as the
    paper on accelerated Markov gradient descent uses it: start and goal in opposite corners.
    Moves are deterministic: the seed plays no part. `amgd.td.GridWorld` gives the exact
    transition matrix of the same grid under a policy.

    ## Action Space
    The action is an integer of `Discrete(4)`.

    | Num | Action     |
    |-----|------------|
    | 0   | Move up    |
    | 1   | Move down  |
    | 2   | Move left  |
    | 3   | Move right |

    ## Observation Space
    The observation is an integer of `Discrete(n * n)`: the cell of the agent.

    | Num                | Cell                                  |
    |--------------------|---------------------------------------|
    | 0                  | top-left corner, the start            |
    | n * row + column   | rows from the top, columns from left  |
    | n * n - 1          | bottom-right corner, the goal         |

    ## Rewards
    - `reward="step"` (default): -1 for each step, 0 for a step from the goal.
    - `reward="goal"`: +1 for a step that arrives at the goal, 0 for every other.

    ## Starting State
    The top-left cell, or the cell given by `reset(options={"state": s})`.

    ## Episode End
    1. Termination: the agent arrives at the goal and `goal="absorbing"`. With `"ordinary"` the
       goal is a cell like any other; with `"reset"` the step from the goal, whatever the action,
       leads back to the start. In these two an episode never terminates.
    2. Truncation: after 1000 steps, the registered limit. The paper's episodes have 10 n:
       pass `max_episode_steps=10 * n` to `gymnasium.make`.

    ## Information
    `reset` and `step` return a dictionary with `"row"` and `"column"` of the agent.

    ## Arguments

    | Parameter | Type | Default      | Description                                  |
    |-----------|------|--------------|----------------------------------------------|
    | `n`       | int  | `10`         | cells on a side, at least 2                  |
    | `goal`    | str  | `"ordinary"` | `"ordinary"`, `"absorbing"` or `"reset"`     |
    | `reward`  | str  | `"step"`     | `"step"` or `"goal"`                         |

    ```python
    >>> import gymnasium
    >>> import amgd
    >>> env = gymnasium.make("amgd/GridWorld-v0", n=4, goal="absorbing", max_episode_steps=40)
    >>> env.reset(seed=0)
    (0, {'row': 0, 'column': 0})
    >>> env.step(3)
    (1, -1.0, False, False, {'row': 0, 'column': 1})

    ```

    ## Version History
    - v0: Initial version
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        n: int = 10,
        goal: str = "ordinary",
        reward: str = "step",
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            check.choice("render_mode", render_mode, self.metadata["render_modes"])
        self.grid = GridWorld(n, goal=goal, reward=reward)
        self.action_space = gym.spaces.Discrete(len(ACTIONS))
        self.observation_space = gym.spaces.Discrete(self.grid.n_states)
        self.render_mode = render_mode
        self.state: int | None = None

    @check.arguments
    def reset(
        self, *, seed: check.Natural | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Put the agent at the start, or at ``options["state"]``."""
        super().reset(seed=seed)
        state = (options or {}).get("state", self.grid.start)
        cure = "pass the number of a cell"
        state = check.integer('options["state"]', state, 0, cure, self.grid.n_states - 1)
        self.state = state
        return state, self._info(state)

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move the agent; return observation, reward, terminated, truncated, info."""
        if self.state is None:
            raise gym.error.ResetNeeded("step was called before reset: call env.reset() first")
        if not self.action_space.contains(action):
            listed = ", ".join(f"{k} {name}" for k, name in enumerate(ACTIONS))
            raise ValueError(
                f"action is unknown: got {action!r} (expected an integer: {listed}); "
                "draw one with env.action_space.sample()"
            )
        grid, state = self.grid, self.state
        self.state = int(grid.successors[state, int(action)])
        reward = float(grid.departure_reward[state] + grid.arrival_reward[self.state])
        terminated = grid.goal == "absorbing" and self.state == grid.goal_state
        return self.state, reward, terminated, False, self._info(self.state)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the grid: "A" agent, "S" start, "G" goal, as text or as an RGB image."""
        if self.state is None:
            raise gym.error.ResetNeeded("render was called before reset: call env.reset() first")
        if self.render_mode == "ansi":
            return self._text(self.state)
        if self.render_mode == "rgb_array":
            return self._image(self.state)
        gym.logger.warn(
            "render() was called without a render mode; "
            'pass render_mode="ansi" or "rgb_array" to gymnasium.make'
        )
        return None

    def _info(self, state: int) -> dict[str, Any]:
        row, column = divmod(state, self.grid.n)
        return {"row": row, "column": column}

    def _text(self, state: int) -> str:
        cells = np.full(self.grid.n_states, ".")
        cells[self.grid.start], cells[self.grid.goal_state] = "S", "G"
        cells[state] = "A"
        return "\n".join(" ".join(line) for line in cells.reshape(self.grid.n, -1)) + "\n"

    def _image(self, state: int) -> NDArray[np.uint8]:
        side = max(4, 320 // self.grid.n)  # pixels of a cell
        cells = np.full((self.grid.n_states, 3), 255, dtype=np.uint8)
        cells[self.grid.start] = (86, 180, 233)
        cells[self.grid.goal_state] = (0, 158, 115)
        image = cells.reshape(self.grid.n, self.grid.n, 3).repeat(side, 0).repeat(side, 1)
        image[::side], image[:, ::side] = 200, 200  # lines between the cells
        row, column = divmod(state, self.grid.n)
        offset = np.arange(side) - (side - 1) / 2
        disc = offset[:, None] ** 2 + offset**2 <= (0.35 * side) ** 2
        top, left = row * side, column * side
        image[top : top + side, left : left + side][disc] = (213, 94, 0)
        return image
