// The title of a conversation, changed where it stands: Enter keeps it, Escape leaves it, and so does going elsewhere without a change.
import { post } from "./shell.js";

const id = document.querySelector("#composer").dataset.id;
const [title, button, form, field] = ["title", "rename", "naming", "name"].map((name) => document.getElementById(name));

function open(isOpen) {
  form.hidden = !isOpen;
  title.hidden = button.hidden = isOpen;
}
function begin() {
  field.value = title.textContent;
  field.setCustomValidity("");
  open(true);
  field.focus();
  field.select();
}
function end() {
  open(false);
  button.focus();
}

async function keep() {
  if (form.hidden) return;
  const to = field.value.trim();
  if (to === title.textContent) return end();
  try {
    const told = await post(`/c/${id}/title`, { title: to });
    title.textContent = told.title;
    document.title = `${told.title} · Limpid`;
    const row = document.querySelector(".talks [aria-current] .clip");
    if (row) row.textContent = told.title;
    end();
  } catch (error) {
    field.setCustomValidity(error instanceof TypeError ? "Limpid cannot be reached. The title is as it was." : error.message);
    field.reportValidity();
  }
}

button.addEventListener("click", begin);
field.addEventListener("input", () => field.setCustomValidity(""));
form.addEventListener("submit", (event) => { event.preventDefault(); keep(); });
field.addEventListener("keydown", (event) => { if (event.key === "Escape") end(); });
field.addEventListener("blur", () => { if (field.value.trim() === title.textContent) open(false); });
