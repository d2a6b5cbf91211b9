// The layers as a table: sorted, searched, and drawn only where it is looked at.
import { h, replace } from '../base/dom.js';
import { section } from '../base/frame.js';
import { byUnit, count, percent } from '../base/format.js';
import { isPrinting, onTheme } from '../base/theme.js';

const rowHeight = 32;
const mostPrinted = 400;
const initial = ['name', 'op_type', 'fate', 'cycles', 'utilization', 'macs', 'over_lower_bound',
  'lost_to', 'energy_pj', 'bound'];
const titles = { name: 'layer', op_type: 'operator', energy_pj: 'energy', macs: 'MACs',
  over_lower_bound: '\u00d7 least', utilization: 'use' };

export function layerTable({ model, selection, choices }) {
  const columnTitle = (key) => titles[key]
    ?? key.replace(/_(cycles|bytes|pj|gbps)$/, ' $1').replace(/_/g, ' ');
  const isNumber = (key) => model.layers.some((l) => typeof l[key] === 'number');
  const numeric = new Map([...model.fields.keys()].map((key) => [key, isNumber(key)]));
  const keys = [...model.fields.keys()].filter((key) => model.layers.some((l) => key in l));
  const mostCycles = Math.max(1, ...model.layers.map((l) => l.cycles));
  const state = choices.of('table', { columns: initial, sort: null, down: true, search: '',
    all: false, rows: [], top: 0, choosing: false });

  const head = h('tr', {});
  const body = h('tbody', {});
  const table = h('table.layers', {}, h('caption.offscreen', {}, 'Layers'),
    h('thead', {}, head), body);
  const scroller = h('div.scroll.table-box', { tabindex: '0', role: 'region',
    'aria-label': 'Table of layers; arrow keys choose one', onscroll: () => {
      state.top = scroller.scrollTop;
      draw();
    },
    onkeydown: (event) => move(event) }, table);
  const summary = h('p.note', { 'aria-live': 'polite' });

  const texts = model.layers.map((l) =>
    `${l.name} ${l.op_type} ${l.fate} ${l.bound} ${l.lost_to}`.toLowerCase());

  function filter() {
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (l) => {
      if (!state.all && l.cycles === 0) return false;
      return words.every((w) => texts[l.index].includes(w));
    };
    state.rows = model.layers.filter(matches);
    const key = state.sort;
    if (key) {
      const rank = numeric.get(key) ? (a, b) => (a[key] ?? -Infinity) - (b[key] ?? -Infinity)
        : (a, b) => String(a[key]).localeCompare(String(b[key]), 'en', { numeric: true });
      state.rows.sort((a, b) => (state.down ? rank(b, a) : rank(a, b)) || a.index - b.index);
    }
    const cycles = state.rows.reduce((s, l) => s + l.cycles, 0);
    summary.textContent = `${count(state.rows.length)} of ${count(model.layers.length)} layers, `
      + `${percent(cycles, model.totals.cycles)} of the cycles`;
    table.setAttribute('aria-rowcount', state.rows.length + 1);
    drawHead();
    draw(true);
  }

  function drawHead() {
    replace(head, h('th.number', { scope: 'col' }, '#'), state.columns.map((key) => {
      const f = model.field(key);
      const sorted = state.sort === key;
      return h('th', {
        scope: 'col', class: numeric.get(key) ? 'number' : null,
        'aria-sort': sorted ? (state.down ? 'descending' : 'ascending') : 'none',
      }, h('button', {
        type: 'button', title: f.description, onclick: () => sortBy(key),
      }, columnTitle(key), h('span.arrow', { 'aria-hidden': 'true' },
        sorted ? (state.down ? '\u25be' : '\u25b4') : '')));
    }));
  }

  function sortBy(key) {
    if (state.sort === key && state.down !== numeric.get(key)) state.sort = null;
    else if (state.sort === key) state.down = !state.down;
    else {
      state.sort = key;
      state.down = numeric.get(key);
    }
    scroller.scrollTop = 0;
    filter();
  }

  function cell(layer, key) {
    const text = byUnit(layer[key], model.field(key).unit, key);
    if (key === 'name') return h('th.name', { scope: 'row', title: text }, h('span', {},
      h('bdi', { dir: 'ltr' }, text)));
    if (key === 'cycles') {
      return h('td.number.bar-cell', {}, h('i', { 'aria-hidden': 'true',
        style: `width:${(100 * layer.cycles) / mostCycles}%` }), h('span', {}, text));
    }
    return h('td', { class: numeric.get(key) ? 'number' : null }, text);
  }

  function row(layer, at) {
    return h('tr', {
      'aria-rowindex': at + 2, 'data-index': layer.index,
      class: layer === selection.layer ? 'chosen' : null,
      onclick: () => selection.choose(layer === selection.layer ? null : layer),
    }, h('td.number.muted', {}, layer.index + 1), state.columns.map((key) => cell(layer, key)));
  }

  let drawn = [-1, -1];
  function draw(force = false) {
    const n = state.rows.length;
    const height = scroller.clientHeight || 560;
    const from = isPrinting() ? 0 : Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - 8);
    const to = isPrinting() ? Math.min(n, mostPrinted)
      : Math.min(n, from + Math.ceil(height / rowHeight) + 16);
    if (!force && drawn[0] === from && drawn[1] === to) return;
    drawn = [from, to];
    const spacer = (rows) => rows > 0 && h('tr', { 'aria-hidden': 'true', class: 'spacer' },
      h('td', { colspan: state.columns.length + 1, style: `height:${rows * rowHeight}px` }));
    replace(body, spacer(from), state.rows.slice(from, to).map((l, i) => row(l, from + i)),
      !isPrinting() && spacer(n - to),
      n === 0 && h('tr', {}, h('td', { colspan: state.columns.length + 1 }, 'No layer matches.')));
  }

  function reveal(layer) {
    const at = state.rows.indexOf(layer);
    if (at < 0) return;
    const top = at * rowHeight, head_ = rowHeight + 4;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + scroller.clientHeight - head_)
      scroller.scrollTop = top - scroller.clientHeight / 2;
  }

  function move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || state.rows.length === 0) return;
    event.preventDefault();
    const at = state.rows.indexOf(selection.layer);
    const next = Math.min(state.rows.length - 1, Math.max(0, at + step));
    selection.choose(state.rows[next]);
  }

  selection.onChange((layer) => {
    if (layer) reveal(layer);
    draw(true);
  });
  onTheme(() => draw(true));

  const chooser = h('details.chooser', { open: state.choosing,
    ontoggle: (event) => { state.choosing = event.target.open; } }, h('summary', {}, 'Columns'),
    h('div.chooser-list', {}, keys.map((key) => h('label', { title: model.field(key).description },
      h('input', { type: 'checkbox', checked: state.columns.includes(key), onchange: (event) => {
        state.columns = keys.filter((k) => (k === key ? event.target.checked
          : state.columns.includes(k)));
        filter();
      } }), columnTitle(key)))));
  const tools = [
    h('input.search', { type: 'search', placeholder: 'Search name, operator, bound \u2026',
      'aria-label': 'Search layers', value: state.search, oninput: (event) => {
        state.search = event.target.value;
        scroller.scrollTop = 0;
        filter();
      } }),
    h('label.check', {}, h('input', { type: 'checkbox', checked: state.all, onchange: (event) => {
      state.all = event.target.checked;
      filter();
    } }), 'with layers that cost nothing'), chooser];
  filter();
  /** To where it was scrolled: possible only when it is in the page. */
  scroller.restore = () => { scroller.scrollTop = state.top; };
  return section({ id: 'layers', short: 'Layers', title: 'Layers', note: summary, tools },
    scroller);
}
