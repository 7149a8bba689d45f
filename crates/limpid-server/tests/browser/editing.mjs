// What is changed at the page holds from the next turn on, and what is deleted comes back where it was.
import { ask, is, model, run, say, scenario, sees, text, troubles, url, visitor } from "./kit.mjs";

scenario("a sentence of the prompt is edited where it stands, and the next turn reads it", async () => {
  const page = await visitor();
  await model.answer("One.");
  await say(page, "before");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("One."));
  is("what the model read before", await ask("asked"), (seen) => !seen.includes("Say moin first."));
  const talk = page.url();
  await page.locator(".see").click();
  await page.waitForURL("**/prompt/next**");
  const part = page.locator("#s-acting");
  await part.scrollIntoViewIfNeeded();
  await part.locator("[data-edit]").click();
  const field = page.locator("form.edit textarea");
  await sees("the text in the field", () => field.inputValue(), (seen) => seen.length > 20);
  const before = await field.inputValue();
  await field.fill(`${before.trimEnd()}\nSay moin first.\n`);
  await sees("what it would cost", () => page.locator("form.edit .effect").innerText(), (seen) => /\d+ bytes more, \d+ tokens more in every turn/.test(seen));
  await page.locator("form.edit button.primary").click();
  await sees("the text of the prompt", () => page.locator("#s-acting").innerText(), (seen) => seen.includes("Say moin first."));
  await page.goto(talk);
  await model.answer("Two.");
  await say(page, "after");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("Two."));
  is("what the model read after", await ask("asked"), (seen) => seen.includes("Say moin first."));
});

scenario("a task that is deleted comes back by Undo, in its row", async () => {
  const page = await visitor();
  await page.goto(`${url}/tasks`);
  await page.getByText("New task").click();
  await page.getByLabel("What to do or say").fill("Water the plants");
  await page.getByLabel("When").selectOption({ label: "Cron pattern" });
  await page.getByRole("textbox", { name: "Time" }).fill("0 9 * * 1-5");
  await page.getByRole("button", { name: "Schedule" }).click();
  await sees("the task", () => page.locator(".task").allInnerTexts(), (seen) => seen.length === 1 && seen[0].includes("Water the plants"));
  await page.locator(".task").getByRole("button", { name: /^Delete/ }).click();
  await sees("what is in its row", () => page.locator(".items > .gone").innerText(), (seen) => seen.includes("Deleted") && seen.includes("Water the plants"));
  await sees("where the focus is", () => page.evaluate(() => document.activeElement.textContent), "Undo");
  await page.keyboard.press("Enter");
  await sees("the task again", () => page.locator(".task").allInnerTexts(), (seen) => seen.length === 1 && seen[0].includes("Water the plants"));
});

scenario("a memory that is forgotten comes back by Undo", async () => {
  const page = await visitor();
  await page.goto(`${url}/memory`);
  await page.getByText("Add a memory").click();
  await page.getByLabel("Key").fill("travel");
  await page.getByRole("textbox", { name: "Memory" }).fill("I take the train.");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.locator(".memories tr", { hasText: "I take the train." });
  await sees("the memory", () => row.count(), 1);
  await row.getByRole("button", { name: /^Forget/ }).click();
  await sees("what is in its row", () => page.locator("#gone").innerText(), (seen) => seen.includes("Forgot") && seen.includes("travel"));
  await page.locator("#gone").getByRole("button", { name: "Undo" }).click();
  await sees("the memory again", () => row.count(), 1);
  is("what the browser complained of", troubles, []);
});

scenario("no word of a memory's row breaks in its middle, however long another one is", async () => {
  const page = await visitor();
  await page.goto(`${url}/memory`);
  const kept = (key, content) => page.evaluate((values) => fetch("/memory", { method: "POST", body: new URLSearchParams(values) }), { key, content, category: "GENERAL" });
  await kept("long", "x".repeat(400));
  await kept("several words", `${"Some words that are many. ".repeat(20)}`);
  for (const width of [1440, 1024, 768]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${url}/memory`);
    const broken = await page.evaluate(() => {
      const found = [];
      const cells = document.querySelectorAll(".memories :is(th, td:not(:nth-child(2)))");
      const walk = (node) => {
        if (node.nodeType !== Node.TEXT_NODE) return node.childNodes.forEach(walk);
        for (const word of node.data.matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
          if (lines.size > 1) found.push(word[0]);
        }
      };
      cells.forEach(walk);
      return found;
    });
    is(`broken words at ${width} px`, broken, []);
  }
});

await run();
