// A conversation: what happens in it comes as pieces, each with a place and a name.
import { same, serverForms } from "./asked.js";
import { attachments } from "./attach.js";
import { hear } from "./around.js";
import { list } from "./list.js";
import { pastes } from "./paste.js";
import { get, post } from "./shell.js";
import { unsent } from "./unsent.js";

const form = document.querySelector("#composer");
const say = document.querySelector("#say");
const menu = document.querySelector("#slash");
const scroller = document.querySelector(".scroller");
const thread = document.querySelector("#thread");
const live = document.querySelector("#live");
const status = document.querySelector("#rate");
const stopper = document.querySelector("#stop");
const offline = document.querySelector("#offline");
const held = document.querySelector("#held");
const id = form.dataset.id;
const fresh = id === "new";

const MARGIN = 12;
const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
const toEnd = () => { scroller.scrollTop = scroller.scrollHeight; };
const question = () => document.querySelector(".ask button:enabled")?.closest(".ask") ?? null;
const waits = () => question() !== null;
// A question is read from its beginning: one that is higher than the screen would else show its end alone, with the buttons.
function toQuestion() {
  toEnd();
  const above = scroller.getBoundingClientRect().top + MARGIN - question().getBoundingClientRect().top;
  if (above > 0) scroller.scrollTop -= above;
}
const html = (text) => document.createRange().createContextualFragment(text);
const element = (name, props) => Object.assign(document.createElement(name), props);

function notice(text) {
  const item = element("li", { className: "msg" });
  item.append(element("p", { className: "notice error", role: "alert", textContent: text }));
  (live ?? form).append(item);
  if (live) toEnd();
}

// Pieces

/** The card of a question that was answered here, until it is gone: then the next question is scrolled to, or else the end. */
let answered = null;

function place(parent, key, text) {
  let holder = [...parent.children].find((child) => child.dataset.key === key);
  if (!text) return holder?.remove();
  if (!holder) {
    holder = element("div", { className: key.includes("block-") ? "md" : "" });
    holder.dataset.key = key;
    parent.append(holder);
  }
  const open = holder.querySelector("details")?.open;
  holder.replaceChildren(same(html(text)));
  const details = open && holder.querySelector("details");
  if (details) details.open = true;
}

function take(piece) {
  // What waits for an answer stays where it is.
  const waited = waits();
  const follow = atEnd() && (!waited || (piece.of === "thread" && !held.hidden));
  if (piece.of === "reload") return load();
  if (piece.of === "status") {
    status.textContent = piece.html;
    stopper.hidden = !piece.html;
  } else if (piece.of === "thread") {
    let item = [...live.children].find((child) => child.dataset.key === piece.key);
    if (!item) {
      item = html(piece.html).firstElementChild;
      item.dataset.key = piece.key;
      live.append(item);
    }
  } else {
    const own = piece.key.slice(0, 16);
    let answer = [...live.children].find((child) => child.dataset.answer === own);
    if (!answer) {
      answer = element("li", { className: "msg" });
      answer.dataset.answer = own;
      live.append(answer);
    }
    place(answer, piece.key, piece.html);
  }
  held.hidden ||= !waits();
  if (answered && !answered.isConnected) {
    answered = null;
    return waits() ? toQuestion() : toEnd();
  }
  if (!follow) return;
  if (waits() && !waited) toQuestion();
  else toEnd();
}

/** Draws the thread anew; what somebody has unfolded to read stays unfolded, also where its words have changed since, as a count does. */
function redraw(whole) {
  const folds = () => {
    const times = new Map();
    const counted = (name) => {
      times.set(name, (times.get(name) ?? 0) + 1);
      return `${name} ${times.get(name)}`;
    };
    return [...thread.querySelectorAll("details")].map((fold) => {
      const words = fold.querySelector("summary")?.textContent;
      return { fold, words: counted(`words ${words}`), place: counted(`place ${fold.className}`) };
    });
  };
  const before = folds().map(({ fold, ...names }) => ({ open: fold.open, ...names }));
  thread.replaceChildren(html(whole));
  for (const { fold, words, place } of folds()) {
    const same = before.find((other) => other.words === words) ?? before.find((other) => other.place === place);
    fold.open = same?.open ?? fold.open;
  }
}

let loading = null;
let again = false;
async function load() {
  if (loading) { again = true; return; }
  loading = get(`/c/${id}/thread${location.search}`);
  try {
    const whole = await loading;
    const follow = atEnd();
    redraw(whole.html);
    answered = null;
    mark();
    live.replaceChildren();
    held.hidden = true;
    const title = document.querySelector("#title");
    // A row that has the title already may say besides whose it is.
    if (title.textContent !== whole.title) {
      title.textContent = whole.title;
      const row = document.querySelector(".talks [aria-current] .clip");
      if (row) row.textContent = whole.title;
    }
    document.dispatchEvent(new CustomEvent("archived", { detail: { id, archived: whole.archived } }));
    document.querySelector("#others-read").hidden = !whole.others_read;
    if (whole.meter) document.querySelector("#meter").replaceChildren(html(whole.meter));
    status.textContent = "";
    stopper.hidden = true;
    if (follow) toEnd();
    connect(whole.after);
  } catch (error) { notice(error.message); }
  loading = null;
  if (again) { again = false; load(); }
}

let events;
let seen = "";
function connect(after) {
  seen = after;
  events?.close();
  events = null;
  if (document.hidden) return;
  // What became of the list since it was drawn is told, too.
  const lists = document.querySelector("[data-lists]")?.dataset.lists ?? "";
  events = new EventSource(`/c/${id}/events?lists=${lists}${after && `&after=${after}`}`);
  events.addEventListener("message", (event) => {
    if (event.lastEventId) seen = event.lastEventId;
    take(JSON.parse(event.data));
  });
  hear(events);
  events.addEventListener("open", () => { if (offline) offline.hidden = true; });
  events.addEventListener("error", () => { if (offline) offline.hidden = false; });
}
// A page that nobody looks at holds no connection: a browser has six, and who is away wants to be notified.
document.addEventListener("visibilitychange", () => { connect(seen); if (!document.hidden) list(); });

if (!fresh && !location.hash) toEnd();
connect(fresh ? "" : thread.dataset.after);

// Saying something

// The same words sent again are one message; other words are another one.
let key = crypto.randomUUID();
let tried = "";
let sending = false;
const field = (name) => document.querySelector(`#${name}`);
const pasted = pastes(say, field("pastes"));
const files = attachments({ form, field: say, list: field("files"), button: field("attach"), input: field("picked"), unfit: field("unfit"), area: document.documentElement });
const written = () => ({ text: say.value, pastes: pasted.kept(), files: files.kept() });
function write({ text, pastes, files: given } = { text: "", pastes: { others: [], mine: [] }, files: [] }) {
  say.value = text;
  pasted.put(pastes);
  files.put(given);
}
async function send() {
  if (sending) return;
  sending = true;
  try { await sendOnce(); } finally { sending = false; }
}
async function sendOnce() {
  const text = say.value;
  const along = { ...pasted.values(), files: await files.values() };
  if (!text.trim() && !along.pasted && !along.files) return;
  if (edited) Object.assign(along, { instead: edited.message, newest: edited.newest });
  const words = JSON.stringify([text, along]);
  if (words !== tried) key = crypto.randomUUID();
  tried = words;
  say.disabled = true;
  const waited = waits();
  try {
    const values = { text, key, ...along };
    if (fresh) Object.assign(values, { mode: field("mode").value, model: field("model").value });
    const told = await post(`/c/${id}/send`, values);
    tried = "";
    if (told.reply !== undefined) {
      say.value = "";
      keep();
      const item = element("li", { className: "msg" });
      item.append(html(told.reply));
      if (fresh) form.before(item);
      else { live.append(item); toEnd(); }
      if (told.to && told.to !== id) location.href = `/c/${told.to}`;
    } else {
      leave();
      keep();
      if (told.conversation !== id) location.href = `/c/${told.conversation}`;
      else {
        // The note takes its room before the end is scrolled to.
        held.hidden = !waits();
        // A question may have come by now, and is read from its head.
        if (waits() && !waited) toQuestion();
        else toEnd();
      }
    }
  } catch (error) {
    notice(error instanceof TypeError ? "Limpid cannot be reached. Your message is kept in the field." : error.message);
  }
  say.disabled = false;
  say.focus();
}

// Saying something again: what stood in the field before comes back when it is over.

let edited = null;
function mark() {
  for (const item of document.querySelectorAll(".msg.edited")) item.classList.remove("edited");
  document.querySelector(`#m${edited?.message}`)?.classList.add("edited");
  field("editing").hidden = !edited;
}
/** Empties the field, or puts there what stood in it before a message was edited. */
function leave() {
  const before = edited?.before;
  edited = null;
  write(before);
  mark();
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-edit]");
  const message = button?.dataset.edit;
  if (!message || sending) return;
  if (!stopper.hidden) return notice("Limpid is still answering. Stop it or wait, then edit.");
  try {
    const { text, pasted: other, files: given, newest } = await get(`/c/${id}/said/${message}`);
    // What came meanwhile from elsewhere is seen before it goes out.
    await load();
    edited = { message, newest, before: edited ? edited.before : written() };
    write({ text, pastes: { others: other ? [other] : [], mine: [] }, files: given });
    mark();
    if (button.dataset.again !== undefined) return send();
    say.focus();
    say.setSelectionRange(text.length, text.length);
  } catch (error) { notice(error.message); }
});
field("unedit").addEventListener("click", () => { leave(); say.focus(); });

// What is not sent yet comes back after a reload, and from every other screen.

const store = unsent(id);
function keep() {
  const now = written();
  const isEmpty = !now.text && !now.pastes.others.length && !now.files.length && !edited;
  store.keep(isEmpty ? null : { ...now, edited, ...tried && { key, tried } });
}
function restore() {
  const was = store.read();
  if (!was) return;
  if (was.tried) ({ key, tried } = was);
  edited = document.querySelector(`#m${was.edited?.message}`) && was.edited;
  write(was);
  mark();
  say.setSelectionRange(say.value.length, say.value.length);
}
restore();
form.addEventListener("input", keep);
addEventListener("pagehide", keep);
// What was begun in a conversation that is deleted goes with it.
document.addEventListener("deleted", () => { leave(); write(); keep(); });
document.addEventListener("visibilitychange", keep);

form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
const stop = () => post(`/c/${id}/stop`).catch((error) => notice(error.message));
stopper.addEventListener("click", stop);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-answer]");
  if (!button || button.tagName !== "BUTTON") return;
  const card = button.closest("[data-call]");
  for (const each of card.querySelectorAll("button")) each.disabled = true;
  answered = card;
  try { await post(`/c/${id}/answer`, { call: card.dataset.call, answer: button.dataset.answer }); } catch (error) {
    answered = null;
    notice(error.message);
  }
});

serverForms(id, notice);

for (const name of ["model", "mode"]) {
  field(name).addEventListener("change", async ({ target }) => {
    if (fresh) return;
    try { await post(`/c/${id}/choose`, { [name]: target.value }); await load(); } catch (error) { notice(error.message); }
  });
}

// Commands

let offered = [];
let at = 0;
function draw() {
  menu.replaceChildren(...offered.map(({ word, help }, n) => {
    const item = element("li", { role: "option", id: `slash-${n}`, ariaSelected: String(n === at) });
    item.append(element("b", { textContent: word }), help);
    item.addEventListener("pointerdown", (event) => { event.preventDefault(); choose(word); });
    return item;
  }));
  menu.hidden = !offered.length;
  if (offered.length) {
    say.setAttribute("aria-activedescendant", `slash-${at}`);
    menu.children[at].scrollIntoView({ block: "nearest" });
  } else say.removeAttribute("aria-activedescendant");
}
function choose(word) {
  say.value = `${say.value.replace(/\S*$/, "")}${word} `;
  offered = [];
  draw();
  say.focus();
}
async function offer() {
  const line = say.value;
  const words = line.startsWith("/") && !line.includes("\n") ? await get(`/c/${id}/complete?line=${encodeURIComponent(line)}`) : [];
  if (line !== say.value) return;
  offered = words.slice(0, 40);
  at = 0;
  draw();
}
say.addEventListener("input", offer);
say.addEventListener("keydown", (event) => {
  if (offered.length && ["ArrowDown", "ArrowUp"].includes(event.key)) {
    event.preventDefault();
    at = (at + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
    draw();
  } else if (offered.length && (event.key === "Tab" || (event.key === "Enter" && offered[at].word !== say.value.trim()))) {
    event.preventDefault();
    choose(offered[at].word);
  } else if (event.key === "Escape" && offered.length) { offered = []; draw(); }
  else if (event.key === "Escape" && edited) leave();
  else if (event.key === "Escape" && !stopper.hidden) stop();
  else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
});
