// Files that go along with a message: picked, dropped or pasted. What a file holds may be anybody's text, so it goes along as that.

// The server has the same bounds; here they are told before anything is sent.
const MOST = 10;
const BYTES = 512 * 1024;

const element = (name, props) => Object.assign(document.createElement(name), props);
const told = (bytes) => (bytes < 1024 ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}` : `${Math.ceil(bytes / 1024)} KB`);
const length = (text) => new TextEncoder().encode(text).length;

function icon(name) {
  const holder = document.createElement("template");
  holder.innerHTML = `<svg class="i" aria-hidden="true"><use href="#i-${name}"/></svg>`;
  return holder.content.firstChild;
}

/** The text of a file, or why it cannot go along. */
async function read(file) {
  if (file.size > BYTES) throw new Error(`“${file.name}” has ${told(file.size)}; the files of a message may have ${told(BYTES)} together. Put it into the workspace and name it in the message.`);
  let bytes;
  try { bytes = await file.arrayBuffer(); } catch { throw new Error(`“${file.name}” cannot be read. If it is a folder, attach the files in it.`); }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch { /* It is told below. */ }
  const picture = file.type.startsWith("image/");
  throw new Error(`“${file.name}” is ${picture ? "a picture" : "no text"}. Models are sent text only so far${picture ? "; describe what it shows" : "; attach what it says as text"}.`);
}

/** Takes files as chips in a list; what is returned is sent along. */
export function attachments({ form, field, list, button, input, unfit, area }) {
  let files = [];
  let reading = Promise.resolve();

  function say(trouble) {
    unfit.textContent = trouble;
    unfit.hidden = !trouble;
  }

  function draw() {
    list.replaceChildren(...files.map((file) => {
      const chip = element("li", { className: "chip" });
      const gone = element("button", { type: "button", className: "btn quiet small icon", ariaLabel: `Remove ${file.name}` });
      gone.append(icon("x"));
      gone.addEventListener("click", () => {
        files = files.filter((other) => other !== file);
        say("");
        draw();
        field.focus();
      });
      chip.append(icon("file"), element("span", { className: "clip", textContent: file.name }), element("span", { className: "faint", textContent: told(file.bytes) }), gone);
      return chip;
    }));
    if (files.length) list.append(element("li", { className: "faint", textContent: `Treated as outside text: ${files.length === 1 ? "it" : "they"} can't give orders.` }));
    list.hidden = !files.length;
  }

  function add(name, text) {
    const bytes = length(text);
    if (files.some((other) => other.name === name && other.text === text)) return;
    if (files.length >= MOST) throw new Error(`A message may have ${MOST} files. “${name}” is left out; send it in another one.`);
    const sum = files.reduce((all, file) => all + file.bytes, bytes);
    if (sum > BYTES) throw new Error(`With “${name}” the files have ${told(sum)}; those of a message may have ${told(BYTES)} together. It is left out; send it in another one.`);
    files.push({ name, text, bytes });
  }

  async function take(given) {
    const troubles = [];
    for (const file of given) {
      try { add(file.name, await read(file)); } catch (error) { troubles.push(error.message); }
    }
    say(troubles.join(" "));
    draw();
    field.focus();
  }
  // One after the other, so that they stand in the order in which they were given.
  const queue = (given) => { reading = reading.then(() => take(given)); };

  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    queue([...input.files]);
    input.value = "";
  });
  field.addEventListener("paste", (event) => {
    // What can be pasted as text is.
    const data = event.clipboardData;
    if (!data?.files.length || data.getData("text/plain")) return;
    event.preventDefault();
    queue([...data.files]);
  });
  const brings = (event) => event.dataTransfer?.types.includes("Files");
  area.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    form.classList.add("dropping");
  });
  area.addEventListener("dragleave", (event) => { if (!area.contains(event.relatedTarget)) form.classList.remove("dropping"); });
  area.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    form.classList.remove("dropping");
    queue([...event.dataTransfer.files]);
  });

  return {
    /** What is sent, when all that was given is read. */
    values: async () => {
      await reading;
      return files.length ? JSON.stringify(files.map(({ name, text }) => ({ name, text }))) : "";
    },
    kept: () => files,
    put: (given) => {
      files = given.map(({ name, text }) => ({ name, text, bytes: length(text) }));
      say("");
      draw();
    },
  };
}
