"""Sentences of order and universality ("never", "every", "best", "faster"): each has its evidence.

A sentence needs a row below if it has one of the strong words; one with a weak word only where
nothing carries it already: not in a statement, a proof or an exercise, not where the line links to
a statement, an equation, an erratum or an exercise, not as a choice of a quiz. A row names the
statement that proves the sentence, the assertion of the page that checks it, or a work that it
cites; or says that it claims nothing, gives its reason itself, or tells what is not known.
"""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "notebooks" / "src"
STRONG = re.compile(
    r"\bnever\b|\balways\b|\bevery chain\b|\bno method\b|do not know|[Nn]ot known|know no\b"
    r"|[Tt]o our knowledge|(?<!look-)\b(?:ahead|behind|slower|faster)\b"
)
WEAK = re.compile(
    r"\bbest\b|\b[Ee]very\b(?! (?:\d|fifth|\$\\tau\$-th))"
    r"|\b(?:[Nn]o|[Nn]one)\b(?! (?:noise|longer|more|ball)\b)"
)
CODE = re.compile(
    r"```\{code-cell\}.*?\n```\n|^---\n.*?\n---\n|^\$\$.*?^\$\$|^:.*?$|\{glue:text\}`[^`]*`",
    re.S | re.M,
)
CARRIED = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?:prf:(?!remark)[a-z]+|exercise)\}.*?^(?P=fence) *$"
    r"|^```\{admonition\} Needed from earlier\n.*?^```$",
    re.S | re.M,
)
LINK = re.compile(r"\{(?:prf:ref|eq)\}`|\{ref\}`(?:[^`]*<)?(?:ex|erratum|proof|sec-open)-")
NAMED = re.compile(r"\*\*\d\.\*\*|```")  # a quiz's question; a title
# A choice claims nothing; its reason, in the answer, does.
CHOICE = re.compile(
    r"(?P<answer>^(?P<fence>`{3,})\{admonition\} Answer.*?^(?P=fence)$)|^ *- \([a-e]\) [^\n]*\n",
    re.S | re.M,
)

SET_UP, REASON, OPEN = "set up", "gives its reason", "open"
EVIDENCE = {
    "01": {
        "look $s$ steps ahead": SET_UP,
        "For every chain, every start and all steps": "prop-01-moments",
        "because some $j$ is always the state": REASON,
        "approaches it and never crosses it": "assert (k * error <= 39 + 1e-9).all()",
        "The bias given the past never fades": "Then $d(t)=\\frac12$ for every $t\\ge1$",
        "writes a faster sampler": SET_UP,
        "such a chain is never better than": "sol-01-proof",
        "one step ahead is one step ahead": REASON,
        "as if it had a slower rate": "thm-01-sample-mean",
        "lazy reversible chains never beat": "sol-01-proof",
        "the independent run does so in none": 'assert calm["independent"] == 0',
        "is no sign of convergence": 'calm["sticky"] > 0.4',
        "has the law $\\pi$, so has every": "def-markov-chain",
        "it is zero for every $t\\ge1$": "exm-01-sticky",
        "Bound (c) holds for every start": "thm-01-sample-mean",
        "No bound that sees the chain through": "fair_pair[0].tv_distance(np.arange(9))",
        "whose proof needs no assumption": "thm-01-sample-mean",
        "no number of steps will cure": "assert np.abs(distance - limit).max() < 0.03",
        "bounds of the best possible order": "mou2024optimal",
        "sharpen every test of the shares": REASON,
    },
    "02": {
        "a missing factor below 1 does no harm": REASON,
        "since $d$ never rises": "lem-contraction",
        "How large is $d(1)$ on the cycle": SET_UP,
        "Forgetting never reverses": "lem-contraction",
        "never increase;": "lem-contraction",
        "never subtracts": SET_UP,
        "Since $d$ never increases": "lem-contraction",
        "For every chain and every $k$ the constant 2 is attained": "cor-1",
        "A periodic chain never settles": "assert np.allclose(ring.tv_distance(",
        "returns the uniform law for every chain": REASON,
        "attained for every chain": "cor-1",
        "the best $A$ is the set": REASON,
        "no test can tell the two laws apart": "def-tv",
        "then every distance doubles": REASON,
        "has no factor in front": SET_UP,
        "every detour through it": SET_UP,
        "no bound beats the best value": SET_UP,
        "total variation has none": REASON,
        "There is no way from $\\rho$ up": REASON,
        "attained at every step": 'assert np.allclose(measured["two states .05/.05"], corollary1(',
        "broken at every step shown": 'above["two clusters 8"] == 60',
        "so every eigenvalue but one": REASON,
        "no exponential that starts at 1": REASON,
        "excludes many chains, at no gain": REASON,
        "plays no part in this proof": "cor-1",
    },
    "03": {
        "who is ahead seems to end lower": REASON,
        "always makes sense": "thm-1",
        "is never farther from": "prop-mild",
        "a gradient that never changes": SET_UP,
        "always $\\beta_k=\\beta>0$ where not given": SET_UP,
        "would never enter the buffer": "lem-gap",
        "the slow one gets faster": "# it falls faster and faster",
        "seen from $\\xbar_k$ ahead": "lem-gap",
        "looks ahead in the same way": SET_UP,
        "behind which a wrong index can hide": SET_UP,
        "needed for every theorem that follows": SET_UP,
        "the exact answer for every $k$": SET_UP,
        "for every corner $z$": REASON,
        "for every function with bounded gradients": "prop-mild",
        "holds for every sequence of samples": "prop-mild",
        "No instance exceeds a bound": "assert gaps.max() <= 1 + 1e-9 and (shifts <= bound",
        "No shift helps": REASON,
        "in every direction, so it cannot": REASON,
        "The best $\\theta$ falls": "assert (np.diff(best_theta[b]) <= 0).all()",
        "is best everywhere": "assert best_theta[0.5][0] > best_theta[0.5][-1]",
        "attain the best constants": OPEN,
    },
    "04": {
        "the factor $T$ are the bias": "thm-1",
        "we know no such number": OPEN,
        "(c) We do not know;": OPEN,
        "SGD is slightly ahead": "assert 0 < relative < 0.05 and gap.low > 0",
        "to our knowledge, is only the combination": "dong2024heavy",
        "claims that no curve crosses": SET_UP,
        "no example of this family": "(ratio[horizon < 1e8] < 1).all()",
        "the one that suits us best": SET_UP,
        "So every mean in the lemma": SET_UP,
        "with no sampling error": "assert f_x[2] > right",
        "contains no $L$": REASON,
        "so the bound must hold in the limit": REASON,
        "Why not return the best iterate": SET_UP,
        "which iterate is best one needs": REASON,
        "for *every* rule: between": "lem-04-identities",
        "so $L=M=1$ for every sample": REASON,
        "Every chain gets its problem": SET_UP,
        "four prices, for every $K$": "thm-1",
        "the same units on both sides": "thm-1-poisson",
        "needs no knowledge of the mixing time": "ganesh2024sharper",
        "Every irreducible chain is covered": "thm-1-irreducible",
        "every bound that takes `T` takes it": "thm-1-irreducible",
        "and no last term": "thm-1-irreducible",
        "Every bound is for the paper's": SET_UP,
        "needs no theorem at all": REASON,
        "none of these bounds sees it": "assert (band.high < bound[:n]).all()",
        "with its best lag is better": 'assert theory[name]["Theorem 1\'"][0] < theory',
        "a number of steps has no units": REASON,
        "adds it to every row": SET_UP,
        "a price of momentum and no gain": "assert abs(b / 0.01 - 86) < 1e-6",
        "It holds for every $K$ and $\\beta$": "thm-1",
    },
    "05": {
        "correlated noise averages out more slowly": "prop-b",
        "the method never looks there": "alg-amgd-convex",
        "holds for every sequence of states": "lem-2",
        "2. Now every gradient carries noise": SET_UP,
        "never enters the method": "alg-amgd-convex",
        "and always $|\\E": "lem-lag",
        "the projection never acts": "prop-b",
        "it always misses the newest point": REASON,
        "(b) We do not know.": OPEN,
        "is slower than the method it is meant to": "assert min(on_one_line) > 1.9",
        "The lemma behind the theorem": SET_UP,
        "slower than in SGD": "prop-b",
        "the method is slower than averaged SGD": "< rival < measured[best]",
        "Take away everything difficult": SET_UP,
        "every method meets its own hard line": SET_UP,
        "No proof could exist": "assert all(measured > bound for measured, bound in claims",
        "Every method starts from the same generator": SET_UP,
        "Always $\\sigma\\le2M$": REASON,
        "Lemma 2′ holds on every path": "lem-2",
        "Theorem 2′ has no logarithm": "thm-2",
        "There is no logarithm": "thm-2",
        "linear in $T$ for the best $c$": "prop-no-bound",
        "the best $c$, 100 replicates": SET_UP,
        "is true and shows *none*": REASON,
        "No projection acts": REASON,
        "no theorem of this book covers it": OPEN,
        "and no smaller constant than 4": "ex-05-sharp",
        "has no proof and is false": "assert all(measured > bound for measured, bound in claims",
    },
    "06": {
        "is missed at every": 'assert "at k = 2" in message',
        "promises a faster method": REASON,
        "We know no answer": OPEN,
        "That is slower than the $1/k$": "assert abs(slope + 0.4) < 0.002",
        "times behind, and at": "assert averaged[1] > 5 * ours[1]",
        "The start is forgotten faster than": "assert abs(slope / (-4 * delta) - 1) < 0.01",
        "is the start forgotten faster than": "assert abs(slope / (-4 * delta) - 1) < 0.01",
        "for a chain that never moves": SET_UP,
        "grows faster than $(1+T)^2$": OPEN,
        "To our knowledge a batch-free statement": "dong2024heavy",
        "a projection caps every overshoot": REASON,
        "the same in every panel": SET_UP,
        "has no excess": "prop-family",
        "leave no freedom but one number": "prop-family",
        "at *every* $k\\ge2$": "assert np.allclose(kappa * bounds.lemma2_excess(k[1:]",
        "and no logarithm": "thm-3",
        "at every step is absorbed": "prop-c",
        "breaks every bound of this size": "assert wild.max() > 380",
        "no gradient for any single transition": SET_UP,
        "checks the identity at every $k$": 'assert "at k = 2" in message',
        "There the theorem proves no acceleration": REASON,
        "No bound without a number": "assert (stuck.x_bar == 1).all()",
        "holds for every smaller $\\mu$": "thm-3",
        "no constant of the chain, no expectation": "thm-3-printed",
    },
    "07": {
        "so one hopes for a gain. The right": 'assert win["one coordinate"][3000][0] > 3',
        "A theorem that sees no gain reads": REASON,
        "no method can know": "prop-07-lower",
        "no method escapes": "prop-07-lower",
        "It is never below 1": "and ratio >= 1",
        "The gap is never more than": "ass-convex",
        "and not always real": 'assert min(win["scaled gradient"][300]) > 4',
        "(b) We do not know.": OPEN,
        "method ends ahead:": "assert acc < avg",
        "Yet acceleration survives": 'assert min(win["scaled gradient"][300]) > 4',
        "*behind* at $k=300$": 'assert win["one coordinate"][3000][0] > 3',
        "acceleration can end ahead": "assert acc < avg",
        "To our knowledge the formulas for": "mou2024optimal",
        "every method is a weighted sum": "# the weights against the package, pathwise",
        "every method of this book is then": "# the weights against the package, pathwise",
        "and no step had to be tuned": "assert 0.93 < slope3 < 1.07",
        "is no ornament": SET_UP,
        "the best thinning by 2 to 24": SET_UP,
        "and returns the best": SET_UP,
        "is best for 100 samples": 'assert all(plans[p, 100, 0.01][1] == "accelerated"',
        "Everything else is repetition": "prop-07-lower",
        "lies between the best possible": "assert (lower <= best).all() and (mean <= upper).all()",
        "the *best possible* error": SET_UP,
        "the best possible error is": "assert (lower <= best).all() and (mean <= upper).all()",
        "between Algorithm 2 and the best possible is unfair": REASON,
        "That is no weakness": "prop-07-lower",
        "keeping every second one": "assert 5000 * thin2 / limit > 15",
        "the theorems show no acceleration at all": REASON,
        "they show none": REASON,
        "no theorem allows $c=0$": REASON,
        "Every row was measured": SET_UP,
        "large ones are best here": "assert 30 < tau < 60 and by_batch[b] < by_tau[tau]",
        "the best $L'$ was chosen after": SET_UP,
        "thinning loses on every sticky chain": "ex-07-proof",
        "the theorems show no acceleration from the first": REASON,
    },
    "08": {
        "The one-way ring of 3 has none": "assert not one_way.is_gradient",
        "is faster on *every* chain": OPEN,
        "always steps the same way round": SET_UP,
        "We do not know $P$": SET_UP,
        "practically never": "08-far50",
        "faster along some directions": SET_UP,
        "the matrix behind them": SET_UP,
        "Theorem 3′ is ahead": "assert gaps[1][2] < gaps[0][2]",
        "after every step it moves": SET_UP,
        "No function has such a slope": "thm-td-gradient",
        "Every row of $Q$ sums": REASON,
        "has no solution in general": REASON,
        "is no gradient, and the paper": "assert symmetric.sum() == 36",
        "with no logarithm": "thm-3",
        "Every two-state chain is reversible": REASON,
        "refuses every law but": SET_UP,
        'says "for every $\\Phi$"': "thm-td-gradient",
        "finds the best fit itself": "assert (error < 1 + 1e-9) == (t.dim == 3)",
        "Without momentum the best step": REASON,
        "finds no gain from momentum": "assert rate.min() > plain - 1e-3",
        "What is best between": OPEN,
        "and is not the best fit": "assert 1 - 1e-12 <= error",
        "But no one samples it": SET_UP,
        "for every choice of features exactly": "thm-td-gradient",
        "has none for every set": '"ordinary", "stationary").is_gradient',
    },
    "09": {
        "the value of never arriving": "prop-09-constant",
        "it never forgets the largest update": "prop-09-lag",
        "leaves both behind": '== c["tuned"].word == "worse"',
        "that it lies ahead": SET_UP,
        "looks ahead to $y$": SET_UP,
        "by a walk that never arrives": SET_UP,
        "the goal is never seen": "assert visited.max() < large.problem.n_states - 1",
        "None, or one with luck": "assert 0.064 < reach[10] < 0.065 and 4e-6 < reach[50]",
        "where none of its runs": "assert visited.max() < large.problem.n_states - 1",
        "that no simulation is needed for": "prop-09-constant",
        "As long as no episode ends": "prop-09-constant",
        "wins in none of these": 'assert not [r for r in every if r.against["tuned"].word',
        "no run has seen it": "assert visited.max() < large.problem.n_states - 1",
        "is no comparison": SET_UP,
        "they have no error bars": REASON,
        "and no seed is to blame": 'assert 1.1 < against["accelerated"] < 1.2',
        "than no learning at all": "assert lost[step_ratio > 5].all()",
        "no difference is seen": '["worse", "no difference found"]',
        "and no look-ahead": "assert min(kept) > 0.85",
        "none of the three readings": "assert min(kept) > 0.85",
        "no entry of them is above 11": "assert 0 < hidden.sum() < 20 and (size[-1, hidden]",
        "the start: every update is zero": "prop-09-constant",
        "no update moves away": "prop-09-constant",
        "near its best value the first grid": "assert p_value > 0.05",
        "There is no final answer": OPEN,
        "plain TD(0) has no average": SET_UP,
        "there is no noise to overcome": "prop-09-constant",
        "there is no $\\theta^*$ to compare": SET_UP,
    },
    "10": {
        "$L$ is always a length": SET_UP,
        "does not apply to the difference": REASON,
        "The accelerated rules are much faster": 'max(fast) < early["SGD"] / 4 and max(fast) < 1.2',
        "never sees the other rungs": "assert len(winners) == 4 and not winners[:, 0].any()",
        "chosen for the problem is faster": 'passed["SGD 1.0"] < passed["matched"] <= passed',
        "neither returns to go": "assert valued < const < raw < togo",
        "nor the value function are always best": "assert late_const < late_value",
        "no two close numbers are subtracted": REASON,
        "this number a loss, and it is none": "Minus its gradient is the estimate at the",
        "costs a moment and no sampling": "everything = as_batch(np.arange(len(paths)))",
        "none is more than 3.5 standard errors": "assert checks.max() < 3.5",
        "We compare five weights": SET_UP,
        "is a good rule and no theorem": "assert valued < const < raw < togo",
        "It is not the best one either": "assert late_const < late_value",
        "Standardising is no variance reduction": "assert more.difference.low > 0",
        "lies in the future of every action": "ex-10-last",
        "after a slip the best is to stop": "assert 0.8 * (0.8 * 3.24 / 3 + 0.2 * 0.405 / 3)",
        "Now stopping at once is best": "assert len(winners) == 4 and not winners[:, 0].any()",
        "Rung 2 gets no signal": "abs(late[2]).max() < 1e-15",
        "But no size is assumed": "thm-10-policy-gradient",
        "estimates no probabilities": "a linear fit to simple features of state and time",
        "independent episodes: no mixing time": "prop-10-ascent",
        "compute variances and best baselines": "greensmith2004",
    },
    "11": {
        "that is always pushed to the right": SET_UP,
        "random networks never gets there": SET_UP,
        "never more than 11": "right.max() <= 11",
        "what policies earn that never learn": SET_UP,
        "always does the same": 'fixed("CartPole-v0", (8,), [0, 50], 2000, rng)',
        "of its episodes never swing up": "(acrobot == -500).mean()",
        "is ahead in all six readings": "assert len(means) == 6 and all(acc > plain for plain",
        "Matched SGD at the same rate is": "assert kept.p_value < 0.001 and kept.difference",
        "and behind tuned SGD as well": 'scores_best["sgd"]).difference.high < 0',
        "is ahead over the first 15 updates": "assert early.difference.mean > 0",
        "At the end it is behind": "assert final.p_value < 0.05 and final.difference.high < 0",
        "they push one way, nearly always": "assert np.median(entropy[down]) < 0.1",
        "better than its matched control on": '("cartpole", "matched")["ghadimi_lan"] == "better"',
        "same effort, is ahead of it": '("cartpole", "tuned")["tuned_accelerated"] == "worse"',
        "Which of them reacts faster": SET_UP,
        "The matched control reacts faster": 'shares["ghadimi_lan"][0] < 0.6 * shares',
        "practically never end before the": "ex-11-stuck",
        "no second sequence and no momentum": "prop-11-displacement",
        "holds every choice of an experiment": SET_UP,
        "policies that need no training": SET_UP,
        "every variant beats SGD": "assert all(c.p_value < 0.05 and c.difference.low > 0",
        "where it finds no difference": 'assert control["acrobot"].word == "no difference found"',
        "the best of its own seven rates": SET_UP,
        "every run has a start of its own": SET_UP,
        "no difference between the two": '("acrobot", "matched")["ghadimi_lan"] == "no difference',
        "no difference is seen on Acrobot": '("acrobot", "tuned")["tuned_accelerated"] == "no diff',
        "(a) and (b) hold for every sequence": "prop-11-displacement",
        "with fixed transition probabilities": REASON,
        "No run exceeds its bound": "assert all(s.max() <= 1 + 1e-9 for s in straight",
        "Try it on every record": SET_UP,
        "*every* action drawn is made more": REASON,
        "so every sum is zero": "assert np.abs(credit).max() < 1e-6",
        "does no lasting harm in it": REASON,
        "There is no final answer": OPEN,
        "no run ends below 15": SET_UP,
        "one sequence and no buffer": "prop-11-displacement",
    },
    "12": {
        "is as good as matched SGD or behind it": "assert (gap[turn:] > 0).all()",
        "joint a little behind the first": "def gait(t, period=55, lag=1.1)",
        "Six numbers that were always zero": "assert not seen[:, 27:33].any()",
        "six inputs that were always zero": "assert not seen[:, 27:33].any()",
        "Ant, contact cost": "assert forces.shape[1] == 78 and (forces != 0).any()",
        "no method of this panel has learned": "max(c.max() for c in curves.values()) < 0.5 * hand",
        "which we do not know": OPEN,
        "never had a gradient": REASON,
        "in the rewards that never come": '(old_terms["reward_survive"], new_terms["reward_',
        "so no action is better": REASON,
        "No two algorithms run on one robot": REASON,
        "so this is no verdict on the rate": REASON,
        "none of the walkers walks": "the walker stands straight, dives forward after a second",
        "Here no deviation is lost": 'assert wide_runs("Swimmer", *LONG, *SHORT)[0] == 0',
        "the fall is no fault of": 'curves[v][-1] < 0.6 * curves["plain"][-1] for v in LONG',
        "SGD ends below its highest": 'assert curves["plain"][-1] < curves["plain"].max()',
        "and no order of the methods": "A paired test over seeds needs at least six of them",
        "No payment exceeds its line": "(np.abs(values.mean(axis=0)) <= bound + 4.5 * error",
        "the flat objective alone does no harm": 'assert free["std"].max() < 2',
        "in every one, over 20 policies": "assert (theirs.high < -0.3).all()",
        "needs no episodes of its own": REASON,
        "the best at 0.99": "best, shortsighted = plain.argmax(), discounted.argmax()",
        "what every learning curve starts": "start_band.high < 0.2 * hand",
        "pays no survival on the last step": 'assert dying("Ant-v5", high_ant) == dying(',
        "No answer can be read from the short": "No two algorithms run on one robot",
    },
    "13": {
        "no difference is found on the ant": 'complete("figure3-ant") and set(WORDS["fig',
        "It is the way there that is faster": "assert end_p > 0.5",
        "is ahead of SGD by": 'assert {_words[q] for q in ("theorem", "long", "nesterov", "step")}',
        "*Not known*: tuned robots": OPEN,
        "a verdict of this page against the record behind it": SET_UP,
        "and the accelerated run is ahead on every one": SET_UP,
        "For how many of the choices $K=40$": SET_UP,
        "At $K=40$ it is ahead": "assert up[39] and down[199]",
        "gets no verdict: it says *so far*": 'start = f"so far (n = ',
        "The paper reports that the accelerated method is ahead": "Section 5: in *all* experiments",
        "Every comparison behind it": SET_UP,
        "What stands behind single lines": SET_UP,
        "Some are behind and none is ahead": 'if asked[n]["worse"] and not asked[n]["better"]]',
        "The theorems predict that acceleration is faster": SET_UP,
        "for every chain of its Assumption 1": SET_UP,
        "counts with one update more than it has": "c.k[-1] + 1) for h in heights]",
        "SGD is behind only because": "assert (one > acc)[flat].all() and (one > mat)[flat].all()",
        "the matched run is mostly *ahead*": "assert (mat < 0.1 * acc)[middle].mean() > 0.7",
        "If the matched run is behind plain too": REASON,
        "both are behind plain SGD": 'assert _step.word == "worse" and _step.difference.high < 0',
        "Theorem 1's own steps are": 'assert line[-1] == "no difference found" and abs(float(line[',
        "$p\\ge2^{1-n}$ always": "prop-13-sign-flip",
        "are always counted": "prop-13-sign-flip",
        "cannot be faster than its slowest run": REASON,
        "on the large one no difference is found": '("figure1-grid50", ("better", "no difference f',
        "and in none at 0.9": 'assert _won["0.9"] == 0',
        "on Acrobot, where no difference is found": 'assert WORDS["figure2-acrobot-L"]["control"]',
        "takes a smaller rate than SGD's best": 'ratios = [best(n, "tuned") / best(n, "tuned_accel',
        "No: $2^{1-5}=0.0625$": "prop-13-sign-flip",
        "No choice decides for another": SET_UP,
        "no theorem of the paper covers": "Theorem 1 has one chain, fixed beforehand.",
        "Theorem 1 is no smaller than that of SGD": "thm-1",
        "The bound shows no gain over SGD": "thm-1",
        "here are the runs themselves": SET_UP,
        "up to the best mean curve in it": "top = max(c.samples.mean(axis=0).max() for c in curves",
        "whose best rate on CartPole is 3": 'assert best(OWN_STARTS["cartpole"], "tuned") == 3.0',
        "costs more than its best curve shows": "adkins2024sensitivity",
        "we compare the best rate of each task": SET_UP,
        "No single curvature needs acceleration": REASON,
        "so that no one step suits both": REASON,
        "That a gain needs no acceleration": 'assert WORDS["figure2-acrobot-L"]["control"] == "no',
        "Both grid worlds are on it": '("figure1-grid10", ("better", "worse", "better"))',
        'is no proof of "equal"': REASON,
        "since the paper names none": "Fix one measure and one length before",
        '"No difference" there means': "low, high = (mean, high) if share < 0.8 else (low, mean)",
        "The test needs no normal law": "prop-13-sign-flip",
        "with the fewest pairs no $p$ can be below": "prop-13-sign-flip",
        "the best of many tries is partly luck": REASON,
        "10, no pilot": SET_UP,
        "else a step size passes for a method": REASON,
        "at the paper's rate, no pilot": SET_UP,
        "so they are no benchmark": REASON,
        "Panels without a run have no measured cost": '*["not measured"] * 3]',
        "grey that no difference was found": SET_UP,
        "but no verdict at level 0.05": "assert paired_difference([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]",
        "and no difference is found.": "assert last.p_value > 0.5 and ratio < 1.3",
        "There is no single answer": SET_UP,
        "*No*: the interval excludes": SET_UP,
        "ten pairs miss a difference of half a deviation": "assert abs(power[10].mean(axis=0)[1:]",
        "has the long steps and no acceleration": "The control is a plain method with *steps of th",
        "their best need not": "prop-13-sign-flip",
    },
    "14": {
        "For $\\mu<L$ always": "prop-14-lower",
        "and never more than $\\beta$": "prop-14-upper",
        "$A_1=\\Phi^\\top D\\Phi$ always is": "prop-14-trace",
        "with a tuned $a$, which never fall": "fast_grid = [(rules.theorem2(a, 0.0)",
        "is a little ahead of SGD with steps as long": '"25-paper": "better"',
        "The second is what the runs show": '"25-paper": "better"',
        "AMGD is ahead of SGD at the same rate": "assert min(steps_share) > 0.95",
        "On the ladder AMGD is behind": "assert all(lead[None, rate] < 0 for rate in (0.01, 0.03,",
        "with 25 episodes at rate 1 it is behind too": "assert all(lead[25, rate].high < 0 for rat",
        "forgets in distance where it never mixes": "So $d(t)=1$ for all $t$ from every start",
        "relative to the curvature the noise never falls": "prop-14-trace",
        "**For which problems, noise levels": SET_UP,
        "The picture shows the *gain*": SET_UP,
        "on the best budget gives": "assert all(t[loud].max() < 1.12 for t in top.values())",
        "compute the start and the noise of every method": SET_UP,
        "a tuned constant step is nearly the best": "assert min(wide_S) > 0.98 and max(wide_S) < 1",
        "**What no tuning can beat.**": "prop-14-lower",
        "be every method whose output is": SET_UP,
        "are their best worst-case errors": SET_UP,
        "the best constant step with the best tail": "assert min(wide_S) > 0.98 and max(wide_S) <",
        "whose worst of ten own paths is best": "scores.append(errors(setting, own).max())",
        "and better in none": 'assert tasks_won("0", "0.9") == tasks_won("λ", "0.9") == 0',
        "is of no use to acceleration": 'assert tasks_won("0", "0.9") == tasks_won("λ", "0.9") ==',
        "LSTD is the best on the grid": "assert min(on_grid) > 1",
        "none found at a smaller one": '"25-slow": "no difference found"',
        "At a smaller rate none is found": '"25-slow": "no difference found"',
        "and no acceleration is needed for it": "prop-14-passes",
        "the mixture that is best on average": SET_UP,
        "of this book is no use there": "So $d(t)=1$ for all $t$ from every start",
        "is 1 at every time": REASON,
        "the stationary law has none that weighs anything": REASON,
        "and no mixing": "thm-14-poisson",
        "No method with steps fixed beforehand": "prop-14-lower",
        "$c$ the best for the bound": 'c = np.sqrt((4 * known["sigma"] ** 2 + 4 * known["M"] * kno',
        "the worst point of the disc at every step": "assert (np.array(high) < limit).all()",
        "is reached below $\\rho=\\kappa^{-2}$ for every $k$": OPEN,
        "where our map has none": "assert all(t[loud].max() < 1.12 for t in top.values())",
        "We have no answer": OPEN,
        "so the best of them does not lose": REASON,
        "Errors on quadratics need no simulation": "assert min(wide_S) > 0.98 and max(wide_S) < 1.",
    },
}


def claims(text):
    """Lines of a page that a row has to account for."""
    text = CHOICE.sub(lambda found: found["answer"] or "", CODE.sub("", text))
    strong = [line for line in text.splitlines() if STRONG.search(line)]
    rest = CARRIED.sub("", text).splitlines()
    return [
        *(line for line in strong if not NAMED.match(line)),
        *(
            line
            for line in rest
            if WEAK.search(line) and not LINK.search(line) and not NAMED.match(line)
        ),
    ]


def page(number):
    (path,) = SOURCES.glob(f"{number}_*.md")
    return path.read_text("utf8")


@pytest.mark.parametrize("number", EVIDENCE)
def test_sentences_have_evidence(number):
    text, evidence = page(number), EVIDENCE[number]
    lines = claims(text)
    bare = [line[:200] for line in lines if not any(part in line for part in evidence)]
    assert not bare, "no evidence named for:\n" + "\n".join(bare)
    gone = [part for part in evidence if not any(part in line for line in lines)]
    assert not gone, f"no such sentence: {gone}"


@pytest.mark.parametrize("number", EVIDENCE)
def test_the_evidence_exists(number):
    text = page(number)
    everything = "\n".join(path.read_text("utf8") for path in SOURCES.glob("*.md"))
    for proof in EVIDENCE[number].values():
        if proof not in (SET_UP, REASON, OPEN):
            assert f":label: {proof}\n" in everything or proof in text, proof


def test_what_needs_a_row():
    text = """---
no: front matter
---
It is never worse.
It is the best, and every run shows it.
```{prf:proof}
No step is longer, and it always stops.
```
By {prf:ref}`thm-1` no run fails.
- (a) No, it is the best
```{admonition} Answer 1
- (a) So it never is.
```
```{code-cell} ipython3
# no code is ever read, and never was
```
There is no noise and no longer run.
"""
    assert claims(text) == [
        "It is never worse.",
        "No step is longer, and it always stops.",
        "- (a) So it never is.",
        "It is the best, and every run shows it.",
    ]
