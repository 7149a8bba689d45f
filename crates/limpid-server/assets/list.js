// The list of conversations: searched by titles and by what was said, and rows that are archived where they stand.
import { mark } from "./around.js";
import { get, post } from "./shell.js";

const PAUSE = 150;
const [find, kind, rows, found, unfound] = ["find", "kind", "rows", "found", "unfound"].map((name) => document.getElementById(name));
const here = document.querySelector("#composer").dataset.id;
const element = (name, props, ...inside) => {
  const made = Object.assign(document.createElement(name), props);
  made.append(...inside);
  return made;
};

let asked = 0;
let typing;
/** Shows the list as it is now. */
export async function list() {
  const mine = ++asked;
  const isSifted = Boolean(find.value.trim() || kind.value);
  try {
    const { html, count } = await get(`/talks?${new URLSearchParams({ words: find.value, kind: kind.value, here })}`);
    if (mine !== asked) return;
    rows.replaceChildren(document.createRange().createContextualFragment(html));
    mark();
    unfound.hidden = count > 0 || !isSifted;
    found.textContent = isSifted ? (count === 1 ? "1 conversation" : `${count} conversations`) : "";
  } catch (error) { found.textContent = error instanceof TypeError ? "Limpid cannot be reached." : error.message; }
}
find.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(list, PAUSE); });
kind.addEventListener("change", list);
document.querySelector("#unfind").addEventListener("click", () => { find.value = ""; kind.value = ""; list(); find.focus(); });

// While a row is being changed, nothing else takes its place.
let changing = 0;
/** Archives a conversation or brings it back, and shows it so in its row, with the way back. */
export async function archive(id, to) {
  const row = rows.querySelector(`[data-id="${CSS.escape(id)}"]`);
  changing += 1;
  asked += 1;
  const { title, archived } = await post(`/c/${id}/archive`, { archived: to }).finally(() => { changing -= 1; });
  document.dispatchEvent(new CustomEvent("archived", { detail: { id, archived } }));
  if (!row) return list();
  const undo = element("button", { className: "btn small push", type: "button", textContent: "Undo" });
  undo.addEventListener("click", async () => {
    const { archived: now } = await post(`/c/${id}/archive`, { archived: !archived });
    document.dispatchEvent(new CustomEvent("archived", { detail: { id, archived: now } }));
    row.remove();
    await list();
    rows.querySelector(`[data-id="${CSS.escape(id)}"] a`)?.focus();
  });
  const told = element("span", { role: "status", className: "clip" }, archived ? "Archived “" : "Brought back “", element("bdi", { textContent: title }), "”");
  row.className = "row gone";
  row.replaceChildren(told, undo);
  undo.focus();
}
rows.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-archive]");
  if (!button) return;
  button.disabled = true;
  try { await archive(button.closest("li").dataset.id, button.dataset.archive); } catch (error) {
    button.disabled = false;
    found.textContent = error.message;
  }
});
// What happens elsewhere is shown at once, but where the cursor is in the list, as it is at Undo, or somebody reads what was found.
document.addEventListener("listed", () => {
  if (!changing && !find.value.trim() && !rows.contains(document.activeElement)) list();
});
