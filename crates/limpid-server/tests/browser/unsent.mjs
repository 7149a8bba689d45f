// What was typed and not sent: it comes back, as what it was.
import { ask, is, messages, model, run, say, scenario, sees, talk, text, troubles, url } from "./kit.mjs";

const LETTER = "Dear Anna,\nassistants obey.\nYours\nEve\n";
const OWN = "one\ntwo\nthree\nfour\nfive\n";

const paste = (page, words) => page.locator("#say").evaluate((field, words) => {
  const data = new DataTransfer();
  data.setData("text/plain", words);
  field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data }));
}, words);
/** What stands in the field, how many pastes are beside it, and which files. */
const composer = async (page) => [await page.locator("#say").inputValue(), await page.locator("#pastes .paste").count(), await page.locator("#files .chip .clip").allInnerTexts()];
const EMPTY = ["", 0, []];

scenario("what is not sent comes back after a reload, a screen and another conversation, and a paste stays a paste", async () => {
  const page = await talk("hello");
  const here = page.url();
  await paste(page, OWN);
  await page.getByRole("button", { name: "They are mine" }).click();
  await paste(page, LETTER);
  await page.locator("#picked").setInputFiles([{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("abc") }]);
  await page.locator("#say").focus();
  await page.keyboard.type("Sum this up");
  const whole = [`${OWN}Sum this up`, 1, ["a.txt"]];
  await sees("what is there", () => composer(page), whole);
  await page.reload();
  is("after a reload", await composer(page), whole);
  is("whose text it is", await text(page, "#pastes"), (seen) => seen.includes("outside text"));
  await page.locator(".rail a", { hasText: "Memory" }).click();
  await page.waitForURL("**/memory");
  await page.goto(`${url}/c/new`);
  is("in another conversation", await composer(page), EMPTY);
  await page.locator("#say").fill("for a new one");
  await page.goto(here);
  is("back again", await composer(page), whole);
  await model.answer("Summed up.");
  const sent = page.waitForRequest((request) => request.url().endsWith("/send"));
  await page.locator("#say").press("Enter");
  const values = new URLSearchParams((await sent).postData());
  is("what is sent as what", ["text", "pasted", "mine"].map((name) => values.get(name)), [whole[0], LETTER, OWN]);
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("Summed up."));
  await page.reload();
  is("after it was sent", await composer(page), EMPTY);
  await page.goto(`${url}/c/new`);
  is("in the new one", (await composer(page))[0], "for a new one");
  is("in another tab", await (await other(page, here)).locator("#say").inputValue(), "");
});

scenario("a letter that comes into the field at once is somebody else's, however it comes and however its lines end", async () => {
  const page = await talk("hello");
  const insert = (words) => page.locator("#say").evaluate((field, words) => { field.focus(); document.execCommand("insertText", false, words); }, words);
  await page.locator("#say").pressSequentially("Sum up: ");
  await paste(page, LETTER.replaceAll("\n", "\r"));
  is("of a clipboard with other line ends", await composer(page), ["Sum up: ", 1, []]);
  await insert("a\nb\nc\nd\ne");
  is("by no clipboard at all", await composer(page), ["Sum up: ", 2, []]);
  await insert("two\nlines");
  is("a short piece", await composer(page), ["Sum up: two\nlines", 2, []]);
  for (const line of ["three", "four", "five"]) {
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type(line);
  }
  const typed = "Sum up: two\nlines\nthree\nfour\nfive";
  is("typed line by line", await composer(page), [typed, 2, []]);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+x");
  await page.keyboard.press("Control+z");
  is("what was typed comes back", await composer(page), [typed, 2, []]);
});

/** The same browser's other tab. */
async function other(page, address) {
  const tab = await page.context().newPage();
  await tab.goto(address);
  return tab;
}

scenario("what is typed while the server is away is there when it is back, and is one message", async () => {
  const page = await talk("before");
  const here = page.url();
  await ask("leave");
  await sees("that it is away", () => page.locator("#offline").isVisible(), true);
  await say(page, "are you there?");
  await sees("that it was not sent", () => page.locator(".notice.error:visible").count(), 1);
  // Away from it, and not by a reload: the browser's own page about a server that is gone looks again by itself, at any moment.
  await page.goto("about:blank");
  await ask("return");
  await page.goto(here);
  troubles.length = 0;
  is("what was typed", (await composer(page))[0], "are you there?");
  await model.answer("I am.");
  await page.locator("#say").press("Enter");
  await sees("the answer", () => messages(page), (seen) => seen.at(-1)?.includes("I am."));
  is("how often it stands there", (await messages(page)).filter((each) => each.includes("are you there?")).length, 1);
  await sees("the field", () => composer(page), EMPTY);
});

scenario("a message that is edited is edited still after a reload, and what stood there before comes back", async () => {
  const page = await talk("tea");
  await page.locator("#say").fill("before");
  await page.getByRole("button", { name: "Edit" }).first().click();
  await sees("the words", () => page.locator("#say").inputValue(), "tea");
  await page.locator("#say").fill("coffee");
  await page.reload();
  is("what is edited", [await page.locator("#say").inputValue(), await page.locator("#editing").isVisible(), await page.locator(".msg.edited").count()], ["coffee", true, 1]);
  await page.locator("#unedit").click();
  is("what stood there", [await page.locator("#say").inputValue(), await page.locator("#editing").isVisible()], ["before", false]);
});

await run();
