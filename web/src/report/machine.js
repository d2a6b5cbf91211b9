// The machine as blocks, each with how much of it the network (or the chosen layer) uses. A drawing
// on wide screens, a list on narrow ones.
import { h, replace, svg } from '../base/dom.js';
import { section } from '../base/frame.js';
import { kib, percent, si } from '../base/format.js';

const bytesOf = (type) => Number(/\d+/.exec(type)?.[0] ?? 8) / 8;

const names = { activation: 'Activations', weight: 'Weights', parameter: 'Parameters',
  output: 'Outputs' };

/** Shares are of the cycles of `row`, at the rate of the part. */
function blocks(model, row) {
  const { hw } = model, b = hw.buffers, cycles = row.cycles || 1;
  const perCycle = (bytes, rate) => (rate > 0 ? bytes / rate / cycles : 0);
  const rate = (bytesPerCycle) => si(bytesPerCycle * hw.clock_mhz * 1e6, 'B/s');
  const slots = (buffer) => `${kib(buffer.kib * 1024)}, ${buffer.slots} slots`;
  const busy = (fate) => (row.fate ? Number(row.fate === fate) * row.compute_cycles
    : model.layers.filter((l) => l.fate === fate).reduce((s, l) => s + l.compute_cycles, 0))
    / cycles;
  const port = (name, bytes, what) => ({
    title: `${names[name]}`, sub: slots(b[name]),
    uses: [[what, perCycle(bytes, b[name].width)]],
  });
  const lanes = Object.values(hw.vector.lanes);
  return {
    dram: { title: 'DRAM', sub: `${hw.dram.model} model`, at: [0, 10, 204, 140], uses: [
      [`reads ${rate(hw.dram.read_bytes_per_cycle)}`,
        perCycle(row.dram_read_bytes, hw.dram.read_bytes_per_cycle)],
      [`writes ${rate(hw.dram.write_bytes_per_cycle)}`,
        perCycle(row.dram_write_bytes, hw.dram.write_bytes_per_cycle)]] },
    shared: b.shared.kib > 0 ? { title: 'Shared buffer', sub: kib(b.shared.kib * 1024),
      at: [0, 170, 204, 140], uses: [
        [`reads ${rate(b.shared.read_bytes_per_cycle)}`,
          perCycle(row.shared_read_bytes, b.shared.read_bytes_per_cycle)],
        [`writes ${rate(b.shared.write_bytes_per_cycle)}`,
          perCycle(row.shared_write_bytes, b.shared.write_bytes_per_cycle)]] }
      : { title: 'Shared buffer', sub: 'none', at: [0, 170, 204, 140], uses: [] },
    activation: { ...port('activation', row.activation_write_bytes, 'load port'),
      at: [250, 10, 160, 90] },
    weight: { ...port('weight', row.weight_write_bytes, 'load port'), at: [250, 115, 160, 90] },
    parameter: { ...port('parameter', row.parameter_write_bytes, 'load port'),
      at: [250, 220, 160, 90] },
    array: { title: `Array ${hw.rows}\u00d7${hw.cols}`,
      sub: `${hw.types.activation}\u00d7${hw.types.weight} \u2192 ${hw.types.accumulator}`,
      at: [470, 10, 210, 195], uses: [['busy', busy('gemm')],
        ['MACs', row.utilization ?? 0]] },
    accumulator: { title: 'Accumulators', sub: slots(b.accumulator), at: [470, 220, 210, 90],
      uses: [['rows read', perCycle(row.accumulator_read_bytes,
        hw.cols * bytesOf(hw.types.accumulator))]] },
    vector: { title: 'Post and vector unit',
      sub: `${Math.min(...lanes)} to ${Math.max(...lanes)} lanes`,
      at: [740, 10, 200, 195], uses: [['vector layers', busy('vector')]] },
    output: { ...port('output', row.output_read_bytes, 'store port'), at: [740, 220, 200, 90] },
  };
}

const wires = ['M204 80H228V265H250', 'M204 240H228V55H250', 'M228 160H250', 'M410 55H470',
  'M410 160H470', 'M560 205V220', 'M590 220V205', 'M680 265H700V107H740',
  'M330 310V327H712V150H740',
  'M840 205V220', 'M840 310V345H-15V80H0', 'M-15 240H0'];

function drawing(parts) {
  const texts = (part) => {
    const [x, y, , height] = part.at;
    const lines = [svg('text', { x: x + 12, y: y + 24, class: 'block-title' }, part.title),
      svg('text', { x: x + 12, y: y + 43, class: 'block-sub' }, part.sub)];
    part.uses.forEach(([label, share], i) => {
      const width = part.at[2] - 24;
      const base = y + height - 12 - (part.uses.length - 1 - i) * 32;
      lines.push(
        svg('text', { x: x + 12, y: base - 8, class: 'block-sub' }, label),
        svg('text', { x: x + 12 + width, y: base - 8, class: 'block-share', 'text-anchor': 'end' },
          percent(share)),
        svg('rect', { x: x + 12, y: base - 3, width, height: 5, rx: 2.5, class: 'gauge' }),
        svg('rect', { x: x + 12, y: base - 3, width: width * Math.min(1, share), height: 5, rx: 2.5,
          class: 'gauge-fill' }));
    });
    return lines;
  };
  return svg('svg.blocks', { viewBox: '-24 0 976 356', 'aria-hidden': 'true' },
    svg('defs', {}, svg('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8,
      markerHeight: 8, orient: 'auto-start-reverse' }, svg('path', { d: 'M0 0L8 4L0 8z',
      class: 'wire-tip' }))),
    wires.map((d) => svg('path', { d, class: 'wire', 'marker-end': 'url(#tip)' })),
    Object.values(parts).map((part) => {
      const [x, y, width, height] = part.at;
      return svg('g', {}, svg('rect', { x, y, width, height, rx: 8, class: 'block' }), texts(part));
    }));
}

function list(parts) {
  return h('ul.block-list', {}, Object.values(parts).map((part) => h('li', {},
    h('b', {}, part.title), h('span.muted', {}, part.sub),
    part.uses.map(([label, share]) => h('div.use', {}, h('span', {}, label),
      h('span.gauge-html', { 'aria-hidden': 'true' },
        h('i', { style: `width:${100 * Math.min(1, share)}%` })),
      h('b', {}, percent(share)))))));
}

export function machine({ model, selection }) {
  const of = h('p.note', { 'aria-live': 'polite' });
  const all = h('button', { type: 'button', onclick: () => selection.choose(null) },
    'Whole network');
  const box = h('div', {});
  const show = () => {
    const row = selection.layer ?? model.totals;
    const parts = blocks(model, row);
    of.textContent = selection.layer ? `Shares of the cycles of ${selection.layer.name}`
      : 'Shares of the network\u2019s cycles';
    all.hidden = !selection.layer;
    replace(box, drawing(parts), list(parts));
  };
  selection.onChange(show);
  show();
  return section({
    id: 'machine', short: 'Machine', title: `The machine: ${model.hw.name}`, note: of, tools: [all],
  }, box);
}
