// The list of conversations, sifted by the words of their titles and by kind.
const find = document.querySelector("#find");
const kind = document.querySelector("#kind");
function sift() {
  const words = find.value.toLocaleLowerCase();
  let some = false;
  for (const list of document.querySelectorAll(".talks .list")) {
    let any = false;
    for (const row of list.children) {
      row.hidden = !row.textContent.toLocaleLowerCase().includes(words) || (kind.value && row.dataset.kind !== kind.value);
      any ||= !row.hidden;
    }
    list.hidden = list.previousElementSibling.hidden = !any;
    some ||= any;
  }
  document.querySelector("#unfound").hidden = some || !document.querySelector(".talks .list");
}
find.addEventListener("input", sift);
kind.addEventListener("change", sift);
document.querySelector("#unfind").addEventListener("click", () => { find.value = ""; kind.value = ""; sift(); find.focus(); });
