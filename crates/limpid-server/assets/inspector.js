// The bar, the list and the text are one thing: what is pointed at or has the focus in one is lit in all.
import "./shell.js";

document.documentElement.classList.add("has-script");
const scale = document.querySelector(".scale");
const all = [...document.querySelectorAll("[data-for]")];

function light(name) {
  scale.classList.toggle("lit", Boolean(name));
  for (const node of all) node.classList.toggle("on", node.dataset.for === name);
}
for (const node of all) {
  node.addEventListener("pointerenter", () => light(node.dataset.for));
  node.addEventListener("pointerleave", () => light(null));
  node.addEventListener("focusin", () => light(node.dataset.for));
  node.addEventListener("focusout", () => light(null));
}
scale.addEventListener("click", ({ target }) => {
  const name = target.closest("[data-for]")?.dataset.for;
  if (name) location.hash = `s-${name}`;
});

const same = document.querySelector(".same");
if (same) {
  same.style.setProperty("--to", same.dataset.to);
  // The words end where the beginning ends, if they have room before it.
  const words = same.querySelector("b");
  const fit = () => same.classList.toggle("long", (same.clientWidth * parseFloat(same.dataset.to)) / 100 > words.offsetWidth);
  new ResizeObserver(fit).observe(same);
}

document.querySelector("#outs")?.addEventListener("change", ({ target }) => {
  for (const row of document.querySelectorAll(".sections .out")) row.hidden = !target.checked;
});
document.querySelector("#which")?.addEventListener("change", ({ currentTarget }) => currentTarget.submit());
