// What a screen weighs, and how soon it shows something.
import { is, troubles, url } from "./kit.mjs";

/** The milliseconds from a page's beginning to its first content. */
const painted = (page) => page.evaluate(() => new Promise((next) => {
  new PerformanceObserver((list) => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) next(paint.startTime);
  }).observe({ type: "paint", buffered: true });
}));

/** Opens a screen in a page that has shown another one: the milliseconds to its first content. */
export async function moved(page, path) {
  await page.goto(url + path, { waitUntil: "load" });
  return painted(page);
}

/** Opens a screen in a page whose cache is empty; its files, their bytes, and the milliseconds to its first content. */
export async function weigh(page, [name, , { status = 200 } = {}], path) {
  const answers = [];
  page.on("response", (answer) => answers.push(answer));
  const answer = await page.goto(url + path, { waitUntil: "load" });
  is(`the status of ${name}`, answer.status(), status);
  if (status >= 400) troubles.length = 0;
  const first = await painted(page);
  const from = answers.filter((answer) => !answer.url().startsWith("data:"));
  is(`whom ${name} asks`, [...new Set(from.map((answer) => new URL(answer.url()).origin))], [url]);
  const loaded = from.filter((answer) => answer.status() < 300 || answer.status() >= 400)
    .filter((answer) => !answer.headers()["content-type"]?.includes("event-stream"));
  let bytes = 0;
  for (const answer of loaded) bytes += (await answer.body()).length;
  return { files: loaded.length, bytes, first };
}
