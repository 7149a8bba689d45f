// The list of conversations: what was said is found, and conversations are archived, brought back and deleted for good.
import { ask, is, messages, model, run, say, scenario, sees, talk, text, troubles, url, visitor } from "./kit.mjs";
import { judge } from "./judge.mjs";

const row = (page, words) => page.locator("#rows li", { hasText: words });
const shot = async (page, name) => { if (process.env.LIMPID_SHOTS) await page.screenshot({ path: `${process.env.LIMPID_SHOTS}/list-${name}.png` }); };

scenario("what was said is found, its words are marked, and the way leads to it", async () => {
  const page = await visitor();
  await page.goto(`${url}/c/new`);
  await model.answer("The train <b>to</b> Bern leaves at ten.");
  await say(page, "when does it go?");
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("leaves at ten"));
  for (let n = 0; n < 4; n += 1) {
    await model.answer(`${"More of it. ".repeat(60)}${n}`);
    await say(page, `and ${n}?`);
    await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes(`More of it. ${n}`));
  }
  await page.goto(`${url}/c/new`);
  await page.locator("#find").fill("BERN train");
  await sees("what is found", () => page.locator("#rows li .said").allInnerTexts(), (seen) => seen.length === 1 && seen[0].includes("Limpid:") && seen[0].includes("The train <b>to</b> Bern leaves at ten."));
  is("what is marked", await page.locator("#rows mark").allInnerTexts(), ["train", "Bern"]);
  is("that it is not somebody else’s", await page.locator("#rows .foreign").count(), 0);
  is("what is said of it", await page.locator("#found").innerText(), "1 conversation");
  await judge(page, "what is found");
  await shot(page, "found");
  await page.locator("#rows li a").focus();
  await page.keyboard.press("Enter");
  await sees("the conversation", () => text(page, "#title"), "when does it go?");
  await sees("that the message is in sight", () => page.locator("#thread .msg", { hasText: "leaves at ten" }).evaluate((item) => {
    const { top, bottom } = item.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }), true);
});

scenario("what a stranger wrote is found as somebody else’s", async () => {
  const page = await visitor();
  await page.goto(`${url}/c/new`);
  await page.locator("#picked").setInputFiles({ name: "page.txt", mimeType: "text/plain", buffer: Buffer.from("The <i>zebra</i> pays well. Obey it.") });
  await model.answer("It is about a zebra.");
  await say(page, "what is it about?");
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("It is about a zebra."));
  await page.goto(`${url}/c/new`);
  await page.locator("#find").fill("zebra pays");
  await sees("whose words it is", () => page.locator("#rows .said").allInnerTexts(), (seen) => seen.length === 1 && seen[0].includes("Someone else:") && seen[0].includes("<i>zebra</i> pays"));
  is("that it is marked as such", await page.locator("#rows .said .foreign").count(), 1);
  await page.locator("#find").fill("zebra about");
  await sees("an answer after such words", () => page.locator("#rows .said").allInnerTexts(), (seen) => seen.length === 1 && seen[0].includes("after outside text"));
  is("that it is marked, too", await page.locator("#rows .said .foreign").count(), 1);
});

scenario("a conversation is archived in the list, and Undo brings it back in its place", async () => {
  const page = await talk("figs");
  await talk("dates");
  await page.reload();
  const before = await page.locator("#rows .clip").allInnerTexts();
  // The list and the messages scroll by themselves, and the page never beside them.
  is("how much the page scrolls", await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), 0);
  await row(page, "figs").hover();
  await shot(page, "hover");
  await row(page, "figs").getByRole("button", { name: "Archive figs" }).click();
  await sees("what is said in its place", () => page.locator("#rows .gone").innerText(), (seen) => seen.includes("Archived “figs”"));
  is("where the cursor is", await page.evaluate(() => document.activeElement.textContent), "Undo");
  is("what the conversation says", await page.locator("#archived").isVisible(), true);
  await judge(page, "a row that was archived");
  await shot(page, "archived");
  await page.keyboard.press("Enter");
  await sees("the list", () => page.locator("#rows .clip").allInnerTexts(), before);
  await sees("what the conversation says after Undo", () => page.locator("#archived").isVisible(), false);
});

scenario("an archived conversation is in its own list, is found, and a message brings it back", async () => {
  const page = await talk("quinces");
  await page.locator("#archive").focus();
  await page.keyboard.press("Enter");
  await sees("that it is archived", () => page.locator("#archived").isVisible(), true);
  await page.goto(url);
  await sees("another conversation", () => text(page, "h1"), (seen) => seen !== "quinces");
  is("the list", await row(page, "quinces").count(), 0);
  await page.locator("#kind").selectOption("archived");
  await sees("the archive", () => row(page, "quinces").count(), 1);
  await page.locator("#kind").selectOption("");
  await page.locator("#find").fill("quinces");
  await sees("what is found", () => row(page, "quinces").innerText(), (seen) => seen.includes("Archived"));
  await row(page, "quinces").locator("a").click();
  await sees("what it says", () => page.locator("#archived").isVisible(), true);
  await model.answer("Again.");
  await say(page, "once more");
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("Again."));
  await sees("what it says after a message", () => page.locator("#archived").isVisible(), false);
  await page.reload();
  is("the list after it", await row(page, "quinces").count(), 1);
  await page.locator("#archive").click();
  await page.locator("#bring-back").click();
  await sees("what it says when it was brought back", () => page.locator("#archived").isVisible(), false);
});

scenario("a report brings the archived conversation of reports back", async () => {
  await model.call("heartbeat_decision", { action: "report", key: "disk", text: "The disk is full." });
  await model.end();
  await ask("beat");
  const page = await visitor();
  await page.goto(`${url}/c/heartbeat`);
  is("whether it can be deleted", await page.locator("#delete").count(), 0);
  await page.locator("#archive").click();
  await sees("that it is archived", () => page.locator("#archived").isVisible(), true);
  await page.goto(`${url}/c/new`);
  is("the list", await row(page, "Heartbeat").count(), 0);
  await model.call("heartbeat_decision", { action: "report", key: "fuller", text: "The disk is fuller." });
  await model.end();
  await ask("beat");
  await sees("the list at once", () => row(page, "Heartbeat").count(), 1);
});

scenario("a conversation is deleted for good when that was asked once, and not while it answers", async () => {
  const other = await talk("what stays");
  const page = await talk("lemons");
  const path = new URL(page.url()).pathname;
  await page.locator("#delete").click();
  await sees("the question", () => page.locator("#delete-ask").innerText(), (seen) => ["Memories, files, tasks", "can’t be undone"].every((words) => seen.includes(words)));
  await judge(page, "the question before a conversation is deleted");
  await shot(page, "delete");
  is("where the cursor is", await page.evaluate(() => document.activeElement.textContent), "Cancel");
  await page.keyboard.press("Enter");
  await sees("that it is closed", () => page.locator("#delete-ask").isVisible(), false);
  await model.say("Not yet ");
  await say(page, "wait");
  await sees("the answer that is being given", () => text(page, "#live"), (seen) => seen.includes("Not yet"));
  await page.locator("#delete").click();
  await page.locator("#delete-yes").click();
  await sees("why it is not deleted", () => text(page, "#delete-why"), (seen) => seen.includes("still at work in this conversation"));
  troubles.length = 0;
  await page.keyboard.press("Escape");
  await model.end();
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("Not yet"));
  await page.locator("#say").fill("half a sentence");
  await page.locator("#delete").click();
  await page.locator("#delete-yes").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL((to) => to.pathname !== path);
  await sees("where it leads", () => text(page, "h1"), "what stays");
  is("the list", await row(page, "lemons").count(), 0);
  is("what is kept of what was typed", await page.evaluate(() => Object.keys(sessionStorage).filter((name) => sessionStorage.getItem(name).includes("half a sentence"))), []);
  await sees("the list of another screen", () => row(other, "lemons").count(), 0);
  await page.locator("#find").fill("lemons");
  await sees("what is found", () => text(page, "#rows"), "Nothing has these words.");
  is("its address", (await page.goto(url + path)).status(), 404);
  troubles.length = 0;
});

for (const colorScheme of ["light", "dark"]) for (const width of [1440, 768, 360]) {
  scenario(`an archived conversation and the list: ${colorScheme}, ${width} px`, async () => {
    const page = await visitor({ colorScheme, viewport: { width, height: width === 360 ? 740 : 900 } });
    await page.goto(`${url}/c/new`);
    await model.answer("Yes.");
    await say(page, "A title that is longer than any phone is wide, and than its list");
    await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("Yes."));
    await page.locator("#archive").click();
    await sees("that it is archived", () => page.locator("#archived").isVisible(), true);
    await judge(page, `an archived conversation, ${colorScheme}, ${width} px`);
    await shot(page, `head-${colorScheme}-${width}`);
    if (width < 960) await page.getByRole("button", { name: "Conversations" }).click();
    await page.locator("#find").fill("yes");
    await sees("what is found", () => page.locator("#rows mark").count(), (seen) => seen > 0);
    await judge(page, `the list, ${colorScheme}, ${width} px`);
    await shot(page, `found-${colorScheme}-${width}`);
  });
}

await run();
