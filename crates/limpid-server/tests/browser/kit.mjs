// What every script here stands on: a browser whose complaints are kept, looks that wait, and the program behind the page.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const packages = createRequire(`${process.env.LIMPID_TEST_MCP_BROWSER}/`);
const { chromium } = packages("playwright-core");
export const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
export const url = process.env.LIMPID_URL;

/** Longer than anything here takes on a machine that is busy. */
const PATIENCE = Number(process.env.LIMPID_PATIENCE ?? 60_000);

// The program behind the page: one line asks, one line answers.
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let last = Promise.resolve();
export function ask(what, values = {}) {
  last = last.then(async () => {
    process.stdout.write(`> ${JSON.stringify({ do: what, ...values })}\n`);
    return JSON.parse((await answers.next()).value);
  });
  return last;
}
export const model = {
  say: (text) => ask("say", { text }),
  think: (text) => ask("think", { text }),
  call: (name, values) => ask("call", { name, arguments: values }),
  end: () => ask("end"),
  fail: (message) => ask("fail", { message }),
  answer: async (...pieces) => { for (const text of pieces) await ask("say", { text }); await ask("end"); },
};
/** What the model decides in a heartbeat: a report, or without words that nothing is to be told. */
export async function decide(words) {
  await model.call("heartbeat_decision", words ? { action: "report", key: words, text: words } : { action: "quiet" });
  await model.end();
}
/** A heartbeat, to its end. */
export async function beat(words) {
  await decide(words);
  return ask("beat");
}

/** Looks until it sees what it should; says what it saw at last when it never does. */
export async function sees(what, look, wanted) {
  const fits = typeof wanted === "function" ? wanted : (seen) => JSON.stringify(seen) === JSON.stringify(wanted);
  const end = Date.now() + PATIENCE;
  let seen;
  do {
    try { seen = await look(); } catch (error) { seen = `(${error.message.split("\n")[0]})`; }
    if (fits(seen)) return seen;
    await new Promise((next) => setTimeout(next, 20));
  } while (Date.now() < end);
  throw new Error(`${what}: saw ${show(seen)}${typeof wanted === "function" ? "" : `, not ${show(wanted)}`}`);
}
/** The same, without waiting. */
export function is(what, seen, wanted) {
  const fits = typeof wanted === "function" ? wanted(seen) : JSON.stringify(seen) === JSON.stringify(wanted);
  if (!fits) throw new Error(`${what}: saw ${show(seen)}${typeof wanted === "function" ? "" : `, not ${show(wanted)}`}`);
}
const YES = ":is(.ask, [data-yes])";
/** Waits until every question, and all else that needs a yes, has stood still for as long as its buttons need. What a look before a move
 * has found does not count. */
export async function still(page) {
  await page.locator(YES).evaluateAll((cards) => { for (const card of cards) card.classList.remove("still"); });
  return sees("what needs a yes stands still", () => page.locator(`${YES}:not(.still)`).count(), 0);
}
/** Scrolls through the question of a button as who reads it does, from its head to the button. */
export async function reads(button) {
  await sees("all of the question was on the screen", () => button.evaluate(async (each, yes) => {
    const card = each.closest(yes);
    const scroller = each.closest(".scroller") ?? document.scrollingElement;
    const isArmed = () => !card || each.ariaDisabled !== "true";
    const drawn = () => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    if (isArmed()) return true;
    card.scrollIntoView({ block: "start", behavior: "instant" });
    await drawn();
    for (let steps = 0; steps < 400 && !isArmed(); steps += 1) {
      scroller.scrollBy({ top: 60, behavior: "instant" });
      await drawn();
    }
    return isArmed();
  }, YES), true);
}
/** Presses a button of a question, or what else needs it to be read and to stand still. */
export async function press(button, how = "click") {
  await reads(button);
  await button.scrollIntoViewIfNeeded();
  await still(button.page());
  await button[how]();
}
const show = (value) => JSON.stringify(value)?.slice(0, 2000);

let browser;
/** What went wrong in any page so far, for a scenario to look at and empty. */
export const troubles = [];

/** A browser of its own, logged in unless it is said to be a stranger's. */
export async function visitor({ stranger = false, ...options } = {}) {
  browser ??= await chromium.launch({
    executablePath: process.env.LIMPID_TEST_CHROMIUM,
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb"],
  });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  context.on("page", (page) => {
    page.on("console", (line) => { if (line.type() === "error") troubles.push(`console: ${line.text()}`); });
    page.on("pageerror", (error) => troubles.push(`script: ${error.message}`));
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:")) troubles.push(`elsewhere: ${request.url()}`);
    });
  });
  const page = await context.newPage();
  if (!stranger) {
    await page.goto(process.env.LIMPID_LINK ?? await ask("link"));
    await page.waitForURL((to) => to.pathname !== "/login");
  }
  return page;
}

/** Says something in the conversation of a page. */
export async function say(page, text) {
  await page.locator("#say").fill(text);
  await page.locator("#say").press("Enter");
}
/** A page with a new conversation in which words were said and answered, one after the other. */
export async function talk(...all) {
  const page = await visitor();
  await page.goto(`${url}/c/new`);
  for (const words of all) {
    await model.answer(`You said ${words}.`);
    await say(page, words);
    await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes(`You said ${words}.`));
  }
  return page;
}
export const messages = (page) => page.locator(".msg").allInnerTexts();
/** What a user reads there: of what is hidden nothing, though `innerText` would say it. */
export async function text(page, selector) {
  const found = page.locator(selector).first();
  await found.waitFor({ state: "attached" });
  return await found.isVisible() ? found.innerText() : "";
}

const scenarios = [];
export const scenario = (name, play) => scenarios.push([name, play]);

/** Plays all, in order. The first that fails ends it, with what it saw. */
export async function run() {
  for (const [name, play] of scenarios) {
    if (process.env.LIMPID_SCENARIO && !name.match(process.env.LIMPID_SCENARIO)) continue;
    try {
      await play();
      is("what the browser complained of", troubles, []);
      console.log(`ok: ${name}`);
    } catch (error) {
      console.log(`FAILED: ${name}\n${error.stack}`);
      for (const context of browser?.contexts() ?? []) for (const page of context.pages()) console.log(`${page.url()}\n${(await text(page, "body").catch(String)).slice(0, 1500)}`);
      if (troubles.length) console.log(`The browser complained: ${troubles.join("\n")}`);
      await browser?.close();
      process.exit(1);
    }
    for (const context of browser?.contexts() ?? []) await context.close();
  }
  await browser?.close();
  process.exit(0);
}
