// The difference layer by layer: the largest as bars by cause, all as a table.
import { axis, chartBox } from '../base/charts.js';
import { h, replace, tooltip } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count, si } from '../base/format.js';
import { shortNames } from '../base/names.js';
import { isNarrow, narrowName, onNarrow } from '../base/narrow.js';
import { colour } from '../base/theme.js';
import { signed } from './model.js';

const bars = 40, rows = 400;

export function layerChart({ compared }) {
  const layers = compared.sortedLayers.filter((l) => l.difference !== 0).slice(0, bars);
  if (layers.length === 0) return null;
  const used = [...compared.causes.keys()].filter((key) => layers.some((l) => l.causes[key]));
  const short = shortNames(layers.map((l) => l.name), 22);

  function option() {
    return {
      grid: { left: 8, right: 12, top: 12, bottom: 8, containLabel: true },
      xAxis: axis({ type: 'category', data: layers.map((l) => l.name), axisTick: { show: false },
        axisLabel: { rotate: 50, fontSize: 11,
          interval: Math.ceil((19 * layers.length) / (chart?.box.clientWidth || 1200)) - 1,
          formatter: (n) => short.get(n) } }),
      yAxis: axis({ type: 'value', axisLabel: { formatter: (v) => signed(v, si) } }),
      tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' },
        formatter: (items) => tip(layers[items[0].dataIndex]) },
      series: used.map((key) => ({
        type: 'bar', stack: 'all', name: compared.label(key), itemStyle: {
          color: compared.paint(key), borderColor: colour('surface'), borderWidth: 0.5 },
        data: layers.map((l) => l.causes[key] ?? 0), emphasis: { disabled: true },
      })),
    };
  }

  function tip(l) {
    const causes = Object.entries(l.causes).sort((x, y) => Math.abs(y[1]) - Math.abs(x[1]));
    return tooltip(l.name, [['A', l.a == null ? 'not there' : `${count(l.a)} cycles`],
      ['B', l.b == null ? 'not there' : `${count(l.b)} cycles`],
      ['difference', signed(l.difference, count)],
      ...causes.map(([key, v]) => [compared.label(key), signed(v, count), compared.paint(key)])]);
  }

  const chart = chartBox({
    label: 'Difference of the layers\u2019 cycles by cause; the table has the numbers',
    height: 400, option,
  });
  return section({
    id: 'bylayer', short: 'By layer', title: 'By layer',
    note: `The ${layers.length} largest differences. Up: B takes longer. Down: B is faster.`,
  }, h('ul.legend.compact', {}, used.map((key) => h('li', {},
    h('i', { style: `background:${compared.paint(key)}` }), h('span', {}, compared.label(key))))),
  chart.box);
}

export function layerList({ compared }) {
  const short = shortNames(compared.sortedLayers.map((l) => l.name), narrowName);
  const nameOf = (l) => (isNarrow() ? short.get(l.name) : l.name);
  const body = h('tbody', {}), note = h('p.note', { 'aria-live': 'polite' });
  const main = (l) => Object.entries(l.causes)
    .reduce((best, x) => (Math.abs(x[1]) > Math.abs(best[1]) ? x : best), ['', 0]);
  let search = '';
  function draw() {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = compared.sortedLayers.filter((l) => {
      const text = `${l.name} ${l.op_type} ${compared.label(main(l)[0])}`.toLowerCase();
      return (l.a || l.b) && words.every((w) => text.includes(w));
    });
    note.textContent = `${count(found.length)} layers that take time, by difference`
      + (found.length > rows ? `; the first ${rows} are shown` : '');
    replace(body, found.slice(0, rows).map((l) => {
      const [cause, cycles] = main(l);
      return h('tr', {}, h('th.name', { scope: 'row', title: l.name },
        h('span', {}, h('bdi', { dir: 'ltr' }, nameOf(l)))),
      h('td.spare', {}, l.op_type), h('td.number', {}, count(l.a)),
      h('td.number', {}, count(l.b)),
      h('td.number', {}, signed(l.difference, count)),
      h('td', {}, cycles ? `${compared.label(cause)} ${signed(cycles, si)}` : ''));
    }));
  }
  draw();
  onNarrow(draw);
  const seek = (event) => {
    search = event.target.value;
    draw();
  };
  return section({
    id: 'layers', short: 'Layers', title: 'Layers', note,
    tools: [h('input.search', { type: 'search', placeholder: 'Search name, operator, cause \u2026',
      'aria-label': 'Search layers', oninput: seek })],
  }, h('div.scroll.table-box', { tabindex: '0', role: 'region', 'aria-label': 'Layers' },
    h('table.layers', {}, h('caption.offscreen', {}, 'Layers'), h('thead', {}, h('tr', {},
      ['layer', 'operator', 'A', 'B', 'difference', 'mostly by'].map((t, i) => h('th', {
        scope: 'col', class: i === 1 ? 'spare' : i > 1 && i < 5 ? 'number' : null },
      t)))), body)));
}
