// Chapter 10: episodes on the ladder, and what four estimators make of them.
"use strict";

const END = 3, HORIZON = 3, DISCOUNT = 0.9, MOST = 60;
const [STOP, CLIMB] = [0, 1];
const PAYS = [[1, -0.2], [0.5, -0.2], [4, -0.2]];
// The rungs that follow an action, each with its chance.
const after = (rung, action) => {
  if (action === STOP) return [[END, 1]];
  return rung === 2 ? [[0, 1]] : [[rung, 0.2], [rung + 1, 0.8]];
};

// All ways that an episode can go: (rungs, actions, chance of the moves).
function extended(rungs, actions, chance) {
  return [STOP, CLIMB].flatMap((action) => {
    const taken = [...actions, action];
    if (taken.length === HORIZON || action === STOP) return [{ rungs, actions: taken, chance }];
    return after(rungs.at(-1), action).flatMap(([rung, part]) => extended([...rungs, rung], taken, chance * part));
  });
}
const PATHS = extended([0], [], 1).map((path) => {
  const paid = path.actions.map((action, t) => PAYS[path.rungs[t]][action]);
  const discounted = paid.map((r, t) => DISCOUNT ** t * r);
  const toGo = discounted.map((_, t) => discounted.slice(t).reduce((a, b) => a + b, 0)); // what counts from step t on
  return { ...path, paid, toGo, total: toGo[0], length: paid.length };
});

slider("p", "P(climb)", { min: 0.05, max: 0.95, step: 0.05, value: 0.5 });
choice("rung", "Derivative by", { 0: "climb on rung 0", 1: "climb on rung 1", 2: "climb on rung 2" });
const episodes = slider("n", "Episodes", { min: 1, max: MOST, step: 1, value: 20 });
slider("seed", "Seed", { min: 0, max: 50, step: 1, value: 1 });
button("One more episode", () => episodes.set(Math.min(MOST, values().n + 1)));

const ESTIMATORS = {
  raw: ["return of the whole episode", COLOUR.pink, (path) => path.toGo.map(() => path.total)],
  episode_sum: ["return to go", COLOUR.blue, (path) => path.toGo],
  step_mean: ["to go, by all steps", COLOUR.green, (path) => path.toGo],
  episode_mean: ["to go, by own length", COLOUR.orange, (path) => path.toGo.map((g) => g / path.length)],
};

// Sum of the weights times the derivative of the log-probability by theta of "climb" on one rung.
function score(path, weights, rung, p) {
  return weights.reduce((sum, weight, t) => sum + (path.rungs[t] === rung ? weight * ((path.actions[t] === CLIMB ? 1 : 0) - p) : 0), 0);
}

const left = plot("episode", "The rungs of the last episode over its steps", { x: [0, 3], y: [0, 2.4], xlabel: "step of the last episode", ylabel: "rung", legend: [0.02, 0.97] });
const right = plot("gradient", "Estimates of one derivative over the number of episodes, with the exact ones", { x: [1, MOST], y: [-1.2, 1.2], xlabel: "episodes", ylabel: "estimate of the derivative", legend: [0.28, 1] });
const walk = left.curve(COLOUR.blue, "", { strokeWidth: 3 });
const ends = left.board.create("text", [0.1, 2.25, ""], { fontSize: 13 });
const running = Object.fromEntries(Object.entries(ESTIMATORS).map(([name, [words, colour]]) => [name, right.curve(colour, words)]));
const truth = right.curve(COLOUR.black, "exact derivative of J");
const other = right.curve(COLOUR.grey, "mean, by own length", { dash: 2 });

explore(({ p, rung: choiceOfRung, n, seed }) => {
  const rung = Number(choiceOfRung), random = generator(seed);
  const law = PATHS.map((path) => path.actions.reduce((chance, action) => chance * (action === CLIMB ? p : 1 - p), path.chance));
  const bounds = law.map(((sum) => (q) => (sum += q))(0));
  const drawn = Array.from({ length: n }, () => {
    const u = random(), i = bounds.findIndex((bound) => bound > u);
    return i < 0 ? PATHS.length - 1 : i;
  });
  const mean = (weights) => PATHS.reduce((sum, path, i) => sum + law[i] * score(path, weights(path), rung, p), 0);
  const exact = mean(ESTIMATORS.episode_sum[2]), own = mean(ESTIMATORS.episode_mean[2]);
  const numbers = { drawn, exact, own }, k = drawn.map((_, i) => i + 1);
  for (const [name, [, , weights]] of Object.entries(ESTIMATORS)) {
    let sum = 0, steps = 0;
    numbers[name] = drawn.map((i, before) => {
      sum += score(PATHS[i], weights(PATHS[i]), rung, p);
      steps += PATHS[i].length;
      return sum / (name === "step_mean" ? steps : before + 1);
    });
    running[name].set(k, numbers[name]);
  }
  truth.set([1, MOST], [exact, exact]);
  other.set([1, MOST], [own, own]);
  const last = PATHS[drawn.at(-1)];
  const places = last.actions.at(-1) === CLIMB && last.length === HORIZON ? last.rungs : [...last.rungs, last.rungs.at(-1)];
  walk.set(places.map((_, t) => t), places);
  ends.setText(`${last.actions.map((action) => (action === CLIMB ? "climb" : "stop")).join(", ")}: return ${shown(last.total)}`);
  say({
    "exact derivative": shown(exact),
    "return of the whole episode": shown(numbers.raw.at(-1)),
    "return to go": shown(numbers.episode_sum.at(-1)),
    "to go, by all steps": shown(numbers.step_mean.at(-1)),
    "to go, by own length": shown(numbers.episode_mean.at(-1)),
    "mean of that one": shown(own),
  });
  return numbers;
});
