// The layers as a table: sorted, searched, and drawn only where it is looked at.
import { h, replace } from '../base/dom.js';
import { section } from '../base/frame.js';
import { byUnit, count, percent } from '../base/format.js';
import { shortNames } from '../base/names.js';
import { isNarrow, narrowName, onNarrow } from '../base/narrow.js';
import { isPrinting, onTheme } from '../base/theme.js';

const rowHeight = 32;
const mostPrinted = 400;
const initial = ['name', 'op_type', 'fate', 'cycles', 'utilization', 'macs', 'over_lower_bound',
  'lost_to', 'energy_pj', 'bound'];
const titles = { name: 'layer', op_type: 'operator', energy_pj: 'energy', macs: 'MACs',
  over_lower_bound: '\u00d7 least', utilization: 'use' };

const columnTitle = (key) => titles[key]
  ?? key.replace(/_(cycles|bytes|pj|gbps)$/, ' $1').replace(/_/g, ' ');

/** Which layers are shown, in which order, with which columns. */
class Listed {
  constructor(model, kept) {
    this.model = model;
    this.kept = kept;
    const { layers } = model;
    this.keys = [...model.fields.keys()].filter((key) => layers.some((l) => key in l));
    this.numeric = new Set(this.keys.filter((key) =>
      layers.some((l) => typeof l[key] === 'number')));
    this.mostCycles = Math.max(1, ...layers.map((l) => l.cycles));
    this.texts = layers.map((l) =>
      `${l.name} ${l.op_type} ${l.fate} ${l.bound} ${l.lost_to}`.toLowerCase());
  }

  /** A layer's name; on a phone what tells it from the others. */
  nameOf(layer) {
    if (!isNarrow()) return layer.name;
    this.short ??= shortNames(this.model.layers.map((l) => l.name), narrowName);
    return this.short.get(layer.name);
  }

  /** On a phone the cycles stand beside the name, whatever else is shown. */
  columns() {
    const { columns } = this.kept;
    if (!isNarrow()) return columns;
    const first = ['name', 'cycles'].filter((key) => columns.includes(key));
    return [...first, ...columns.filter((key) => !first.includes(key))];
  }

  filter() {
    const { kept, texts } = this;
    const words = kept.search.toLowerCase().split(/\s+/).filter(Boolean);
    kept.rows = this.model.layers.filter((l) => (kept.all || l.alone_cycles > 0)
      && words.every((w) => texts[l.index].includes(w)));
    const key = kept.sort;
    if (!key) return;
    const rank = this.numeric.has(key) ? (a, b) => (a[key] ?? -Infinity) - (b[key] ?? -Infinity)
      : (a, b) => String(a[key]).localeCompare(String(b[key]), 'en', { numeric: true });
    kept.rows.sort((a, b) => (kept.down ? rank(b, a) : rank(a, b)) || a.index - b.index);
  }

  /** Numbers from the largest, words from the first; then the other way round; then as they run. */
  sortBy(key) {
    const { kept } = this, down = this.numeric.has(key);
    if (kept.sort === key && kept.down !== down) kept.sort = null;
    else if (kept.sort === key) kept.down = !kept.down;
    else Object.assign(kept, { sort: key, down });
  }

  summary() {
    const { rows } = this.kept, { layers, totals } = this.model;
    const cycles = rows.reduce((s, l) => s + l.cycles, 0);
    return `${count(rows.length)} of ${count(layers.length)} layers, `
      + `${percent(cycles, totals.cycles)} of the cycles`;
  }
}

/** The table's elements: only the rows in sight are there. */
class TableView {
  constructor(listed, selection) {
    Object.assign(this, { listed, selection, kept: listed.kept, drawn: [-1, -1] });
    this.head = h('tr', {});
    this.body = h('tbody', {});
    this.summary = h('p.note', { 'aria-live': 'polite' });
    this.table = h('table.layers', {}, h('caption.offscreen', {}, 'Layers'),
      h('thead', {}, this.head), this.body);
    this.scroller = h('div.scroll.table-box', { tabindex: '0', role: 'region',
      'aria-label': 'Table of layers; arrow keys choose one', onscroll: () => {
        this.kept.top = this.scroller.scrollTop;
        this.draw();
      },
      onkeydown: (event) => this.move(event) }, this.table);
    /** To where it was scrolled: possible only when it is in the page. */
    this.scroller.restore = () => { this.scroller.scrollTop = this.kept.top; };
  }

  /** Rows or columns are others. */
  refill() {
    this.listed.filter();
    this.summary.textContent = this.listed.summary();
    this.table.setAttribute('aria-rowcount', this.kept.rows.length + 1);
    replace(this.head, !isNarrow() && h('th.number', { scope: 'col' }, '#'),
      this.listed.columns().map((key) => this.headCell(key)));
    this.draw(true);
  }

  toTop() {
    this.scroller.scrollTop = 0;
    this.refill();
  }

  headCell(key) {
    const { kept, listed } = this, sorted = kept.sort === key;
    return h('th', {
      scope: 'col', class: listed.numeric.has(key) ? 'number' : null,
      'aria-sort': sorted ? (kept.down ? 'descending' : 'ascending') : 'none',
    }, h('button', {
      type: 'button', title: listed.model.field(key).description, onclick: () => {
        listed.sortBy(key);
        this.toTop();
      },
    }, columnTitle(key), h('span.arrow', { 'aria-hidden': 'true' },
      sorted ? (kept.down ? '\u25be' : '\u25b4') : '')));
  }

  cell(layer, key) {
    const { listed } = this;
    const text = byUnit(layer[key], listed.model.field(key).unit, key);
    if (key === 'name') {
      return h('th.name', { scope: 'row', title: text }, h('span', {},
        h('bdi', { dir: 'ltr' }, listed.nameOf(layer) || text)));
    }
    if (key === 'cycles') {
      return h('td.number.bar-cell', {}, h('i', { 'aria-hidden': 'true',
        style: `width:${(100 * layer.cycles) / listed.mostCycles}%` }), h('span', {}, text));
    }
    return h('td', { class: listed.numeric.has(key) ? 'number' : null }, text);
  }

  row(layer, at) {
    const { selection } = this;
    return h('tr', {
      'aria-rowindex': at + 2, 'data-index': layer.index,
      class: layer === selection.layer ? 'chosen' : null,
      onclick: () => selection.choose(layer === selection.layer ? null : layer),
    }, !isNarrow() && h('td.number.muted', {}, layer.index + 1),
    this.listed.columns().map((key) => this.cell(layer, key)));
  }

  draw(force = false) {
    const { rows } = this.kept, n = rows.length;
    const wide = this.kept.columns.length + (isNarrow() ? 0 : 1);
    const height = this.scroller.clientHeight || 560;
    const from = isPrinting() ? 0
      : Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 8);
    const to = isPrinting() ? Math.min(n, mostPrinted)
      : Math.min(n, from + Math.ceil(height / rowHeight) + 16);
    if (!force && this.drawn[0] === from && this.drawn[1] === to) return;
    this.drawn = [from, to];
    const spacer = (many) => many > 0 && h('tr', { 'aria-hidden': 'true', class: 'spacer' },
      h('td', { colspan: wide, style: `height:${many * rowHeight}px` }));
    replace(this.body, spacer(from), rows.slice(from, to).map((l, i) => this.row(l, from + i)),
      !isPrinting() && spacer(n - to),
      n === 0 && h('tr', {}, h('td', { colspan: wide }, 'No layer matches.')));
  }

  reveal(layer) {
    const at = this.kept.rows.indexOf(layer), { scroller } = this;
    if (at < 0) return;
    const top = at * rowHeight, head = rowHeight + 4;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + scroller.clientHeight - head)
      scroller.scrollTop = top - scroller.clientHeight / 2;
  }

  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], { rows } = this.kept;
    if (!step || rows.length === 0) return;
    event.preventDefault();
    const at = rows.indexOf(this.selection.layer);
    this.selection.choose(rows[Math.min(rows.length - 1, Math.max(0, at + step))]);
  }
}

export function layerTable({ model, selection, choices }) {
  const kept = choices.of('table', { columns: initial, sort: null, down: true, search: '',
    all: false, rows: [], top: 0, choosing: false });
  const view = new TableView(new Listed(model, kept), selection);
  selection.onChange((layer) => {
    if (layer) view.reveal(layer);
    view.draw(true);
  });
  onTheme(() => view.draw(true));
  onNarrow(() => view.refill());
  view.refill();
  const tools = [
    h('input.search', { type: 'search', placeholder: 'Search name, operator, bound \u2026',
      'aria-label': 'Search layers', value: kept.search, oninput: (event) => {
        kept.search = event.target.value;
        view.toTop();
      } }),
    h('label.check', {}, h('input', { type: 'checkbox', checked: kept.all, onchange: (event) => {
      kept.all = event.target.checked;
      view.refill();
    } }), 'with layers that cost nothing'),
    columnChooser(view)];
  return section({ id: 'layers', short: 'Layers', title: 'Layers', note: view.summary, tools },
    view.scroller);
}

function columnChooser(view) {
  const { kept, listed } = view;
  return h('details.chooser', { open: kept.choosing,
    ontoggle: (event) => { kept.choosing = event.target.open; } }, h('summary', {}, 'Columns'),
  h('div.chooser-list', {}, listed.keys.map((key) =>
    h('label', { title: listed.model.field(key).description },
      h('input', { type: 'checkbox', checked: kept.columns.includes(key), onchange: (event) => {
        kept.columns = listed.keys.filter((k) => (k === key ? event.target.checked
          : kept.columns.includes(k)));
        view.refill();
      } }), columnTitle(key)))));
}
