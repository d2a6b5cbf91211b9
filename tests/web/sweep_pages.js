// What people do on the page of a sweep.
import { check, comeTo, interact } from './browser.js';

const shown = (page) => page.locator('.filters span').first().textContent();

async function drag(page, from, to) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
  await page.mouse.move(...to);
  await page.mouse.up();
}

/** Of the points that share a point's values of two columns, the one with the least of a third. */
function leastOf({ x, y, z, point }) {
  const { points } = JSON.parse(document.getElementById('data').textContent).store;
  const n = points.point.count ?? points.point.length;
  const value = (name, i) => points[name].all ?? points[name][i];
  const number = (i) => (points.point.count ? points.point.from + i : points.point[i]);
  const all = Array.from({ length: n }, (_, i) => i);
  const at = all.find((i) => number(i) === point);
  const cell = all.filter((i) => value(x, i) === value(x, at) && value(y, i) === value(y, at));
  return number(cell.reduce((a, b) => (value(z, b) < value(z, a) ? b : a)));
}

async function heatAnswers(view) {
  const { page } = view;
  await comeTo(view, '#heat canvas');
  const choose = page.locator('#heat select');
  const read = () => choose.evaluateAll((boxes) => boxes.map((b) => b.value));
  const [x, y] = await read();
  await interact(view, 'axes of the heat map', 200, () => choose.nth(0).selectOption(y));
  check((await read()).slice(0, 2).join() === `${y},${x}`,
    `${view.name}: x chosen as y was, the axes are ${await read()}`);
  await interact(view, 'value of the heat map', 200, () =>
    choose.nth(2).selectOption({ index: 1 }));
  const canvas = page.locator('#heat canvas.picture');
  const at = { x: 500, y: 200 };
  await canvas.hover({ position: at });
  const note = await page.locator('#heat .tip-note').textContent();
  const point = Number(/^point (\d+):/.exec(note)[1]);
  const least = await page.evaluate(leastOf, { x: y, y: x, z: (await read())[2], point });
  check(point === least, `${view.name}: a cell of the heat map has point ${point}, not ${least}`);
  await interact(view, 'a cell of the heat map', 200, () => canvas.click({ position: at }));
  const title = page.locator('.details:not([hidden]) h2');
  check(await title.textContent() === `Point ${point}`,
    `${view.name}: the cell of point ${point} chooses ${await title.textContent()}`);
  await canvas.focus();
  await page.keyboard.press('ArrowRight');
  check(await title.textContent() !== `Point ${point}`, `${view.name}: an arrow key stays`);
  await page.keyboard.press('Escape');
}

/** What the points are coloured by before anybody chooses: the third of three objectives. */
async function isColouredByTheThird(view) {
  const { page } = view;
  const third = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent)
    .store.objectives[2]);
  const colour = await page.locator('#scatter select').nth(2).inputValue();
  check(colour === third, `${view.name}: points are coloured by ${colour}, not ${third}`);
  await comeTo(view, '#scatter canvas');
  const legend = await page.locator('#scatter .ramp span').count();
  check(legend === 3, `${view.name}: the colours' legend has ${legend} texts`);
}

export async function useSweep(view, points) {
  const { page } = view;
  await isColouredByTheThird(view);
  const all = await shown(page);
  check(all === `Shown: all ${points.toLocaleString('en-US')} points`, `${view.name}: ${all}`);
  const plot = page.locator('#scatter canvas.picture');
  await comeTo(view, '#scatter canvas');
  let box = await plot.boundingBox();
  await interact(view, 'a box on the points', 200, () => drag(page,
    [box.x + 90, box.y + 20], [box.x + box.width * 0.5, box.y + box.height * 0.8]));
  check(await shown(page) !== all, `${view.name}: a box on the points filters nothing`);
  for (const chip of await page.locator('.filters .chip').all()) await chip.click({ timeout: 2000 })
    .catch(() => {});
  while (await page.locator('.filters .chip').count() > 0)
    await page.locator('.filters .chip').first().click();
  check(await shown(page) === all, `${view.name}: filters taken away leave ${await shown(page)}`);

  const lines = page.locator('#parallel canvas.picture');
  await comeTo(view, '#parallel canvas');
  box = await lines.boundingBox();
  const axis = box.x + Math.min(60, box.width / 8);
  await interact(view, 'a range on an axis, drawn twice', 200, () => drag(page,
    [axis, box.y + 50], [axis, box.y + box.height * 0.5]));
  check(await shown(page) !== all, `${view.name}: a range on an axis filters nothing`);
  await interact(view, 'the range taken away', 200, () => page.mouse.click(axis, box.y + 60));

  await comeTo(view, '#scatter');
  const choose = page.locator('#scatter select');
  await interact(view, 'colour by area', 200, () => choose.nth(2).selectOption({ index: 1 }));
  await heatAnswers(view);
  await comeTo(view, '#front');
  await interact(view, 'a point of the front', 200, () =>
    page.locator('#front tbody button').first().click());
  const panel = page.locator('.details:not([hidden])');
  check(await panel.count() === 1, `${view.name}: a point of the front isn't chosen`);
  return page.evaluate(() => [...document.querySelectorAll('.details pre')]
    .map((e) => e.textContent));
}
