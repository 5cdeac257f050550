// What all explorables share: the theme, controls, plots, random numbers, and what a page tells the page around it.
// Classic scripts, because browsers refuse modules from file://. README.md says how to add an explorable.
"use strict";

// Colours of amgd/amgd.mplstyle. Black and grey are for exact values, bounds and references.
const COLOUR = {
  blue: "#0072B2", orange: "#D55E00", green: "#009E73", pink: "#CC79A7", yellow: "#E69F00", sky: "#56B4E9", red: "#A50026", indigo: "#332288",
  black: "#000000", grey: "#666666", pale: "#dddddd",
};

// Random numbers: those of numpy.random.default_rng(seed).random(), number for number (PCG64 seeded by SeedSequence).
function generator(seed) {
  let constant = 0x43b0d7e5;
  const stirred = (value, factor) => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, factor);
    const product = Math.imul(mixed, constant);
    return (product ^ (product >>> 16)) >>> 0;
  };
  const pool = [seed, 0, 0, 0].map((word) => stirred(word, 0x931e8875));
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) {
      if (from === to) continue;
      const mixed = Math.imul(0xca01f9dd, pool[to]) - Math.imul(0x4973f715, stirred(pool[from], 0x931e8875));
      pool[to] = (mixed ^ (mixed >>> 16)) >>> 0;
    }
  }
  constant = 0x8b51f9dd;
  const words = Array.from({ length: 8 }, (_, i) => BigInt(stirred(pool[i % 4], 0x58f38ded)));
  const [high, low, streamHigh, streamLow] = [0, 2, 4, 6].map((i) => words[i] | (words[i + 1] << 32n));
  const long = (value) => BigInt.asUintN(128, value);
  const increment = long(((streamHigh << 64n) | streamLow) * 2n + 1n);
  const next = (state) => long(state * 0x2360ed051fc65da44385df649fccf645n + increment);
  let state = next(long(increment + ((high << 64n) | low)));
  return () => {
    state = next(state);
    const folded = BigInt.asUintN(64, (state >> 64n) ^ state), turn = state >> 122n;
    const output = BigInt.asUintN(64, (folded >> turn) | (folded << (64n - turn)));
    return Number(output >> 11n) / 2 ** 53;
  };
}

// States of a chain, as amgd.markov.MarkovChain.sample draws them: one number a step, by the cumulative sums of a row.
function samplePath(matrix, law, length, random) {
  const drawn = (row) => {
    const u = random();
    let sum = 0, last = 0;
    for (let j = 0; j < row.length; j++) {
      if (row[j] <= 0) continue;
      last = j;
      sum += row[j];
      if (sum > u) return j;
    }
    return last;
  };
  const states = [drawn(law)];
  while (states.length < length) states.push(drawn(matrix[states.at(-1)]));
  return states;
}

const times = (row, matrix) => matrix[0].map((_, j) => row.reduce((sum, value, i) => sum + value * matrix[i][j], 0));

// Page and theme ------------------------------------------------------------------------------------------------------

const query = new URLSearchParams(location.search);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const main = document.querySelector("main");
const controls = make("form", { className: "controls", autocomplete: "off", onsubmit: () => false }); // a browser that comes back fills in nothing
const message = make("p", { className: "message", role: "status" });
const boards = make("div", { className: "boards" });
const readout = make("dl", { className: "readout" });
const spoken = make("p", { className: "spoken", role: "status" });
main.append(controls, message, boards, readout, spoken);

// The page around the frame tells its theme and takes the height: by messages, since a file may not look into another one.
// In a notebook the frame is the notebook's own document, and JupyterLab's theme is written on its body.
function theme() {
  try {
    const light = window.parent !== window && window.parent.document.body.dataset.jpThemeLight;
    if (light) return light === "true" ? "light" : "dark";
  } catch {} // another origin
  return query.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
document.documentElement.dataset.theme = theme();
addEventListener("message", ({ data }) => {
  if (data && ["light", "dark"].includes(data.theme)) document.documentElement.dataset.theme = data.theme;
});
function tellHeight() {
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  if (window.parent === window) return;
  window.parent.postMessage({ explorable: height }, "*");
  try {
    window.frameElement.style.height = `${height}px`;
  } catch {} // another origin
}
new ResizeObserver(tellHeight).observe(document.body);
if (window.parent !== window) document.documentElement.classList.add("framed");

const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

// Controls ------------------------------------------------------------------------------------------------------------

// Every control has a name: `values()` gives all of them, `?name=value` in the address sets one.
const named = new Map();
const values = () => Object.fromEntries([...named].map(([name, read]) => [name, read()]));
let redraw = () => {};

// What the address asks of a control, if the control takes it.
function asked(name, value, takes) {
  const wanted = query.get(name);
  return wanted !== null && takes(wanted) ? wanted : value;
}
const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));

// A slider. `show` says the value in words; `scale` turns the place of the slider into the value (10 ** v for a logarithmic one).
function slider(name, label, { min, max, step, value, scale = (v) => v, show = (v) => String(+v.toPrecision(4)) }) {
  const input = make("input", { type: "range", id: name, min, max, step });
  input.value = asked(name, value, isNumber);
  const output = make("output", { htmlFor: name, "aria-live": "off" }); // the slider says it
  const read = () => scale(Number(input.value));
  const say = () => {
    output.textContent = show(read());
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    say();
    redraw();
  });
  say();
  controls.append(make("div", {}, make("label", { htmlFor: name, innerHTML: label }), input, output));
  named.set(name, read);
  return {
    set(place) {
      input.value = place;
      say();
    },
    most(place) {
      input.max = place;
      say();
    },
  };
}

// Controls that have no meaning now are hidden.
function show(name, isShown) {
  document.getElementById(name).parentElement.hidden = !isShown;
}

// A choice among a few options: {value: what it says}.
function choice(name, label, options, value = Object.keys(options)[0]) {
  const select = make("select", { id: name });
  for (const [key, words] of Object.entries(options)) select.append(make("option", { value: key }, words));
  select.value = asked(name, value, (key) => Object.hasOwn(options, key));
  select.addEventListener("input", () => redraw());
  controls.append(make("div", {}, make("label", { htmlFor: name }, label), select));
  named.set(name, () => select.value);
}

// The same, with a button for each option: what is chosen is pressed.
function alternatives(name, label, options, value = Object.keys(options)[0]) {
  const group = make("div", { id: name, className: "buttons", role: "group", "aria-label": label });
  let chosen = asked(name, value, (key) => Object.hasOwn(options, key));
  const press = () => [...group.children].forEach((one) => one.setAttribute("aria-pressed", one.value === chosen));
  for (const [key, words] of Object.entries(options)) {
    const choose = () => {
      chosen = key;
      press();
      redraw();
    };
    group.append(make("button", { type: "button", value: key, onclick: choose }, words));
  }
  press();
  controls.append(make("div", { className: "wide" }, make("span", { className: "label" }, label), group));
  named.set(name, () => chosen);
}

// A line of text that a reader writes.
function textField(name, label, value) {
  const input = make("input", { type: "text", id: name, autocomplete: "off", spellcheck: false });
  input.value = query.get(name) ?? value;
  input.addEventListener("input", () => redraw());
  controls.append(make("div", { className: "wide" }, make("label", { htmlFor: name }, label), input));
  named.set(name, () => input.value);
  return { set: (text) => { input.value = text; } };
}

function button(label, action) {
  const row = controls.querySelector(":scope > .buttons") || controls.appendChild(make("div", { className: "buttons" }));
  const made = make("button", { type: "button", onclick: () => (action(), redraw()) }, label);
  row.append(made);
  return made;
}

// A sentence above the pictures: what to do, or what is wrong.
function tell(text) {
  if (message.textContent !== text) message.textContent = text;
}

// Numbers below the pictures: {what: value}. A screen reader says those that are new, once the reader's hands rest.
let heard = null, rest = null;
function say(lines) {
  readout.replaceChildren(...Object.entries(lines).map(([what, value]) => make("div", {}, make("dt", {}, what), make("dd", {}, String(value)))));
  heard ??= lines;
  clearTimeout(rest);
  rest = setTimeout(() => {
    const fresh = Object.entries(lines).filter(([what, value]) => heard[what] !== value);
    if (fresh.length) spoken.textContent = fresh.map(([what, value]) => `${what}: ${value}`).join("; ");
    heard = lines;
  }, 800);
}
const shown = (number, digits = 3) => (Number.isFinite(number) ? String(+number.toPrecision(digits)).replace("-", "−") : "∞");

// Boards --------------------------------------------------------------------------------------------------------------

const BOARD = {
  axis: false, showCopyright: false, showNavigation: false, showInfobox: false, renderer: "svg", pan: { enabled: false }, zoom: { enabled: false },
  keyboard: { enabled: false }, keepAspectRatio: false, resize: { enabled: true, throttle: 100 }, defaultAxes: {},
};
JXG.Options.text.display = "internal"; // letters within the drawing, so that it can be kept as a picture
JXG.Options.text.fontSize = 13;
JXG.Options.text.cssDefaultStyle = JXG.Options.text.highlightCssDefaultStyle = "";
JXG.Options.text.strokeColor = COLOUR.black;
for (const kind of ["text", "curve", "segment", "line", "polygon"]) Object.assign(JXG.Options[kind], { highlight: false, fixed: true, tabindex: null });

// A board of JSXGraph. `box` is [left, top, right, bottom]; `square` keeps equal units on both axes.
function board(name, description, box, { square = false, keyboard = false } = {}) {
  const place = make("div", { id: name, className: `jxgbox${square ? " square" : ""}` });
  boards.append(place);
  const made = JXG.JSXGraph.initBoard(name, {
    ...BOARD, id: `${name}_board`, boundingBox: box, keepAspectRatio: square, title: description, description: "", keyboard: { enabled: keyboard, dx: 2, dy: 2, panShift: false, panCtrl: false },
  });
  if (!keyboard) {
    place.removeAttribute("tabindex");
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", description);
  }
  return made;
}

const drawnBoards = () => [...boards.children].map((place) => JXG.getBoardByContainerId(place.id));

// Away with all boards: the next ones may have other axes.
function clear() {
  for (const made of drawnBoards()) {
    made.updateContainerDims = () => {}; // it may have promised itself to follow the size of the page
    JXG.JSXGraph.freeBoard(made);
  }
  boards.replaceChildren();
}

const SUPERSCRIPT = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

function ticks([low, high], log) {
  if (log) {
    const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const every = Math.ceil((b - a + 1) / 6);
    return Array.from({ length: b - a + 1 }, (_, i) => a + i).filter((e) => (e - a) % every === 0).map((e) => [e, `10${SUPERSCRIPT(e)}`]);
  }
  const raw = (high - low) / 5, ten = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= raw - 1e-12);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => [(first + i) * step, shown((first + i) * step, 6)]);
}

// A plot with axes: `x` and `y` are ranges, `log` holds the letters of the logarithmic ones. Curves leave the picture at its edge.
// `legend` is where the names of the curves start, in parts of the width and height.
function plot(name, description, { x, y, log = "", xlabel, ylabel, legend = [0.6, 0.97] }) {
  const scaled = (range, isLog) => (isLog ? range.map(Math.log10) : range);
  const [xs, ys] = [scaled(x, log.includes("x")), scaled(y, log.includes("y"))];
  const width = (xs[1] - xs[0]) / 0.83, height = (ys[1] - ys[0]) / 0.73;
  const made = board(name, description, [xs[0] - 0.13 * width, ys[1] + 0.12 * height, xs[1] + 0.04 * width, ys[0] - 0.15 * height]);
  const line = (a, b, options) => made.create("segment", [a, b], { strokeColor: COLOUR.pale, strokeWidth: 1, layer: 1, ...options });
  const text = (at, words, options) => made.create("text", [...at, words], options);
  for (const [at, words] of ticks(x, log.includes("x"))) {
    line([at, ys[0]], [at, ys[1]]);
    text([at, ys[0] - 0.045 * height], words, { anchorX: "middle", fontSize: 11 });
  }
  for (const [at, words] of ticks(y, log.includes("y"))) {
    line([xs[0], at], [xs[1], at]);
    text([xs[0] - 0.01 * width, at], words, { anchorX: "right", fontSize: 11 });
  }
  line([xs[0], ys[0]], [xs[1], ys[0]], { strokeColor: COLOUR.black });
  line([xs[0], ys[0]], [xs[0], ys[1]], { strokeColor: COLOUR.black });
  text([(xs[0] + xs[1]) / 2, ys[0] - 0.1 * height], xlabel, { anchorX: "middle" });
  text([xs[0] - 0.12 * width, ys[1] + 0.06 * height], ylabel, { anchorX: "left" });
  const inside = (values, isLog, [low, high], slack) => Array.from(values, (value) => {
    const v = isLog ? Math.log10(value) : value;
    return v >= low - slack && v <= high + slack ? v : NaN;
  });
  let legends = 0;
  return {
    board: made,
    // A curve; `label` names it in the picture. Give it its numbers with `.set(x, y)`.
    curve(colour, label = "", options = {}) {
      const drawn = made.create("curve", [[], []], { strokeColor: colour, strokeWidth: 2, ...options });
      if (label) {
        const left = xs[0] + legend[0] * (xs[1] - xs[0]), top = ys[0] + legend[1] * (ys[1] - ys[0]) - 0.065 * height * legends;
        line([left, top], [left + 0.06 * width, top], { strokeColor: colour, strokeWidth: 2.5, dash: options.dash || 0, layer: 9 });
        text([left + 0.075 * width, top], label, { fontSize: 12, layer: 9 });
        legends += 1;
      }
      return {
        drawn,
        set(xValues, yValues) {
          drawn.dataX = inside(xValues, log.includes("x"), xs, 1e-9);
          drawn.dataY = inside(yValues, log.includes("y"), ys, 0.002 * height);
        },
      };
    },
  };
}

// Start: `update(values)` draws and returns the numbers that the page shows, which tests compare with the package.
function explore(update) {
  redraw = () => {
    for (const made of drawnBoards()) made.suspendUpdate(); // else each change of a colour draws all again
    const numbers = update(values());
    for (const made of drawnBoards()) made.unsuspendUpdate().update();
    document.documentElement.dataset.numbers = JSON.stringify(numbers);
  };
  redraw();
  tellHeight();
}

// The pictures alone, as one drawing: tools/explorables.py keeps it for print and for notebooks.
function still() {
  const placed = [...boards.children].map((place) => [place.getBoundingClientRect(), place.querySelector("svg").cloneNode(true)]);
  const edge = boards.getBoundingClientRect();
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  whole.setAttribute("viewBox", `0 0 ${Math.ceil(edge.width)} ${Math.ceil(edge.height)}`);
  whole.setAttribute("font-family", "sans-serif");
  for (const [box, drawing] of placed) {
    drawing.querySelectorAll("foreignObject, image, [display=none], [visibility=hidden]").forEach((e) => e.remove());
    for (const [name, value] of Object.entries({ x: box.left - edge.left, y: box.top - edge.top, width: box.width, height: box.height })) drawing.setAttribute(name, Math.round(value));
    drawing.removeAttribute("style");
    whole.append(drawing);
  }
  return new XMLSerializer().serializeToString(whole).replace(/\b\d+\.\d{3,}/g, (n) => String(+Number(n).toFixed(2))) + "\n";
}
