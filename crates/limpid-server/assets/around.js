// What every screen shows of what happens elsewhere: reports, and how much waits for the owner.
import { post } from "./shell.js";

const banner = document.querySelector("#banner");
const fragment = (text) => document.createRange().createContextualFragment(text);

// Reports

function draw(html) {
  const text = html.trim();
  if (banner.innerHTML.trim() === text || banner.dataset.text === text) return;
  const isOpen = banner.querySelector("#others")?.hidden === false;
  banner.dataset.text = text;
  banner.replaceChildren(fragment(text));
  if (isOpen) open(true);
}
function open(isOpen) {
  const others = banner.querySelector("#others");
  if (!others) return;
  others.hidden = !isOpen;
  banner.querySelector("#others-open").ariaExpanded = String(isOpen);
}
banner?.addEventListener("click", async ({ target }) => {
  if (target.closest("#others-open")) return open(banner.querySelector("#others").hidden);
  const button = target.closest("[data-dismiss]");
  if (!button) return;
  button.disabled = true;
  const at = [...banner.querySelectorAll("[data-dismiss]")].indexOf(button);
  const delivery = button.dataset.dismiss;
  try {
    draw((await post("/banner/dismiss", delivery ? { delivery } : {})).banner);
    const left = [...banner.querySelectorAll("[data-dismiss]")].filter((each) => each.checkVisibility());
    (left[Math.min(at, left.length - 1)] ?? document.querySelector("#say") ?? document.querySelector("#main"))?.focus();
  } catch (error) {
    button.disabled = false;
    button.title = error instanceof TypeError ? "Limpid cannot be reached." : error.message;
  }
});

// What waits

// Activity shows all of it; nothing is taken away from under somebody who reads or changes something there.
async function showActivity() {
  const main = document.querySelector("#main");
  const isUsed = () => main.querySelector("details[open]:not(:has(> pre))") || (main !== document.activeElement && main.contains(document.activeElement));
  if (location.pathname !== "/activity" || isUsed()) return;
  const response = await fetch("/activity").catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("#main");
  if (fresh && !isUsed()) main.replaceChildren(...fresh.childNodes);
}

let shown = null;
let waiting = null;
function wait({ count, conversations }) {
  waiting = conversations;
  const now = JSON.stringify([count, conversations]);
  if (shown && shown !== now) showActivity();
  shown = now;
  for (const badge of document.querySelectorAll("[data-waiting]")) {
    badge.hidden = count === 0;
    badge.firstElementChild.textContent = count;
  }
  mark();
}
/** Marks the conversations of the list that wait, as the stream told last: a list that was asked for before may be drawn after it. */
export function mark() {
  if (!waiting) return;
  for (const row of document.querySelectorAll(".talks [data-id]")) {
    const link = row.querySelector("a");
    const tag = row.querySelector(".tag.wait");
    const waits = waiting.includes(row.dataset.id);
    if (!waits && tag) {
      const line = tag.parentElement;
      tag.remove();
      if (!line.children.length) line.remove();
    }
    if (!waits || tag || !link) continue;
    const line = link.querySelector(".sub:not(.said)") ?? Object.assign(document.createElement("span"), { className: "sub" });
    line.prepend(Object.assign(document.createElement("span"), { className: "tag wait", textContent: "Waiting for you" }));
    link.append(line);
  }
}

/** Shows what a stream of events tells of what happens elsewhere. */
export function hear(events) {
  events.addEventListener("banner", ({ data }) => draw(JSON.parse(data)));
  events.addEventListener("waiting", ({ data }) => wait(JSON.parse(data)));
  events.addEventListener("list", () => document.dispatchEvent(new Event("listed")));
}

// A conversation has a stream of its own. A page that nobody looks at holds no connection: a browser has six, and who is away wants to be
// notified.
let events;
function connect() {
  events?.close();
  events = null;
  if (document.hidden) return;
  events = new EventSource("/events");
  hear(events);
}
if (!document.querySelector("#composer")) {
  connect();
  document.addEventListener("visibilitychange", connect);
  addEventListener("pagehide", () => events?.close());
  addEventListener("pageshow", ({ persisted }) => { if (persisted) connect(); });
}
