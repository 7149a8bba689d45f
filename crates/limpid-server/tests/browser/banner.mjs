// The life of a report: it is told over every conversation until it is read or dismissed, also over a restart.
import { ask, beat, is, model, run, say, scenario, sees, text, troubles, url, visitor } from "./kit.mjs";

const banner = (page) => page.locator("#banner .banner");

scenario("a quiet heartbeat says nothing", async () => {
  const page = await visitor();
  await model.answer("Hello.");
  await say(page, "hi");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("Hello."));
  is("what the run says", await beat(), (seen) => seen.includes("Quiet"));
  await page.reload();
  is("banners", await banner(page).count(), 0);
});

scenario("a report comes to an open page, and a dismissed one goes without leaving the page", async () => {
  const page = await visitor();
  const before = page.url();
  const other = await page.context().newPage();
  await other.goto(`${url}/c/new`);
  await page.evaluate(() => { window.kept = true; });
  await page.locator("#say").fill("half a sent");
  await beat("The **disk** is full.");
  for (const each of [page, other]) await sees("the banner", () => banner(each).innerText(), (seen) => seen.includes("Heartbeat") && seen.includes("The disk is full."));
  is("what was typed", await page.locator("#say").inputValue(), "half a sent");
  await banner(page).getByRole("button", { name: "Dismiss the report" }).click();
  await sees("banners", () => banner(page).count(), 0);
  is("where the page is", [page.url(), await page.evaluate(() => window.kept)], [before, true]);
  is("where the cursor is", await page.evaluate(() => document.activeElement.id), "say");
  await page.reload();
  is("banners after a reload", await banner(page).count(), 0);
  await page.goto(`${url}/c/heartbeat`);
  is("what was reported", await text(page, "#thread"), (seen) => seen.includes("The disk is full."));
});

scenario("a report waits over a restart, and its banner opens its conversation", async () => {
  await beat("The disk is fuller.");
  await beat("The disk is fullest.");
  await ask("leave");
  await ask("return");
  const page = await visitor();
  await sees("the newest, and that there is more", () => banner(page).innerText(), (seen) => seen.includes("The disk is fullest.") && seen.includes("and 1 more"));
  is("its badge in the list", await page.locator(".talks li", { hasText: "Heartbeat" }).locator(".tag.beat").allInnerTexts(), ["Heartbeat"]);
  is("that it is unread there", await page.locator(".talks li .unread").count(), 1);
  await banner(page).locator("> a").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/c/heartbeat");
  await sees("both reports", () => text(page, "#thread"), (seen) => seen.includes("The disk is fuller.") && seen.includes("The disk is fullest."));
  is("banners over the report itself", await banner(page).count(), 0);
  is("what is unread", await page.locator(".talks li .unread").count(), 0);
  await model.answer("Then I delete the logs.");
  await say(page, "do something");
  await sees("the answer to my reply", () => text(page, "#thread"), (seen) => seen.includes("Then I delete the logs."));
  await beat("The disk is empty.");
  await sees("the next report, where one reads it", () => text(page, "#thread"), (seen) => seen.includes("The disk is empty."));
  is("banners over the reports", await banner(page).count(), 0);
  await page.goto(url);
  await sees("where it went", () => text(page, "h1"), (seen) => !seen.includes("Heartbeat"));
  is("banners for what was read", await banner(page).count(), 0);
  is("what the browser complained of", troubles.splice(0), (seen) => seen.every((line) => line.includes("net::ERR")));
});

await run();
