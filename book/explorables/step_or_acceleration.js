// Chapter 11: the mean curves of the records of REINFORCE, over updates or over the distance from the start.
"use strict";

const panels = Object.fromEntries(Object.entries(RECORDS).filter(([, panel]) => Object.values(panel.curves).every((curve) => curve.distance)));
choice("record", "Record", Object.fromEntries(Object.entries(panels).map(([name, panel]) => [name, panel.title])), "figure2-cartpole-L");
choice("axis", "Axis", { updates: "updates", distance: "distance from the start" });
slider("share", "Length", { min: 0.04, max: 1, step: 0.04, value: 1, show: (v) => `${Math.round(100 * v)}% of the run` });

const mean = (samples) => samples[0].map((_, i) => samples.reduce((sum, run) => sum + run[i], 0) / samples.length);

// Where a curve first reaches a distance, on straight lines between its points; its last point if it never does.
function heightAt(distance, x, y) {
  const i = x.findIndex((value) => value >= distance);
  if (i <= 0) return i === 0 ? y[0] : NaN;
  return y[i - 1] + (y[i] - y[i - 1]) * (distance - x[i - 1]) / (x[i] - x[i - 1]);
}

explore(({ record, axis, share }) => {
  const panel = panels[record];
  const rows = Math.max(2, Math.round(share * (panel.k.length - 1)) + 1);
  const drawn = Object.entries(panel.curves).map(([variant, curve]) => {
    const x = (axis === "updates" ? panel.k : curve.distance).slice(0, rows);
    return { variant, ...curve, x, y: mean(curve.samples).slice(0, rows) };
  });
  const heights = drawn.flatMap((curve) => curve.y), ends = drawn.flatMap((curve) => curve.x);
  const room = 0.05 * (Math.max(...heights) - Math.min(...heights)) || 1;
  clear();
  const made = plot("curves", `Mean ${panel.quantity} of each method`, {
    x: [0, Math.max(...ends)], y: [Math.min(...heights) - room, Math.max(...heights) + room], xlabel: axis === "updates" ? "updates" : "distance from the start", ylabel: `mean ${panel.quantity}`, legend: [0.4, 0.8],
  });
  for (const curve of drawn) made.curve(curve.colour, curve.words).set(curve.x, curve.y);
  // At the distance where the slowest method ends, all have a height: the same way, and what it has brought.
  const least = Math.min(...Object.values(panel.curves).map((curve) => Math.max(...curve.distance.slice(0, rows))));
  const numbers = { least }, lines = { "distance that all have covered": shown(least) };
  for (const curve of drawn) {
    const there = heightAt(least, curve.distance.slice(0, rows), curve.y);
    numbers[curve.variant] = curve.y;
    numbers[`${curve.variant} x`] = curve.x;
    numbers[`${curve.variant} there`] = there;
    lines[`${curve.words}, ${panel.quantity} there`] = shown(there);
  }
  say(lines);
  return numbers;
});
