// Chapter 1: SGD on the function x²/2 whose samples x + 1 and x − 1 come from a sticky chain, from x = 0.
"use strict";

const STEPS = 400, FAIR = [0.5, 0.5], NOISE = [1, -1];

slider("p", "<i>p</i>, refresh", { min: 0.02, max: 1, step: 0.01, value: 0.05 });
choice("rule", "Steps", { constant: "constant step γ", mean: "step 1/k" });
slider("step", "γ", { min: 0.01, max: 1, step: 0.01, value: 0.1 });
slider("seed", "Seed", { min: 0, max: 50, step: 1, value: 2 });

const sticky = (p) => FAIR.map((_, i) => FAIR.map((q, j) => p * q + (i === j ? 1 - p : 0)));
const step = ({ rule, step: gamma }, k) => (rule === "mean" ? 1 / k : gamma);

// E x_k², by the recursion of the chapter for the mean and the second moment on each state.
function exactError(p, given) {
  const matrix = sticky(p);
  let q = FAIR, u = [0, 0], v = [0, 0];
  return Array.from({ length: STEPS }, (_, i) => {
    const gamma = step(given, i + 1), keep = 1 - gamma;
    [q, u, v] = [times(q, matrix), times(u, matrix), times(v, matrix)];
    v = v.map((value, j) => keep ** 2 * value - 2 * keep * gamma * NOISE[j] * u[j] + (gamma * NOISE[j]) ** 2 * q[j]);
    u = u.map((value, j) => keep * value - gamma * NOISE[j] * q[j]);
    return v[0] + v[1];
  });
}

const k = Array.from({ length: STEPS }, (_, i) => i + 1);
const left = plot("path", "The path of SGD over its steps", { x: [0, STEPS], y: [-1.1, 1.1], xlabel: "step k", ylabel: "x" });
const right = plot("error", "Squared errors over the steps, on logarithmic axes", { x: [1, STEPS], y: [1e-4, 2], log: "xy", xlabel: "step k", ylabel: "squared error", legend: [0.04, 0.26] });
const minimum = left.curve(COLOUR.grey, "", { strokeWidth: 1 });
const walk = left.curve(COLOUR.orange, "");
const running = right.curve(COLOUR.orange, "mean of this path");
const exact = right.curve(COLOUR.black, "exact");
const independent = right.curve(COLOUR.grey, "exact, p = 1", { dash: 2 });

explore((given) => {
  const states = samplePath(sticky(given.p), FAIR, STEPS + 1, generator(given.seed)).slice(1);
  const path = [], mean = [];
  let x = 0, sum = 0;
  states.forEach((state, i) => {
    x -= step(given, i + 1) * (x + NOISE[state]);
    sum += x * x;
    path.push(x);
    mean.push(sum / (i + 1));
  });
  const error = exactError(given.p, given), fresh = exactError(1, given);
  minimum.set([0, STEPS], [0, 0]);
  walk.set(k, path);
  running.set(k, mean);
  exact.set(k, error);
  independent.set(k, fresh);
  const factor = (2 - given.p) / given.p, ratio = error.at(-1) / fresh.at(-1);
  say({
    "factor (2 − p)/p": shown(factor),
    "exact errors, quotient at k = 400": shown(ratio),
    "exact error at k = 400": shown(error.at(-1)),
    "independent samples": shown(fresh.at(-1)),
    "mean of this path": shown(mean.at(-1)),
  });
  return { path, mean, error, fresh, factor, ratio };
});
