// What the theme leaves out: doors that open, folds, large figures, formulas that scroll. No dependency; works from file://.
"use strict";

const all = (query, within = document) => [...within.querySelectorAll(query)];

// The chapter list and the page's contents: a modal drawer where there is no room beside the text, else a column that folds away.
const DRAWERS = { "pst-primary-sidebar": "(min-width: 992px)", "pst-secondary-sidebar": "(min-width: 1200px)" };

function door(button) {
  const sidebar = document.getElementById(button.getAttribute("aria-controls"));
  if (!sidebar) return;
  const dialog = document.getElementById(`${sidebar.id}-modal`);
  const roomy = window.matchMedia(DRAWERS[sidebar.id]);
  const look = sidebar.className;
  const folded = () => document.documentElement.classList.contains(`without-${sidebar.id}`);
  const tell = () => button.setAttribute("aria-expanded", roomy.matches ? !folded() : dialog.open);
  const move = (from, to) => {
    to.append(...from.childNodes);
    to.className = look;
    from.className = "";
  };
  button.addEventListener("click", () => {
    if (roomy.matches) {
      document.documentElement.classList.toggle(`without-${sidebar.id}`);
      localStorage.setItem(`without-${sidebar.id}`, folded() ? "yes" : "");
    } else {
      move(sidebar, dialog);
      dialog.showModal();
    }
    tell();
  });
  dialog.addEventListener("click", (event) => {
    // A click beside the drawer hits the dialog's backdrop; one on a link leads away, perhaps within the page.
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const inside = event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
    if (event.target.closest("a[href]") || (event.target === dialog && !inside)) dialog.close();
  });
  dialog.addEventListener("close", () => {
    move(dialog, sidebar);
    button.focus();
    tell();
  });
  roomy.addEventListener("change", () => {
    if (dialog.open) dialog.close();
    tell();
  });
  dialog.setAttribute("aria-label", button.getAttribute("aria-label"));
  tell();
}

// Other dialogs: a button opens one, Esc, its own button or a click beside it closes it; the browser gives the focus back.
function opens(button) {
  const dialog = document.getElementById(button.dataset.opens);
  document.body.append(dialog); // out of headers that hide what they hold
  button.addEventListener("click", () => dialog.showModal());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

// The whole title of a fold opens it, formulas in it too; a link in it leads on.
function fold(title) {
  const button = title.querySelector(".toggle-button");
  const name = title.textContent.replace(/\s+/g, " ").trim();
  if (!button) return;
  button.setAttribute("aria-label", `Show or hide: ${name}`);
  title.addEventListener("click", (event) => {
    if (event.target === title || event.target.closest(".toggle-button")) return;
    event.stopPropagation();
    if (!event.target.closest("a[href]")) button.click();
  }, true);
}

// Figures open large. Panels that stand side by side are stacked on a phone: each is a view of the same drawing.
function figure(image) {
  const link = document.createElement("a");
  link.href = image.getAttribute("src");
  link.className = "enlarges";
  link.title = "Show large";
  image.replaceWith(link);
  link.append(image);
  const dialog = document.createElement("dialog");
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    dialog.className = "book-dialog large-figure";
    dialog.setAttribute("aria-label", "Large figure");
    const large = image.cloneNode();
    large.removeAttribute("style");
    dialog.innerHTML = '<form method="dialog"><button class="btn btn-sm btn-outline-primary">Close</button></form>';
    const frame = document.createElement("div");
    frame.tabIndex = 0; // scrolls
    frame.append(large);
    dialog.prepend(frame);
    document.body.append(dialog);
    dialog.showModal();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  const views = (image.dataset.panels || "").split(";").filter(Boolean);
  views.forEach((view, i) => {
    const panel = document.createElement("img");
    const [, , width, height] = view.split(",");
    panel.src = `${image.getAttribute("src")}#svgView(viewBox(${view}))`;
    panel.alt = i ? `Panel ${i + 1} of ${views.length} of the same figure` : image.alt;
    panel.className = "panel";
    panel.style.aspectRatio = `${width} / ${height}`;
    panel.loading = "lazy";
    link.append(panel);
  });
  if (views.length) link.classList.add("has-panels");
}

// A linked still of a clip becomes its player; paper keeps the still.
function clip(link) {
  const still = link.querySelector("img");
  const video = document.createElement("video");
  Object.assign(video, { src: link.href, poster: still.src, controls: true, preload: "none", playsInline: true, muted: true });
  video.setAttribute("aria-label", still.alt);
  link.classList.add("still");
  link.after(video);
}

// A formula, table or listing that is wider than its place scrolls, and then the keyboard reaches it; no other one is a tab stop.
// First all that is read, then all that is written, since each change after which something is read costs a layout.
function scrollers() {
  const article = document.querySelector("article") || document.body;
  const edge = document.documentElement.clientWidth - 8;
  const right = (element) => element.getBoundingClientRect().right;
  const mark = (elements, look, isSo) => {
    elements.forEach((element) => element.classList.remove(look));
    elements.filter(isSo).forEach((element) => element.classList.add(look));
  };
  // A formula scrolls together with the sign that follows it.
  const lines = all(".nobreak, span.math", article).filter((box) => !box.parentElement.closest(".nobreak"));
  const end = (box) => Math.max(right(box), right(box.querySelector("mjx-container") || box));
  mark(lines, "wide", (box) => end(box) > 1 + Math.min(edge, right(box.closest("p, li, td, th, dd, dt, figcaption, div"))));
  const boxes = all("mjx-container, .nobreak, span.math, div.math, pre, .pst-scrollable-table-container, .table-wrapper, div.cell_output > .output, div[style*=overflow]", article);
  const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX));
  boxes.forEach((box, i) => (scrolls[i] ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex")));
}

// A cell that holds a sentence gets the width of some words.
function sentences() {
  all("td, th", document.querySelector("article") || document.body)
    .filter((cell) => cell.textContent.trim().length > 30)
    .forEach((cell) => cell.classList.add("sentence"));
}

// Explorables are pages of their own: they hear of the theme, and say how high they are.
function explorables() {
  const frames = all(".explorable iframe");
  const tell = (frame) => frame.contentWindow.postMessage({ theme: document.documentElement.dataset.theme }, "*");
  window.addEventListener("message", ({ source, data }) => {
    const frame = frames.find((one) => one.contentWindow === source);
    if (!frame || !data || !Number.isFinite(data.explorable)) return;
    frame.style.height = `${data.explorable}px`;
    tell(frame);
  });
  new MutationObserver(() => frames.forEach(tell)).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

// Whatever folds hide an element: they open.
function reveal(element) {
  for (let up = element && element.parentElement; up; up = up.parentElement) {
    if (up.tagName === "DETAILS") up.open = true;
    if (up.classList.contains("toggle-hidden")) up.querySelector(".toggle-button").click();
  }
}

// A link to a place within folds opens them, from another page and from this one.
function arrive(hash) {
  const target = document.getElementById(decodeURIComponent(hash.slice(1)));
  if (!target || target.checkVisibility({ visibilityProperty: true })) return;
  reveal(target);
  target.scrollIntoView();
}

// The second reading: its folds one by one, by a button all of them, which a reader's browser remembers; on paper all are open.
function secondReading(button) {
  const folds = all("details.second-reading");
  const open = (wanted) => {
    folds.forEach((fold) => (fold.open = wanted));
    button.setAttribute("aria-expanded", wanted);
    button.textContent = wanted ? "Close the second reading" : "Open the second reading";
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    open(button.getAttribute("aria-expanded") === "false");
    localStorage.setItem("second-reading", button.getAttribute("aria-expanded"));
  });
  if (localStorage.getItem("second-reading") === "true") open(true);
}

// Who comes from the search lands on a marked word, in the section that was found; a fold around it opens.
function landOnHit() {
  const marks = all("article .highlighted");
  const section = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const near = marks.filter((mark) => section && section.contains(mark));
  const hits = near.length ? near : marks;
  const hit = hits.find((mark) => mark.checkVisibility({ visibilityProperty: true })) || hits[0];
  if (!hit) return;
  reveal(hit);
  hit.scrollIntoView({ block: "center" });
}

// The theme takes Esc from every dialog for its search.
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") all("dialog[open]").forEach((dialog) => dialog.close());
}, true);

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && link.hash && link.pathname === location.pathname) arrive(link.hash);
});
window.addEventListener("beforeprint", () => all("details.second-reading:not([open])").forEach((fold) => {
  fold.open = true;
  fold.dataset.printed = "";
}));
window.addEventListener("afterprint", () => all("details[data-printed]").forEach((fold) => {
  fold.open = false;
  delete fold.dataset.printed;
}));

for (const id of Object.keys(DRAWERS)) {
  if (localStorage.getItem(`without-${id}`)) document.documentElement.classList.add(`without-${id}`);
}
document.addEventListener("DOMContentLoaded", () => {
  all("summary[aria-label]").forEach((summary) => summary.removeAttribute("aria-label")); // it says less than its words
  all("button.door").forEach(door);
  all("[data-opens]").forEach(opens);
  explorables();
  sentences();
  all("button.all-folds").forEach(secondReading);
  all('article a.download[href$=".webm"]:has(img)').forEach(clip);
  all("article figure img, article div.cell_output img").forEach(figure);
});
window.addEventListener("load", async () => {
  all(".admonition.toggle > .admonition-title").forEach(fold);
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  scrollers();
  arrive(location.hash);
  setTimeout(landOnHit, 20); // Sphinx marks the words in a timer of 10 ms, set before
  new ResizeObserver(scrollers).observe(document.body);
});
