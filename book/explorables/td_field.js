// Chapter 8: the mean update b − Aθ of TD(0) on a cycle of three states with a drift, with two weights.
"use strict";

const FEATURES = [[1, 0], [-0.5, Math.sqrt(3) / 2], [-0.5, -Math.sqrt(3) / 2]], REWARD = [1, 0.5, -1], SHOWN = 60;

slider("drift", "Drift", { min: -1, max: 1, step: 0.05, value: 1 });
slider("discount", "Discount", { min: 0, max: 0.95, step: 0.05, value: 0.9 });
slider("step", "Step β", { min: 0.05, max: 3, step: 0.05, value: 0.5 });
slider("steps", "Steps", { min: 0, max: SHOWN, step: 1, value: 30 });
slider("angle", "Start, angle", { min: 0, max: 350, step: 10, value: 140, show: (v) => `${v}°` });

// Stays with probability 0.1; else it goes on or back.
const chain = (drift) => FEATURES.map((_, i) => FEATURES.map((_, j) => [0.1, 0.45 * (1 + drift), 0.45 * (1 - drift)][(j - i + 3) % 3]));

// A = Φᵀ D (I − discount P) Φ and b = Φᵀ D r; the stationary law D is uniform.
function system({ drift, discount }) {
  const P = chain(drift);
  const ahead = P.map((row, s) => [0, 1].map((c) => FEATURES[s][c] - discount * row.reduce((sum, p, t) => sum + p * FEATURES[t][c], 0)));
  const A = [0, 1].map((r) => [0, 1].map((c) => FEATURES.reduce((sum, phi, s) => sum + (phi[r] * ahead[s][c]) / 3, 0)));
  const b = [0, 1].map((r) => FEATURES.reduce((sum, phi, s) => sum + (phi[r] * REWARD[s]) / 3, 0));
  return [A, b];
}

const RANGE = 3;
const field = board("field", "The field of mean updates, the fixed point and the path", [-RANGE, RANGE, RANGE, -RANGE], { square: true });
const decay = plot("neu", "Norm of the expected update over the steps", { x: [0, SHOWN], y: [1e-8, 10], log: "y", xlabel: "step k", ylabel: "NEU", legend: [0.45, 0.97] });
for (const ends of [[[-RANGE, 0], [RANGE, 0]], [[0, -RANGE], [0, RANGE]]]) field.create("segment", ends, { strokeColor: COLOUR.pale, strokeWidth: 1 });
const options = { fixed: true, highlight: false, tabindex: null };
const needles = [];
for (let i = -4; i <= 4; i++) {
  for (let j = -4; j <= 4; j++) {
    const at = [0.62 * i, 0.62 * j], end = field.create("point", at, { ...options, visible: false });
    field.create("arrow", [at, end], { ...options, strokeColor: COLOUR.grey, strokeWidth: 1.2, lastArrow: { type: 2, size: 4 } });
    needles.push([at, end]);
  }
}
const path = field.create("curve", [[], []], { strokeColor: COLOUR.blue, strokeWidth: 2 });
const dot = (name, colour, size) => field.create("point", [0, 0], { ...options, name, size, fillColor: colour, strokeColor: colour, label: { fontSize: 15, strokeColor: colour } });
const goal = dot("θ*", COLOUR.black, 4), start = dot("start", COLOUR.blue, 3), end = dot("", COLOUR.blue, 3);
const fall = decay.curve(COLOUR.blue, "NEU, ‖b − Aθ‖²");
const now = decay.curve(COLOUR.grey, "", { strokeWidth: 1 });

explore((given) => {
  const [A, b] = system(given), update = (theta) => b.map((value, r) => value - A[r][0] * theta[0] - A[r][1] * theta[1]);
  const determinant = A[0][0] * A[1][1] - A[0][1] * A[1][0];
  const fixed = [(A[1][1] * b[0] - A[0][1] * b[1]) / determinant, (A[0][0] * b[1] - A[1][0] * b[0]) / determinant];
  const turn = (given.angle * Math.PI) / 180;
  const thetas = [[2.5 * Math.cos(turn), 2.5 * Math.sin(turn)]];
  while (thetas.length <= SHOWN) {
    const move = update(thetas.at(-1));
    thetas.push(thetas.at(-1).map((value, i) => value + given.step * move[i]));
  }
  const neu = thetas.map((theta) => update(theta).reduce((sum, value) => sum + value * value, 0));
  const place = (point, at) => point.setPositionDirectly(JXG.COORDS_BY_USER, at);
  needles.forEach(([at, tip]) => {
    const move = update(at), length = Math.hypot(...move), drawn = Math.min(0.55, 0.5 * length) / (length || 1);
    place(tip, at.map((value, i) => value + drawn * move[i]));
  });
  place(goal, fixed);
  place(start, thetas[0]);
  place(end, thetas[given.steps]);
  [path.dataX, path.dataY] = [0, 1].map((i) => thetas.slice(0, given.steps + 1).map((theta) => theta[i]));
  fall.set(thetas.map((_, k) => k), neu);
  now.set([given.steps, given.steps], [1e-8, 10]);
  const rotation = (A[1][0] - A[0][1]) / 2;
  say({
    "θ*": fixed.map((value) => shown(value)).join(", "),
    "rotation, (A₂₁ − A₁₂)/2": shown(rotation),
    [`NEU after ${given.steps} steps`]: shown(neu[given.steps]),
    "the field is": Math.abs(rotation) < 1e-12 ? "minus a gradient" : "no gradient",
  });
  return { A, b, fixed, thetas, here: thetas[given.steps], neu, rotation };
});
