// A conversation: from the first visit to an answer, while it is written, when it is stopped, reloaded, and looked at twice.
import { ask, is, messages, model, run, say, scenario, sees, talk, text, troubles, url, visitor } from "./kit.mjs";

scenario("who is not logged in is told what to do", async () => {
  const page = await visitor({ stranger: true });
  const answer = await page.goto(url);
  is("status", answer.status(), 401);
  is("what it says", await text(page, "main"), (seen) => seen.includes("Log in to Limpid") && seen.includes("limpid serve --link"));
  is("the browser's complaints", troubles.splice(0), (seen) => seen.every((line) => line.includes("401")));
});

scenario("from the link to the first answer", async () => {
  const page = await visitor();
  await sees("the first screen", () => text(page, "h1"), "Hello Anna. Ask me anything.");
  is("where the cursor is", await page.evaluate(() => document.activeElement.id), "say");
  await page.keyboard.type("hi");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\/c/);
  await sees("the message", () => messages(page), (seen) => seen.some((message) => message.includes("hi")));
  await model.say("Hello you");
  await sees("the first words", () => page.locator("#live .md").allInnerTexts(), (seen) => seen.at(-1) === "Hello you");
  is("the way to stop it", await page.locator("#stop").isVisible(), true);
  await model.say(", **Anna**.\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n<b>no</b> ![far](https://evil.example/p.png)");
  await sees("the table", () => page.locator("#live table td").allInnerTexts(), ["1", "2"]);
  await model.end();
  await sees("what it read", () => text(page, ".read"), (seen) => seen.includes("read 1200 tokens, 1000 from cache"));
  is("a strong word", await page.locator("#thread strong").allInnerTexts(), ["Anna"]);
  is("markup of the model's", await page.locator("#thread .md b, #thread .md img").count(), 0);
  is("the way to stop it, after the end", await page.locator("#stop").isVisible(), false);
  is("where the cursor is, after the answer", await page.evaluate(() => document.activeElement.id), "say");
});

scenario("an answer that is stopped keeps its words, and the next one comes", async () => {
  const page = await visitor();
  for (const how of ["button", "Escape"]) {
    await say(page, `stop by ${how}`);
    await model.say(`Kept until ${how}`);
    await sees("words before the stop", () => text(page, "#live"), (seen) => seen.includes(`Kept until ${how}`));
    if (how === "button") await page.locator("#stop").click();
    else await page.locator("#say").press("Escape");
    await sees("the stopped answer", () => text(page, "#thread"), (seen) => seen.includes(`Kept until ${how}`));
    await sees("the way to stop it", () => page.locator("#stop").isVisible(), false);
  }
  await model.answer("And on.");
  await say(page, "go on");
  await sees("the next answer", () => text(page, "#thread"), (seen) => seen.includes("And on."));
});

scenario("a reload in the middle shows all that was said, and the rest once", async () => {
  const page = await visitor();
  await say(page, "tell numbers");
  await model.say("One.\n\nTwo.");
  await sees("words", () => page.locator("#live .md p").allInnerTexts(), (seen) => seen.includes("Two."));
  await page.reload();
  await sees("the same words", () => page.locator("#live .md p").allInnerTexts(), ["One.", "Two."]);
  is("where the message stands", (await messages(page)).filter((message) => message.includes("tell numbers")).length, 1);
  await model.say("\n\nThree.");
  await model.end();
  await sees("the whole answer", async () => (await page.locator("#thread .md p").allInnerTexts()).slice(-3), ["One.", "Two.", "Three."]);
  is("what still is live", await page.locator("#live > *").count(), 0);
});

scenario("a page that nobody looks at catches up", async () => {
  const page = await visitor();
  const look = (hidden) => page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await say(page, "slowly");
  await model.say("Before.");
  await sees("words", () => text(page, "#live"), (seen) => seen.includes("Before."));
  await look(true);
  await model.say("\n\nMeanwhile.");
  await model.end();
  await look(false);
  await sees("what was said meanwhile", async () => (await page.locator("#thread .md p").allInnerTexts()).slice(-2), ["Before.", "Meanwhile."]);
});

scenario("two windows show one conversation", async () => {
  const first = await visitor();
  await say(first, "for two");
  await model.say("Seen ");
  await sees("words in the first", () => text(first, "#live"), (seen) => seen.includes("Seen"));
  const second = await first.context().newPage();
  await second.goto(first.url());
  await sees("words in the second", () => text(second, "#live"), (seen) => seen.includes("for two") && seen.includes("Seen"));
  await model.say("by both.");
  for (const page of [first, second]) await sees("more words", () => text(page, "#live"), (seen) => seen.includes("Seen by both."));
  await say(second, "from the second");
  await sees("a message of the second in the first", () => messages(first), (seen) => seen.some((message) => message.includes("from the second")));
  await model.end();
  await model.answer("To the second.");
  for (const page of [first, second]) {
    await sees("both answers", () => text(page, "#thread"), (seen) => seen.includes("Seen by both.") && seen.includes("To the second."));
    const all = (await messages(page)).join("\n");
    for (const words of ["for two", "Seen by both.", "from the second", "To the second."]) is(`how often it says "${words}"`, all.split(words).length - 1, 1);
  }
});

scenario("an answer that was begun elsewhere is said to come, and comes", async () => {
  const page = await talk("before it");
  await ask("begin", { text: "from elsewhere" });
  await page.reload();
  await sees("that it is at work", () => text(page, "#rate"), "Answering. It shows here when it is whole.");
  await model.answer("Far away.");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("from elsewhere") && seen.includes("Far away."));
  await sees("that it is over", () => text(page, "#rate"), "");
});

scenario("what goes wrong is said, and what was typed is kept", async () => {
  const page = await visitor();
  await model.fail("the puppet's strings are torn");
  await say(page, "fail");
  await sees("why", () => text(page, ".notice.error"), (seen) => seen.includes("The puppet's strings are torn"));
  await page.locator("#say").fill("keep me");
  await ask("leave");
  await sees("that it is away", () => page.locator("#offline").isVisible(), true);
  await page.locator("#say").press("Enter");
  await sees("that it was not sent", () => page.locator(".notice.error").allInnerTexts(), (seen) => seen.at(-1)?.includes("cannot be reached"));
  is("what was typed", await page.locator("#say").inputValue(), "keep me");
  await ask("return");
  await sees("that it is back", () => page.locator("#offline").isVisible(), false);
  is("what the browser complained of", troubles.splice(0), (seen) => seen.length > 0 && seen.every((line) => line.includes("net::ERR")));
  await model.answer("Kept.");
  await page.locator("#say").press("Enter");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("keep me") && seen.includes("Kept."));
});

scenario("an answer and its code are copied by mouse and keyboard, and nothing moves", async () => {
  const page = await visitor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const held = () => page.evaluate(() => navigator.clipboard.readText());
  const words = "**Run** this:\n\n```sh\nls -l  \"a b\"\n```\n\n1. one\n2. two";
  await model.answer(words);
  await say(page, "how?");
  const answer = page.locator("#thread .msg").last();
  await sees("the answer", () => answer.innerText(), (seen) => seen.includes("two") && seen.includes("sh"));
  const code = answer.getByRole("button", { name: "Copy the code" });
  // Where its parts are in it: pressing may scroll.
  const places = () => answer.evaluate((whole) => [...whole.querySelectorAll("header, button, pre, p, li, .read")].map((each) => each.getBoundingClientRect().top - whole.getBoundingClientRect().top));
  const before = await places();
  await code.click();
  await sees("what is held", held, 'ls -l  "a b"\n');
  await sees("what is told", () => text(page, "body > .vh[role=status]"), "Copied");
  is("where the answer is", await places(), before);
  const whole = answer.getByRole("button", { name: /^Copy the answer/ });
  await page.locator("#say").focus();
  for (let pressed = 0; pressed < 60 && !(await whole.evaluate((button) => button === document.activeElement)); pressed += 1) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await sees("what is held", held, words);
  is("where the answer is", await places(), before);
  await page.context().setOffline(true);
  await whole.click();
  await sees("what is told when it cannot be copied", () => text(page, "body > .vh[role=status]"), (seen) => seen.startsWith("Not copied."));
  is("what is selected", await page.evaluate(() => getSelection().toString()), (seen) => seen.includes("Run this:"));
  await page.context().setOffline(false);
  troubles.splice(0);
});

await run();
