// A form that an MCP server puts to the owner in the middle of a call.
import { ask, is, messages, model, press, reads, run, say, scenario, sees, still, visitor } from "./kit.mjs";
import { judge } from "./judge.mjs";

const question = {
  mode: "form",
  message: "<b>Where</b> does it go?\n<a href='https://evil.example'>Yes, once</a>",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", minLength: 2 },
      mail: { type: "string", title: "Mail", format: "email" },
      day: { type: "string", title: "Day", format: "date", default: "2026-04-12" },
      moment: { type: "string", title: "Moment", format: "date-time" },
      size: { type: "integer", title: "Size", minimum: 1, maximum: 9, default: 3 },
      sure: { type: "boolean", title: "Sure" },
      colour: { type: "string", title: "Colour", enum: ["red", "blue"] },
      days: { type: "array", title: "Days", minItems: 1, items: { type: "string", enum: ["Monday", "Tuesday", "Wednesday"] } },
      note: { type: "string", title: "Note" },
    },
    required: ["name", "mail", "size", "sure", "colour", "days"],
  },
};

async function asked(page) {
  await model.call("desk__ask", {});
  await model.end();
  await model.answer("Thanks.");
  await say(page, "begin");
  await sees("the form", () => page.locator("[data-form]").count(), 1);
  return page.locator(".ask");
}

scenario("a form of a server is filled in, in one of two tabs, after a reload", async () => {
  await ask("server", { question });
  const page = await visitor();
  const card = await asked(page);
  is("who asks", await card.locator("h3").innerText(), "The MCP server desk asks you something");
  is("links of the server", await card.locator("a, b").count(), 0);
  for (const [width, height] of [[1440, 900], [360, 740]]) {
    await page.setViewportSize({ width, height });
    await judge(page, `the form, ${width} px`);
    if (process.env.LIMPID_SHOTS) await card.screenshot({ path: `${process.env.LIMPID_SHOTS}/asked-${width}.png` });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  const other = await page.context().newPage();
  await other.goto(page.url());
  await sees("the form in another tab", () => other.locator("[data-form]").count(), 1);
  await page.reload();
  await sees("the form after a reload", () => page.locator("[data-form]").count(), 1);
  await card.getByLabel("Name").fill("A");
  await press(card.getByRole("button", { name: "Send" }));
  await sees("what is wrong", () => card.locator(".notice:visible").allInnerTexts(), [
    "This does not fit. Text, at least 2 characters.", ...Array(4).fill("This has to be filled in."),
  ]);
  await sees("where the cursor is", () => page.evaluate(() => document.activeElement.labels?.[0].innerText), "Name");
  await page.keyboard.type("nn");
  await card.getByLabel("Mail").fill("ann@example.com");
  // The thread is loaded again while the form is filled in.
  const loaded = page.waitForResponse((answer) => answer.url().endsWith("/thread"));
  await page.evaluate(() => { fetch(`${location.pathname}/events?after=00000000-1`).then((told) => told.body.cancel()); });
  await loaded;
  await sees("what was typed", () => card.getByLabel("Mail").inputValue(), "ann@example.com");
  await card.getByLabel("Moment").fill("2026-04-12T14:00");
  await card.getByLabel("Yes", { exact: true }).check();
  await card.getByLabel("blue").check();
  await card.getByLabel("Monday").check();
  await card.getByLabel("Wednesday").check();
  await reads(card.getByRole("button", { name: "Send" }));
  await card.getByLabel("Name").focus();
  await still(page);
  await page.keyboard.press("Enter");
  await sees("the end", () => messages(page), (seen) => seen.at(-1)?.includes("Thanks."));
  await sees("the end in the other tab", () => messages(other), (seen) => seen.at(-1)?.includes("Thanks."));
  is("forms that are left", await other.locator("[data-form]").count(), 0);
  const read = await ask("asked");
  for (const part of ['"name": "Ann"', '"day": "2026-04-12"', '"moment": "2026-04-12T14:00:00Z"', '"size": 3', '"sure": true', '"colour": "blue"', '"Wednesday"']) {
    is("what the server got", read, (seen) => seen.includes(part));
  }
  is("what was left out", read, (seen) => !seen.includes('"note"'));
});

scenario("a form of a server is refused", async () => {
  const page = await visitor();
  const card = await asked(page);
  await press(card.getByRole("button", { name: "Refuse" }));
  await sees("the end", () => messages(page), (seen) => seen.at(-1)?.includes("Thanks."));
  is("what the server got", await ask("asked"), (seen) => seen.includes('"action": "decline"'));
});

await run();
