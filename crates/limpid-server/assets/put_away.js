// A conversation is archived in its header and brought back where that is said.
import { archive } from "./list.js";
import { post } from "./shell.js";

const id = document.querySelector("#composer").dataset.id;
const [button, told, back] = ["archive", "archived", "bring-back"].map((name) => document.getElementById(name));

function show(isArchived) {
  button.hidden = isArchived;
  told.hidden = !isArchived;
}
document.addEventListener("archived", ({ detail }) => { if (detail.id === id) show(detail.archived); });

async function put(isArchived, from) {
  from.disabled = true;
  try { await archive(id, isArchived); } catch (error) {
    told.hidden = false;
    told.firstElementChild.textContent = error instanceof TypeError ? "Limpid cannot be reached. The conversation is where it was." : error.message;
  }
  from.disabled = false;
}
button.addEventListener("click", async () => {
  await put(true, button);
  // On a narrow screen the list, and with it Undo, is out of sight.
  if (!document.activeElement.checkVisibility?.() || document.activeElement === document.body) back.focus();
});
back.addEventListener("click", async () => { await put(false, back); button.focus(); });

// Deleting for good is asked about once; the page goes to where one begins.
const ask = document.querySelector("#delete-ask");
const why = document.querySelector("#delete-why");
const yes = document.querySelector("#delete-yes");
document.querySelector("#delete")?.addEventListener("click", () => { why.hidden = true; ask.showModal(); });
yes?.addEventListener("click", async () => {
  yes.disabled = true;
  try {
    await post(`/c/${id}/delete`);
    document.dispatchEvent(new Event("deleted"));
    location.replace("/");
  } catch (error) {
    why.textContent = error instanceof TypeError ? "Limpid cannot be reached. Nothing was deleted." : error.message;
    why.hidden = false;
  }
  yes.disabled = false;
});
