// Settings of the file: each is saved when it is changed, and its row says what became of it.
import { post } from "./shell.js";
const groups = document.querySelector(".groups");
const rowOf = (element) => element.closest(".set[data-key]");
const rowWith = (key) => [...groups.querySelectorAll(".set[data-key]")].find((row) => row.dataset.key === key);
const changes = new Map();
let last = Promise.resolve();

/** What a row says beneath its control. */
function tell(row, words, isError, canUndo) {
  for (const old of groups.querySelectorAll(".said")) if (!isError || old.closest(".set") === row) old.remove();
  const said = document.createElement("div");
  said.className = isError ? "said notice error pre" : "said row soft";
  said.setAttribute("role", isError ? "alert" : "status");
  row.querySelector(".ctl").append(said);
  said.append(words);
  if (!canUndo) return;
  const undo = Object.assign(document.createElement("button"), { className: "btn small", type: "button", textContent: "Undo" });
  undo.addEventListener("click", takeBack);
  said.append(undo);
}

/** Puts a row in the place of the one that it was before. */
function put({ key, html }) {
  const old = rowWith(key);
  if (!old) return null;
  const had = old.contains(document.activeElement);
  const holder = document.createElement("div");
  holder.innerHTML = html;
  const row = holder.firstElementChild;
  old.replaceWith(row);
  if (had) row.querySelector("input, select, textarea")?.focus();
  return row;
}

/** One after another, so that none overtakes the one before. */
function send(row, values) {
  const { key } = row.dataset;
  const number = (changes.get(key) ?? 0) + 1;
  changes.set(key, number);
  last = last.then(() => post("/settings/value", { key, ...values })).then((saved) => {
    document.getElementById("last")?.remove();
    if (changes.get(key) !== number) return;
    const now = put(saved);
    if (now) tell(now, saved.waits ? "Saved. It acts after a restart." : "Saved.", false, saved.undo === key);
  }, (error) => {
    const now = rowWith(key);
    if (now) tell(now, error.message, true, false);
  });
}

function takeBack() {
  last = last.then(() => post("/settings/undo")).then((saved) => {
    document.getElementById("last")?.remove();
    const row = put(saved);
    if (!row) return;
    tell(row, "Undone.", false, false);
    row.querySelector("input, select, textarea")?.focus();
  }, (error) => {
    const row = groups.querySelector(".said")?.closest(".set") ?? groups.querySelector(".set[data-key]");
    tell(row, error.message, true, false);
  });
}

groups.addEventListener("change", ({ target }) => {
  const row = rowOf(target);
  if (!row) return;
  // A browser tells an empty text for a number that it cannot read.
  if (target.validity.badInput) return tell(row, "This is no number.", true, false);
  send(row, { words: target.type === "checkbox" ? String(target.checked) : target.value });
});
groups.addEventListener("click", ({ target }) => {
  const back = target.closest(".back");
  if (back) send(rowOf(back), {});
});
document.getElementById("undo-last")?.addEventListener("click", takeBack);

const find = document.getElementById("find");
find.addEventListener("input", () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const section of groups.querySelectorAll(":scope > section")) {
    let here = 0;
    for (const row of section.querySelectorAll(".set")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      here += row.hidden ? 0 : 1;
    }
    section.hidden = here === 0;
    found += here;
  }
  document.getElementById("found-none").hidden = found > 0;
});
