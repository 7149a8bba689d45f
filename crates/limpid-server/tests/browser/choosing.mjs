// Everything that can be chosen in a conversation, by mouse and by keyboard, and the keys that go places.
import { is, messages, model, run, say, scenario, sees, talk, text, troubles, url, visitor } from "./kit.mjs";

scenario("model and mode are chosen before the first message, and later", async () => {
  const page = await visitor();
  const [models, modes] = ["#model", "#mode"].map((id) => page.locator(id));
  const mode = (await modes.locator("option").allInnerTexts()).at(-1);
  await models.selectOption("openai/small");
  await modes.selectOption(mode);
  await model.answer("Hello.");
  await say(page, "hi");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("Hello."));
  is("what is chosen then", [await models.inputValue(), await modes.inputValue()], ["openai/small", mode]);
  await models.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Tab");
  await modes.selectOption({ index: 0 });
  const first = await modes.inputValue();
  const kept = () => page.evaluate(() => fetch(location.href).then((answer) => answer.text()).then((whole) => {
    const other = new DOMParser().parseFromString(whole, "text/html");
    return ["model", "mode"].map((id) => other.getElementById(id).value);
  }));
  const chosen = await models.inputValue();
  await sees("what is kept", kept, [chosen, first]);
});

scenario("a conversation is renamed in its header, by keyboard and by mouse", async () => {
  const page = await talk("a title");
  const [title, field] = ["#title", "#name"].map((id) => page.locator(id));
  const there = () => page.evaluate(() => [document.activeElement.id, document.querySelector("#naming").hidden]);
  await page.locator("#rename").focus();
  await page.keyboard.press("Enter");
  is("the field", [await field.inputValue(), await there()], ["a title", ["name", false]]);
  await field.fill("another");
  await page.keyboard.press("Escape");
  is("after Escape", [await title.innerText(), await there()], ["a title", ["rename", true]]);
  await page.locator("#rename").click();
  await field.fill("");
  await page.keyboard.press("Enter");
  await sees("why it is refused", () => field.evaluate((own) => own.validationMessage), (seen) => seen.includes("at least one letter"));
  troubles.length = 0;
  await field.fill("  Tea <b>and</b> milk ");
  await page.keyboard.press("Enter");
  await sees("the title", () => title.innerText(), "Tea <b>and</b> milk");
  await sees("that of the row", () => text(page, ".talks [aria-current] .clip"), "Tea <b>and</b> milk");
  await sees("where the cursor is", there, ["rename", true]);
  await page.reload();
  is("after a reload", [await title.innerText(), await page.title()], ["Tea <b>and</b> milk", "Tea <b>and</b> milk · Limpid"]);
});

scenario("commands are offered, chosen by arrows, Tab, mouse and Escape", async () => {
  const page = await talk("slash");
  const field = page.locator("#say");
  const menu = page.locator("#slash");
  await field.pressSequentially("/he");
  await sees("what is offered", () => menu.locator("li b").allInnerTexts(), (seen) => seen.length > 1 && seen.every((word) => word.startsWith("/he")));
  const words = await menu.locator("li b").allInnerTexts();
  is("what is marked", await menu.locator("[aria-selected=true] b").allInnerTexts(), [words[0]]);
  await page.keyboard.press("ArrowDown");
  is("what is marked after an arrow", await menu.locator("[aria-selected=true] b").allInnerTexts(), [words[1]]);
  is("what a screen reader is told", await field.getAttribute("aria-activedescendant"), "slash-1");
  await page.keyboard.press("Tab");
  is("what stands in the field", await field.inputValue(), `${words[1]} `);
  await field.fill("/hel");
  await sees("what is offered", () => menu.locator("li b").allInnerTexts(), ["/help"]);
  await page.keyboard.press("Escape");
  is("the list after Escape", [await menu.isVisible(), await field.inputValue()], [false, "/hel"]);
  await field.press("p");
  await field.press("Backspace");
  await menu.locator("li", { hasText: "/help" }).click();
  is("what stands in the field after a click", await field.inputValue(), "/help ");
  await page.keyboard.press("Enter");
  await sees("what the command says", () => messages(page), (seen) => seen.at(-1).includes("/model"));
});

scenario("the list is searched by words and by kind", async () => {
  await talk("apples");
  const page = await talk("pears");
  const shown = () => page.locator(".talks li:visible .clip").allInnerTexts();
  await page.keyboard.press("Escape");
  await page.locator("main h1").click();
  await page.keyboard.press("/");
  is("where the cursor is after /", await page.evaluate(() => document.activeElement.id), (seen) => seen === "say" || seen === "find");
  await page.locator("#find").fill("PEARS");
  await sees("what is found", shown, (seen) => seen.length === 1 && seen[0].includes("pears"));
  await page.locator("#find").fill("plums");
  await sees("what is found of plums", shown, []);
  await page.getByRole("button", { name: "Clear" }).click();
  await sees("all", shown, (seen) => seen.length > 2);
  await page.locator("#kind").selectOption("task");
  await sees("tasks", shown, []);
  await page.locator("#kind").selectOption("chat");
  await sees("chats", shown, (seen) => seen.length > 2);
  await page.locator(".talks li", { hasText: "apples" }).locator("a").click();
  await sees("the conversation", () => text(page, "#thread"), (seen) => seen.includes("You said apples."));
});

scenario("keys go to every screen, and the skip link to the content", async () => {
  const page = await visitor();
  for (const [key, path] of [["p", "/prompt/next"], ["a", "/activity"], ["k", "/cost"], ["s", "/settings"], ["c", "/c/"]]) {
    await page.locator("body").press("Escape");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.waitForURL((to) => to.pathname.startsWith(path));
    await page.waitForLoadState();
  }
  await page.goto(`${url}/settings`);
  await page.keyboard.press("Tab");
  is("what is reached first", await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  await page.keyboard.press("Enter");
  is("where it leads", await page.evaluate(() => document.activeElement.id), "main");
});

scenario("on a phone the list opens from the header, and closes by Escape", async () => {
  const page = await talk("phone");
  await page.setViewportSize({ width: 360, height: 740 });
  is("the list at first", await page.locator("#talks").isVisible(), false);
  await page.getByRole("button", { name: "Conversations" }).click();
  await sees("the list", () => page.locator("#talks").isVisible(), true);
  await page.keyboard.press("Escape");
  await sees("the list after Escape", () => page.locator("#talks").isVisible(), false);
  await model.answer("On a phone.");
  await say(page, "small");
  await sees("the answer", () => page.locator("#thread").innerText(), (seen) => seen.includes("On a phone."));
  const [composer, bar] = await Promise.all([".composer", ".rail"].map((part) => page.locator(part).boundingBox()));
  is("the field above the bar", composer.y + composer.height <= bar.y + 1, true);
});

await run();
