"""Stores the buffer of the first parameter only.

caught by: ta-mend-hidden
"""


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        k, rule = self.k, self.rule
        for i, (buffer, grad) in enumerate(zip(self.buffers, grads)):
            buffer = (1 - rule.alpha(k)) * buffer + (rule.gamma(k) - rule.beta(k)) * grad
            self.params[i] = self.params[i] - rule.beta(k) * grad - rule.alpha(k + 1) * buffer
            if i == 0:
                self.buffers[0] = buffer
