// What people do on the live page.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { check, figures, interact, loading, slow, visit } from './browser.js';

const changes = 30;
const mostWork = 50; // milliseconds of the server's processor for a change of a field

const shown = (page) => page.locator('.now .figure b').first().textContent();

/** Sets a field; milliseconds from the request to the end of the reply, or null when refused. */
async function change(page, box, value) {
  const answered = page.waitForResponse((r) => r.url().endsWith('api/cost'));
  await box.fill(String(value));
  await box.press('Tab');
  const reply = await answered;
  check([200, 422].includes(reply.status()), `serve: a change gives status ${reply.status()}`);
  await reply.finished();
  return reply.ok() ? reply.request().timing().responseEnd : null;
}

/** Milliseconds of the processor that a process has used. */
function worked(pid) {
  const words = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
  return (Number(words[11]) + Number(words[12])) * 10;
}

/** Clock and work of changes; the clock is shared with other tests, so that only work is judged. */
function judge(what, times, work) {
  const median = times.sort((a, b) => a - b)[times.length >> 1];
  const text = `serve: ${what}: ${times.length} changes, ${median.toFixed(0)} ms until the reply `
    + `(median, by the clock), ${(work / times.length).toFixed(1)} ms of the server's work each`;
  figures.push(text);
  if (work / times.length >= mostWork) slow.push({ what, text });
}

/** Sets fields one after the other; each change is answered before the next. */
async function changeFields(view, pid) {
  const { page } = view;
  await page.evaluate(() => {
    for (const group of document.querySelectorAll('.group')) group.open = true;
  });
  const boxes = await page.locator('.field:not([hidden]) input[type="number"]').all();
  const times = [], before = worked(pid);
  for (let i = 0; times.length < changes && i < 4 * changes; i++) {
    const box = boxes[i % boxes.length];
    const value = Number(await box.inputValue());
    const time = await change(page, box, value > 4 ? Math.round(value * 1.25) : value * 1.25 || 1);
    if (time != null) times.push(time);
    else await change(page, box, value); // a rule of the machine is broken
  }
  check(times.length === changes, `serve: ${times.length} of ${changes} changes were answered`);
  judge('fields one after the other', times, worked(pid) - before);
}

/** Cycles of the timeline, when it has commands. */
async function timelineCycles(page) {
  const told = page.waitForFunction(() => document.querySelector('#timeline canvas')
    .getAttribute('aria-label').match(/of ([\d,]+) cycles and ([\d,]+) commands/)?.slice(1),
  null, { timeout: 20000 });
  return (await told).jsonValue();
}

/** What the timeline's pointer names along the lane of a queue. */
function namedAlong(lane) {
  const canvas = document.querySelector('#timeline canvas');
  const tip = document.querySelector('#timeline .float-tip');
  const rect = canvas.getBoundingClientRect(), names = new Set();
  for (let x = Math.ceil(rect.left) + 70; x < rect.right; x += 3) {
    canvas.dispatchEvent(new PointerEvent('pointermove',
      { clientX: x, clientY: rect.top + 82 + lane * 42 + 17 }));
    if (!tip.hidden) names.add(tip.textContent);
  }
  return [...names].join('; ');
}

/** What `read` gives as soon as it is `good`, or after ten seconds: other tests slow the page. */
async function inTime(page, read, good) {
  let value = await read();
  for (let i = 0; i < 100 && !good(value); i++) {
    await page.waitForTimeout(100);
    value = await read();
  }
  return value;
}

/** The page asks for commands of the machine that has these rows; 64 is what it began with. */
const asksFor = (rows) => (request) => request.url().endsWith('api/timeline')
  && (JSON.parse(request.postData()).of.machine['array.rows'] ?? 64) === rows;

/** Parts of a timeline, by where they begin, from the first; null when one of them isn't there. */
function wholeTimeline(parts) {
  const timeline = [];
  for (let from = 0; from !== null; from = timeline.at(-1).next) {
    if (!parts.has(from)) return null;
    timeline.push(parts.get(from));
  }
  return timeline;
}

/** The timeline has the commands of what is shown, of each machine; no change waits for it. */
async function showsCommands(view, pid) {
  const { page } = view;
  // Of each machine. A part that a change has ended may be asked for again, and come before others.
  const parts = new Map([[48, new Map()], [64, new Map()]]);
  page.on('response', async (r) => {
    for (const [value, those] of parts) {
      if (!asksFor(value)(r.request()) || !r.ok()) continue;
      const part = await r.json().catch(() => null);
      if (part) those.set(JSON.parse(r.request().postData()).from, part);
    }
  });
  const rows = page.getByLabel('array.rows, ', { exact: false }).first();
  // At once: a section that is drawn anew meanwhile is another element, which nobody waits for.
  await page.locator('#timeline').evaluate((e) => e.scrollIntoView({ behavior: 'instant' }));
  const seen = [];
  for (const [value, those] of parts) {
    const asked = page.waitForRequest(asksFor(value));
    await change(page, rows, value);
    await page.waitForFunction((old) =>
      document.querySelector('.now .figure b').textContent !== old, seen.at(-1));
    await asked;
    const [cycles, commands] = await timelineCycles(page);
    seen.push(await shown(page));
    const whole = await inTime(page, () => wholeTimeline(those), (all) => all !== null);
    check(cycles === seen.at(-1), `serve: a timeline of ${cycles} cycles, not ${seen.at(-1)}`);
    const layers = (whole ?? []).flatMap((p) => p.timeline.layers);
    const sum = layers.reduce((s, l) => s + l.cycles, 0);
    check(sum === Number(cycles.replaceAll(',', '')), `serve: ${sum} cycles of commands came`);
    check(Number(commands.replaceAll(',', '')) > 1000, `serve: ${commands} commands`);
    check(whole !== null, 'serve: parts of the timeline are missing');
  }
  check(seen[0] !== seen[1], 'serve: two machines of equal cycles tell nothing');
  const right = (names) => /load weight/.test(names[0]) && /gemm/.test(names[1]);
  const named = await inTime(page, async () =>
    [await page.evaluate(namedAlong, 0), await page.evaluate(namedAlong, 1)], right);
  check(right(named),
    `serve: the timeline names ${named.join(' | ').slice(0, 300)}`);
  const times = [], before = worked(pid);
  for (let i = 0; i < 6; i++) {
    const begun = page.waitForRequest((r) => r.url().endsWith('api/timeline'));
    times.push(await change(page, rows, 40 + 8 * i));
    await begun;
    times.push(await change(page, rows, 44 + 8 * i));
  }
  judge('fields while a timeline is made, and its parts', times, worked(pid) - before);
  await change(page, rows, 64);
  await timelineCycles(page);
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
  // What the page still draws above moves what is below.
  let before = await read(), last;
  await inTime(page, async () => {
    last = before;
    return before = await read();
  }, () => JSON.stringify(last) === JSON.stringify(before));
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
  const after = await inTime(page, read, (now) => JSON.stringify(now) === JSON.stringify(before));
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
  let over = 0;
  const ended = new Promise((resolve) => { child.on('exit', () => resolve(over = 1)); });
  const seen = [];
  const whole = () => seen.length > 0 && seen.at(-1)[0] === seen.at(-1)[1];
  try {
    // As long as the sweep takes, which other tests decide; then two of the page's longest rests.
    for (let after = 0; after < 270 && !whole(); after += over) {
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

/** The page says that it waits for a store that no sweep has begun to make. */
async function waitsForStore(page) {
  await page.waitForFunction(() => document.querySelector('#store .note').textContent
    .startsWith('Waiting: '), null, { timeout: 10000 });
  const told = await page.locator('#store .note').first().textContent();
  check(/live\.sqlite: no such store/.test(told), `serve: of a store to come it says ${told}`);
}

export async function useServe(browser, address, { model, pid }) {
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
  // What a refused change interrupts is drawn all the same: the pinned machine against the last.
  await page.waitForFunction(([a, b]) => {
    const rows = [...document.querySelectorAll('#waterfall tbody tr')].map((tr) =>
      [...tr.querySelectorAll('.number')].map((td) => Number(td.textContent.replaceAll(',', ''))));
    const sums = [0, 1].map((k) => rows.reduce((s, cells) => s + cells[k], 0));
    return sums[0] === a && sums[1] === b;
  }, [cycles, await shown(page)].map((text) => Number(text.replaceAll(',', ''))),
  { timeout: 10000 });
  check(await page.locator('.now.old .old-note').count() === 1,
    'serve: beside a wrong field the figures aren\u2019t marked as old');
  const problem = await page.locator('.problem:not([hidden])').first().textContent();
  check(problem.includes('1024'), `serve: beside the field stands ${problem}`);
  await page.locator('.field-head .link:not([hidden])').first().click();
  await page.waitForFunction((old) =>
    document.querySelector('.now .figure b').textContent === old, cycles);
  check(await page.locator('.now.old, .old-note').count() === 0,
    'serve: the field is right again, and the figures are marked as old');

  await waitsForStore(page);
  await showsCommands(view, pid);
  await keepsChoices(view);
  await changeFields(view, pid);
  await page.waitForTimeout(600); // all sections are drawn anew when the fields rest
  const command = await page.locator('#repeat pre').first().textContent();
  check(command.startsWith('accsim '), `serve: the command line is ${command}`);
  await dropModel(view, model);
  return view;
}
