"""Changes the names and nothing else: the buffer is still a local array.

caught by: ta-mend-check
says: knows nothing of the first
"""


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        k, rule = self.k, self.rule
        for i, grad in enumerate(grads):
            buffer = self.buffers[i]
            buffer = (1 - rule.alpha(k)) * buffer + (rule.gamma(k) - rule.beta(k)) * grad
            self.params[i] -= rule.beta(k) * grad + rule.alpha(k + 1) * buffer
