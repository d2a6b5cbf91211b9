// What the shared buffer holds and what is live, over the network's time.
import { tooltip } from '../base/dom.js';
import { axis, chartBox, spanMarker, zoom } from '../base/charts.js';
import { section } from '../base/frame.js';
import { kib, si } from '../base/format.js';
import { colour } from '../base/theme.js';

export function memory({ model, selection }) {
  if (!model.costed.some((l) => l.live_bytes > 0)) return null;
  const capacity = model.hw.buffers.shared.kib * 1024;
  const layers = model.costed;
  const end = layers[layers.length - 1];
  const points = (key) => [...layers.map((l) => [l.start, l[key]]),
    [end.start + end.cycles, end[key]]];
  const at = (cycle) => {
    let low = 0, high = layers.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (layers[middle].start <= cycle) low = middle;
      else high = middle - 1;
    }
    return layers[low];
  };

  const marker = (c) => selection.layer?.cycles > 0
    && spanMarker(c, selection.layer.start, selection.layer.start + selection.layer.cycles);

  function option() {
    const step = { type: 'line', step: 'end', symbol: 'none', sampling: 'max' };
    const most = Math.max(capacity, ...layers.map((l) => l.live_bytes));
    return {
      grid: { left: 8, right: 16, top: 20, bottom: 56, containLabel: true },
      xAxis: axis({
        type: 'value', min: 0, max: end.start + end.cycles,
        axisLabel: { formatter: (v) => si(model.seconds(v), 's') }, splitLine: { show: false },
      }),
      yAxis: axis({ type: 'value', max: most * 1.08, interval: 2 ** Math.ceil(Math.log2(most / 5)),
        axisLabel: { formatter: kib, showMaxLabel: false } }),
      dataZoom: zoom(),
      tooltip: {
        trigger: 'axis', axisPointer: { type: 'line' },
        formatter: (items) => {
          const l = at(items[0].axisValue);
          return tooltip(l.name, [
            ['live activations', kib(l.live_bytes), colour('c-shared')],
            ['held by the shared buffer', kib(l.resident_bytes), colour('c-compute')]],
          capacity ? `of ${kib(capacity)}` : '');
        },
      },
      series: [
        { ...step, name: 'live', data: points('live_bytes'),
          lineStyle: { color: colour('c-shared'), width: 1.5 }, itemStyle: {
            color: colour('c-shared') } },
        { ...step, name: 'resident', data: points('resident_bytes'),
          lineStyle: { color: colour('c-compute'), width: 1.5 },
          itemStyle: { color: colour('c-compute') },
          areaStyle: { color: colour('c-compute'), opacity: 0.25 },
          markLine: capacity ? {
            silent: true, symbol: ['none', 'none'], animation: false,
            lineStyle: { color: colour('ink-soft'), type: [5, 4] },
            label: { formatter: `shared buffer ${kib(capacity)}`, position: 'insideEndTop',
              color: colour('ink-soft'), fontSize: 12 },
            data: [{ yAxis: capacity }],
          } : undefined },
      ],
    };
  }

  const chart = chartBox({
    label: 'Bytes live and bytes held by the shared buffer over the network\u2019s time',
    height: 300, option, marker,
    ready(c) {
      c.getZr().on('click', (event) => {
        const point = [event.offsetX, event.offsetY];
        if (c.containPixel('grid', point))
          selection.choose(at(c.convertFromPixel({ seriesIndex: 0 }, point)[0]));
      });
    },
  });
  selection.onChange(chart.mark);
  return section({
    id: 'memory', short: 'Memory', title: 'Memory over time',
    note: 'Activations that are live, the network\u2019s input and output among them (upper line), '
      + 'and those of them that the shared buffer holds (area). What lies between is in DRAM.',
  }, chart.box);
}
