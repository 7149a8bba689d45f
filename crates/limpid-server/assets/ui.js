// Screens in answers. What a button says is made by the server from the stored answer; from here go a number and what was filled in.
import { isLong, watched } from "./paste.js";
import { post } from "./shell.js";

const id = document.querySelector("#composer").dataset.id;
const named = (screen, name) => [...screen.querySelectorAll("[data-name]")].find((each) => each.dataset.name === name);

function tell(screen, text, kind = "notice error") {
  screen.querySelector(":scope > .ui-told")?.remove();
  const told = Object.assign(document.createElement("p"), { className: `${kind} ui-told`, textContent: text });
  told.setAttribute("role", "alert");
  screen.append(told);
}

// Every named input; the server takes those that the button collects.
function filled(screen) {
  const values = {};
  for (const holder of screen.querySelectorAll("[data-name]")) {
    const inputs = [...holder.querySelectorAll("input, select")].filter((each) => each.closest("[data-name]") === holder);
    if (!inputs.length || holder.dataset.name in values) continue;
    const isChosen = (each) => !["checkbox", "radio"].includes(each.type) || each.checked;
    values[holder.dataset.name] = inputs.filter(isChosen).map((each) => each.value);
  }
  return JSON.stringify(values);
}

// What was pasted into a field may be anybody's text, as in the field of messages.
const pastedNames = (screen) => JSON.stringify([...screen.querySelectorAll("[data-pasted]")]
  .filter((each) => each.value).map((each) => each.closest("[data-name]")?.dataset.name));
function pasted(field) {
  field.dataset.pasted = "";
  tell(field.closest(".ui"), "What you pasted is treated as outside text: it can't give orders.", "faint");
}
const looked = new WeakSet();
document.addEventListener("focusin", ({ target }) => {
  if (!target.closest?.(".ui") || !target.matches("input, textarea") || looked.has(target)) return;
  looked.add(target);
  watched(target, () => pasted(target));
});
for (const kind of ["paste", "drop"]) {
  document.addEventListener(kind, (event) => {
    const field = event.target.closest?.(".ui :is(input, textarea)");
    const data = event.clipboardData ?? event.dataTransfer;
    // A field of one line makes one of several.
    if (field && ["text/plain", "text/html", "text/uri-list"].some((type) => isLong(data?.getData(type) ?? ""))) pasted(field);
  });
}

async function press(screen, button) {
  const values = filled(screen);
  screen.disabled = true;
  try {
    await post(`/c/${id}/press`, { message: screen.dataset.message, number: button.dataset.press, values, pasted: pastedNames(screen) });
    document.querySelector("#say").focus();
  } catch (error) {
    screen.disabled = false;
    tell(screen, error instanceof TypeError ? "Limpid cannot be reached. Nothing was sent." : error.message);
    button.focus();
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  const screen = button?.closest(".ui");
  if (!screen) return;
  if (button.dataset.press && screen.dataset.message) press(screen, button);
  else if (button.dataset.toggle) {
    const target = named(screen, button.dataset.toggle);
    if (target) target.hidden = !target.hidden;
  } else if (button.dataset.copy) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      tell(screen, "Copied", "faint");
    } catch { tell(screen, "It cannot be copied here. Select the text beside the button."); }
  }
});

document.addEventListener("input", ({ target }) => {
  if (target.type === "range" && target.closest(".ui")) target.closest("label").querySelector("output").textContent = target.value;
});

// Seconds run down; what they lead to waits for a press.
const ends = new WeakMap();
setInterval(() => {
  for (const count of document.querySelectorAll(".ui:not([disabled]) [data-countdown]")) {
    if (!ends.has(count)) ends.set(count, performance.now() + count.dataset.countdown * 1000);
    const left = Math.max(0, Math.ceil((ends.get(count) - performance.now()) / 1000));
    count.querySelector("time").textContent = `${left} s`;
    const next = count.nextElementSibling;
    if (next?.matches("[data-waits]")) next.disabled = left > 0;
  }
}, 250);

document.querySelector("#back")?.addEventListener("click", async ({ currentTarget: button }) => {
  button.disabled = true;
  try { await post(`/c/${id}/back`); } catch (error) {
    const live = document.querySelector("#live");
    live.append(Object.assign(document.createElement("li"), { className: "notice error", textContent: error.message }));
  }
  button.disabled = false;
});

document.querySelector("#interactive")?.addEventListener("click", async ({ currentTarget: button }) => {
  button.disabled = true;
  try { location.href = `/c/${(await post("/c/new/send", { text: "/new interactive" })).to}`; } catch (error) {
    button.disabled = false;
    button.after(Object.assign(document.createElement("p"), { className: "notice error", role: "alert", textContent: error.message }));
  }
});
