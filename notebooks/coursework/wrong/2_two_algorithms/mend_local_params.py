"""Computes the new parameters and throws them away.

caught by: ta-mend-check
says: do not change
"""


# %% ta-mend
class Mended(Accelerated):
    def step(self, grads):
        self.k += 1
        k, rule = self.k, self.rule
        for i, p in enumerate(self.params):
            self.buffers[i] = (1 - rule.alpha(k)) * self.buffers[i] + (rule.gamma(k) - rule.beta(k)) * grads[i]
            p = p - rule.beta(k) * grads[i] - rule.alpha(k + 1) * self.buffers[i]
