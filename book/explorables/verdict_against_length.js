// Chapter 13: each comparison of the records, judged after a part of the run.
"use strict";

const panels = Object.entries(RECORDS);
const questions = ["Theorem 1", "kβ/2", "Nesterov", "TD(0)-Acc", "matched", "control", "tuned"].filter((q) => panels.some(([, panel]) => panel.verdicts.some(({ of }) => of[q])));
slider("length", "Length", { min: 1, max: 25, step: 1, value: 5, show: (v) => `${4 * v}% of the run` });

// The words of a column stand in two lines; on a narrow page those of a row stand above its tiles.
const HEADS = { "TD(0)-Acc": "TD(0)- Acc", matched: "matched SGD", control: "vs matched", tuned: "both tuned" };
const narrow = matchMedia("(max-width: 599px)");
let tiles;
function draw() {
  clear();
  const [first, high, small] = narrow.matches ? [0, 2, 1] : [3.1, 1, 0], top = panels.length * high;
  const made = board("tiles", "A tile for each comparison: a row for each record, a column for each method that is compared", [first ? -0.5 : 0, top + 1.4, 10, -0.2]);
  const wide = (10 - first) / questions.length;
  const words = (at, text, fontSize) => made.create("text", [...at, text], { anchorX: "middle", fontSize: fontSize - small });
  questions.forEach((question, i) => {
    (HEADS[question] || question).split(" ").reverse().forEach((word, line) => words([first + wide * (i + 0.47), top + 0.3 + 0.65 * line], word, 12 - small));
  });
  tiles = panels.flatMap(([name, panel], row) => {
    const y = top - high * (row + 1) + 0.5;
    made.create("text", [first ? -0.4 : 0.1, first ? y : y + 0.8, panel.title], { fontSize: 11 });
    return questions.map((question, i) => {
      const left = first + wide * i, right = left + 0.94 * wide;
      const corners = [[left, y - 0.43], [right, y - 0.43], [right, y + 0.43], [left, y + 0.43]];
      const tile = made.create("polygon", corners, { fillOpacity: 1, vertices: { visible: false }, borders: { visible: false }, withLines: false, hasInnerPoints: true });
      const label = words([(left + right) / 2, y], "", 11);
      return { name, question, tile, label };
    });
  });
}
draw();
narrow.addEventListener("change", () => {
  draw();
  redraw();
});

const LOOK = { better: [COLOUR.blue, "better"], worse: [COLOUR.orange, "worse"], "": [COLOUR.pale, "no diff."], few: ["#ffffff", "too few"], none: ["#ffffff", ""] };

explore(({ length }) => {
  const numbers = {}, counts = { better: 0, worse: 0, open: 0 };
  for (const { name, question, tile, label } of tiles) {
    const all = RECORDS[name].verdicts, { k, of } = all[Math.max(0, Math.round((length / 25) * all.length) - 1)];
    const verdict = of[question];
    const word = verdict ? verdict[0] : "none";
    const [colour, text] = LOOK[word] || (word.startsWith("better") ? LOOK.better : word.startsWith("worse") ? LOOK.worse : word === "none" ? LOOK.none : LOOK[""]);
    tile.setAttribute({ fillColor: colour, highlightFillColor: colour });
    label.setAttribute({ strokeColor: colour === COLOUR.blue ? "#ffffff" : COLOUR.black });
    label.setText(text);
    if (!verdict) continue;
    counts[text in counts ? text : "open"] += 1;
    numbers[`${name} ${question}`] = [k, ...verdict.slice(1)];
    numbers[`${name} ${question} word`] = word;
  }
  say({ "found better": counts.better, "found worse": counts.worse, "no difference found, or too few runs": counts.open });
  return numbers;
});
