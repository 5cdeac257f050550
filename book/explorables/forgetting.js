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
};

choice("chain", "Chain", {
  two_clusters: "two clusters", two_state: "two states", sticky: "sticky", lazy_cycle: "lazy cycle", de_bruijn: "three coin tosses", own: "draw your own",
});
slider("p", "<i>p</i>, change", { min: 0.02, max: 0.9, step: 0.01, value: 0.05 });
const step = slider("k", "Steps <i>k</i>", { min: 0, max: LONGEST, step: 1, value: 3 });
const first = slider("start", "Start", { min: 0, max: 7, step: 1, value: 0 });
const arrows = textField("arrows", "Arrows", "0-0:6 0-1:3 0-2 1-0 1-1:6 1-2:3 2-0:3 2-1 2-2:6");
slider("weight", "New weight", { min: 1, max: 9, step: 1, value: 3 });
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

// A chain of one's own: its arrows are the words of the field, from-to or from-to:weight.
function written(text) {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const found = words.map((word) => /^([0-7])-([0-7])(?::([1-9]))?$/.exec(word));
  const known = found.filter(Boolean).map(([, i, j, weight]) => [Number(i), Number(j), Number(weight || 1)]);
  const size = Math.max(2, ...known.map(([i, j]) => Math.max(i, j) + 1));
  const weights = square(size, () => 0);
  for (const [i, j, weight] of known) weights[i][j] = weight;
  const sums = weights.map((row) => row.reduce((a, b) => a + b));
  const matrix = square(size, (i, j) => weights[i][j] / (sums[i] || 1));
  const wrong = words.find((_, at) => !found[at]), stuck = sums.indexOf(0);
  if (wrong) return [matrix, `“${wrong}” is no arrow: write 0-2, or 0-2:5 with a weight from 1 to 9; states are 0 to 7.`];
  if (stuck >= 0) return [matrix, `State ${stuck} has no arrow out of it: draw one.`];
  const ways = walks(square(size, (i, j) => matrix[i][j] + (i === j ? 1 : 0)));
  for (let i = 0; i < size; i++) {
    const j = ways[i].indexOf(0);
    if (j >= 0) return [matrix, `No way leads from state ${i} to state ${j}, so this chain cannot forget where it began: draw one.`];
  }
  return [matrix, ""];
}

// 1 where a path of exactly 64 steps leads. Up to 8 states, 50 steps lead from all to all unless a chain is reducible or periodic.
function walks(matrix) {
  let power = matrix;
  for (let i = 0; i < 6; i++) power = product(power, power).map((row) => row.map((value) => (value > 0 ? 1 : 0)));
  return power;
}

const split = () => values().arrows.split(/[\s,;]+/).filter(Boolean);
const sizeOf = () => written(values().arrows)[0].length;
const editors = [
  button("Add a state", () => sizeOf() < 8 && arrows.set([...split(), `${sizeOf()}-${sizeOf()}`].join(" "))),
  button("Take the last state away", () => {
    const last = String(sizeOf() - 1);
    if (last > 1) arrows.set(split().filter((word) => !word.split(":")[0].split("-").includes(last)).join(" "));
  }),
];

// Two taps draw an arrow, or take it away: from the first state to the second. So does a drag.
let from = null;
function tap(state) {
  if (from === null) from = state;
  else {
    const name = `${from}-${state}`, others = split().filter((word) => word.split(":")[0] !== name);
    arrows.set((others.length < split().length ? others : [...others, `${name}:${values().weight}`]).join(" "));
    from = null;
  }
  redraw();
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

// d(0), d(1), ... until nothing is left; of a periodic chain those of the picture.
const MOST = 20000, DONE = 1e-14;
function distances(matrix, pi, most) {
  const found = [];
  for (let power = identity(pi.length); found.length < most; power = product(power, matrix)) {
    found.push(Math.max(...power.map((row) => distance(row, pi))));
    if (found.length > LONGEST && found.at(-1) < DONE) break;
  }
  return found;
}

const graph = board("graph", "The chain as a graph, its states shaded by their probability", [-1.45, 1.45, 1.45, -1.45], { square: true });
graph.containerObj.setAttribute("role", "group"); // it holds buttons: the states of a chain of one's own
const stateAt = (event) => nodes.findIndex(([circle]) => {
  const box = circle.rendNode.getBoundingClientRect();
  return Math.hypot(event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2) < 0.65 * box.width;
});

// A pointer that leaves the state where it went down pulls an arrow out of it; lifted before, it has tapped.
let pull = null;
function follow(event) {
  if (event.pointerId !== pull?.pointer) return;
  const over = stateAt(event);
  if (over !== pull.state) from = pull.state;
  if (from !== pull.state) return; // still a tap
  pulled.point1.setPositionDirectly(JXG.COORDS_BY_USER, nodes[from][0].center.coords.usrCoords.slice(1));
  pulled.point2.setPositionDirectly(JXG.COORDS_BY_USER, graph.getUsrCoordsOfMouse(event));
  pulled.setAttribute({ visible: true });
  mark(over);
  graph.update();
}
function letGo(state = -1) {
  pull = null;
  if (pulled) pulled.setAttribute({ visible: false });
  if (state >= 0) return tap(state);
  from = null;
  redraw();
}
const listen = (what, act) => graph.containerObj.addEventListener(what, act);
listen("pointerdown", (event) => {
  const state = stateAt(event);
  if (values().chain !== "own" || state < 0 || pull || event.button) return;
  graph.containerObj.setPointerCapture(event.pointerId); // to know where it ends, outside of the picture, too
  pull = { pointer: event.pointerId, state };
});
listen("pointermove", follow);
listen("pointerup", (event) => {
  follow(event);
  if (event.pointerId === pull?.pointer) letGo(stateAt(event));
});
listen("lostpointercapture", (event) => event.pointerId === pull?.pointer && letGo()); // the page scrolls, or a call comes
addEventListener("keydown", (event) => event.key === "Escape" && letGo());
const curve = plot("distance", "Distances to the stationary law over the steps", { x: [0, LONGEST], y: [1e-4, 1.5], log: "y", xlabel: "step k", ylabel: "distance", legend: [0.5, 0.97] });
const worst = curve.curve(COLOUR.black, "worst start, d(k)");
const here = curve.curve(COLOUR.blue, "this start", { dash: 2 });
const now = curve.curve(COLOUR.grey, "", { strokeWidth: 1 });

let drawn = "";
let nodes = [], pulled;
// In orange: the state where an arrow begins, and the one that a pointer would lead it to.
function mark(over = -1) {
  nodes.forEach(([circle], i) => {
    const marked = i === from || i === over;
    circle.setAttribute({ strokeColor: marked ? COLOUR.orange : COLOUR.black, strokeWidth: marked ? 4 : 1.5 });
    if (pulled) circle.rendNode.setAttribute("aria-pressed", i === from);
  });
}
function drawGraph(matrix, own) {
  if (drawn === JSON.stringify([matrix, own])) return;
  drawn = JSON.stringify([matrix, own]);
  if (pull) pull = from = null; // its states go
  const focused = nodes.findIndex(([circle]) => circle.rendNode === document.activeElement);
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
    if (own) {
      for (const [name, value] of Object.entries({ tabindex: 0, role: "button", "aria-label": `State ${i}` })) circle.rendNode.setAttribute(name, value);
      circle.rendNode.addEventListener("keydown", (event) => {
        if (![" ", "Enter"].includes(event.key)) return;
        event.preventDefault();
        tap(i);
      });
      circle.rendNode.addEventListener("click", (event) => event.detail || tap(i)); // that of a screen reader comes without a pointer
    }
    return [circle, share];
  });
  pulled = own && graph.create("arrow", [[0, 0], [0, 0]], { ...options, visible: false, strokeColor: COLOUR.orange, strokeWidth: 3, layer: 9 });
  nodes[focused]?.[0].rendNode.focus();
}

explore((given) => {
  const own = given.chain === "own", [matrix, fault] = own ? written(given.arrows) : [CHAINS[given.chain](given), ""];
  const n = matrix.length;
  show("p", ["two_clusters", "two_state", "sticky"].includes(given.chain));
  for (const name of ["arrows", "weight"]) show(name, own);
  for (const editor of editors) editor.hidden = !own;
  if (!own || from >= n) from = null;
  drawGraph(matrix, own);
  mark();
  const pi = fault ? [] : stationary(matrix), ergodic = !fault && walks(matrix).flat().every(Boolean);
  const d = fault ? [] : distances(matrix, pi, ergodic ? MOST : LONGEST + 1);
  const refused = fault || (ergodic && d.at(-1) >= DONE ? `This chain takes more than ${MOST} steps to forget, too many for this page: take weights that differ less.` : "");
  const rounds = refused || ergodic ? "" : "This chain is periodic: its law goes round, and d(k) does not fall to 0.";
  const hint = from === null ? "Tap a state, then another, or drag from one to the other: an arrow with the new weight comes or goes. The same state twice draws its loop." : `From state ${from}: tap the state that the arrow leads to. Escape lets go.`;
  tell(own ? [refused, rounds, hint].filter(Boolean).join(" ") : "");
  if (refused) {
    nodes.forEach(([circle, share]) => {
      circle.setAttribute({ fillOpacity: 0 });
      share.setText("");
    });
    for (const line of [worst, here, now]) line.set([], []);
    say({});
    return { refused };
  }
  first.most(n - 1);
  const { start } = values();
  const laws = [identity(n)[start]];
  while (laws.length <= LONGEST) laws.push(times(laws.at(-1), matrix));
  const law = laws[given.k], mine = laws.map((one) => distance(one, pi));
  nodes.forEach(([circle, share], i) => {
    circle.setAttribute({ fillOpacity: 0.04 + 0.96 * Math.sqrt(law[i]), fillColor: COLOUR.sky });
    share.setText(law[i].toFixed(2));
  });
  const steps = mine.map((_, i) => i);
  worst.set(steps, d.slice(0, LONGEST + 1));
  here.set(steps, mine);
  now.set([given.k, given.k], [1e-4, 1.5]);
  const reach = (delta) => 1 + d.slice(1).findIndex((value) => value <= delta * (1 + 1e-12));
  const [quarter, percent] = [0.25, 0.01].map((delta) => (ergodic ? reach(delta) : Infinity));
  const sum = ergodic ? d.slice(1).reduceRight((a, b) => a + b, 0) : Infinity;
  say({
    [`d(${given.k}), worst start`]: shown(d[given.k]),
    [`distance from start ${start}`]: shown(mine[given.k]),
    "mixing time t(1/4)": shown(quarter, 6),
    "mixing time t(0.01)": shown(percent, 6),
    "mixing sum T": shown(sum, 4),
  });
  return { k: given.k, start, law, stationary: pi, d: d.slice(0, LONGEST + 1), own: mine, quarter, percent, sum };
});
