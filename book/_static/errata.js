/* Buttons that show one kind of erratum, and slips folded under their titles. Without this script the page shows everything. */
document.addEventListener("DOMContentLoaded", () => {
  const kindOf = (list) => list.querySelector("dt").textContent.match(/\((\w+)\)\s*$/)?.[1];
  const entries = [...document.querySelectorAll("dl.myst[id^='erratum-']")].map((list) => ({ list, box: list, kind: kindOf(list) }));
  const table = [...document.querySelectorAll("article table")].find((one) => one.querySelector("th")?.textContent.trim() === "word");
  if (!entries.length || !table) return;

  for (const entry of entries.filter(({ kind }) => kind === "slip")) {
    const title = entry.list.querySelector("dt");
    const summary = document.createElement("summary");
    summary.append(...title.childNodes);
    title.remove();
    entry.box = document.createElement("details");
    entry.list.replaceWith(entry.box);
    entry.box.append(summary, entry.list);
  }

  const bar = document.createElement("div");
  bar.className = "errata-kinds";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Show the errata of one kind");
  const words = [...table.querySelectorAll("tbody td:first-child")].map((cell) => cell.textContent.trim());
  const buttons = ["all", ...words].map((kind) => {
    const button = document.createElement("button");
    const count = kind === "all" ? entries.length : entries.filter((entry) => entry.kind === kind).length;
    button.type = "button";
    button.dataset.kind = kind;
    button.textContent = `${kind} (${count})`;
    button.addEventListener("click", () => show(kind));
    return button;
  });
  bar.append(...buttons);
  (table.closest(".pst-scrollable-table-container") ?? table).before(bar);

  function show(kind) {
    for (const entry of entries) {
      entry.box.hidden = kind !== "all" && entry.kind !== kind;
      if (entry.kind === "slip") entry.box.open = kind === "slip";
    }
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
  }

  /* A link to an entry that is hidden or folded shows it. */
  function reveal() {
    const entry = entries.find(({ list }) => `#${list.id}` === location.hash);
    if (!entry) return;
    if (entry.box.hidden) show("all");
    if (entry.kind === "slip") entry.box.open = true;
    entry.box.scrollIntoView();
  }

  show("all");
  reveal();
  window.addEventListener("beforeprint", () => entries.forEach(({ kind, box }) => kind === "slip" && (box.open = true)));
  window.addEventListener("hashchange", reveal);
});
