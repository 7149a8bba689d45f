// How much every screen weighs, whom it asks, and how soon it shows something.
import { is, run, scenario, visitor } from "./kit.mjs";
import { SCREENS, address, filled } from "./fill.mjs";
import { weigh } from "./weigh.mjs";

/** Bytes that a screen may have, without what is said in conversations. */
const MOST = 150_000;

let owner;
scenario("a home in which every screen has something to show", async () => {
  owner = await (await filled()).context().storageState();
});

/** Where a screen is, by another page, so that nothing of it is there yet. */
async function found(screen) {
  if (!screen[2]?.links) return screen[1];
  const page = await visitor({ stranger: true, storageState: owner });
  const path = await address(page, screen);
  await page.context().close();
  return path;
}

scenario("every screen is light and asks nobody else", async () => {
  for (const screen of SCREENS) {
    const page = await visitor({ stranger: true, storageState: screen[2]?.stranger ? undefined : owner });
    const { files, bytes, first } = await weigh(page, screen, await found(screen));
    console.log(`weight | ${screen[0]} | ${files} | ${bytes} | ${first.toFixed(0)}`);
    is(`bytes of ${screen[0]}`, bytes, (seen) => seen > 5_000 && seen <= MOST);
    await page.context().close();
  }
});

await run();
