// The screens of the page, and a home in which all of them have something to show. A new screen is one line here.
import { ask, beat, model, say, sees, text, url, visitor } from "./kit.mjs";

/** Names, addresses, and what is particular: a `status` beside 200, a `stranger` who is not logged in, `isFilled` of a home alone. */
export const SCREENS = [
  ["log in", "/login", { stranger: true }],
  ["first screen", "/c/new"],
  ["conversation", "/"],
  ["conversation of reports", "/c/heartbeat", { isFilled: true }],
  ["next prompt", "/prompt/next"],
  ["activity", "/activity"],
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
fn main() {}
\`\`\`
`;

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
