// Chapter 3: Algorithm 1 with constant α, β, γ on ½(x₁² + x₂²/10), whose step is a 2×2 matrix in each coordinate.
"use strict";

const CURVATURES = [1, 0.1];

slider("alpha", "α", { min: 0.05, max: 1, step: 0.01, value: 0.2 });
slider("beta", "β", { min: 0.05, max: 2.2, step: 0.05, value: 0.5 });
alternatives("rule", "γ", { sgd: "SGD: β", theorem1: "Theorem 1: (1 + α)β", nesterov: "Nesterov: β/α", free: "free" }, "nesterov");
slider("ratio", "γ/β, free", { min: 0, max: 12, step: 0.1, value: 4 });
const taken = slider("steps", "Steps taken", { min: 0, max: 60, step: 1, value: 3 });
button("One step more", () => taken.set(values().steps + 1));
button("Back to the start", () => taken.set(0));

const RATIO = { sgd: () => 1, theorem1: ({ alpha }) => 1 + alpha, nesterov: ({ alpha }) => 1 / alpha, free: ({ ratio }) => ratio };

// Eigenvalues [real, imaginary] of the matrix of a step, from its determinant and trace.
function eigenvalues(alpha, beta, gamma, curvature) {
  const determinant = (1 - beta * curvature) * (1 - alpha), half = (1 + determinant - alpha * gamma * curvature) / 2;
  const square = half ** 2 - determinant, root = Math.sqrt(Math.abs(square));
  if (square < 0) return [[half, root], [half, -root]];
  const large = half + Math.sign(half || 1) * root; // without cancellation: the product is the determinant
  const pair = [large, large === 0 ? 0 : determinant / large];
  return pair.sort((a, b) => b - a).map((value) => [value, 0]);
}

const plane = board("plane", "The points of a step in the plane; the start can be moved with the arrow keys", [-3.6, 3.6, 3.6, -3.6], { square: true, keyboard: true });
const disc = board("disc", "Eigenvalues of the step in the unit disc", [-1.35, 1.35, 1.35, -1.35], { square: true });

for (const level of [0.05, 0.3, 1, 2.4]) {
  const angles = Array.from({ length: 121 }, (_, i) => (i * Math.PI) / 60);
  plane.create("curve", [0, 1].map((i) => angles.map((a) => Math.sqrt((2 * level) / CURVATURES[i]) * (i ? Math.sin(a) : Math.cos(a)))), { strokeColor: "#bbbbbb", strokeWidth: 1 });
}
const trail = (colour, dash) => plane.create("curve", [[], []], { strokeColor: colour, strokeWidth: 1.5, dash });
const trails = { x: trail(COLOUR.orange, 0), mean: trail(COLOUR.blue, 2) };
const start = plane.create("point", [-2, 2.4], { name: "start", size: 5, fillColor: COLOUR.grey, strokeColor: COLOUR.grey, fixed: false, tabindex: 0, label: { fontSize: 12 } });
start.rendNode.setAttribute("role", "button");
start.rendNode.setAttribute("aria-label", "Start, move it with the arrow keys");
const mark = (name, colour) => plane.create("point", [0, 0], { name, size: 3, fillColor: colour, strokeColor: colour, fixed: true, tabindex: null, highlight: false, label: { strokeColor: colour, fontSize: 15, offset: [8, 8] } });
const marks = { x: mark("x", COLOUR.orange), mean: mark("x̄", COLOUR.blue), y: mark("y", COLOUR.black) };
const arrow = (from, colour, options = {}) => {
  const end = plane.create("point", [0, 0], { visible: false, fixed: true, tabindex: null });
  plane.create("arrow", [from, end], { strokeColor: colour, strokeWidth: 2.5, fixed: true, tabindex: null, highlight: false, lastArrow: { type: 2, size: 6 }, ...options });
  return end;
};
const ends = { x: arrow(marks.x, COLOUR.orange), mean: arrow(marks.y, COLOUR.blue), gradient: arrow(marks.y, COLOUR.grey, { dash: 2, strokeWidth: 1.5 }) };
plane.create("text", [-3.45, -2.8, "grey: minus the gradient at y"], { strokeColor: COLOUR.grey, fontSize: 12 });
plane.create("text", [-3.45, -3.1, "orange: the long step −γ ∇f(y)"], { strokeColor: COLOUR.orange, fontSize: 12 });
plane.create("text", [-3.45, -3.4, "blue: the short step −β ∇f(y)"], { strokeColor: COLOUR.blue, fontSize: 12 });
start.on("drag", () => redraw());

disc.create("circle", [[0, 0], 1], { strokeColor: COLOUR.black, strokeWidth: 1.5, fixed: true, highlight: false, tabindex: null });
for (const ends of [[[-1.2, 0], [1.2, 0]], [[0, -1.2], [0, 1.2]]]) disc.create("segment", ends, { strokeColor: COLOUR.pale, strokeWidth: 1 });
const eigen = CURVATURES.map((curvature, i) => [0, 1].map(() => disc.create("point", [0, 0], {
  name: "", size: 5, face: i ? "[]" : "o", fillColor: i ? "none" : COLOUR.green, strokeColor: i ? COLOUR.indigo : COLOUR.green, strokeWidth: 2.5, fixed: true, highlight: false, tabindex: null,
})));
disc.create("text", [-1.3, 1.25, "circles: curvature 1"], { strokeColor: COLOUR.green, fontSize: 12 });
disc.create("text", [-1.3, 1.12, "squares: curvature 0.1"], { strokeColor: COLOUR.indigo, fontSize: 12 });

explore((given) => {
  show("ratio", given.rule === "free");
  const { alpha, beta, steps } = given, gamma = beta * RATIO[given.rule](given);
  let x = [start.X(), start.Y()], mean = x;
  const path = [x], means = [mean];
  let y, next, nextMean, gradient;
  for (let k = 0; k <= steps; k++) {
    y = x.map((value, i) => (1 - alpha) * mean[i] + alpha * value);
    gradient = y.map((value, i) => CURVATURES[i] * value);
    next = x.map((value, i) => value - gamma * gradient[i]);
    nextMean = y.map((value, i) => value - beta * gradient[i]);
    if (k === steps) break; // the step that the arrows show
    [x, mean] = [next, nextMean];
    path.push(x);
    means.push(mean);
  }
  const place = (point, at) => point.setPositionDirectly(JXG.COORDS_BY_USER, at);
  place(marks.x, x);
  place(marks.mean, mean);
  place(marks.y, y);
  place(ends.x, next);
  place(ends.mean, nextMean);
  place(ends.gradient, y.map((value, i) => value - gradient[i]));
  [trails.x.dataX, trails.x.dataY] = [0, 1].map((i) => path.map((point) => point[i]));
  [trails.mean.dataX, trails.mean.dataY] = [0, 1].map((i) => means.map((point) => point[i]));
  const found = CURVATURES.map((curvature) => eigenvalues(alpha, beta, gamma, curvature));
  found.forEach((pair, i) => pair.forEach((at, j) => place(eigen[i][j], at)));
  const radii = found.map((pair) => Math.max(...pair.map((at) => Math.hypot(...at))));
  say({
    "γ": shown(gamma),
    "modulus, curvature 1": shown(radii[0]),
    "modulus, curvature 0.1": shown(radii[1]),
    "f(x̄)": shown(CURVATURES.reduce((sum, a, i) => sum + (a / 2) * mean[i] ** 2, 0)),
    "all inside the disc": radii.every((radius) => radius < 1) ? "yes" : "no",
  });
  return { start: path[0], x: path, mean: means, y, next, nextMean, radii };
});
