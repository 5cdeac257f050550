// Chapter 14: exact worst-case errors of constant steps and momenta on quadratics, tuned for each budget.
"use strict";

const BUDGETS = Array.from({ length: 12 }, (_, i) => 2 ** (i + 1));
const CURVATURES = Array.from({ length: 9 }, (_, i) => 10 ** (-i / 2)); // those from 1/κ on belong to a problem
const between = (low, high, n) => Array.from({ length: n }, (_, i) => low * (high / low) ** (i / (n - 1)));
// Of each family: [step, momentum], and which iterates are averaged.
const SLOW = between(1 / 256, 1, 17).map((beta) => [beta, 0]);
const FAST = between(1 / 64, 1, 7).flatMap((beta) => Array.from({ length: 8 }, (_, i) => [beta, 1 - 0.5 ** (i + 1)]));
const FAMILIES = { sgd: [SLOW, ["last"]], averaged: [SLOW, ["half", "all"]], accelerated: [FAST, ["last", "half", "all"]] };
const WORDS = { sgd: "SGD, last iterate", averaged: "averaged SGD", accelerated: "accelerated" };

const power = (base) => (v) => base ** v;
slider("kappa", "κ", { min: 0, max: 4, step: 0.5, value: 4, scale: power(10), show: (v) => shown(v, 3) });
slider("noise", "Noise <i>s</i>²", { min: -7, max: 0, step: 0.5, value: -5, scale: power(10), show: (v) => v.toExponential(1).replace("-", "−") });
slider("mixing", "Mixing <i>T</i>", { min: 0, max: 10, step: 0.5, value: 0 });
slider("budget", "Budget <i>k</i>", { min: 1, max: 12, step: 1, value: 6, scale: power(2) });

// A step of z = (x, x before, noise, sum): the matrix and the covariance that it adds, row by row in arrays of 16.
function multiplied(a, b, turned = false) {
  const c = new Float64Array(16);
  for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) {
    let sum = 0;
    for (let l = 0; l < 4; l++) sum += a[4 * i + l] * (turned ? b[4 * j + l] : b[4 * l + j]);
    c[4 * i + j] = sum;
  }
  return c;
}
const then = ([A, V], [B, W]) => [multiplied(B, A), multiplied(multiplied(B, V), B, true).map((value, i) => value + W[i])];

// Start and noise of amgd.descent.exact.exact_average for all budgets: of the last iterate, and of the mean of half or all.
function parts(a, beta, theta, q) {
  const keep = 1 - beta * a, row = [keep * (1 + theta), -keep * theta, -beta * q];
  const matrix = (sum) => Float64Array.from([...row, 0, 1, 0, 0, 0, 0, 0, q, 0, ...sum, 1]);
  const added = (push) => Float64Array.from({ length: 16 }, (_, i) => (1 - q * q) * push[i >> 2] * push[i & 3]);
  let moved = [matrix([0, 0, 0]), added([-beta, 0, 1, 0])], summed = [matrix(row), added([-beta, 0, 1, -beta])];
  const read = ([M, V], at, count) => [((M[at] + M[at + 1]) / count) ** 2, (V[5 * (at >> 2)] + M[at + 2] ** 2) / count ** 2];
  return BUDGETS.map((k) => {
    const half = read(then(moved, summed), 12, k / 2); // both have k/2 steps here
    [moved, summed] = [then(moved, moved), then(summed, summed)];
    return { last: read(moved, 0, 1), half, all: read(summed, 12, k) };
  });
}

// The parts of all methods with one memory of the noise, family by family, budget by budget: [curvature][method].
const known = new Map();
function tables(q) {
  if (!known.has(q)) {
    known.set(q, Object.fromEntries(Object.entries(FAMILIES).map(([name, [steps, tails]]) => {
      const found = CURVATURES.map((a) => steps.map(([beta, theta]) => parts(a, beta, theta, q)));
      return [name, BUDGETS.map((_, i) => found.map((methods) => methods.flatMap((budgets) => tails.map((tail) => budgets[i][tail]))))];
    })));
  }
  return known.get(q);
}

const picture = plot("errors", "Exact errors over the budget, on logarithmic axes", { x: [2, 4096], y: [1e-7, 1], log: "xy", xlabel: "budget k, gradients", ylabel: "E f − f*", legend: [0.03, 0.26] });
const curves = { sgd: COLOUR.blue, averaged: COLOUR.indigo, accelerated: COLOUR.orange };
for (const [name, colour] of Object.entries(curves)) curves[name] = picture.curve(colour, WORDS[name], { dash: { sgd: 0, averaged: 3, accelerated: 2 }[name] });
const now = picture.curve(COLOUR.grey, "", { strokeWidth: 1 });

explore(({ kappa, noise, mixing, budget }) => {
  const q = (2 * mixing) / (1 + 2 * mixing); // a sticky chain on two samples with this T repeats its sample with this probability
  const live = CURVATURES.filter((a) => a * kappa > 1 - 1e-9);
  // The start lies in the worst curvature, and so does the noise.
  const worst = (methods, method, part) => Math.max(...live.map((a, i) => (a / 2) * methods[i][method][part]));
  const least = (methods) => Math.min(...methods[0].map((_, method) => worst(methods, method, 0) + noise * worst(methods, method, 1)));
  const errors = Object.fromEntries(Object.entries(tables(q)).map(([name, budgets]) => [name, budgets.map(least)]));
  for (const [name, values] of Object.entries(errors)) curves[name].set(BUDGETS, values);
  now.set([budget, budget], [1e-7, 1]);
  const place = BUDGETS.indexOf(budget), at = (name) => errors[name][place];
  const slow = Math.min(at("sgd"), at("averaged")), gain = slow / at("accelerated");
  say({
    [`${WORDS.sgd}, k = ${budget}`]: shown(at("sgd")),
    [WORDS.averaged]: shown(at("averaged")),
    [WORDS.accelerated]: shown(at("accelerated")),
    "gain of acceleration": shown(gain),
    "who wins": gain > 1.05 ? "acceleration" : gain < 1 / 1.05 ? "SGD" : "a draw, within 5%",
  });
  return { ...errors, gain };
});
