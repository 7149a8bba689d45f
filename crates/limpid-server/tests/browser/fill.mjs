// The screens of the page, and a home in which all of them have something to show. A new screen is one line here.
import { ask, beat, model, say, sees, text, url, visitor } from "./kit.mjs";

/**
 * Names, addresses, and what is particular: a `status` beside 200, a `stranger` who is not logged in, what only a filled home has,
 * and the `links` that lead from there to the one that is meant.
 */
export const SCREENS = [
  ["log in", "/login", { stranger: true }],
  ["first screen", "/c/new"],
  ["conversation", "/"],
  ["conversation of reports", "/c/heartbeat", { isFilled: true }],
  ["next prompt", "/prompt/next"],
  ["past request", "/prompt/next", { links: ["main a[href^='/prompt/r']"] }],
  ["two requests", "/prompt/next", { links: ["main a[href^='/prompt/r']", "main a[href^='/prompt/diff']"] }],
  ["prompt files", "/prompt/files"],
  ["prompt file", "/prompt/files", { links: ["main a[href^='/prompt/file/']"] }],
  ["activity", "/activity"],
  ["tasks", "/tasks"],
  ["inbox", "/inbox"],
  ["agents", "/agents"],
  ["goals", "/goals"],
  ["skills", "/skills"],
  ["skill", "/skills", { links: ["main a[href^='/skills/']"] }],
  ["memory", "/memory"],
  ["memory in full", "/memory", { links: ["main a[href^='/memory/']"], isFilled: true }],
  ["cost", "/cost"],
  ["settings", "/settings"],
  ["nothing there", "/nothing", { status: 404 }],
];

const WORDS = `Here is what I found.

## In short

1. *One*, **two** and \`three\`
2. a [link](https://example.com/a)

> A quote of someone.

| name | size |
|:-----|-----:|
| a    |    1 |

\`\`\`rust
fn main() { println!("A line of code that is much longer than any phone is wide, and than a column of text on a desk, so that it has to end up somewhere"); }
\`\`\`
`;

/** Where a screen is. */
export async function address(page, [name, path, { links = [] } = {}]) {
  let at = path;
  for (const link of links) {
    await page.goto(url + at);
    const found = await page.locator(link).first().getAttribute("href", { timeout: 5000 }).catch(() => null);
    if (!found) throw new Error(`${at} has no link \`${link}\`, so ${name} is not reached`);
    at = found;
  }
  return at;
}

/** What a form of the page would send. */
const sent = (page, path, fields) => page.evaluate(
  async ([path, fields]) => (await fetch(path, { method: "POST", body: new URLSearchParams(fields) })).status, [path, fields]);

/** A visitor of a home with a conversation, a question that waits, a draft, a report and what they cost. */
export async function filled() {
  await model.call("write_file", { path: "draft.md", content: "Dear Ada" });
  await model.end();
  await model.answer("It waits.");
  await ask("chat", { text: "write a draft" });
  await beat();
  await model.fail("the puppet's strings are torn");
  await ask("beat");
  await beat("The **disk** is full.");
  const page = await visitor();
  await sees("a task that is kept", () => sent(page, "/tasks", { text: "Water the plants", description: "", kind: "reminder", when: "cron", time: "0 9 * * 1-5" }), 200);
  await sees("a memory that is kept", () => sent(page, "/memory", { key: "travel", content: "I take the train.", category: "PREFERENCE" }), 200);
  await page.goto(`${url}/c/new`);
  await model.think("Let me think.");
  await model.call("list_files", { path: "." });
  await model.end();
  await model.answer(WORDS);
  await say(page, "what is there?");
  await sees("the answer", () => text(page, "#thread"), (seen) => seen.includes("A quote of someone."));
  await model.call("write_file", { path: "asked.md", content: "Dear Ada" });
  await model.end();
  await say(page, "write");
  await sees("the question", () => page.locator(".ask").count(), 1);
  return page;
}
