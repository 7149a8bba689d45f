// Judges what a page shows just now: by axe, and nothing is wider than the window.
import { axe, is, still } from "./kit.mjs";

const SERIOUS = ["serious", "critical"];

export async function judge(page, where) {
  // A question that has just moved is pale, and takes no answer until it stands still.
  await still(page);
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, {
    resultTypes: ["violations"], rules: { "target-size": { enabled: true } },
  }));
  const bad = violations.filter(({ impact }) => SERIOUS.includes(impact)).map(({ id, nodes }) =>
    `${id}: ${nodes.map(({ html, any, all }) => `${html.slice(0, 120)} (${(any[0] ?? all[0])?.message})`).slice(0, 3).join("; ")}`);
  is(`serious findings of axe at ${where}`, bad, []);
  const wide = await page.evaluate(() => {
    const edge = document.documentElement.clientWidth;
    const isScrolled = (element) => element && (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(element).overflowX) || isScrolled(element.parentElement));
    return [document.documentElement.scrollWidth > edge, [...document.querySelectorAll("main *")]
      .filter((element) => element.getBoundingClientRect().right > edge + 1 && !isScrolled(element.parentElement) && !element.closest(".vh, [hidden], dialog, [popover]"))
      .map((element) => element.outerHTML.slice(0, 100)).slice(0, 3)];
  });
  is(`what is wider than the window at ${where}`, wide, [false, []]);
  return passes.length;
}
