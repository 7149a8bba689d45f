// Forms of MCP servers: they are sent as they are filled in, and what is not accepted is said at its field.
import { post } from "./shell.js";

const cards = new Map();
/** The same content, with a form that is known already as it was filled in. */
export function same(content) {
  const form = content.querySelector("[data-form]");
  const number = form?.dataset.form;
  if (!number) return content;
  const card = form.closest(".ask");
  if (cards.has(number)) card.replaceWith(cards.get(number));
  else cards.set(number, card);
  return content;
}

function tell(form, wrong) {
  for (const each of form.querySelectorAll("[id$='-wrong']")) Object.assign(each, { hidden: true, textContent: "" });
  for (const each of form.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
  let first;
  for (const [at, why] of wrong) {
    const told = form.querySelector(`#f${form.dataset.form}-${at}-wrong`);
    Object.assign(told, { hidden: false, textContent: why });
    const field = told.parentElement.querySelector("input, textarea");
    if (field.id) field.ariaInvalid = "true";
    first ??= field;
  }
  first?.focus();
}

/** Sends the forms of a conversation; `notice` is told what went wrong. */
export function serverForms(id, notice) {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-form]")) return;
    event.preventDefault();
    const values = new FormData(form);
    values.set("form", form.dataset.form);
    values.set("does", event.submitter?.value ?? "send");
    // What a browser cannot read as a number or a day has no value there, and must not count as left out.
    for (const field of form.elements) if (field.validity?.badInput) values.set(field.name, "?");
    const buttons = form.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    try {
      const { wrong } = await post(`/c/${id}/form`, values);
      if (!wrong) return;
      tell(form, wrong);
    } catch (error) { notice(error.message); }
    for (const button of buttons) button.disabled = false;
  });
}
