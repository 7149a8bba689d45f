// Copies an answer as it was written, and a block of code. What cannot be copied is selected, so that the keyboard can.

const told = Object.assign(document.createElement("p"), { className: "vh", role: "status" });
document.body.append(told);

const use = (name) => `<svg class="i" aria-hidden="true"><use href="#i-${name}"/></svg>`;

/** Says what came of it, by the sign of the button and to who does not see it. */
function tell(button, text, sign) {
  told.textContent = text;
  button.title = text;
  button.replaceChildren(document.createRange().createContextualFragment(use(sign)));
  clearTimeout(button.back);
  button.back = setTimeout(() => {
    told.textContent = button.title = "";
    button.replaceChildren(document.createRange().createContextualFragment(use("copy")));
  }, 2000);
}

function select(element) {
  const all = document.createRange();
  all.selectNodeContents(element);
  getSelection().removeAllRanges();
  getSelection().addRange(all);
}

async function written(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(await answer.text());
  return new Blob([await answer.text()], { type: "text/plain" });
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  const code = button.closest(".code")?.querySelector("pre");
  try {
    // A text that has yet to come is given as a promise: some browsers allow copying only while the press is new.
    if (code) await navigator.clipboard.writeText(code.textContent);
    else await navigator.clipboard.write([new ClipboardItem({ "text/plain": written(button.dataset.copies) })]);
    tell(button, "Copied", "check");
  } catch {
    select(code ?? button.closest(".msg"));
    tell(button, "Not copied. It is selected: copy it with your keyboard.", "x");
  }
});
