// What every screen needs: keys to go places, and asking the server.
const places = { c: "/", p: "/prompt/next", a: "/activity", m: "/memory", k: "/cost", s: "/settings" };
let going = 0;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "g") going = event.timeStamp;
  else if (event.timeStamp - going < 1500 && places[event.key]) location.href = places[event.key];
  else if (event.key === "/") {
    event.preventDefault();
    (document.querySelector("main input[type=search]") ?? document.querySelector("#say"))?.focus();
  }
});

// A form whose answer takes a while turns its sign, and is not sent twice.
addEventListener("submit", ({ target, submitter }) => {
  if (!target.matches("[data-slow]") || !submitter) return;
  submitter.classList.add("spin");
  submitter.ariaBusy = "true";
  setTimeout(() => { submitter.disabled = true; });
});

// A yes counts for a question that has stood still for a moment: what comes under the pointer just then was not read. While it
// moves its buttons are pale.
const STILL = 700;
// What holds a yes: a question, a draft, a text that is to count as the owner's.
const YES = ".ask, [data-yes]";
const seen = new WeakMap();
// A button that was pressed too early says so for as long as it takes to read that, also when its card stands still before.
const READ = 1500;
const early = new WeakMap();
function tellEarly(card, button, [short, why]) {
  if (early.get(card)?.button !== button) endEarly(card);
  const { told, words, before } = early.get(card) ?? begunEarly(button);
  early.set(card, { told, words, before, button, until: performance.now() + READ });
  if (words) words.data = short;
  // What is live before its words come is read out.
  requestAnimationFrame(() => { told.textContent = why; });
}
// What is told moves nothing: a card that moves would wait once more.
function begunEarly(button) {
  const told = Object.assign(document.createElement("span"), { className: "vh early", role: "status", ariaLive: "polite" });
  button.after(told);
  const words = [...button.childNodes].findLast((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const before = words?.data;
  button.style.minInlineSize = `${button.offsetWidth}px`;
  return { told, words, before };
}
function endEarly(card) {
  const { told, words, before, button } = early.get(card) ?? {};
  early.delete(card);
  told?.remove();
  if (words) words.data = before;
  button?.style.removeProperty("min-inline-size");
}
// A yes counts for what was on the screen, too: all that stands above its button. A no needs no reading.
const NO = "[data-answer=no], [value=refuse], [type=reset], [action$='/refuse'] button";
const MOVED = ["Press again", "It has just appeared or moved. Press again."];
const UNSEEN = ["Read it first", "Not all of this was on the screen. Scroll up, read it to its end, then press again."];
// Letters are drawn at parts of a pixel.
const ROUGH = 2;
const shown = new WeakMap();
// What may lie over a card. An older browser has no such selector, and a query with it would end the script.
const OPEN = CSS.supports("selector(:popover-open)") ? ":popover-open, dialog[open]" : "dialog[open]";
// With a keyboard of the screen over it, or very large letters, less than this would be left to read in.
const LOWEST = 80;
// What the screen shows of a card: not what its scroller cuts off, or a bar at the head or foot hides.
function frame(card) {
  const scroller = card.closest(".scroller")?.getBoundingClientRect();
  const rail = document.querySelector(".rail");
  const isFoot = rail && getComputedStyle(rail).position === "fixed";
  const head = Math.max(0, scroller?.top ?? 0, document.querySelector(".jump")?.getBoundingClientRect().bottom ?? 0);
  const foot = Math.min(innerHeight, scroller?.bottom ?? innerHeight, isFoot ? rail.getBoundingClientRect().top : innerHeight);
  return foot - head < LOWEST ? { head: 0, foot: innerHeight } : { head, foot };
}
// Remembers what of the cards was on the screen so far: from where to where, in one piece. In another width it is another picture.
function read() {
  if (document.hidden || document.querySelector(OPEN)) return;
  for (const card of document.querySelectorAll(YES)) {
    const { top, height, width } = card.getBoundingClientRect();
    const { head, foot } = frame(card);
    const [from, to] = [Math.max(0, head - top), Math.min(height, foot - top)];
    const before = shown.get(card);
    if (from < to) {
      const goesOn = before?.width === width && from <= before.to + ROUGH && to >= before.from - ROUGH;
      shown.set(card, goesOn ? { from: Math.min(from, before.from), to: Math.max(to, before.to), width } : { from, to, width });
    }
    for (const button of card.querySelectorAll(".row button")) {
      const isUnseen = !button.matches(NO) && !isRead(card, button);
      // Only what changes is written: each write has the page laid out anew.
      if (isUnseen === button.hasAttribute("aria-disabled")) continue;
      if (isUnseen) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }
}
function isRead(card, button) {
  const part = shown.get(card);
  const end = button.getBoundingClientRect().top - card.getBoundingClientRect().top;
  return Boolean(part) && part.from <= ROUGH && part.to >= end - ROUGH;
}
function look() {
  read();
  for (const card of document.querySelectorAll(YES)) {
    const { left, top } = card.getBoundingClientRect();
    const before = seen.get(card);
    const moved = !before || Math.abs(before.left - left) + Math.abs(before.top - top) > 4;
    if (moved) seen.set(card, { left, top, since: performance.now() });
    card.classList.toggle("moving", !isStill(card));
    card.classList.toggle("still", isStill(card));
    if (isStill(card) && performance.now() >= early.get(card)?.until) endEarly(card);
  }
}
function isStill(card) {
  const place = seen.get(card);
  return Boolean(place) && performance.now() - place.since >= STILL;
}
look();
setInterval(look, 100);
addEventListener("scroll", read, { capture: true, passive: true });
addEventListener("click", (event) => {
  const card = event.target.closest?.(YES);
  const button = event.target.closest?.("button");
  if (!card || !button) return;
  look();
  const isUnseen = !button.matches(NO) && !isRead(card, button);
  if (isStill(card) && !isUnseen) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  tellEarly(card, button, isStill(card) ? UNSEEN : MOVED);
  // Enter in a field presses a button that may be out of sight, and so would be what it says.
  if (isStill(card)) button.scrollIntoView({ block: "nearest" });
}, { capture: true });

// A yes is to the words of a draft that are kept, so it waits while others stand in the fields.
function isKept(form) {
  const card = form.closest(".ask");
  if (!card || !form.action.endsWith("/approve")) return true;
  const edited = [...card.querySelectorAll(".fields textarea")].find((field) => field.value !== field.defaultValue);
  if (!edited) return true;
  const told = card.querySelector(".unkept") ?? document.createElement("p");
  Object.assign(told, { className: "notice error unkept", role: "alert", textContent: "You have unsaved changes. Save or discard them first." });
  form.parentElement.before(told);
  edited.closest("details").open = true;
  edited.focus();
  return false;
}

// A form that changes something is sent once.
addEventListener("submit", (event) => {
  const { target } = event;
  if (!isKept(target)) return event.preventDefault();
  if (target.method !== "post" || event.defaultPrevented) return;
  if (target.dataset.sent) event.preventDefault();
  target.dataset.sent = "true";
});
// What was changed is as it was kept, so nothing is in the way of a yes any more.
addEventListener("reset", ({ target }) => target.closest(".ask")?.querySelector(".unkept")?.remove());
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
// Browsers do not mind `autofocus` where the address leads to a place in the screen.
if (location.hash) addEventListener("load", () => document.querySelector("[autofocus]")?.focus({ preventScroll: true }));

/** Sends a form; the answer as JSON. What the server refuses is thrown with its words. */
export async function post(path, values = {}) {
  const response = await fetch(path, { method: "POST", body: new URLSearchParams(values) });
  const text = await response.text();
  if (response.status === 401) throw new Error("You are logged out here, and nothing was sent. Open the page again in another tab.");
  if (!response.ok) {
    // Where something can be done about it, `at` is the place.
    const { error, at } = text.startsWith("{") ? JSON.parse(text) : { error: text };
    throw Object.assign(new Error(error), { at });
  }
  return text ? JSON.parse(text) : {};
}

/** Asks for JSON. */
export async function get(path) {
  const response = await fetch(path);
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
