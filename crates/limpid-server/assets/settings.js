import "./values.js";
// The heartbeat's controls. Every value is shown in words while it moves, and kept when it is let go.
import { post, get } from "./shell.js";
const $ = (id) => document.getElementById(id);
const minutes = [5, 10, 15, 30, 45, 60, 120, 240];
const short = (m) => (m < 60 ? `${m}m` : `${m / 60}h`);
const [iv, from, to, text, run] = ["hb-iv", "hb-from", "hb-to", "hb-prompt", "hb-run"].map($);
let overNight = Number(from.value) > Number(to.value);
const length = () => [...text.value].length;
let saved = text?.value;

function track() {
  const pair = document.querySelector(".pair");
  const [a, b] = [from, to].map(({ value }) => (value / 23) * 100).sort((x, y) => x - y);
  pair.style.setProperty("--a", `${a}%`);
  pair.style.setProperty("--b", `${b}%`);
  pair.classList.toggle("over-night", overNight);
}
function hours() {
  from.ariaValueText = `${from.value}:00`;
  to.ariaValueText = `${to.value}:00`;
  $("hb-h-out").value = `${from.value}:00 – ${to.value}:00`;
  track();
}
function count() {
  $("hb-len").value = `${length()}/4000`;
  $("hb-len").classList.toggle("bad", length() > 4000);
  $("hb-save").hidden = text.value === saved;
  $("hb-save").disabled = length() > 4000;
}
function show(state) {
  $("hb-on").checked = state.enabled;
  $("hb-all").disabled = !state.enabled;
  $("hb-iv-out").value = iv.ariaValueText = state.every;
  $("hb-min").textContent = `${state.minutes} minutes`;
  iv.value = state.step;
  from.value = state.start;
  to.value = state.end;
  overNight = state.start > state.end;
  hours();
  $("hb-h-out").value = state.hours;
  const models = $("hb-model");
  if (![...models.options].some(({ value }) => value === state.model)) models.add(new Option(state.model));
  models.value = state.model;
  $("hb-log").innerHTML = state.log;
  run.disabled = !state.can_run || state.running;
  run.classList.toggle("spin", state.running);
  run.ariaBusy = String(state.running);
  if (text) $("hb-reset").hidden = !state.custom;
  clearTimeout(looking);
  if (state.running) looking = setTimeout(look, 2000);
}
// A run that another one began goes on by itself.
let looking;
const look = () => get("/settings/heartbeat").then(show, () => {});
if (run.ariaBusy === "true") looking = setTimeout(look, 2000);

let last = Promise.resolve();
let moves = 0;
// A control that moves again is not set back by what is told of its move before.
addEventListener("input", () => { moves += 1; });
/** One after another, so that none overtakes the one before. */
function send(path, values) {
  const move = (moves += 1);
  last = last.then(() => post(path, values)).then(
    (state) => { $("hb-error").hidden = true; if (move === moves) show(state); return state; },
    async (error) => {
      $("hb-error").replaceChildren(error.message);
      if (error.at) $("hb-error").append(" ", Object.assign(document.createElement("a"), { href: error.at, textContent: "Answer it" }));
      $("hb-error").hidden = false;
      $("hb-error").scrollIntoView({ block: "nearest" });
      await look();
    });
  return last;
}
const set = (values) => send("/settings/heartbeat", values);

$("hb-on").addEventListener("change", ({ target }) => set({ enabled: target.checked }));
iv.addEventListener("input", () => { $("hb-iv-out").value = iv.ariaValueText = short(minutes[iv.value]); });
iv.addEventListener("change", () => set({ interval: minutes[iv.value] }));
// The thumbs cannot pass each other.
from.addEventListener("input", () => { if (!overNight) from.value = Math.min(from.value, to.value - 1); hours(); });
to.addEventListener("input", () => { if (!overNight) to.value = Math.max(to.value, Number(from.value) + 1); hours(); });
from.addEventListener("change", () => set({ start: from.value }));
to.addEventListener("change", () => set({ end: to.value }));
$("hb-model").addEventListener("change", ({ target }) => set({ model: target.value }));
run.addEventListener("click", async () => {
  run.classList.add("spin");
  run.ariaBusy = "true";
  run.disabled = true;
  await send("/settings/heartbeat/run", {});
});
if (text) {
  const keep = async (prompt) => {
    const state = await set({ prompt });
    if (!state) return;
    text.value = saved = state.prompt;
    count();
  };
  text.addEventListener("input", count);
  $("hb-save").addEventListener("click", () => keep(text.value));
  $("hb-reset").addEventListener("click", () => { $("reset-ask").returnValue = ""; $("reset-ask").showModal(); });
  $("reset-ask").addEventListener("close", ({ target }) => { if (target.returnValue === "yes") keep(""); });
}
$("theme").addEventListener("change", async ({ target }) => {
  await post("/theme", { theme: target.value });
  if (target.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = target.value;
});
track();
