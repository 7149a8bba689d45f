// Every screen, light and dark, wide and on a phone: judged by axe, nothing wider than the window, every focus seen, no motion
// where none is wanted.
import { is, run, scenario, sees, troubles, url, visitor } from "./kit.mjs";
import { judge } from "./judge.mjs";
import { SCREENS, address, filled } from "./fill.mjs";

const WIDTHS = [1440, 768, 360];

async function visit(page, screen) {
  const [name, , { status = 200 } = {}] = screen;
  const answer = await page.goto(url + await address(page, screen));
  is(`the status of ${name}`, answer.status(), status);
  if (status >= 400) troubles.length = 0;
  for (const each of await page.locator("details").all()) await each.evaluate((details) => { details.open = true; });
}

/** Goes through a screen by Tab; says which elements got the focus and did not show it. */
async function unseen(page) {
  const blind = [];
  let reached = 0;
  // A screen may begin with the cursor in its middle, so the end is not the first element that leads nowhere.
  for (let pressed = 0; pressed < 120; pressed += 1) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return "outside";
      if (element.dataset.reached) return null;
      element.dataset.reached = "yes";
      const shows = (each) => {
        const style = getComputedStyle(each);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      };
      const rings = [element, element.closest("label"), element.closest("form")].filter(Boolean);
      const box = element.getBoundingClientRect();
      const at = document.elementFromPoint(box.left + Math.min(box.width, innerWidth) / 2, box.top + Math.min(box.height, 20) / 2);
      const bar = document.querySelector(".rail");
      const isCovered = at && bar?.contains(at) && !bar.contains(element);
      return [rings.some(shows) && !isCovered, element.outerHTML.slice(0, 120)];
    });
    if (!found) break;
    if (found === "outside") continue;
    reached += 1;
    if (!found[0]) blind.push(found[1]);
  }
  return [reached, blind];
}

let owner;
scenario("a home in which every screen has something to show", async () => {
  const page = await filled();
  owner = await page.context().storageState();
});

for (const colorScheme of ["light", "dark"]) for (const width of WIDTHS) {
  scenario(`axe and the edges: ${colorScheme}, ${width} px`, async () => {
    const look = { colorScheme, viewport: { width, height: width === 360 ? 740 : 900 }, stranger: true };
    const [inside, outside] = [await visitor({ ...look, storageState: owner }), await visitor(look)];
    for (const screen of SCREENS) {
      const page = screen[2]?.stranger ? outside : inside;
      await visit(page, screen);
      if (screen[0] === "conversation") await sees("the question", () => page.locator(".ask").count(), 1);
      const where = `${screen[0]}, ${colorScheme}, ${width} px`;
      if (process.env.LIMPID_SHOTS) await page.screenshot({ path: `${process.env.LIMPID_SHOTS}/${where.replace(/\W+/g, "-")}.png` });
      await judge(page, where);
    }
  });
}

for (const width of [1440, 360]) scenario(`every focus is seen: ${width} px`, async () => {
  const page = await visitor({ storageState: owner, stranger: true, viewport: { width, height: 740 }, reducedMotion: "reduce" });
  for (const screen of SCREENS.filter(([, , more]) => !more?.stranger)) {
    await visit(page, screen);
    const [reached, blind] = await unseen(page);
    is(`focus that is not seen at ${screen[0]}`, blind, []);
    is(`how many elements Tab reaches at ${screen[0]}`, reached, (seen) => seen > 5);
  }
});

scenario("nothing moves where no motion is wanted", async () => {
  const page = await visitor({ storageState: owner, stranger: true, reducedMotion: "reduce" });
  for (const screen of SCREENS) {
    if (screen[2]?.stranger) continue;
    await visit(page, screen);
    const moving = await page.evaluate(() => {
      for (const button of document.querySelectorAll(".btn.icon")) button.classList.add("spin");
      return [...document.querySelectorAll("*")].filter((element) => {
        const style = getComputedStyle(element);
        return style.animationName !== "none" || style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0) || style.scrollBehavior !== "auto";
      }).map((element) => element.outerHTML.slice(0, 100)).slice(0, 3);
    });
    is(`what moves at ${screen[0]}`, moving, []);
  }
});

await run();
