// Prompt files are edited where they stand. While a text is typed, the server says what the prompt would be with it.
import { post } from "./shell.js";

const ask = (form, way) => {
  const where = new URLSearchParams({ c: form.elements.c.value, path: form.elements.path.value });
  return `/prompt/file/${form.dataset.file}/form?${way ? `from=${way}&` : ""}${where}`;
};
const more = (n, what) => `${Math.abs(n).toLocaleString("en")} ${what} ${n < 0 ? "fewer" : "more"}`;
const fragment = (html) => document.createRange().createContextualFragment(html).firstElementChild;

async function fetched(path) {
  const response = await fetch(path, { headers: { accept: "application/json" } });
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

function problem({ severity, message, line, column, excerpt, fix }) {
  const item = document.createElement("li");
  const place = line ? `line ${line}, column ${column}: ` : "";
  item.append(`${severity}: ${place}${message}`);
  if (excerpt) item.append(Object.assign(document.createElement("pre"), { textContent: excerpt }));
  if (fix) item.append(Object.assign(document.createElement("p"), { textContent: fix }));
  return item;
}

/** Makes a form say what its text would do, and save in place. */
export function enhance(form, cancel) {
  const text = form.elements.text;
  const part = (of) => form.querySelector(of);
  const [save, preview, give, bar, size] = ["button:not([type])", "[data-act=preview]", "[data-act=cancel]", "progress", "output"].map(part);
  let began = text.defaultValue;
  let asked = 0;
  let waits;
  preview.hidden = false;
  give.hidden = !cancel;

  function say({ refused, problems, bytes, tokens, effect, budget, shown }) {
    if (refused) size.value = "Fix the error to see the size.";
    else size.value = bytes ? `${bytes.toLocaleString("en")} bytes · ${tokens.toLocaleString("en")} tokens in the prompt` : "Nothing from this file is in the prompt shown.";
    bar.hidden = !budget;
    if (budget) {
      [bar.max, bar.value] = [budget.limit, budget.used];
      bar.classList.toggle("over", budget.used > budget.limit);
      size.value += `; ${budget.words}`;
    }
    const [was, wasTokens] = [Number(form.dataset.was), Number(form.dataset.wasTokens)];
    const same = bytes === was && tokens === wasTokens;
    const [first, then] = part(".effect").children;
    if (refused) first.textContent = "Can't save yet:";
    else first.textContent = same ? "Same size as before." : `${more(bytes - was, "bytes")}, ${more(tokens - wasTokens, "tokens")} in every turn.`;
    then.textContent = refused ? "" : effect ?? "";
    const list = document.createElement("ul");
    list.append(...problems.map(problem));
    part(".wrong").replaceChildren(...(problems.length ? [list] : []));
    part(".preview").textContent = shown;
    save.disabled = refused;
  }
  async function look() {
    const mine = ++asked;
    try {
      const trial = await post(`/prompt/file/${form.dataset.file}/try`, Object.fromEntries(new FormData(form)));
      if (mine === asked) say(trial);
    } catch (error) {
      if (mine === asked) part(".wrong").textContent = error.message;
    }
  }
  text.addEventListener("input", () => {
    clearTimeout(waits);
    waits = setTimeout(look, 250);
  });
  text.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      form.requestSubmit(save);
    }
  });
  const warn = (event) => { if (text.value !== began && form.isConnected) event.preventDefault(); };
  addEventListener("beforeunload", warn);
  const leave = () => removeEventListener("beforeunload", warn);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    save.disabled = true;
    clearTimeout(waits);
    asked++;
    try {
      const response = await fetch(form.action, { method: "POST", headers: { accept: "application/json" }, body: new URLSearchParams(new FormData(form)) });
      if (response.status === 401) location.reload();
      const said = await response.text();
      const answer = said.startsWith("{") ? JSON.parse(said) : { error: said };
      if (response.ok) {
        leave();
        if (answer.saved !== null) sessionStorage.setItem("saved", JSON.stringify({ file: form.dataset.file, change: answer.saved }));
        // The line with Undo is scrolled to instead.
        history.scrollRestoration = "manual";
        location.reload();
      } else if (answer.html) {
        const next = fragment(answer.html);
        leave();
        form.replaceWith(next);
        enhance(next, cancel);
        next.elements.text.focus();
      } else throw new Error(answer.error);
    } catch (error) {
      part(".wrong").textContent = error.message;
      save.disabled = false;
    }
  });
  preview.addEventListener("click", async () => {
    const shown = part(".preview");
    if (shown.hidden) await look();
    shown.hidden = !shown.hidden;
    preview.ariaExpanded = String(!shown.hidden);
  });
  give.addEventListener("click", () => { leave(); cancel?.(form); });
  part("[data-act=shipped]")?.addEventListener("click", async (event) => {
    event.preventDefault();
    text.value = (await fetched(ask(form, "shipped"))).text;
    await look();
    text.focus();
  });
}

for (const form of document.querySelectorAll("form.edit")) enhance(form);

for (const link of document.querySelectorAll("[data-edit]")) {
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const part = link.closest(".part");
    const pre = part.querySelector("pre");
    const { html } = await fetched(`/prompt/file/${link.dataset.edit}/form${new URL(link.href).search}`);
    const form = fragment(html);
    link.hidden = pre.hidden = true;
    pre.after(form);
    enhance(form, () => {
      form.isConnected ? form.remove() : part.querySelector("form.edit")?.remove();
      link.hidden = pre.hidden = false;
      link.focus();
    });
    form.elements.text.focus();
  });
}

// What was saved a moment ago can be taken back where it stands.
const saved = JSON.parse(sessionStorage.getItem("saved") ?? "null");
sessionStorage.removeItem("saved");
history.scrollRestoration = "auto";
if (saved) {
  const part = document.querySelector(`[data-edit="${saved.file}"]`)?.closest(".part") ?? document.querySelector("form.edit");
  const line = Object.assign(document.createElement("p"), { className: "saved", role: "status", textContent: "Saved. It applies from your next message. " });
  const undo = Object.assign(document.createElement("button"), { className: "btn small", type: "button", textContent: "Undo" });
  undo.addEventListener("click", async () => {
    try {
      await post(`/prompt/file/${saved.file}/undo`, { change: saved.change });
      location.reload();
    } catch (error) {
      line.textContent = error.message;
    }
  });
  line.append(undo);
  part?.before(line);
  line.scrollIntoView({ block: "center" });
  undo.focus({ preventScroll: true });
}
