// What waits for a yes: a question in the chat, and a draft.
import { ask, is, messages, model, press, run, say, scenario, sees, still, text, url, visitor } from "./kit.mjs";

const shot = async (page, name) => { if (process.env.LIMPID_SHOTS) await page.screenshot({ path: `${process.env.LIMPID_SHOTS}/drafts-${name}.png` }); };
const letter = (path) => ["write_file", { path, content: "<b>Dear</b> Ada" }];

scenario("a question in the chat shows the call, and a yes carries it out", async () => {
  const page = await visitor();
  await model.call(...letter("asked.md"));
  await model.end();
  await model.answer("Written.");
  await say(page, "write it");
  const card = page.locator(".ask");
  await sees("the question", () => card.innerText(), (seen) => seen.includes("write_file") && seen.includes("asked.md") && seen.includes("<b>Dear</b> Ada"));
  is("before the yes", await ask("exists", { path: "asked.md" }), false);
  await card.getByText("Details").click();
  await sees("the arguments", () => card.locator("pre").isVisible(), true);
  await page.reload();
  await sees("the question, after a reload", () => page.locator(".ask [data-answer=once]").count(), 1);
  await press(page.locator("[data-answer=once]"), "focus");
  await page.keyboard.press("Enter");
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("Written."));
  is("after the yes", await ask("exists", { path: "asked.md" }), true);
});

scenario("questions that are not the same are not the same picture", async () => {
  const page = await visitor();
  const word = "H".repeat(170);
  const texts = [`a ${word} b`, `a   ${word} b`, `a\n${word} b`, `a ${word} b\n`, `a ${word}\n  b`, `a ${word}\n      b`];
  const seen = new Map();
  for (const [at, content] of texts.entries()) {
    await model.call("write_file", { path: "same.md", content });
    await model.end();
    await model.answer(`As you like ${at}.`);
    await say(page, "write it");
    const card = page.locator(".ask");
    await sees("the question", () => card.locator("[data-answer=no]").count(), 1);
    for (const width of [360, 1100, 1500]) {
      await page.setViewportSize({ width, height: 900 });
      const shot = (await card.locator("dl.foreign").screenshot({ animations: "disabled" })).toString("base64");
      is(`at ${width} px what looks like text ${at}`, seen.get(shot) ?? at, at);
      seen.set(shot, at);
    }
    await press(page.locator("[data-answer=no]"));
    await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes(`As you like ${at}.`));
  }
});

scenario("a press that comes too early says so until the question may be answered", async () => {
  const page = await visitor();
  await model.call(...letter("early.md"));
  await model.end();
  await model.answer("As you like.");
  await say(page, "write it");
  const no = page.locator("[data-answer=no]");
  await sees("the question", () => no.count(), 1);
  const pressed = await no.evaluate((button) => {
    const card = button.closest(".ask");
    // It moves and is pressed at once.
    card.style.marginBlockStart = "40px";
    button.click();
    return new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next([button.disabled, button.innerText, card.querySelector("[role=status]")?.innerText]))));
  });
  is("what a press at once comes to", pressed, [false, "Press again", "It has just appeared or moved. Press again."]);
  await sees("that it stands still", () => page.locator(".ask.still").count(), 1);
  is("what is said as soon as it does", [await no.innerText(), await page.locator(".early").count()], ["Press again", 1]);
  await sees("what is said later", async () => [await no.innerText(), await page.locator(".early").count()], ["Don’t run", 0]);
  await press(no);
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("As you like."));
});

scenario("a question that is higher than the screen opens at its head, and takes a yes once all of it was on the screen", async () => {
  const page = await visitor({ viewport: { width: 360, height: 640 } });
  const content = Array.from({ length: 40 }, (_, at) => `Line ${at} of the letter.`).join("\n");
  for (const path of ["unread.md", "tall.md"]) {
    await model.call("write_file", { path, content });
    await model.end();
    await model.answer("As you like.");
    await say(page, "write it");
    const card = page.locator(".ask");
    await sees("the question", () => card.count(), 1);
    const place = () => page.evaluate(() => {
      const [ask, scroller] = [".ask", ".scroller"].map((name) => document.querySelector(name).getBoundingClientRect());
      return ask.top >= scroller.top && ask.top < scroller.top + 40 && ask.bottom > scroller.bottom;
    });
    await sees("that its head is in sight, and its foot is not", place, true);
    await shot(page, `head-${path}`);
    const once = page.locator("[data-answer=once]");
    // A jump to the foot leaves out what is between.
    await page.locator(".scroller").evaluate((scroller) => { scroller.scrollTop = scroller.scrollHeight; });
    await still(page);
    is("what is armed", await card.locator(".row button").evaluateAll((all) => all.map((each) => each.ariaDisabled !== "true")), [false, false, true]);
    await once.evaluate((button) => button.click());
    await sees("what a press comes to", () => once.innerText(), "Read it first");
    is("before it was read", await ask("exists", { path }), false);
    await press(page.locator(path === "tall.md" ? "[data-answer=once]" : "[data-answer=no]"));
    await sees("that it is answered", () => card.count(), 0);
    await sees("the answer", () => page.locator("#stop").isHidden(), true);
  }
  is("after a no", await ask("exists", { path: "unread.md" }), false);
  is("after it was read", await ask("exists", { path: "tall.md" }), true);
});

// Whether the question that waits now is on the screen from its head to its last button, with nothing over that.
const inSight = (page) => page.evaluate(() => {
  const last = [...document.querySelectorAll("[data-answer=no]")].find((button) => !button.disabled);
  const [card, button] = [last.closest(".ask"), last].map((each) => each.getBoundingClientRect());
  const over = document.elementFromPoint(button.left + button.width / 2, button.bottom - 2);
  return card.top >= document.querySelector(".scroller").getBoundingClientRect().top && last.contains(over);
});
// Words of a text that are on two lines.
const broken = (found) => found.evaluateAll((all) => all.flatMap((element) => {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const words = [];
  while (texts.nextNode()) for (const { 0: word, index } of texts.currentNode.data.matchAll(/\p{L}+/gu)) {
    const range = new Range();
    range.setStart(texts.currentNode, index);
    range.setEnd(texts.currentNode, index + word.length);
    if (range.getClientRects().length > 1) words.push(word);
  }
  return words;
}));

scenario("on a phone a short question is on the screen whole, also the next one, and the field for a message is one line", async () => {
  const page = await visitor({ viewport: { width: 390, height: 844 } });
  await model.call("read_file", { path: "outside/letter.txt" });
  await model.end();
  for (const path of ["first.md", "second.md"]) await model.call(...letter(path));
  await model.end();
  await model.answer("As you like.");
  await say(page, "read the letter, then write both");
  const waiting = page.locator("[data-answer=no]:enabled");
  await sees("the question", () => waiting.count(), (count) => count > 0);
  const height = () => page.locator("#composer").evaluate((form) => form.offsetHeight);
  await sees("that it is in sight whole", () => inSight(page), true);
  is("the height of the field", await height(), (seen) => seen < 60);
  is("whether models can be chosen meanwhile", await page.locator("#model").isVisible(), false);
  const prose = page.locator(".ask .prose");
  is("prose of the question", await prose.count(), (count) => count > 0);
  is("words that are broken", await broken(prose), []);
  await shot(page, "phone");
  const first = await page.locator(".ask").first().getAttribute("data-call");
  await press(waiting.first());
  await sees("the next question", () => page.locator(`.ask:not([data-call="${first}"]) [data-answer=no]:enabled`).count(), 1);
  await sees("that the first is gone", () => page.locator(".ask").count(), 1);
  await sees("that the next is in sight whole", () => inSight(page), true);
  await press(waiting.first());
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("As you like."));
  await sees("the end", () => page.locator(".scroller").evaluate((each) => each.scrollHeight - each.scrollTop - each.clientHeight < 2), true);
  is("the height of the field", await height(), (seen) => seen > 100);
  is("whether models can be chosen", await page.locator("#model").isVisible(), true);
});

scenario("a short draft is on the screen whole", async () => {
  const page = await visitor({ viewport: { width: 1280, height: 800 } });
  await model.call("read_file", { path: "outside/letter.txt" });
  await model.end();
  await model.call(...letter("compact.md"));
  await model.end();
  await model.answer("It waits.");
  await ask("chat", { text: "read the letter, then write" });
  await page.goto(`${url}/activity`);
  const draft = page.locator(".drafts > li", { hasText: "compact.md" });
  const foot = await draft.getByRole("button", { name: "Allow once" }).evaluate((button) => button.getBoundingClientRect().bottom);
  is("where its buttons end", foot, (edge) => edge <= 800);
  is("words that are broken", await broken(draft.locator(".prose")), []);
  await press(draft.getByRole("button", { name: "Don’t run" }));
  await sees("that nothing waits", () => text(page, "main"), (seen) => seen.includes("Nothing is waiting."));
});

scenario("a no is a no", async () => {
  const page = await visitor();
  await model.call(...letter("no.md"));
  await model.end();
  await model.answer("As you like.");
  await say(page, "write it");
  await sees("the question", () => page.locator(".ask").count(), 1);
  await press(page.locator("[data-answer=no]"));
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("As you like."));
  is("after the no", await ask("exists", { path: "no.md" }), false);
});

scenario("what is said while a question waits is seen, with when it will be read", async () => {
  const page = await visitor({ viewport: { width: 1024, height: 600 } });
  await model.call(...letter("while.md"));
  await model.end();
  await say(page, "write it");
  await sees("the question", () => page.locator(".ask").count(), 1);
  await say(page, "yes, do it");
  await sees("why it stands there", () => text(page, "#held"), "Sent. Limpid reads it once you have answered the question above.");
  const shown = async () => {
    const box = await page.locator("#live li", { hasText: "yes, do it" }).boundingBox();
    return box.y + box.height <= (await page.locator("#composer").boundingBox()).y;
  };
  await sees("that the words are in sight", shown, true);
  await shot(page, "held");
  await model.answer("Then not.");
  await press(page.locator("[data-answer=no]"));
  await sees("what is said of it afterwards", () => text(page, "#held"), "");
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("Then not."));
});

scenario("the window is cleaned, then it runs: that is no failure, and the window stays clean", async () => {
  const page = await visitor();
  await model.call("read_file", { path: "outside/letter.txt" });
  await model.end();
  await model.call(...letter("clean.md"));
  await model.end();
  await say(page, "write it");
  await sees("the question", () => page.locator(".ask").count(), 1);
  await press(page.locator("[data-answer=clean]"));
  await sees("what came of it", () => messages(page), (seen) => seen.at(-1)?.includes("The action you approved was done."));
  is("what it tells of the file", (await text(page, "#thread")).includes("It returned:"), false);
  is("what looks like a failure", await page.locator(".notice.error").count(), 0);
  is("marks of the prompt's", (await text(page, "#thread")).includes("[untrusted"), false);
  await shot(page, "cleaned");
});

scenario("a draft is approved, and another refused", async () => {
  for (const path of ["draft.md", "refused.md"]) {
    await model.call(...letter(path));
    await model.end();
    await model.answer("It waits.");
    await ask("chat", { text: `write ${path}` });
  }
  const page = await visitor();
  await sees("what waits", () => text(page, ".rail .count"), (seen) => seen.startsWith("2"));
  await page.locator(".rail a", { hasText: "Activity" }).click();
  const draft = (path) => page.locator(".drafts > li", { hasText: path });
  await sees("the draft", () => draft("draft.md").innerText(), (seen) => seen.includes("<b>Dear</b> Ada") && seen.includes("write_file"));
  await draft("draft.md").getByText("Change it first").click();
  await draft("draft.md").locator(".fields textarea").last().fill("other words");
  await press(draft("draft.md").getByRole("button", { name: "Allow once" }));
  await sees("why it waits", () => draft("draft.md").locator(".unkept").innerText(), (seen) => seen.includes("Save or discard them first"));
  is("with words that are not kept", await ask("exists", { path: "draft.md" }), false);
  await page.locator(".rail a", { hasText: "Activity" }).click();
  await sees("the kept words", () => page.locator(".unkept").count(), 0);
  await press(draft("draft.md").getByRole("button", { name: "Allow once" }));
  await sees("what is left", () => page.locator(".drafts > li").count(), 1);
  is("after the yes", await ask("exists", { path: "draft.md" }), true);
  await press(draft("refused.md").getByRole("button", { name: "Don’t run" }));
  await sees("that nothing waits", () => text(page, "main"), (seen) => seen.includes("Nothing is waiting."));
  is("after the no", await ask("exists", { path: "refused.md" }), false);
  is("what waits", await page.locator(".rail .count:visible").count(), 0);
});

scenario("a yes to a draft that was just scrolled to says that it is to be pressed again", async () => {
  for (const path of ["one.md", "two.md", "three.md", "four.md"]) {
    await model.call(...letter(path));
    await model.end();
    await model.answer("It waits.");
    await ask("chat", { text: `write ${path}` });
  }
  const page = await visitor({ viewport: { width: 800, height: 500 } });
  await page.goto(`${url}/activity`);
  const draft = page.locator(".drafts > li", { hasText: "two.md" });
  const yes = draft.locator("button.primary");
  const pressed = await yes.evaluate((button) => {
    button.scrollIntoView({ block: "end" });
    button.click();
    return new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next([button.innerText, button.parentElement.querySelector("[role=status]")?.innerText]))));
  });
  is("what a press at once comes to", pressed, ["Press again", "It has just appeared or moved. Press again."]);
  await sees("that it stands still", () => draft.evaluate((card) => card.classList.contains("still")), true);
  is("before the second press", await ask("exists", { path: "two.md" }), false);
  await press(yes);
  await sees("what is left", () => page.locator(".drafts > li").count(), 3);
  is("after the second press", await ask("exists", { path: "two.md" }), true);
  const other = page.locator(".drafts > li", { hasText: "one.md" });
  await other.getByText("Change it first").click();
  await other.locator(".fields textarea").last().fill("other words");
  await press(other.getByRole("button", { name: "Allow once" }));
  await sees("why it waits", () => other.locator(".unkept").count(), 1);
  await press(other.getByRole("button", { name: "Discard" }));
  is("what is in the way", [await other.locator(".unkept").count(), await other.locator(".fields textarea").last().inputValue()], [0, "<b>Dear</b> Ada"]);
});

scenario("the way to a question in a conversation with a long title is no wider than a phone", async () => {
  const page = await visitor({ viewport: { width: 360, height: 740 } });
  await page.goto(`${url}/c/new`);
  await model.call(...letter("long.md"));
  await model.end();
  await model.answer("As you like.");
  await say(page, "Read this, too, and remind me of it tomorrow, before I go out, in so many words");
  await sees("the question", () => page.locator(".ask").count(), 1);
  const asked = page.url();
  await page.goto(`${url}/activity`);
  const box = await page.locator("main a", { hasText: "Answer" }).boundingBox();
  is("where the button ends", box.x + box.width, (edge) => edge <= 360 - 8);
  await page.goto(asked);
  await press(page.locator("[data-answer=no]"));
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("As you like."));
});

await run();
