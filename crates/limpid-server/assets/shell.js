// What every screen needs: keys to go places, and asking the server.
const places = { c: "/", p: "/prompt/next", a: "/activity", m: "/memory", k: "/cost", s: "/settings" };
let going = 0;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "g") going = event.timeStamp;
  else if (event.timeStamp - going < 1500 && places[event.key]) location.href = places[event.key];
  else if (event.key === "/") {
    event.preventDefault();
    (document.querySelector("main input[type=search]") ?? document.querySelector("#say"))?.focus();
  }
});

// A form whose answer takes a while turns its sign, and is not sent twice.
addEventListener("submit", ({ target, submitter }) => {
  if (!target.matches("[data-slow]") || !submitter) return;
  submitter.classList.add("spin");
  submitter.ariaBusy = "true";
  setTimeout(() => { submitter.disabled = true; });
});

/** Sends a form; the answer as JSON. What the server refuses is thrown with its words. */
export async function post(path, values = {}) {
  const response = await fetch(path, { method: "POST", body: new URLSearchParams(values) });
  if (response.status === 401) location.reload();
  const text = await response.text();
  if (!response.ok) throw new Error(text.startsWith("{") ? JSON.parse(text).error : text);
  return text ? JSON.parse(text) : {};
}

/** Asks for JSON. */
export async function get(path) {
  const response = await fetch(path);
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
