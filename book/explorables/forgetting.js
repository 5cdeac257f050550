// Chapter 2: the law of a chain after k steps, and its distances d(k).
"use strict";

const LONGEST = 60;
const identity = (n) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => +(i === j)));
const square = (n, entry) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => entry(i, j)));
const product = (a, b) => a.map((row) => times(row, b));
const CHAINS = {
  two_clusters: ({ p }) => square(8, (i, j) => ((i < 4) === (j < 4) ? 1 - p : p) / 4),
  two_state: ({ p }) => [[1 - p, p], [p, 1 - p]],
  sticky: ({ p }) => square(5, (i, j) => p / 5 + (i === j ? 1 - p : 0)),
  lazy_cycle: () => square(8, (i, j) => [0.5, 0.25, 0, 0, 0, 0, 0, 0.25][(j - i + 8) % 8]),
  de_bruijn: () => square(8, (i, j) => ((2 * i) % 8 === j || (2 * i + 1) % 8 === j ? 0.5 : 0)),
  own: (given) => square(3, (i, j) => given[`w${i}${j}`]).map((row, i) => {
    const sum = row[0] + row[1] + row[2];
    return sum ? row.map((weight) => weight / sum) : identity(3)[i];
  }),
};

choice("chain", "Chain", {
  two_clusters: "two clusters", two_state: "two states", sticky: "sticky", lazy_cycle: "lazy cycle", de_bruijn: "three coin tosses", own: "your own",
});
slider("p", "<i>p</i>, change", { min: 0.02, max: 0.9, step: 0.01, value: 0.05 });
const step = slider("k", "Steps <i>k</i>", { min: 0, max: LONGEST, step: 1, value: 3 });
const first = slider("start", "Start", { min: 0, max: 7, step: 1, value: 0 });
[[6, 3, 1], [1, 6, 3], [3, 1, 6]].forEach((row, i) => row.forEach((weight, j) => slider(`w${i}${j}`, `${i} → ${j}`, { min: 0, max: 9, step: 1, value: weight })));
const player = button("Play", () => play());
let timer = null;
function play() {
  const stop = () => {
    clearInterval(timer);
    timer = null;
    player.textContent = "Play";
  };
  if (timer) return stop();
  step.set(values().k === LONGEST ? 0 : values().k + 1);
  if (calm) return; // one step a click
  player.textContent = "Pause";
  timer = setInterval(() => {
    step.set(values().k + 1);
    redraw();
    if (values().k === LONGEST) stop();
  }, 400);
}

// The limit of the powers of the lazy chain, by squaring: its rows are the stationary law.
function stationary(matrix) {
  let power = square(matrix.length, (i, j) => (matrix[i][j] + (i === j ? 1 : 0)) / 2);
  for (let i = 0; i < 60; i++) {
    power = product(power, power).map((row) => {
      const sum = row.reduce((a, b) => a + b);
      return row.map((value) => value / sum);
    });
  }
  return power[0];
}
const distance = (law, other) => law.reduce((sum, value, i) => sum + Math.abs(value - other[i]), 0) / 2;

// d(0), d(1), ... until nothing is left, or not ergodic.
function distances(matrix, pi) {
  const found = [];
  for (let power = identity(pi.length); found.length < 20000; power = product(power, matrix)) {
    found.push(Math.max(...power.map((row) => distance(row, pi))));
    if (found.length > LONGEST && found.at(-1) < 1e-14) return [found, true];
  }
  return [found, false];
}

const graph = board("graph", "The chain as a graph, its states shaded by their probability", [-1.45, 1.45, 1.45, -1.45], { square: true });
const curve = plot("distance", "Distances to the stationary law over the steps", { x: [0, LONGEST], y: [1e-4, 1.5], log: "y", xlabel: "step k", ylabel: "distance", legend: [0.5, 0.97] });
const worst = curve.curve(COLOUR.black, "worst start, d(k)");
const here = curve.curve(COLOUR.blue, "this start", { dash: 2 });
const now = curve.curve(COLOUR.grey, "", { strokeWidth: 1 });

let drawn = "";
let nodes = [];
function drawGraph(matrix) {
  if (drawn === JSON.stringify(matrix)) return;
  drawn = JSON.stringify(matrix);
  graph.suspendUpdate();
  graph.removeObject(Object.values(graph.objects).reverse());
  const n = matrix.length, radius = 0.24 - 0.01 * n;
  const at = matrix.map((_, i) => [Math.sin((2 * Math.PI * i) / n), Math.cos((2 * Math.PI * i) / n)]);
  const options = { fixed: true, highlight: false, tabindex: null };
  matrix.forEach((row, i) => row.forEach((weight, j) => {
    if (weight <= 0) return;
    if (i === j) {
      graph.create("circle", [at[i].map((c) => (1.09 + radius) * c), 0.1], { ...options, strokeColor: COLOUR.grey, strokeWidth: 0.4 + 4 * weight, fillColor: "none" });
      return;
    }
    const [dx, dy] = [at[j][0] - at[i][0], at[j][1] - at[i][1]], length = Math.hypot(dx, dy), [ux, uy] = [dx / length, dy / length];
    const aside = 0.035; // the way back runs beside it
    const from = [at[i][0] + radius * ux - aside * uy, at[i][1] + radius * uy + aside * ux], to = [at[j][0] - (radius + 0.03) * ux - aside * uy, at[j][1] - (radius + 0.03) * uy + aside * ux];
    graph.create("arrow", [from, to], { ...options, strokeColor: COLOUR.grey, strokeWidth: 0.4 + 4 * weight, strokeOpacity: 0.75, lastArrow: { type: 2, size: 4 } });
  }));
  nodes = at.map((place, i) => {
    const circle = graph.create("circle", [place, radius], { ...options, strokeColor: COLOUR.black, strokeWidth: 1.5, fillColor: COLOUR.sky });
    graph.create("text", [place[0], place[1] + 0.05, String(i)], { anchorX: "middle", fontSize: 13, layer: 9 });
    const share = graph.create("text", [place[0], place[1] - 0.07, ""], { anchorX: "middle", fontSize: 11, layer: 9 });
    return [circle, share];
  });
  graph.unsuspendUpdate();
}

explore((given) => {
  const matrix = CHAINS[given.chain](given), pi = stationary(matrix), n = pi.length;
  show("p", ["two_clusters", "two_state", "sticky"].includes(given.chain));
  for (const name of named.keys()) if (/^w\d\d$/.test(name)) show(name, given.chain === "own");
  first.most(n - 1);
  const { start } = values();
  const laws = [identity(n)[start]];
  while (laws.length <= LONGEST) laws.push(times(laws.at(-1), matrix));
  const law = laws[given.k], [d, ergodic] = distances(matrix, pi), own = laws.map((one) => distance(one, pi));
  drawGraph(matrix);
  nodes.forEach(([circle, share], i) => {
    circle.setAttribute({ fillOpacity: 0.04 + 0.96 * Math.sqrt(law[i]), fillColor: COLOUR.sky });
    share.setText(law[i].toFixed(2));
  });
  const steps = own.map((_, i) => i);
  worst.set(steps, d.slice(0, LONGEST + 1));
  here.set(steps, own);
  now.set([given.k, given.k], [1e-4, 1.5]);
  const reach = (delta) => 1 + d.slice(1).findIndex((value) => value <= delta * (1 + 1e-12));
  const [quarter, percent] = [0.25, 0.01].map((delta) => (ergodic ? reach(delta) : Infinity));
  const sum = ergodic ? d.slice(1).reduceRight((a, b) => a + b, 0) : Infinity;
  say({
    [`d(${given.k}), worst start`]: shown(d[given.k]),
    [`distance from start ${start}`]: shown(own[given.k]),
    "mixing time t(1/4)": shown(quarter, 6),
    "mixing time t(0.01)": shown(percent, 6),
    "mixing sum T": shown(sum, 4),
  });
  return { start, law, stationary: pi, d: d.slice(0, LONGEST + 1), own, quarter, percent, sum };
});
