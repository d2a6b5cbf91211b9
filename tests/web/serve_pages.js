// What people do on the live page.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { check, figures, interact, loading, visit } from './browser.js';

const changes = 30;

const shown = (page) => page.locator('.now .figure b').first().textContent();

/** Sets fields one after the other; each change is answered before the next. */
async function changeFields(view) {
  const { page } = view;
  await page.evaluate(() => {
    for (const group of document.querySelectorAll('.group')) group.open = true;
  });
  const boxes = await page.locator('.field:not([hidden]) input[type="number"]').all();
  const times = [];
  for (let i = 0; i < changes; i++) {
    const box = boxes[i % boxes.length];
    const value = Number(await box.inputValue());
    const answered = page.waitForResponse((r) => r.url().endsWith('api/cost'));
    await box.fill(String(value > 4 ? Math.round(value * 1.25) : value * 1.25 || 1));
    const from = Date.now();
    await box.press('Tab');
    const reply = await answered;
    times.push(Date.now() - from);
    check([200, 422].includes(reply.status()), `serve: a change gives status ${reply.status()}`);
  }
  times.sort((a, b) => a - b);
  figures.push(`serve: ${changes} changes of fields, ${times[changes >> 1]} ms until the reply `
    + `(median, by the clock)`);
}

async function dropModel(view, file) {
  const { page } = view;
  const bytes = readFileSync(file).toString('base64');
  const models = () => page.locator('.serve-options select').first().locator('option').count();
  const before = await models();
  await page.evaluate(([text, name]) => {
    const transfer = new DataTransfer();
    const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    transfer.items.add(new File([data], name));
    document.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }));
  }, [bytes, file.split('/').pop()]);
  await page.waitForFunction((n) => document.querySelector('.serve-options select')
    .options.length === n + 1, before, { timeout: 20000 });
}

/** Choices that must outlive a change of the machine; each can be read from the page. */
const choices = {
  layer: (page) => page.locator('.details:not([hidden]) h2').textContent(),
  fold: (page) => page.locator('.details details').evaluate((e) => e.open),
  roof: (page) => page.locator('#roofline .choice [aria-pressed="true"]').textContent(),
  order: (page) => page.locator('#cycles .choice [aria-pressed="true"]').first().textContent(),
  sort: (page) => page.locator('#layers th[aria-sort="descending"]').textContent(),
  search: (page) => page.locator('#layers .search').inputValue(),
  columns: (page) => page.locator('#layers .chooser').evaluate((e) => e.open),
  table: (page) => page.locator('#layers .table-box').evaluate((e) => e.scrollTop),
  page: (page) => page.evaluate(() => Math.round(scrollY)),
};

async function keepsChoices(view) {
  const { page } = view;
  const press = (id, text) => page.locator(`${id} .choice button`, { hasText: text }).click();
  await press('#roofline', 'Array ports');
  await press('#cycles', 'Largest first');
  await page.locator('#layers thead button', { hasText: 'cycles' }).click();
  await page.locator('#layers .search').fill('conv');
  await page.locator('#layers tbody tr[data-index]').nth(3).click();
  await page.locator('.details summary').click();
  await page.locator('#layers .chooser summary').click();
  await page.locator('#layers .table-box').evaluate((e) => { e.scrollTop = 320; });
  await page.evaluate(() => scrollTo({ top: 1200, behavior: 'instant' }));
  const read = async () => Object.fromEntries(await Promise.all(
    Object.entries(choices).map(async ([name, of]) => [name, await of(page)])));
  const before = await read();
  await page.evaluate(() => { document.querySelector('#roofline').old = true; });
  const rows = page.getByLabel('array.rows, ', { exact: false }).first();
  const value = await rows.inputValue();
  for (const text of ['96', value]) {
    await rows.fill(text);
    await rows.press('Tab');
    await page.waitForFunction(() => !document.querySelector('#roofline').old);
    await page.evaluate(() => { document.querySelector('#roofline').old = true; });
    await page.waitForTimeout(100);
  }
  const after = await read();
  for (const [name, was] of Object.entries(before))
    check(after[name] === was, `serve: a changed field makes ${name} ${after[name]}, not ${was}`);
  await page.locator('#layers .search').fill('');
  await page.keyboard.press('Escape');
}

/** A sweep that runs while the page looks on: points and front grow until all are there. */
export async function watchesSweep(view, [program, ...args]) {
  const { page } = view;
  const numbers = async () => (await page.locator('#store .note').first().textContent())
    .match(/([\d,]+) of ([\d,]+) points.* ([\d,]+) on the front/)?.slice(1)
    .map((n) => Number(n.replaceAll(',', '')));
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  const seen = [];
  try {
    for (let i = 0; i < 400 && !(seen.at(-1)?.[0] === seen.at(-1)?.[1] && seen.length); ++i) {
      const now = await numbers();
      if (now && now[0] !== seen.at(-1)?.[0]) seen.push(now);
      await page.waitForTimeout(150);
    }
  } finally {
    child.kill();
    await ended;
  }
  figures.push(`serve: points and front of a running sweep: ${seen.map(([stored, , front]) =>
    `${stored}/${front}`).join(', ')}`);
  check(seen.length > 1, `serve: of a running sweep were seen ${JSON.stringify(seen)}`);
  check(seen.every(([n], i) => i === 0 || n > seen[i - 1][0]), 'serve: points became fewer');
  check(seen.at(-1)?.[0] === seen.at(-1)?.[1], `serve: the sweep isn't seen whole: ${seen.at(-1)}`);
  check(await page.locator('#store canvas').count() > 0, 'serve: no picture of the sweep');
}

export async function useServe(browser, address, { model }) {
  const view = await visit(browser, address, { expected: /422/ });
  const { page } = view;
  await loading(view, 2000);
  const cycles = await shown(page);
  await page.locator('.tools button', { hasText: 'Pin this machine' }).click();

  const rows = page.getByLabel('array.rows, ', { exact: false }).first();
  await rows.fill('128');
  await interact(view, 'a field and its figures', 200, async () => {
    const answered = page.waitForResponse((r) => r.url().endsWith('api/cost'));
    await rows.press('Tab');
    await answered;
    await page.waitForFunction((old) =>
      document.querySelector('.now .figure b').textContent !== old, cycles);
  });
  await page.waitForSelector('#waterfall', { timeout: 10000 });
  await rows.fill('99999');
  await rows.press('Tab');
  await page.waitForSelector('.problem:not([hidden])');
  const problem = await page.locator('.problem:not([hidden])').first().textContent();
  check(problem.includes('1024'), `serve: beside the field stands ${problem}`);
  await page.locator('.field-head .link:not([hidden])').first().click();
  await page.waitForFunction((old) =>
    document.querySelector('.now .figure b').textContent === old, cycles);

  await keepsChoices(view);
  await changeFields(view);
  await page.waitForTimeout(600); // all sections are drawn anew when the fields rest
  const command = await page.locator('#repeat pre').first().textContent();
  check(command.startsWith('accsim '), `serve: the command line is ${command}`);
  await dropModel(view, model);
  return view;
}
