"""Stores the buffer, but forgets the factor 1 - alpha.

caught by: ta-mend-check
says: adds up the gradients
"""


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        k, rule = self.k, self.rule
        for p, buffer, grad in zip(self.params, self.buffers, grads):
            buffer += (rule.gamma(k) - rule.beta(k)) * grad
            p -= rule.beta(k) * grad + rule.alpha(k + 1) * buffer
