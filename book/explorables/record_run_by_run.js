// Chapter 13: every run of a record.
"use strict";

const titles = Object.fromEntries(Object.entries(RECORDS).map(([name, panel]) => [name, panel.title]));
choice("record", "Record", titles, "figure3-walker2d-L");
const BANDS = { none: null, "10": "10th to 90th percentile", "25": "25th to 75th percentile", "0": "lowest to highest" };
choice("band", "Band", { ...BANDS, none: "no band" }, "10");

// The runs of a record in one row: method by method, seed by seed.
const rowOf = (panel) => Object.entries(panel.curves).flatMap(([variant, curve]) => curve.samples.map((samples, i) => ({ variant, seed: curve.seeds[i], samples })));
const most = Math.max(...Object.values(RECORDS).map((panel) => rowOf(panel).length));
const runs = slider("run", "Run", { min: 1, max: most, step: 1, value: 21 });

// As numpy.percentile: on straight lines between the ordered values.
function percentile(values, q) {
  const sorted = [...values].sort((a, b) => a - b), at = (q / 100) * (sorted.length - 1), low = Math.floor(at);
  return low + 1 < sorted.length ? sorted[low] + (sorted[low + 1] - sorted[low]) * (at - low) : sorted[low];
}

let drawn = "", bold = "", made, lines, thick, low, high;
function draw(name) {
  const panel = RECORDS[name], all = rowOf(panel).flatMap((run) => run.samples);
  const room = panel.log ? 0 : 0.04 * (Math.max(...all) - Math.min(...all));
  clear();
  made = plot("runs", `All runs of ${panel.title}`, {
    x: [panel.k[0], panel.k.at(-1)], y: [Math.min(...all) - room, Math.max(...all) + room], log: panel.log ? "y" : "", xlabel: panel.title.startsWith("Grid") ? "episodes" : "updates", ylabel: panel.quantity, legend: panel.better === "larger" ? [0.02, 0.99] : [0.55, 0.99],
  });
  const seen = new Set();
  lines = rowOf(panel).map(({ variant, samples }) => {
    const { colour, words } = panel.curves[variant];
    const line = made.curve(colour, seen.has(variant) ? "" : words, { strokeWidth: 1 });
    line.set(panel.k, samples);
    seen.add(variant);
    return [variant, line];
  });
  bold = "";
  [low, high] = [0, 1].map(() => made.curve(COLOUR.grey, "", { strokeWidth: 2, dash: 2 }));
  thick = made.curve(COLOUR.black, "", { strokeWidth: 3 });
  // Whoever points at a curve learns its name.
  made.board.on("move", (event) => {
    const [x, y] = made.board.getUsrCoordsOfMouse(event), row = rowOf(panel);
    const scaled = (value) => (panel.log ? Math.log10(value) : value);
    const i = panel.k.reduce((best, k, at) => (Math.abs(k - x) < Math.abs(panel.k[best] - x) ? at : best), 0);
    const distances = row.map((run) => Math.abs(scaled(run.samples[i]) - y));
    runs.set(distances.indexOf(Math.min(...distances)) + 1);
    redraw();
  });
  drawn = name;
}

explore(({ record: name, band, run: number }) => {
  if (drawn !== name) draw(name);
  const panel = RECORDS[name], row = rowOf(panel), run = row[Math.min(number, row.length) - 1], curve = panel.curves[run.variant];
  thick.set(panel.k, run.samples);
  const bounds = band === "none" ? [[], []] : [Number(band), 100 - Number(band)].map((q) => panel.k.map((_, i) => percentile(curve.samples.map((samples) => samples[i]), q)));
  [low, high].forEach((edge, i) => edge.set(bounds[i].length ? panel.k : [], bounds[i]));
  const middle = percentile(curve.samples.map((samples) => samples.at(-1)), 50);
  if (bold !== run.variant) for (const [variant, line] of lines) line.drawn.setAttribute({ strokeOpacity: variant === run.variant ? 0.9 : 0.25 });
  bold = run.variant;
  say({
    [`${curve.words}, seed ${run.seed}: ${panel.quantity} at the end`]: shown(run.samples.at(-1)),
    "median of its method": shown(middle),
    "runs of its method, finished": `${curve.seeds.length} of ${panel.planned}`,
    "diverged": curve.diverged,
    "curves in the picture": row.length,
  });
  return { variant: run.variant, seed: run.seed, samples: run.samples, low: bounds[0], high: bounds[1], middle, count: row.length };
});
