"""A baseline for REINFORCE: the value of a state as a linear function of simple features.

Subtracting from the return a number b(o, t) that does not depend on the action leaves the mean of
the policy gradient as it is and can take away most of its variance (Williams 1992). A good b is
the mean return from there on, and the cheapest way to learn it is least squares.

The features are those of rllab (Duan et al. 2016)::

    phi(o, t) = (o, o^2, t/100, (t/100)^2, (t/100)^3, 1)        with o clipped to [-10, 10]

and the coefficients w solve the ridge regression of the returns G of one batch::

    (Phi' Phi + ridge I) w = Phi' G

A prediction must come from an *earlier* batch. Fitted to the very returns it is subtracted from,
the baseline would depend on the actions, and the gradient would be biased.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import torch
from numpy.typing import ArrayLike

from amgd import _checks as check
from amgd._checks import FloatArray

__all__ = ["LinearBaseline"]

Observations = Annotated[ArrayLike, check.array, ("N", "size"), "pass one row a step"]
Time = Annotated[ArrayLike, check.integers, 0, "steps of an episode count from 0"]


class LinearBaseline:
    """Ridge regression of the return on (o, o^2, powers of t/100, 1).

    Parameters
    ----------
    ridge : float
        Added to the diagonal of Phi' Phi, which is a sum over the steps of the batch, not a mean.
    clip : float
        Observations are cut to [-clip, clip] first.

    Attributes
    ----------
    coefficients : array (2 observation_size + 4,) or None
        What the last `fit` found; None before the first.

    Notes
    -----
    In a training loop call `predict` first and `fit` afterwards, so that the predictions come from
    the batch before. Before the first fit the prediction is 0. rllab makes the ridge ten times as
    large while a coefficient is NaN; here none is, and equations that overflow are refused.

    Examples
    --------
    >>> observations = np.array([[0.0], [1.0], [2.0]])
    >>> baseline = LinearBaseline()
    >>> baseline.predict(observations, [0, 1, 2])
    array([0., 0., 0.])
    >>> baseline.fit(observations, [0, 1, 2], [1.0, 3.0, 5.0])
    >>> baseline.predict(observations, [0, 1, 2]).round(3)
    array([1., 3., 5.])
    """

    @check.arguments
    def __init__(
        self,
        ridge: Annotated[float, check.positive, "1e-5 is rllab's"] = 1e-5,
        clip: Annotated[float, check.positive, "10 is rllab's"] = 10.0,
    ) -> None:
        self.ridge, self.clip = ridge, clip
        self.coefficients: FloatArray | None = None

    def __repr__(self) -> str:
        fitted = "not fitted" if self.coefficients is None else f"{self.coefficients.size} features"
        return f"<LinearBaseline: {fitted}>"

    @check.arguments
    def features(self, observations: Observations, time: Time) -> FloatArray:
        """Return the features, shape (N, 2 observation_size + 4).

        Parameters
        ----------
        observations : array (N, observation_size)
            One row a step.
        time : int array (N,)
            Number of the step within its episode, from 0.

        Raises
        ------
        TypeError, ValueError
            For other shapes, a negative time or a number that is not finite.

        Examples
        --------
        >>> LinearBaseline().features([[-20.0]], [50])
        array([[-10.   , 100.   ,   0.5  ,   0.25 ,   0.125,   1.   ]])
        """
        given, steps = np.asarray(observations), np.asarray(time)
        if steps.shape != (len(given),):
            raise ValueError(
                f"time must have shape ({len(given)},): got {steps.shape}; pass one a step"
            )
        size = given.shape[1]
        result = np.empty((len(given), 2 * size + 4))
        np.clip(given, -self.clip, self.clip, out=result[:, :size])
        np.square(result[:, :size], out=result[:, size : 2 * size])
        scaled = steps / 100.0
        for power in (1, 2, 3):
            result[:, 2 * size + power - 1] = scaled**power
        result[:, -1] = 1.0
        return result

    def predict(self, observations: ArrayLike, time: ArrayLike) -> FloatArray:
        """Return the predicted return of each step, shape (N,); 0 before the first fit.

        Parameters are those of `features`.
        """
        features = self.features(observations, time)
        if self.coefficients is None:
            return np.zeros(len(features))
        if features.shape[1] != self.coefficients.size:
            raise ValueError(
                f"observations must have the size {(self.coefficients.size - 4) // 2} that the "
                f"baseline was fitted to: got {(features.shape[1] - 4) // 2}; fit it again"
            )
        product = torch.from_numpy(features) @ torch.from_numpy(self.coefficients)
        return np.asarray(product.numpy())

    def fit(self, observations: ArrayLike, time: ArrayLike, returns: ArrayLike) -> None:
        """Replace the coefficients by those of one batch.

        Parameters
        ----------
        observations, time
            As for `features`.
        returns : array (N,)
            The returns to go.

        Raises
        ------
        TypeError, ValueError
            As `features` does, and for returns that are not N finite numbers.
        FloatingPointError
            When the returns are so large that the equations overflow.
        """
        features = torch.from_numpy(self.features(observations, time))
        target = check.array("returns", returns, (len(features),), "pass one for each step")
        # torch does the linear algebra because its number of threads can be set from here; that
        # of NumPy's BLAS cannot, and the last bits depend on it.
        gram = features.T @ features
        gram.diagonal().add_(self.ridge)
        moments = features.T @ torch.from_numpy(target)
        if not torch.isfinite(moments).all():
            raise FloatingPointError(
                "LinearBaseline: the normal equations must be finite: got returns of size "
                f"{np.abs(target).max():g}, whose sums overflow; scale the rewards"
            )
        # A constant coordinate makes the features dependent and leaves the ridge alone to carry
        # them: least squares copes with what a Cholesky factorisation may call indefinite.
        solution = torch.linalg.lstsq(gram, moments.unsqueeze(1), driver="gelsd").solution
        self.coefficients = np.asarray(solution.squeeze(1).numpy())
