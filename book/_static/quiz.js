// Quizzes are answered by a click, predictions are committed before their answer opens.
// It reads what the page says without it: options (a), (b), ... in a list; an answer whose right letter, or number, is bold.
// What a reader does stays in the page: nothing is stored, nothing is sent.
"use strict";

(() => {
  const all = (query, within) => [...within.querySelectorAll(query)];
  const made = (tag, className, ...content) => {
    const element = Object.assign(document.createElement(tag), { className });
    element.append(...content);
    return element;
  };
  let names = 0;

  // What a screen reader says once it is filled.
  function region(className) {
    const box = made("div", className);
    box.setAttribute("aria-live", "polite");
    return box;
  }

  // A copy without names, which only one place of a page can have.
  function copy(nodes) {
    const box = made("div", "");
    box.append(...[...nodes].map((node) => node.cloneNode(true)));
    all("[id]", box).forEach((named) => named.closest("mjx-container") || named.removeAttribute("id"));
    return box.childNodes;
  }

  // "(a) words" becomes a button "(a)", whose name is the whole option, beside the words; a click on the words does the same.
  function option(item, picked) {
    const first = all("p", item)[0] || item;
    const start = document.createTreeWalker(first, NodeFilter.SHOW_TEXT).nextNode();
    const letter = start.data.match(/^\s*\((\w)\)\s*/);
    start.data = start.data.slice(letter[0].length);
    const words = made("div", "quiz-words", ...item.childNodes);
    const button = made("button", "quiz-letter", `(${letter[1]})`);
    button.type = "button";
    [button.id, words.id] = [`option-${++names}`, `option-${names}-words`];
    button.setAttribute("aria-labelledby", `${button.id} ${words.id}`);
    button.addEventListener("click", () => picked(letter[1]));
    words.addEventListener("click", (event) => event.target.closest("a") || button.click());
    item.append(button, words);
    return { letter: letter[1], item, button };
  }

  // The right letter of an answer, and the reason of each option.
  function reasonsOf(answer) {
    const key = { reasons: {} };
    for (const item of all("li", answer)) {
      const [, letter] = item.textContent.match(/^\s*\((\w)\)/);
      if (item.querySelector("strong")?.textContent.trim() === `(${letter})`) key.right = letter;
      key.reasons[letter] = item;
    }
    return key;
  }

  // A reason without its letter.
  function words(item) {
    const box = made("div", "", ...copy((item.querySelector("p") || item).childNodes));
    const start = document.createTreeWalker(box, NodeFilter.SHOW_TEXT).nextNode();
    start.data = start.data.replace(/^\s*\(\w\)\s*/, "");
    return box.childNodes;
  }

  function quiz(section) {
    const progress = made("p", "quiz-progress");
    progress.setAttribute("role", "status");
    const kept = made("div", "quiz-kept", made("p", "quiz-kept-title", "Answers to the quiz"));
    const done = []; // of each question that has been answered, whether the first choice was right
    let count = 0;
    const tell = () => {
      const right = done.filter(Boolean).length;
      progress.textContent = done.length
        ? `${done.length} of ${count} answered, ${right} right at the first click.`
        : `${count} questions. Click an option to see what is right or wrong about it.`;
    };
    for (const answer of all(".admonition", section)) {
      const list = answer.previousElementSibling;
      const { right, reasons } = reasonsOf(answer);
      const number = count++;
      let first = true;
      list.classList.add("quiz-options");
      const options = all(":scope > li", list).map((item) => option(item, (letter) => {
        const { button, says } = options.find((one) => one.letter === letter);
        const open = button.getAttribute("aria-expanded") !== "true";
        button.setAttribute("aria-expanded", open);
        item.classList.add(letter === right ? "is-right" : "is-wrong");
        const verdict = made("strong", "quiz-verdict", letter === right ? "✓ Right. " : "✗ Wrong. ");
        says.replaceChildren(...(open ? [verdict, ...words(reasons[letter])] : []));
        if (first) done.push(letter === right);
        first = false;
        tell();
      }));
      for (const one of options) {
        one.button.setAttribute("aria-expanded", "false");
        one.item.append(one.says = region("quiz-reason"));
      }
      // On the screen each option tells its own reason; on paper all of them stand below the quiz.
      const title = made("p", "", made("strong", "", `${number + 1}.`));
      kept.append(title, made("ul", "", ...Object.values(reasons)));
      answer.remove();
    }
    section.querySelector("h2").after(progress);
    section.append(kept);
    tell();
  }

  // A number as people and Python write it: 1,000 or 10 000, 0,5 or 1/2, a Unicode minus, a percent sign after it.
  function numberIn(text) {
    const thousands = /(?<!(?<!\d)0)[\s\u2009\u202f,](?=\d{3}\b)/g; // but none after a 0 alone
    const plain = text.replace(thousands, "").replace(/,(?=\d)/g, ".").replace(/[−–]/g, "-");
    const number = /-?\d*\.?\d+(?:e[-+]?\d+)?/i.source;
    const [, above, below] = plain.match(new RegExp(`(${number})(?:\\s*/\\s*(${number}))?`, "i")) || [];
    return Number(above ?? NaN) / Number(below ?? 1);
  }

  function distance(guess, answer) {
    if (guess === answer) return "exactly";
    const side = guess > answer ? "above" : "below";
    if (guess * answer <= 0) return `${Math.abs(guess - answer).toPrecision(2)} ${side} it`;
    const ratio = Math.max(guess / answer, answer / guess);
    if (ratio >= 1.5) return `a factor of ${Number(ratio.toPrecision(2))} away from it`;
    return `${(100 * Math.abs(guess / answer - 1)).toPrecision(2)}% ${side} it`;
  }

  function prediction(question, answer) {
    const key = answer.querySelector("strong").textContent.trim();
    const list = question.querySelector("ul");
    const says = region("prediction-answer");
    const open = (verdict) => says.replaceChildren(made("p", "quiz-verdict", verdict), ...copy(answer.childNodes));
    if (list) {
      const right = key.match(/\((\w)\)/)[1];
      list.classList.add("quiz-options");
      let said = "";
      const options = all(":scope > li", list).map((item) => option(item, (letter) => {
        const late = said && said !== letter ? `(${letter}) comes too late. ` : "";
        said ||= letter;
        const chosen = options.find((one) => one.letter === said);
        chosen.button.setAttribute("aria-pressed", "true");
        chosen.item.classList.add(said === right ? "is-right" : "is-wrong");
        open(`${late}You said (${said}). ${said === right ? "✓ Right." : `✗ It is (${right}).`}`);
      }));
      options.forEach(({ button }) => button.setAttribute("aria-pressed", "false"));
      question.append(says);
      return;
    }
    const value = numberIn(key);
    const input = made("input", "");
    input.type = "text";
    input.inputMode = "decimal";
    input.autocomplete = "off";
    const commit = made("button", "", "Commit");
    const form = made("form", "prediction-guess", made("label", "", "Your guess: ", input), " ", commit);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.readOnly) return; // committed
      const guess = numberIn(input.value);
      if (!Number.isFinite(guess)) {
        says.replaceChildren(made("p", "", "Type a number first."));
        input.focus();
        return;
      }
      input.readOnly = true;
      open(`You said ${input.value.trim()}: ${distance(guess, value)}.`);
    });
    question.append(form, says);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const section = (id) => document.querySelector(`section#${id}`);
    if (section("quiz")) quiz(section("quiz"));
    const asked = section("predict-before-you-see");
    if (!asked) return;
    const [questions, answers] = ["ol:not(.admonition ol)", ".admonition ol"].map((query) => all(`:scope ${query} > li`, asked));
    questions.forEach((question, i) => prediction(question, answers[i]));
  });
})();
