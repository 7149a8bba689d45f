// Long pastes: what was copied may be anybody's text, so it goes along as that unless the person says that it is theirs.

// Lines of a paste that counts as typed, and columns of a line: a longer one counts as several, as on a screen. The program counts in the
// same way.
const SHORT = 3;
const LINE = 80;
const END = /\r\n|[\n\r\v\f\x85\u2028\u2029]/g;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

// A browser makes a line break of each of the three.
const lines = (text) => text.replace(/\r\n?/g, "\n");
const columns = (line) => [...line].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);
const rows = (text) => text.replace(END, "\n").replace(/\n$/, "").split("\n")
  .reduce((sum, line) => sum + Math.max(1, Math.ceil(columns(line) / LINE)), 0);
export const isLong = (text) => rows(text) > SHORT;

// What is no more in a text, and what is new in it from which place on.
function difference(before, after) {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { start, gone: before.slice(start, before.length - end), fresh: after.slice(start, after.length - end) };
}

// Calls when more comes into a field at once than keys bring, with the place and the words: by whatever way that is, and whatever the
// clipboard says of it. What the field had before may come back, and a page's own script may put there what it likes.
export function watched(field, onLong) {
  let seen = field.value;
  const had = new Set();
  field.addEventListener("input", (event) => {
    const { start, gone, fresh } = difference(seen, field.value);
    if (isLong(gone)) had.add(gone).add(seen);
    if (event.isTrusted && isLong(fresh) && !had.has(fresh) && !had.has(field.value)) onLong(start, fresh);
    seen = field.value;
  });
  return () => { seen = field.value; };
}
const element = (name, props) => Object.assign(document.createElement(name), props);

// Takes long pastes into a field as chips in a list; what is returned is sent along.
export function pastes(field, list) {
  let others = [];
  let mine = [];

  function draw() {
    list.replaceChildren(...others.map((text) => {
      const item = element("li", { className: "paste" });
      const told = element("span", { textContent: `Pasted ${rows(text)} lines. Treated as outside text: they can't give orders.` });
      const own = element("button", { type: "button", className: "btn", textContent: "They are mine" });
      own.addEventListener("click", () => {
        others = others.filter((other) => other !== text);
        mine.push(text);
        insert(text);
        draw();
      });
      const gone = element("button", { type: "button", className: "btn quiet", textContent: "Remove" });
      gone.addEventListener("click", () => {
        others = others.filter((other) => other !== text);
        draw();
        field.focus();
      });
      item.append(told, element("q", { className: "clip", textContent: text.trim().slice(0, 120) }), own, gone);
      return item;
    }));
    list.hidden = !others.length;
  }

  function insert(text) {
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    isKnown();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }

  function keep(text) {
    if (!others.includes(text)) others.push(text);
    draw();
  }

  function take(event, given) {
    const text = lines(given ?? "");
    if (!isLong(text)) return;
    if (list.dataset.mine === "true") return mine.push(text);
    event.preventDefault();
    keep(text);
  }

  const isKnown = watched(field, (start, text) => {
    if (list.dataset.mine === "true") return mine.push(text);
    field.setRangeText("", start, start + text.length, "end");
    keep(text);
  });
  field.addEventListener("paste", (event) => take(event, event.clipboardData?.getData("text/plain")));
  field.addEventListener("drop", (event) => take(event, event.dataTransfer?.getData("text/plain")));
  return {
    values: () => ({ pasted: others.join("\n\n"), mine: mine.join("\n\n") }),
    kept: () => ({ others, mine }),
    put: (given) => {
      ({ others, mine } = given);
      isKnown();
      draw();
    },
  };
}
