// A first screen without a model looks for one until there is one to ask: it may be started, or be written into the settings, meanwhile.
const PAUSE = 3000;
// What says which model answers: words are put in the place of words, and choices into the list that others listen to.
const WORDS = ["#connected", "#rail-model", "#meter"];
const LIST = "#model";

let looking = Boolean(document.querySelector("#connected[data-none]"));
async function look() {
  if (document.hidden) return;
  const response = await fetch("/c/new").catch(() => null);
  if (!response?.ok || !looking) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const words = fresh.querySelector("#connected");
  if (!words || words.innerHTML === document.querySelector("#connected").innerHTML) return;
  looking = "none" in words.dataset;
  document.querySelector("#connected").toggleAttribute("data-none", looking);
  for (const place of WORDS) document.querySelector(place)?.replaceChildren(...fresh.querySelector(place)?.childNodes ?? []);
  // Options that leave a list one by one have another one chosen in it.
  const [list, now] = [document, fresh].map((page) => page.querySelector(LIST));
  const chosen = now.value;
  list.replaceChildren(...now.childNodes);
  list.value = chosen;
}
async function again() {
  await look();
  if (looking) setTimeout(again, PAUSE);
}
if (looking) setTimeout(again, PAUSE);
document.addEventListener("visibilitychange", () => { if (looking) look(); });
