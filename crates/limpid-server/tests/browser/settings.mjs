// The heartbeat's settings: every control by mouse and by keyboard, and that it is kept.
import { ask, decide, is, model, run, scenario, sees, text, troubles, url, visitor } from "./kit.mjs";

const STEPS = ["5m", "10m", "15m", "30m", "45m", "1h", "2h", "4h"];
const THUMB = 20;

async function settings(options) {
  const page = await visitor(options);
  await page.goto(`${url}/settings`);
  return page;
}
/** What is kept, as the server tells it. */
const kept = (page) => page.evaluate(() => fetch("/settings/heartbeat").then((answer) => answer.json()));
/** The place on a slider that stands for a value. */
async function place(slider, share) {
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  return [box.x + THUMB / 2 + (box.width - THUMB) * share, box.y + box.height / 2];
}

scenario("the interval snaps to eight steps, by mouse and by keys", async () => {
  const page = await settings();
  const slider = page.locator("#hb-iv");
  is("the interval at first", await text(page, "#hb-iv-out"), "30m");
  is("its words in the description", await text(page, "#hb-say"), (seen) => seen.includes("every 30 minutes"));
  for (const [step, words] of STEPS.entries()) {
    await page.mouse.click(...await place(slider, step / 7));
    await sees("the value", () => text(page, "#hb-iv-out"), words);
    await sees(`what is kept at ${words}`, async () => (await kept(page)).every, words);
  }
  // Between two steps it is one of them.
  await page.mouse.click(...await place(slider, 2.2 / 7));
  await sees("the value between two steps", async () => (await kept(page)).every, "15m");
  await sees("the description", () => text(page, "#hb-say"), (seen) => seen.includes("every 15 minutes"));
  await slider.focus();
  for (const [key, words] of [["ArrowRight", "30m"], ["ArrowRight", "45m"], ["ArrowLeft", "30m"], ["Home", "5m"], ["End", "4h"]]) {
    await page.keyboard.press(key);
    await sees(`the value after ${key}`, () => text(page, "#hb-iv-out"), words);
    is("what a screen reader says", await slider.getAttribute("aria-valuetext"), words);
  }
  await sees("what is kept after the keys", async () => (await kept(page)).minutes, 240);
  await page.reload();
  is("the interval after a reload", [await text(page, "#hb-iv-out"), await slider.inputValue()], ["4h", "7"]);
});

scenario("two thumbs set the hours, and do not pass each other", async () => {
  const page = await settings();
  const [from, to] = ["#hb-from", "#hb-to"].map((id) => page.locator(id));
  is("the hours at first", await text(page, "#hb-h-out"), "8:00 – 22:00");
  const drag = async (slider, a, b) => {
    await page.mouse.move(...await place(slider, a / 23));
    await page.mouse.down();
    await page.mouse.move(...await place(slider, (a + b) / 46));
    await page.mouse.move(...await place(slider, b / 23));
    await page.mouse.up();
  };
  await drag(from, 8, 6);
  await sees("the hours", () => text(page, "#hb-h-out"), "6:00 – 22:00");
  await drag(to, 22, 10);
  await sees("the hours", () => text(page, "#hb-h-out"), "6:00 – 10:00");
  await sees("what is kept", async () => (await kept(page)).hours, "6:00 – 10:00");
  await drag(from, 6, 20);
  await sees("the hours, where one thumb ran into the other", () => text(page, "#hb-h-out"), "9:00 – 10:00");
  await from.focus();
  await page.keyboard.press("ArrowRight");
  await sees("the hours, after a key into the other", () => text(page, "#hb-h-out"), "9:00 – 10:00");
  await page.keyboard.press("Home");
  await sees("the hours", () => text(page, "#hb-h-out"), "0:00 – 10:00");
  await to.focus();
  await page.keyboard.press("End");
  await sees("the hours", () => text(page, "#hb-h-out"), "0:00 – 23:00");
  await sees("what is kept", async () => (await kept(page)).hours, "0:00 – 23:00");
  await page.reload();
  is("the hours after a reload", await text(page, "#hb-h-out"), "0:00 – 23:00");
});

scenario("a model of its own, and the default again", async () => {
  const page = await settings();
  const picker = page.locator("#hb-model");
  is("the model at first", await picker.evaluate((field) => field.selectedOptions[0].text), "Default");
  is("what can be chosen", await picker.locator("option").allInnerTexts(), (seen) => seen[0] === "Default" && seen.includes("openai/small"));
  await picker.selectOption("openai/small");
  await sees("what is kept", async () => (await kept(page)).model, "openai/small");
  await page.reload();
  is("the model after a reload", await picker.inputValue(), "openai/small");
  await picker.focus();
  await page.keyboard.press("D");
  await sees("what is kept", async () => (await kept(page)).model, "");
});

scenario("the prompt is counted, kept when it was changed, and reset after a question", async () => {
  const page = await settings();
  const [field, count, save, reset] = ["#hb-prompt", "#hb-len", "#hb-save", "#hb-reset"].map((id) => page.locator(id));
  const own = await field.inputValue();
  is("the default, and its size", [own.length > 20, await count.innerText()], [true, `${own.length}/4000`]);
  is("Save and Reset before any change", [await save.isVisible(), await reset.isVisible()], [false, false]);
  await field.fill("Look at the trains.");
  is("the size", await count.innerText(), "19/4000");
  is("Save after a change", await save.isVisible(), true);
  await field.fill(own);
  is("Save, when it is as before", await save.isVisible(), false);
  await field.fill("x".repeat(4001));
  is("the size, and Save, of too many", [await count.innerText(), await save.isDisabled()], ["4001/4000", true]);
  is("its colour", await count.getAttribute("class"), (seen) => seen.includes("bad"));
  await field.fill("🚂".repeat(4000));
  is("the size of 4000 trains, and Save", [await count.innerText(), await save.isDisabled()], ["4000/4000", false]);
  await field.fill("Look at the trains.");
  await save.click();
  await sees("Save, when it is kept", () => save.isVisible(), false);
  await page.reload();
  is("the text after a reload", [await field.inputValue(), await reset.isVisible()], ["Look at the trains.", true]);
  await reset.click();
  const dialog = page.locator("#reset-ask");
  await sees("the question", () => dialog.isVisible(), true);
  await page.keyboard.press("Escape");
  is("the text after Escape", [await dialog.isVisible(), await field.inputValue()], [false, "Look at the trains."]);
  await reset.click();
  await dialog.getByRole("button", { name: "Keep mine" }).click();
  is("the text after Keep mine", await field.inputValue(), "Look at the trains.");
  await reset.click();
  await dialog.getByRole("button", { name: "Reset" }).click();
  await sees("the default again", () => field.inputValue(), own);
  await sees("Reset, when there is nothing to reset", () => reset.isVisible(), false);
  is("what is kept", (await kept(page)).custom, false);
});

scenario("a run by hand spins, and the log says how it went", async () => {
  const page = await settings();
  const button = page.locator("#hb-run");
  is("the log at first", await text(page, "#hb-log"), "No runs yet.");
  await button.click();
  await sees("that it runs", () => button.evaluate((run) => [run.ariaBusy, run.disabled, getComputedStyle(run.firstElementChild).animationName]), ["true", true, "spin"]);
  await decide();
  await sees("the log", () => page.locator("#hb-log li").allInnerTexts(), (seen) => seen.length === 1 && /^OK\s+11 Apr, 12:00$/.test(seen[0]));
  await sees("that it no longer runs", () => button.evaluate((run) => [run.ariaBusy, run.disabled]), ["false", false]);
  const why = `the puppet's strings are torn ${"and torn ".repeat(60)}`;
  await model.fail(why);
  await button.focus();
  await page.keyboard.press("Enter");
  await sees("the failure", () => text(page, "#hb-log li"), (seen) => /^FAIL\s+11 Apr, 12:00\s+.*strings are torn/.test(seen));
  const line = await page.locator("#hb-log li .clip").evaluate((clip) => {
    const style = getComputedStyle(clip);
    const bad = document.body.appendChild(Object.assign(document.createElement("b"), { className: "bad" }));
    const colour = getComputedStyle(bad).color;
    bad.remove();
    const lines = clip.getBoundingClientRect().height / parseFloat(style.lineHeight);
    const below = clip.getBoundingClientRect().top >= clip.previousElementSibling.getBoundingClientRect().bottom - 1;
    return [style.textOverflow, clip.scrollWidth > clip.clientWidth, Math.round(lines), style.color === colour, below, clip.title.length > 400];
  });
  is("the error: ellipsis, cut, lines, error colour, below the time, whole on hover", line, ["ellipsis", true, 1, true, true, true]);
});

scenario("off switches the rest off", async () => {
  const page = await settings();
  const toggle = page.getByRole("switch", { name: "Heartbeat" });
  const all = ["#hb-iv", "#hb-from", "#hb-to", "#hb-model", "#hb-prompt", "#hb-run"];
  const disabled = () => Promise.all(all.map((id) => page.locator(id).isDisabled()));
  for (const how of ["mouse", "key"]) {
    await (how === "mouse" ? toggle.click() : toggle.press("Space"));
    await sees(`what is disabled after the ${how}`, disabled, all.map(() => true));
    is("what is kept", (await kept(page)).enabled, false);
    await page.reload();
    is("after a reload", [await toggle.isChecked(), ...await disabled()], [false, ...all.map(() => true)]);
    await (how === "mouse" ? toggle.click() : toggle.press("Space"));
    await sees("what is disabled when it is on", disabled, all.map(() => false));
  }
});

scenario("what is refused is said, and the control shows what is kept", async () => {
  const page = await settings();
  await page.route("**/settings/heartbeat", (route) => route.request().method() === "POST"
    ? route.continue({ postData: "interval=3" }) : route.continue());
  await page.locator("#hb-iv").press("Home");
  await sees("why", () => text(page, "#hb-error"), (seen) => seen.includes("5 minutes or more"));
  await sees("the interval", () => text(page, "#hb-iv-out"), "4h");
  is("what the browser complained of", troubles.splice(0), (seen) => seen.every((line) => line.includes("422")));
});

scenario("the theme is kept by this browser", async () => {
  const page = await settings({ colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  const dark = await sees("another ground", ground, (seen) => seen !== light);
  await page.reload();
  is("the ground after a reload", await ground(), dark);
  await page.getByRole("radio", { name: "Dark" }).focus();
  await page.keyboard.press("ArrowLeft");
  await sees("the ground of Light", ground, light);
  await page.keyboard.press("ArrowLeft");
  await sees("what the system says", () => page.evaluate(() => document.documentElement.dataset.theme ?? "system"), "system");
});

/** The row of a setting. */
const row = (page, key) => page.locator(`.set[data-key="${key}"]`);

scenario("a setting of the file is changed, refused, taken back and put back to its default, by keys alone", async () => {
  const page = await settings();
  const before = await ask("file");
  const tries = row(page, "limits.tries");
  const field = tries.locator("input");
  is("a default and where it comes from", [await field.inputValue(), await tries.locator(".from").innerText()], ([value, from]) => value === "3" && from.includes("default"));
  await field.focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Tab");
  await sees("what became of it", () => text(page, '.set[data-key="limits.tries"] .said'), (seen) => seen.startsWith("Saved."));
  is("the file", await ask("file"), (seen) => seen.startsWith("# Mine.") && seen.includes("[limits]\ntries = 4"));
  is("where it comes from", await tries.locator(".from").innerText(), (seen) => /limpid\.toml:\d+/.test(seen));
  await tries.getByRole("button", { name: "Undo" }).focus();
  await page.keyboard.press("Enter");
  await sees("the value that was", () => tries.locator("input").inputValue(), "3");
  await sees("the file that was", () => ask("file"), before);
  const zone = row(page, "owner.zone").locator("input");
  await zone.fill("Europe/Berln");
  await zone.press("Enter");
  await sees("why not", () => text(page, '.set[data-key="owner.zone"] .said'), (seen) => seen.startsWith("\"Europe/Berln\" isn't a time zone;") && !seen.includes("zone = "));
  is("the file", await ask("file"), before);
  is("what the browser complained of", troubles.splice(0), (seen) => seen.every((line) => line.includes("422")));
  const mode = row(page, "chat.ui_mode").locator("select");
  await mode.selectOption("dynamic");
  await sees("the file", () => ask("file"), (seen) => seen.includes("ui_mode = \"dynamic\""));
  await row(page, "chat.ui_mode").locator(".back").press("Enter");
  await sees("the default again", () => row(page, "chat.ui_mode").locator("select").inputValue(), "none");
  const suggest = row(page, "modes.suggestions").getByRole("switch");
  await suggest.press("Space");
  await sees("the file", () => ask("file"), (seen) => seen.includes("suggestions = false"));
  await page.reload();
  is("the switch after a reload", await suggest.isChecked(), false);
  await page.locator("#undo-last").press("Enter");
  await sees("the switch, taken back after a reload", () => suggest.isChecked(), true);
});

scenario("what opens the machine is shown with the reason, and settings are found by their words", async () => {
  const page = await settings();
  const rules = row(page, "policy.ask");
  is("a rule", await rules.locator("output").innerText(), (seen) => seen.includes("write_file"));
  is("what it can be changed with", await rules.locator("input, select, textarea, button").count(), 0);
  is("why", await rules.innerText(), (seen) => seen.includes("without your approval"));
  await page.keyboard.press("/");
  await page.keyboard.type("dollars day");
  const seen = () => page.locator(".set[data-key]:visible").evaluateAll((rows) => rows.map((each) => each.dataset.key));
  is("what is found", await seen(), (keys) => keys.includes("limits.dollars_per_day") && keys.length < 5);
  await page.locator("#find").fill("zebra");
  is("what is found of nothing", [await seen(), await page.locator("#found-none").isVisible()], [[], true]);
});

await run();
