"""Keeps one buffer for all parameters.

caught by: ta-mend-check
says: needs a buffer of its own
"""


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        k, rule = self.k, self.rule
        for i, grad in enumerate(grads):
            buffer = (1 - rule.alpha(k)) * self.buffers[0] + (rule.gamma(k) - rule.beta(k)) * grad
            self.params[i] = self.params[i] - rule.beta(k) * grad - rule.alpha(k + 1) * buffer
            if i == 0:
                self.buffers[0] = buffer
