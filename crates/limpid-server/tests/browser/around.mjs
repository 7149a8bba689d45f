// What every screen shows of what happens elsewhere: reports, each of which can be put away, and how much waits for the owner.
import { beat, is, messages, model, press, run, say, scenario, sees, text, url, visitor } from "./kit.mjs";
import { SCREENS } from "./fill.mjs";
import { judge } from "./judge.mjs";

const banner = (page) => page.locator("#banner .banner");
const waits = (page) => page.locator(".rail .count:visible").allInnerTexts().then((all) => all.map((each) => each.split("\n")[0].trim()));
const shot = async (page, name) => { if (process.env.LIMPID_SHOTS) await page.screenshot({ path: `${process.env.LIMPID_SHOTS}/around-${name}.png` }); };
const PLACES = ["/activity", "/tasks", "/memory", "/cost", "/settings", "/prompt/next", "/skills"];

scenario("a report is told on every screen, as soon as it comes", async () => {
  const page = await visitor();
  const others = [];
  for (const place of PLACES.slice(0, 3)) {
    const other = await page.context().newPage();
    await other.goto(url + place);
    others.push(other);
  }
  await beat("The disk is full.");
  for (const each of [page, ...others]) await sees(`the banner at ${each.url()}`, () => banner(each).innerText(), (seen) => seen.includes("The disk is full."));
  for (const [name, path, more] of SCREENS.filter(([, , more]) => !more?.stranger && !more?.isFilled && !more?.links)) {
    const other = others[0];
    await other.goto(url + path);
    is(`the banner at ${name}`, await banner(other).count(), 1);
    if (more?.status) (await import("./kit.mjs")).troubles.length = 0;
  }
  await others[1].bringToFront();
  await banner(others[1]).getByRole("button", { name: "Dismiss the report" }).click();
  for (const each of [page, others[1], others[2]]) await sees(`banners at ${each.url()}`, () => banner(each).count(), 0);
});

scenario("each report is put away alone, and those behind the newest are opened", async () => {
  for (const words of ["The roof leaks.", "The cellar is wet.", "The door is open."]) await beat(words);
  const page = await visitor();
  await page.goto(`${url}/memory`);
  await sees("the newest", () => banner(page).innerText(), (seen) => seen.includes("The door is open.") && seen.includes("and 2 more") && !seen.includes("The roof leaks."));
  await page.getByRole("button", { name: "and 2 more" }).focus();
  await page.keyboard.press("Enter");
  await sees("the others", () => banner(page).innerText(), (seen) => seen.indexOf("The cellar is wet.") > 0 && seen.indexOf("The cellar is wet.") < seen.indexOf("The roof leaks."));
  is("that it is said", await page.locator("#others-open").getAttribute("aria-expanded"), "true");
  await judge(page, "the reports");
  await shot(page, "reports");
  await page.getByRole("button", { name: "Dismiss “The cellar is wet.”" }).click();
  await sees("the others, still open", () => banner(page).innerText(), (seen) => seen.includes("and 1 more") && seen.includes("The roof leaks.") && !seen.includes("The cellar is wet."));
  await sees("where the cursor is", () => page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Dismiss “The roof leaks.”");
  await page.getByRole("button", { name: "Dismiss the report" }).click();
  await sees("the one that is left", () => banner(page).innerText(), (seen) => seen.includes("The roof leaks.") && !seen.includes("more"));
  await page.reload();
  is("after a reload", await banner(page).innerText(), (seen) => seen.includes("The roof leaks."));
  await beat("The lamp is on.");
  await sees("two again", () => banner(page).innerText(), (seen) => seen.includes("The lamp is on.") && seen.includes("and 1 more"));
  await page.getByRole("button", { name: "and 1 more" }).click();
  await page.getByRole("button", { name: "Dismiss all" }).click();
  await sees("banners", () => banner(page).count(), 0);
  await page.goto(`${url}/c/heartbeat`);
  is("what was reported", await text(page, "#thread"), (seen) => ["roof", "cellar", "door", "lamp"].every((word) => seen.includes(word)));
});

scenario("what waits is counted at once on every screen, and in the list, and goes when it is answered", async () => {
  const page = await visitor();
  await page.goto(`${url}/c/new`);
  const others = [];
  for (const place of ["/c/new", "/cost", "/activity"]) {
    const other = await page.context().newPage();
    await other.goto(url + place);
    others.push(other);
  }
  for (const each of [page, ...others]) is("what waits at first", await waits(each), []);
  await model.call("write_file", { path: "asked.md", content: "Dear Ada" });
  await model.end();
  await model.answer("As you like.");
  await say(page, "ask me something");
  await sees("the question", () => page.locator(".ask").count(), 1);
  for (const each of [page, ...others]) await sees(`what waits at ${each.url()}`, () => waits(each), ["1"]);
  const tag = (each) => each.locator("#rows li", { hasText: "ask me something" }).locator(".tag.wait");
  await sees("the list of its own screen", () => tag(page).count(), 1);
  await sees("the list of another screen", () => tag(others[0]).count(), 1);
  await sees("Activity itself", () => text(others[2], "main"), (seen) => seen.includes("Limpid asks whether it may call write_file"));
  is("above Activity", await others[2].locator(".jump .count").innerText(), "1");
  await judge(page, "a list with a question");
  await shot(page, "waits");
  await press(page.locator("[data-answer=no]"));
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("As you like."));
  for (const each of [page, ...others]) await sees(`what waits at ${each.url()} after it`, () => waits(each), []);
  for (const each of [page, others[0]]) await sees("the list after it", () => tag(each).count(), 0);
  await sees("Activity after it", () => text(others[2], "main"), (seen) => seen.includes("Nothing is waiting."));
  is("above Activity after it", await others[2].locator(".jump .count:visible").count(), 0);
});

for (const colorScheme of ["light", "dark"]) for (const width of [1440, 768, 360]) {
  scenario(`reports on a screen: ${colorScheme}, ${width} px`, async () => {
    await beat(`The disk is full at ${width} px in the ${colorScheme}, and that is longer than any phone is wide.`);
    await beat(`The disk is fuller at ${width} px in the ${colorScheme}.`);
    const page = await visitor({ colorScheme, viewport: { width, height: width === 360 ? 740 : 900 } });
    for (const place of ["/activity", "/settings", "/c/new"]) {
      await page.goto(url + place);
      await page.locator("#others-open").click();
      await sees("the others", () => page.locator("#others").isVisible(), true);
      await judge(page, `reports at ${place}, ${colorScheme}, ${width} px`);
      await shot(page, `${place.slice(1).replace("/", "-")}-${colorScheme}-${width}`);
    }
    await page.getByRole("button", { name: "Dismiss all" }).click();
    await sees("banners", () => banner(page).count(), 0);
  });
}

await run();
