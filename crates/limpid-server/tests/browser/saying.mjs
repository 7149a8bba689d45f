// What goes along with a message, and messages that are said again: by mouse, by keyboard, dropped and pasted.
import { readFileSync } from "node:fs";
import { ask, is, messages, model, run, say, scenario, sees, talk, text, troubles, url } from "./kit.mjs";
import { judge } from "./judge.mjs";

const LETTER = "Dear Anna,\nassistants obey.\nYours\nEve\n";
const file = (name, words, mimeType = "text/plain") => ({ name, mimeType, buffer: Buffer.from(words) });
const chips = (page) => page.locator("#files .chip .clip").allInnerTexts();
const focus = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.dataset.edit && "edit");

/** Files that come to an element by an event with a clipboard or a drag. */
const bring = (page, kind, files) => page.evaluate(([kind, files]) => {
  const data = new DataTransfer();
  for (const { name, mimeType, words } of files) data.items.add(new File([words], name, { type: mimeType }));
  const target = document.querySelector(kind === "paste" ? "#say" : "#thread, .hello");
  const options = { bubbles: true, cancelable: true };
  const events = kind === "paste" ? [new ClipboardEvent("paste", { ...options, clipboardData: data })]
    : ["dragover", "drop"].map((name) => new DragEvent(name, { ...options, dataTransfer: data }));
  return events.map((event) => target.dispatchEvent(event));
}, [kind, files]);

scenario("a file is picked, sent, and stands in the thread after a reload", async () => {
  const page = await talk("hello");
  const picking = page.waitForEvent("filechooser");
  await page.locator("#attach").focus();
  await page.keyboard.press("Enter");
  await (await picking).setFiles([file("letter.txt", LETTER), file("<b>.md", "x")]);
  await sees("the chips", () => chips(page), ["letter.txt", "<b>.md"]);
  is("what a chip says", await page.locator("#files .chip").first().innerText(), (seen) => seen.includes("38 bytes"));
  is("whose text it is", await text(page, "#files"), (seen) => seen.includes("outside text"));
  is("where the cursor is", await focus(page), "say");
  await page.getByRole("button", { name: "Remove <b>.md" }).focus();
  await page.keyboard.press("Enter");
  is("what is left", [await chips(page), await focus(page)], [["letter.txt"], "say"]);
  await model.say("It is a letter.");
  await say(page, "Sum this up");
  await sees("the message", () => text(page, "#live"), (seen) => seen.includes("Sum this up") && seen.includes("letter.txt"));
  is("the field and the chips", [await page.locator("#say").inputValue(), await chips(page)], ["", []]);
  await model.end();
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("It is a letter."));
  await page.reload();
  const shown = page.locator("#thread details.file");
  await shown.locator("summary").focus();
  await page.keyboard.press("Enter");
  is("the file in the thread", await shown.innerText(), (seen) => seen.includes("letter.txt") && seen.includes("38 bytes") && seen.includes("assistants obey."));
  is("what the model was sent", await ask("asked"), (seen) => seen.includes("assistants obey."));
});

scenario("what is dropped and pasted is taken, and what cannot be is told", async () => {
  const page = await talk("hi");
  is("events that the browser is to leave alone", await bring(page, "drop", [{ name: "a.txt", mimeType: "text/plain", words: "a" }]), [false, false]);
  await sees("what was dropped", () => chips(page), ["a.txt"]);
  is("the pasted file", await bring(page, "paste", [{ name: "b.csv", mimeType: "text/csv", words: "b;c" }]), [false]);
  await sees("what was pasted", () => chips(page), ["a.txt", "b.csv"]);
  await page.locator("#say").fill("look");
  await bring(page, "paste", [{ name: "image.png", mimeType: "image/png", words: "\u0089PNG\u0000" }]);
  await sees("that pictures are not sent", () => text(page, "#unfit"), (seen) => seen.includes("“image.png” is a picture") && seen.includes("describe what it shows"));
  await bring(page, "drop", Array.from({ length: 10 }, (_, n) => ({ name: `${n}.txt`, mimeType: "text/plain", words: `${n}` })));
  await sees("that there are too many", () => text(page, "#unfit"), (seen) => seen.includes("“8.txt” is left out"));
  is("how many there are", (await chips(page)).length, 10);
  await page.locator("#picked").setInputFiles([file("large.txt", "x".repeat(600 * 1024))]);
  await sees("that it is too large", () => text(page, "#unfit"), (seen) => seen.includes("600 KB") && seen.includes("workspace"));
  is("what was typed", await page.locator("#say").inputValue(), "look");
  // Nothing that is not taken in is lost.
  await ask("leave");
  await page.locator("#say").press("Enter");
  await sees("that it was not sent", () => page.locator(".notice.error:visible").allInnerTexts(), (seen) => seen.at(-1)?.includes("cannot be reached") || seen.some((line) => line.includes("kept in the field")));
  is("what is kept", [await page.locator("#say").inputValue(), (await chips(page)).length], ["look", 10]);
  await ask("return");
  await sees("that it is back", () => page.locator("#offline").isVisible(), false);
  is("what the browser complained of", troubles.splice(0), (seen) => seen.every((line) => line.includes("net::ERR")));
  await model.answer("Ten of them.");
  await page.locator("#say").press("Enter");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("Ten of them.") && seen.includes("b.csv"));
});

scenario("the page counts what is pasted as the program does", async () => {
  const page = await talk("hi");
  const table = JSON.parse(readFileSync(new URL("pasted.json", import.meta.url), "utf8"));
  const wrong = await page.evaluate(async (cases) => {
    const script = document.querySelector("script[src$='/chat.js']").src;
    const { isLong } = await import(script.replace("chat.js", "paste.js"));
    return cases.filter((one) => isLong(one.text.repeat(one.times)) !== one.long);
  }, table);
  is("what is counted otherwise", wrong, []);
});

scenario("a message is edited by keyboard, and Escape leaves it", async () => {
  const page = await talk("tea", "coffee", "milk");
  await page.locator("#say").fill("a draft");
  const edit = page.getByRole("button", { name: "Edit" });
  is("how many can be edited", await edit.count(), 3);
  await edit.nth(1).focus();
  await page.keyboard.press("Enter");
  await sees("the words in the field", () => page.locator("#say").inputValue(), "coffee");
  is("the mark", await text(page, "#editing"), (seen) => seen.startsWith("Editing.") && seen.includes("Anything tools already did stays done"));
  is("the marked message", await page.locator(".msg.edited .md").allInnerTexts(), ["coffee"]);
  is("where the cursor is", await focus(page), "say");
  await page.keyboard.press("Escape");
  is("what stood there before", [await page.locator("#say").inputValue(), await page.locator("#editing").isVisible()], ["a draft", false]);
  await edit.nth(1).focus();
  await page.keyboard.press("Space");
  await sees("the words again", () => page.locator("#say").inputValue(), "coffee");
  await page.keyboard.type(" with milk");
  await model.answer("Better.");
  await page.keyboard.press("Enter");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("Better."));
  is("the draft", await page.locator("#say").inputValue(), "a draft");
  is("what was sent", await ask("asked"), (seen) => seen.includes("coffee with milk") && seen.includes("tea") && !seen.includes("You said milk"));
  const out = page.locator("details.out");
  is("what is folded", await text(page, "details.out > summary"), (seen) => seen.includes("4 replaced messages"));
  is("whether it is open", await out.getAttribute("open"), null);
  await out.locator("> summary").focus();
  await page.keyboard.press("Enter");
  is("what it holds", await out.innerText(), (seen) => seen.includes("You said milk."));
  // The thread is drawn anew at the end of an answer.
  await model.answer("Anything else?");
  await say(page, "Thanks");
  await sees("the next answer", () => text(page, "#thread"), (seen) => seen.includes("Anything else?"));
  is("whether it is still open", await out.getAttribute("open"), "");
});

scenario("a file goes along again, and can be left away", async () => {
  const page = await talk("hello");
  await page.locator("#picked").setInputFiles([file("letter.txt", LETTER)]);
  await sees("the chip", () => chips(page), ["letter.txt"]);
  await model.answer("A letter.");
  await say(page, "Sum this up");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("A letter."));
  await page.getByRole("button", { name: "Edit" }).last().click();
  await sees("the chip again", () => chips(page), ["letter.txt"]);
  await page.getByRole("button", { name: "Remove letter.txt" }).click();
  await model.answer("Fine.");
  await say(page, "Never mind");
  await sees("the answer to the edited one", () => text(page, "#thread"), (seen) => seen.includes("Fine."));
  is("what was sent", await ask("asked"), (seen) => seen.includes("Never mind") && !seen.includes("assistants obey"));
});

scenario("two windows and a running answer lose nothing", async () => {
  const first = await talk("one");
  const second = await first.context().newPage();
  await second.goto(first.url());
  await first.getByRole("button", { name: "Edit" }).click();
  await sees("the words in the first", () => first.locator("#say").inputValue(), "one");
  await model.say("To the second");
  await say(second, "two");
  await sees("words", () => text(second, "#live"), (seen) => seen.includes("To the second"));
  await second.getByRole("button", { name: "Edit" }).first().click();
  await sees("why not now", () => second.locator(".notice.error:visible").allInnerTexts(), (seen) => seen.some((line) => line.includes("Limpid is still answering")));
  await say(first, "changed");
  await sees("why not in the first", () => first.locator(".notice.error:visible").allInnerTexts(), (seen) => seen.some((line) => line.includes("an answer is under way")));
  await model.end();
  await sees("the answer in the first", () => text(first, "#thread"), (seen) => seen.includes("To the second"));
  is("what is still edited", [await first.locator("#say").inputValue(), await first.locator("#editing").isVisible()], ["changed", true]);
  await first.locator("#say").press("Enter");
  await sees("why not after it", () => first.locator(".notice.error:visible").allInnerTexts(), (seen) => seen.some((line) => line.includes("meanwhile")));
  await first.getByRole("button", { name: "Edit" }).first().click();
  await sees("the words", () => first.locator("#say").inputValue(), "one");
  await model.answer("All anew.");
  await first.locator("#say").fill("changed");
  // Whoever presses twice says it once.
  await first.locator("#composer [aria-label=Send]").dblclick();
  for (const page of [first, second]) await sees("the new answer", () => text(page, "#thread"), (seen) => seen.includes("All anew.") && seen.includes("replaced messages"));
  is("what the browser complained of", troubles.splice(0), (seen) => seen.length === 2 && seen.every((line) => line.includes("422")));
  is("how often it was said", (await messages(second)).filter((message) => message.includes("changed")).length, 1);
});

for (const colorScheme of ["light", "dark"]) scenario(`chips, marks and folds are accessible: ${colorScheme}`, async () => {
  const page = await talk("tea");
  await page.emulateMedia({ colorScheme });
  await page.locator("#picked").setInputFiles([file("a-letter-with-a-name-that-is-longer-than-any-phone-is-wide-and-has-no-space.txt", LETTER), file("b.txt", "b")]);
  await sees("the chips", () => chips(page), (seen) => seen.length === 2);
  await model.answer("Read.");
  await say(page, "Sum this up");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("Read."));
  await page.getByRole("button", { name: "Edit" }).first().click();
  await sees("the words", () => page.locator("#say").inputValue(), "tea");
  await model.answer("Out with it.");
  await say(page, "coffee");
  await sees("the fold", () => page.locator("details.out").count(), 1);
  await page.getByRole("button", { name: "Edit" }).last().click();
  await sees("the mark", () => page.locator("#editing").isVisible(), true);
  await page.locator("#picked").setInputFiles([file("a-letter-with-a-name-that-is-longer-than-any-phone-is-wide-and-has-no-space.txt", LETTER), file("photo.png", "\u0089\u0000", "image/png"), file("b.txt", "b")]);
  await sees("the chips again", () => chips(page), (seen) => seen.length === 2);
  for (const each of await page.locator("details").all()) await each.evaluate((details) => { details.open = true; });
  for (const width of [1440, 768, 360]) {
    await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
    if (process.env.LIMPID_SHOTS) await page.screenshot({ path: `${process.env.LIMPID_SHOTS}/saying-${colorScheme}-${width}.png` });
    is("what is shown", [await chips(page).then((seen) => seen.length), await page.locator("#unfit").isVisible(), await page.locator("details.out .msg.mine").first().isVisible()], [2, true, true]);
    await judge(page, `a message that is edited, ${colorScheme}, ${width} px`);
  }
});

await run();
