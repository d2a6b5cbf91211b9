// What the shared buffer holds and what is live, over the network's time.
import { tooltip } from '../base/dom.js';
import { axis, chartBox, spanMarker, zoom } from '../base/charts.js';
import { section } from '../base/frame.js';
import { kib, si } from '../base/format.js';
import { colour } from '../base/theme.js';

/** Layers over the network's time. */
class Occupancy {
  constructor(model) {
    this.model = model;
    this.capacity = model.hw.buffers.shared.kib * 1024;
    this.layers = model.costed;
    const last = this.layers[this.layers.length - 1];
    this.end = last.start + last.cycles;
  }

  /** [start, bytes] of each layer, and the last again at the end. */
  points(key) {
    return [...this.layers.map((l) => [l.start, l[key]]),
      [this.end, this.layers[this.layers.length - 1][key]]];
  }

  at(cycle) {
    const { layers } = this;
    let low = 0, high = layers.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (layers[middle].start <= cycle) low = middle;
      else high = middle - 1;
    }
    return layers[low];
  }

  tip(l) {
    return tooltip(l.name, [
      ['live activations', kib(l.live_bytes), colour('c-shared')],
      ['in the shared buffer', kib(l.resident_bytes), colour('c-compute')]],
    this.capacity ? `of ${kib(this.capacity)}` : '');
  }

  option() {
    const most = Math.max(this.capacity, ...this.layers.map((l) => l.live_bytes));
    return {
      grid: { left: 8, right: 16, top: 20, bottom: 56, containLabel: true },
      xAxis: axis({
        type: 'value', min: 0, max: this.end,
        axisLabel: { formatter: (v) => si(this.model.seconds(v), 's') },
        splitLine: { show: false },
      }),
      yAxis: axis({ type: 'value', max: most * 1.08, interval: 2 ** Math.ceil(Math.log2(most / 5)),
        axisLabel: { formatter: kib, showMaxLabel: false } }),
      dataZoom: zoom(),
      tooltip: { trigger: 'axis', axisPointer: { type: 'line' },
        formatter: (items) => this.tip(this.at(items[0].axisValue)) },
      series: this.series(),
    };
  }

  series() {
    const step = { type: 'line', step: 'end', symbol: 'none', sampling: 'max' };
    const inked = (name) => ({ lineStyle: { color: colour(name), width: 1.5 },
      itemStyle: { color: colour(name) } });
    const mark = {
      z: 10, silent: true, symbol: ['none', 'none'], animation: false,
      lineStyle: { color: colour('ink-soft'), type: [5, 4] },
      label: { formatter: `shared buffer ${kib(this.capacity)}`, position: 'insideEndTop',
        color: colour('ink-soft'), fontSize: 12, backgroundColor: colour('surface'),
        padding: [1, 4] },
      data: [{ yAxis: this.capacity }],
    };
    return [
      { ...step, name: 'live', data: this.points('live_bytes'), ...inked('c-shared') },
      { ...step, name: 'resident', data: this.points('resident_bytes'), ...inked('c-compute'),
        areaStyle: { color: colour('c-compute'), opacity: 0.25 },
        markLine: this.capacity ? mark : undefined },
    ];
  }
}

export function memory({ model, selection }) {
  if (!model.costed.some((l) => l.live_bytes > 0)) return null;
  const held = new Occupancy(model);
  const chart = chartBox({
    label: 'Live bytes, and bytes in the shared buffer, over the network\u2019s time',
    height: 300,
    option: () => held.option(),
    marker: (c) => selection.layer?.cycles > 0
      && spanMarker(c, selection.layer.start, selection.layer.start + selection.layer.cycles),
    ready(c) {
      c.getZr().on('click', (event) => {
        const point = [event.offsetX, event.offsetY];
        if (c.containPixel('grid', point))
          selection.choose(held.at(c.convertFromPixel({ seriesIndex: 0 }, point)[0]));
      });
    },
  });
  selection.onChange(chart.mark);
  return section({
    id: 'memory', short: 'Memory', title: 'Memory over time',
    note: 'The upper line is live activations, with the network\u2019s input and output. The area '
      + 'is bytes in the shared buffer. The rest is in DRAM.',
  }, chart.box);
}
