// Who comes before there is a model: what the first screen says then, and that it sees the model without being loaded again.
import { ask, is, run, say, scenario, sees, text, troubles, url, visitor } from "./kit.mjs";
import { judge } from "./judge.mjs";

const choices = (page) => page.locator("#model option").allInnerTexts();

scenario("a server that begins to listen is seen, with all its models, and one of them answers", async () => {
  const page = await visitor();
  await page.goto(`${url}/c/new`);
  is("what is said first", await text(page, "#connected"), (seen) => seen.includes("No model answers yet.") && !seen.includes("reload"));
  is("what can be chosen", await choices(page), ["No model"]);
  await judge(page, "a first screen without a model");
  await page.locator("#say").fill("half a sente");
  await ask("serve");
  await sees("what is said then", () => text(page, "#connected"), "Using house/large. Nothing is sent until you press Send.");
  is("what can be chosen then", await choices(page), ["house/large", "house/small"]);
  is("what is chosen then", await page.locator("#model").inputValue(), "house/large");
  is("what the rail says", await text(page, "#rail-model"), "house/large");
  is("what was being typed", await page.locator("#say").inputValue(), "half a sente");
  await page.locator("#model").selectOption("house/small");
  await say(page, "hi");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("Good morning."));
  is("which model was asked", JSON.parse(await ask("asked")).model, "small");
});

scenario("a model that the server does not list is kept, and the setting says so", async () => {
  const page = await visitor();
  await page.goto(`${url}/settings`);
  const row = page.locator("[data-key=model]");
  await row.locator("input").fill("house/lorge");
  await row.locator("input").press("Tab");
  await sees("the note", () => row.innerText(), (seen) => seen.includes("The server does not list this model. It lists house/large, house/small."));
  await row.locator("input").fill("house/small");
  await row.locator("input").press("Tab");
  await sees("no note", () => row.innerText(), (seen) => !seen.includes("does not list"));
  is("what the file says", await ask("file"), (seen) => seen.includes('model = "house/small"'));
  troubles.length = 0;
});

await run();
