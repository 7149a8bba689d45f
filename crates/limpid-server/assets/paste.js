// Long pastes: what was copied may be anybody's text, so it goes along as that unless the person says that it is theirs.

// Lines of a paste that counts as typed, and characters of a line: a longer one counts as several.
const SHORT = 3;
const LINE = 80;

const rows = (text) => text.replace(/\n$/, "").split("\n")
  .reduce((sum, line) => sum + Math.max(1, Math.ceil([...line].length / LINE)), 0);
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
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }

  function take(event, text) {
    text = text?.replaceAll("\r\n", "\n");
    if (!text || rows(text) <= SHORT) return;
    if (list.dataset.mine === "true") return mine.push(text);
    event.preventDefault();
    if (!others.includes(text)) others.push(text);
    draw();
  }

  field.addEventListener("paste", (event) => take(event, event.clipboardData?.getData("text/plain")));
  field.addEventListener("drop", (event) => take(event, event.dataTransfer?.getData("text/plain")));
  return {
    values: () => ({ pasted: others.join("\n\n"), mine: mine.join("\n\n") }),
    kept: () => ({ others, mine }),
    put: (given) => {
      ({ others, mine } = given);
      draw();
    },
  };
}
