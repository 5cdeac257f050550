"""Moves the parameter before the buffer is renewed.

caught by: ta-mend-check
says: uses the buffer before
"""


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        k, rule = self.k, self.rule
        for p, buffer, grad in zip(self.params, self.buffers, grads):
            p -= rule.beta(k) * grad + rule.alpha(k + 1) * buffer
            buffer *= 1 - rule.alpha(k)
            buffer += (rule.gamma(k) - rule.beta(k)) * grad
