// A browser for the tests of pages: opens them, watches what they say and ask for, and measures
// what the page's thread spends on something.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const problems = [];
/** What took too long, {what, text}; who measures asks for it, and may try again. */
export const slow = [];
export const figures = [];

export function check(good, what) {
  if (!good) problems.push(what);
  return good;
}

export async function open(program) {
  return chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

/**
 * Opens a page: a file, or an address of accsim serve. What it logs as an error is a problem, and
 * what it asks for elsewhere; `expected` are errors that a test provokes.
 */
export async function visit(browser, place,
  { scheme = 'light', width = 1280, height = 900, expected = null } = {}) {
  const address = place.startsWith('http') ? place : `file://${place}`;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  const short = place.startsWith('http') ? 'serve' : place.split('/').pop();
  const view = { page, context, address, short, expected };
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type()) && !view.expected?.test(m.text()))
      problems.push(`${view.name}: console: ${m.text()}`);
  });
  page.on('pageerror', (e) => problems.push(`${view.name}: ${e.message}`));
  page.on('request', (r) => {
    const own = place === address ? r.url().startsWith(address) : r.url() === address;
    if (!own) problems.push(`${view.name}: asks for ${r.url().slice(0, 90)}`);
  });
  view.session = await context.newCDPSession(page);
  await view.session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await load(view, scheme, width);
  return view;
}

/** Loads the page of a view: anew and whole, in the theme and width that the view has by now. */
async function load(view, scheme, width) {
  const { page } = view;
  view.name = `${view.short} ${scheme} ${width}`;
  await page.goto(view.address);
  await page.waitForSelector('main section');
  view.paint = await page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(
      performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0)));
  }));
}

/** The same once more in another theme or width, loaded anew; a new view is a process to start. */
export async function visitAgain(view,
  { scheme = 'light', width = 1280, height = 900, expected = null } = {}) {
  view.expected = expected;
  await view.page.setViewportSize({ width, height });
  await view.page.emulateMedia({ colorScheme: scheme });
  await load(view, scheme, width);
}

/** Seconds that the page's thread has computed so far: not the clock, which others share. */
async function spent(view) {
  const { metrics } = await view.session.send('Performance.getMetrics');
  return metrics.find((m) => m.name === 'TaskDuration').value;
}

/** Milliseconds of computing until the page is painted and its first charts are drawn. */
export async function loading(view, most) {
  const cost = (await spent(view)) * 1000;
  figures.push(`${view.name}: first paint ${cost.toFixed(0)} ms of computing, `
    + `${view.paint.toFixed(0)} ms by the clock`);
  const what = `${view.name}: first paint`;
  if (cost >= most) slow.push({ what, text: `${what} takes ${cost.toFixed(0)} ms` });
}

/** Does something and waits for the page to be drawn; its computing must stay below `most` ms. */
export async function interact(view, what, most, action) {
  const before = await spent(view);
  await action();
  await view.page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  }));
  const cost = ((await spent(view)) - before) * 1000;
  figures.push(`${view.name}: ${what}: ${cost.toFixed(0)} ms of computing`);
  if (cost >= most) {
    const text = `${view.name}: ${what} takes ${cost.toFixed(0)} ms, ${most} are allowed`;
    slow.push({ what: `${view.name}: ${what}`, text });
  }
}

/** Scrolls to something and waits until what comes into sight with it is drawn. */
export async function comeTo(view, selector) {
  await interact(view, `come to ${selector}`, 200, () =>
    view.page.locator(selector).first().scrollIntoViewIfNeeded());
  await view.page.waitForTimeout(100); // what lies just outside is drawn when nothing else is done
}

/** What axe-core has against the page: contrast and the other rules of WCAG A and AA. */
export async function accessible(view) {
  await view.page.evaluate(axe);
  const found = await view.page.evaluate(() => globalThis.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations'],
  }).then((r) => r.violations.map((v) =>
    `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.any[0]?.message ?? ''}`)}`)));
  for (const text of found) problems.push(`${view.name}: axe: ${text}`);
}

/** Nothing sticks out of the page sideways. */
export async function fits(view) {
  const wide = await view.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(wide <= 0, `${view.name}: ${wide} pixels wider than the window`);
}

/** Scrolls through the whole page, so that every chart is drawn. */
export async function drawAll(view) {
  await view.page.evaluate(async () => {
    document.documentElement.style.scrollBehavior = 'auto';
    for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
      scrollTo(0, y);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
    }
    scrollTo(0, 0);
  });
}

/** Sections whose picture is empty on paper, or covered by what lies over it on the screen. */
function emptyOnPaper() {
  const empty = (canvas) => !new Uint32Array(canvas.getContext('2d').getImageData(0, 0,
    canvas.width, canvas.height).data.buffer).some((pixel) => pixel !== 0);
  return [...document.querySelectorAll('.plot')].filter((plot) =>
    empty(plot.querySelector('.picture')) || [...plot.querySelectorAll('.over')].some((over) =>
      getComputedStyle(over).display !== 'none')).map((plot) => plot.closest('section').id);
}

/** The page on paper: every section is there, and no page is lost. */
export async function prints(view) {
  await view.page.emulateMedia({ media: 'print' });
  const empty = await view.page.evaluate(emptyOnPaper);
  await view.page.emulateMedia({ media: null });
  check(empty.length === 0, `${view.name}: on paper these are empty: ${empty}`);
  const pdf = await view.page.pdf({ format: 'A4', printBackground: true });
  const pages = (pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length;
  figures.push(`${view.name}: ${pages} pages of A4, ${(pdf.length / 1024).toFixed(0)} KiB`);
  check(pages >= 2 && pdf.length > 30000, `${view.name}: the PDF has ${pages} pages`);
}
