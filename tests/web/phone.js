// What must be seen on a phone without scrolling sideways.
import { check } from './browser.js';

/** Of the tables whose head has all these columns: those of which one isn't seen. */
function cutOff(columns) {
  const seen = (cell, table) => {
    const box = (table.closest('.scroll') ?? document.body).getBoundingClientRect();
    const { left, right } = cell.getBoundingClientRect();
    return right > left && left >= box.left && right <= Math.min(box.right, innerWidth) + 1;
  };
  return [...document.querySelectorAll('main table')].flatMap((table) => {
    const heads = [...table.querySelectorAll('thead th')];
    const wanted = columns.map((c) => heads.find((th) => th.textContent.trim() === c));
    if (!wanted.every(Boolean)) return [];
    const rows = [heads, ...[...table.querySelectorAll('tbody tr')].map((tr) => [...tr.cells])];
    const cut = wanted.find((th) => rows.some((cells) =>
      cells.length === heads.length && !seen(cells[heads.indexOf(th)], table)));
    return cut ? [`${table.closest('section').id}: ${cut.textContent}`] : [];
  });
}

const tables = { compare: ['A', 'B'], report: ['layer', 'cycles'], serve: ['layer', 'cycles'] };

export async function onPhone({ page, name }, kind) {
  const columns = tables[kind];
  if (!columns) return;
  const cut = await page.evaluate(cutOff, columns);
  check(cut.length === 0, `${name}: these are cut off: ${cut.join('; ')}`);
  const names = await page.locator('#layers tbody th').evaluateAll((cells) => cells.map((th) =>
    ({ whole: th.title, shown: th.textContent })));
  const wholes = new Set(names.map((n) => n.whole)), shown = new Set(names.map((n) => n.shown));
  check(wholes.size === shown.size, `${name}: ${wholes.size} layers have ${shown.size} names`);
  if (kind === 'compare') return;
  const heads = await page.locator('#layers thead th').allTextContents();
  check(heads[1].startsWith('cycles'), `${name}: the layers' columns are ${heads}`);
}
