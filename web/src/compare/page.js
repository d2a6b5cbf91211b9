// The page of a comparison of runs.
import { breakable, h, replace, select } from '../base/dom.js';
import { frame, section } from '../base/frame.js';
import { count, digits, percent, si, times } from '../base/format.js';
import { codeBox } from '../report/repeat.js';
import { layerChart, layerList } from './layers.js';
import { Compared } from './model.js';
import { waterfall } from './waterfall.js';

export function comparePage(data) {
  const file = data.compare ?? data;
  const all = file.comparisons.map((c) => new Compared(file.causes, c));
  const title = (c) => `${c.title('a')} \u2192 ${c.title('b')}`;
  document.title = `Compare: ${all.map(title).join('; ')}`;
  const sections = (compared) => {
    const context = { compared, data };
    return [overview, waterfall, layerChart, layerList, changed, repeat]
      .map((view) => view(context)).filter(Boolean);
  };
  const head = (c) => ({ title: title(c), subtitle: c.a.model.file === c.b.model.file
    ? `A and B run ${c.a.model.file}` : 'A and B run different models' });
  const page = h('div', {});
  const show = (k) => replace(page, frame(head(all[k]), sections(all[k])));
  show(0);
  if (all.length === 1) return [page];
  return [h('div.top', {}, select('Comparison', all.map((c, k) => [String(k), title(c)]), '0',
    (k) => show(Number(k)))), page];
}

function overview({ compared }) {
  const { a, b } = compared;
  const ratio = (x, y) => {
    if (!(x > 0 && y > 0)) return '\u2013';
    return x === y ? 'as A' : `${times(y / x)} A\u2019s`;
  };
  const tile = (label, x, y, text) => h('div.tile', {}, h('dt', {}, label),
    h('dd', {}, ratio(x, y)), h('dd.tile-note', {}, `${text(x)} \u2192 ${text(y)}`));
  const units = compared.remains.units.filter((u) => u.a || u.b);
  return section({
    id: 'overview', short: 'Overview', title: 'Overview',
    note: `A: ${a.model.file} on ${a.hw.file}. B: ${b.model.file} on ${b.hw.file}.`,
  }, h('dl.tiles', {},
    tile('Cycles of B', a.cycles, b.cycles, si),
    tile('Time of B', a.nanoseconds, b.nanoseconds, (v) => si(v * 1e-9, 's')),
    tile('Energy of B', a.energy_pj, b.energy_pj, (v) => si(v * 1e-12, 'J')),
    tile('Area of B', a.area_mm2, b.area_mm2, (v) => `${digits(v)} mm\u00b2`)),
  h('ul.sentences', {}, compared.sentences.map((s) => h('li', {}, s))),
  units.length > 0 && h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Units' },
    h('table.plain', {}, h('thead', {}, h('tr', {}, ['unit that the cycles wait for', 'A', 'B',
      'of A', 'of B'].map((t, i) => h('th', { scope: 'col', class: i ? 'number' : null }, t)))),
    h('tbody', {}, units.map((u) => h('tr', {}, h('th', { scope: 'row' }, u.unit),
      h('td.number', {}, count(u.a)), h('td.number', {}, count(u.b)),
      h('td.number', {}, percent(u.share_a)), h('td.number', {}, percent(u.share_b))))))));
}

function changed({ compared }) {
  if (compared.changed.length === 0) return null;
  return section({ id: 'changed', short: 'Machine', title: 'Differences of the machines' },
    h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Fields that differ' },
      h('table.plain.thirds', {}, h('thead', {}, h('tr', {}, ['field', 'A', 'B']
        .map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', {}, compared.changed.map((f) => h('tr', {},
        h('th', { scope: 'row' }, breakable(f.field)), h('td', {}, f.a), h('td', {}, f.b)))))));
}

function repeat({ data }) {
  if (!data.command) return null;
  return section({ id: 'repeat', short: 'Repeat', title: 'Run it again',
    note: data.version ? `Made by ${data.version}.` : null },
  codeBox('Command line', data.command));
}
