// The numbers of `cargo xtask measure page`: every screen of a page that is served already, again and again.
import { is, run, scenario, visitor } from "./kit.mjs";
import { SCREENS } from "./fill.mjs";
import { moved, weigh } from "./weigh.mjs";

const RUNS = 11;

scenario("every screen, again and again", async () => {
  const owner = await (await visitor()).context().storageState();
  for (const screen of SCREENS.filter(([, , more]) => !more)) {
    const seen = [];
    for (let run = 0; run < RUNS; run += 1) {
      const page = await visitor({ stranger: true, storageState: owner });
      const weight = await weigh(page, screen, screen[1]);
      seen.push({ ...weight, next: await moved(page, screen[1]) });
      await page.context().close();
    }
    const times = (of) => seen.map((each) => each[of]).sort((a, b) => a - b);
    const [first, next] = [times("first"), times("next")];
    is(`files of ${screen[0]}`, seen.map(({ files }) => files), (each) => new Set(each).size === 1);
    console.log(`weight | ${screen[0]} | ${seen[0].files} | ${Math.max(...seen.map(({ bytes }) => bytes))} | ${[first[RUNS >> 1], first.at(-1), next[RUNS >> 1], next.at(-1)].map((ms) => ms.toFixed(0)).join(" | ")}`);
  }
});

await run();
