// From A's cycles to B's, a step a cause; the steps add up exactly.
import { axis, chartBox } from '../base/charts.js';
import { h, tooltip } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count, percent, si } from '../base/format.js';
import { colour } from '../base/theme.js';
import { signed } from './model.js';

/** The bars from A down to B, each from where the one before ends. */
function barsOf(compared) {
  const { a, b, steps } = compared;
  const bars = [{ name: 'A', from: 0, to: a.cycles, end: true }];
  let level = a.cycles;
  for (const s of steps) {
    bars.push({ name: compared.label(s.cause), cause: s.cause, step: s, from: level,
      to: level + s.difference });
    level += s.difference;
  }
  return [...bars, { name: 'B', from: 0, to: b.cycles, end: true }];
}

const paint = (bar) => colour(bar.end ? 'accent' : bar.to > bar.from ? 'up' : 'down');

function optionOf(bars, compared) {
  return {
    grid: { left: 8, right: 70, top: 8, bottom: 8, containLabel: true },
    xAxis: axis({ type: 'value', min: 0, axisLabel: { formatter: (v) => si(v) } }),
    yAxis: axis({ type: 'category', inverse: true, data: bars.map((x) => x.name),
      axisTick: { show: false }, axisLabel: { color: colour('ink'), interval: 0 } }),
    tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' },
      formatter: (items) => tip(bars[items[0].dataIndex], compared) },
    series: [
      { type: 'bar', stack: 'all', silent: true, itemStyle: { color: 'transparent' },
        data: bars.map((x) => Math.min(x.from, x.to)) },
      { type: 'bar', stack: 'all', barMaxWidth: 26,
        data: bars.map((x) => ({ value: Math.abs(x.to - x.from),
          itemStyle: { color: paint(x) } })),
        label: { show: true, position: 'right', color: colour('ink'), fontSize: 12,
          formatter: ({ dataIndex }) => {
            const bar = bars[dataIndex];
            return bar.end ? si(bar.to) : signed(bar.to - bar.from, si);
          } } },
    ],
  };
}

function tip(bar, compared) {
  if (bar.end) {
    return tooltip(`${bar.name}: ${compared.title(bar.name.toLowerCase())}`,
      [['cycles', count(bar.to)]]);
  }
  return tooltip(bar.name, [['A', `${count(bar.step.a)} cycles`],
    ['B', `${count(bar.step.b)} cycles`],
    ['difference', signed(bar.step.difference, count), paint(bar)],
    ['of A', percent(Math.abs(bar.step.difference), compared.a.cycles)]],
  compared.causes.get(bar.cause)?.definition);
}

export function waterfall({ compared }) {
  const bars = barsOf(compared);
  const total = compared.steps.reduce((s, x) => s + x.difference, 0);
  const chart = chartBox({
    label: 'Waterfall of the cycles from A to B by cause; the table below has the numbers',
    height: 70 + bars.length * 34, option: () => optionOf(bars, compared),
  });
  return section({
    id: 'waterfall', short: 'Waterfall', title: 'From A to B, by cause',
    note: `${signed(total, count)} cycles. The steps add up to this difference exactly.`,
  }, chart.box, h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Causes' },
    causeTable(compared)));
}

function causeTable(compared) {
  const heads = ['cause', 'A', 'B', 'difference', 'what it is'];
  return h('table.plain', {}, h('thead', {}, h('tr', {}, heads.map((t, i) =>
    h('th', { scope: 'col', class: i > 0 && i < 4 ? 'number' : null }, t)))),
  h('tbody', {}, compared.waterfall.filter((w) => w.a || w.b || w.difference)
    .map((w) => h('tr', {}, h('th', { scope: 'row' }, compared.label(w.cause)),
      h('td.number', {}, count(w.a)), h('td.number', {}, count(w.b)),
      h('td.number', {}, signed(w.difference, count)),
      h('td.wrap', {}, compared.causes.get(w.cause)?.definition ?? '')))));
}
