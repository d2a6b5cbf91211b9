// What people do on the page of a report.
import { check, comeTo, interact } from './browser.js';

const details = '.details:not([hidden])';

/** A place on the page, in pixels, where the roofline names a layer: of the one seen best. */
async function roofPoint(view) {
  await comeTo(view, '#roofline canvas');
  return view.page.evaluate(() => {
    const canvas = document.querySelector('#roofline canvas');
    const tip = document.querySelector('#roofline .float-tip');
    const rect = canvas.getBoundingClientRect();
    const hits = new Map(); // of each layer named, where
    for (let y = Math.ceil(rect.top); y < rect.bottom; y += 4)
      for (let x = Math.ceil(rect.left); x < rect.right; x += 4) {
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y }));
        const name = tip.hidden ? null : tip.querySelector('.tip-title').textContent;
        if (name) hits.set(name, [...hits.get(name) ?? [], { x, y }]);
      }
    const [most] = [...hits.values()].sort((a, b) => b.length - a.length);
    return most?.[most.length >> 1];
  });
}

async function rooflineAnswers(view) {
  const { page } = view;
  const point = await roofPoint(view);
  if (!check(point, `${view.name}: no point of the roofline names a layer`)) return;
  await interact(view, 'hover on the roofline', 200, async () => {
    await page.mouse.move(point.x - 40, point.y + 60);
    await page.mouse.move(point.x, point.y);
  });
  await page.waitForSelector('#roofline .tip-title', { state: 'visible' });
  const hovered = await page.locator('#roofline .tip-title').first().textContent();
  await interact(view, 'click on the roofline', 200, () => page.mouse.click(point.x, point.y));
  const name = await page.locator(`${details} h2`).textContent();
  check(name === hovered, `${view.name}: hover named ${hovered}, the click chose ${name}`);
  check(await page.locator('#layers tr.chosen').count() === 1,
    `${view.name}: the table doesn't mark what the roofline chose`);
  await page.keyboard.press('Escape');
  check(await page.locator(details).count() === 0, `${view.name}: Escape doesn't close`);
}

async function tableAnswers(view, layers) {
  const { page } = view;
  const rows = page.locator('#layers tbody tr[data-index]');
  await comeTo(view, '#layers');
  await interact(view, 'sort by cycles', 200, () =>
    page.locator('#layers thead button', { hasText: 'cycles' }).click());
  const most = await page.evaluate(() => {
    const { report } = JSON.parse(document.getElementById('data').textContent);
    return report.layers.reduce((a, b) => (b.cycles > a.cycles ? b : a)).name;
  });
  const first = await rows.first().locator('th').getAttribute('title');
  check(first === most, `${view.name}: sorted by cycles, ${first} is first, not ${most}`);
  check(await rows.count() < 80, `${view.name}: the table draws rows that nobody sees`);
  await interact(view, 'search', 200, () => page.locator('#layers .search').fill('no-such-layer'));
  check(await rows.count() === 0, `${view.name}: a search for nothing finds something`);
  await page.locator('#layers .search').fill('');
  await page.locator('#layers .check input').check();
  const all = await page.locator('#layers .note').textContent();
  check(all.startsWith(`${layers.toLocaleString('en-US')} of`),
    `${view.name}: ${all}, not ${layers}`);
  await page.locator('.table-box').first().focus();
  await interact(view, 'arrow key', 200, () => page.keyboard.press('ArrowDown'));
  check(await page.locator(details).count() === 1, `${view.name}: the arrow key chooses nothing`);
  await page.keyboard.press('Escape');
  await interact(view, 'scroll to the end', 200, () => page.locator('#layers .table-box')
    .evaluate((e) => { e.scrollTop = e.scrollHeight; }));
}

async function timelineAnswers(view) {
  const { page } = view;
  const canvas = page.locator('#timeline canvas.picture');
  await comeTo(view, '#timeline canvas');
  const picture = () => canvas.evaluate((c) => c.toDataURL().length + c.toDataURL().slice(-200));
  const before = await picture();
  await canvas.focus();
  for (let i = 0; i < 4; i++)
    await interact(view, 'zoom of the timeline', 200, () => page.keyboard.press('+'));
  check(await picture() !== before, `${view.name}: the timeline doesn't zoom`);
  await interact(view, 'move of the timeline', 200, () => page.keyboard.press('ArrowRight'));
  await canvas.hover({ position: { x: 300, y: 60 } });
  await page.waitForSelector('#timeline .float-tip:not([hidden])');
  await page.keyboard.press('0');
}

async function chartsAnswer(view) {
  const { page } = view;
  const press = (id, text) => interact(view, `${id}: ${text}`, 200, () =>
    page.locator(`${id} .choice button`, { hasText: text }).click());
  await comeTo(view, '#cycles');
  await press('#cycles', 'Largest first');
  await press('#cycles', 'Share');
  await comeTo(view, '#rollup');
  await press('#rollup', 'Operator');
  await comeTo(view, '#roofline');
  await press('#roofline', 'Array ports');
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.locator('.top-tools button').first().click();
  check(await page.evaluate(() => document.documentElement.dataset.theme) !== theme,
    `${view.name}: the theme's button does nothing`);
  await page.locator('.top-tools button').first().click();
}

/** The subtitle says in words what the report's figures are. */
async function subtitleIsPlain(view) {
  const text = await view.page.locator('.subtitle').textContent();
  const { model, totals } = await view.page.evaluate(() =>
    JSON.parse(document.getElementById('data').textContent).report);
  check(!/MAC|\bnodes?\b|[\d.] [kMG]\b/.test(text), `${view.name}: its subtitle is ${text}`);
  check(text.includes(`${model.nodes.toLocaleString('en-US')} operations`),
    `${view.name}: ${model.nodes} nodes are ${text}`);
  const [, number, word] = /needs ([\d.]+) (\w+) multiplications/.exec(text) ?? [];
  const said = number * { million: 1e6, billion: 1e9, trillion: 1e12 }[word];
  check(Math.abs(said / totals.macs - 1) < 0.006, `${view.name}: ${totals.macs} MACs are ${text}`);
}

/** The share of cycles that RTL verifies is the report's own sum over layers. */
async function coverageIsTheReports(view) {
  const text = await view.page.locator('#coverage .big b').textContent();
  const { layers, totals } = await view.page.evaluate(() =>
    JSON.parse(document.getElementById('data').textContent).report);
  const verified = layers.reduce((sum, l) => sum + l.verifiable_cycles, 0);
  check(Math.abs(parseFloat(text) - 100 * verified / totals.cycles) < 0.06,
    `${view.name}: ${verified} of ${totals.cycles} cycles are said to be ${text}`);
}

export async function useReport(view, layers) {
  await subtitleIsPlain(view);
  await coverageIsTheReports(view);
  await rooflineAnswers(view);
  await tableAnswers(view, layers);
  await timelineAnswers(view);
  await chartsAnswer(view);
}
