// The report as the views ask for it. What the numbers mean comes from the data's field list; the
// names here are only the order and the colours in which things are drawn.
import { colour } from '../base/theme.js';

const waits = { dram_read: 'DRAM read', dram_write: 'DRAM write', shared: 'shared buffer',
  weight_load: 'weight load', array: 'array fill', post: 'post unit', slot: 'slots' };

/** Parts that a layer's cycles fall into; they sum to its cycles. */
export const cycleParts = [
  { key: 'full', label: 'at full rate', colour: 'c-compute',
    of: (r) => r.compute_cycles - r.idle_lane_cycles - r.move_cycles },
  { key: 'idle', label: 'idle lanes', colour: 'c-idle', of: (r) => r.idle_lane_cycles },
  { key: 'moves', label: 'moves', colour: 'c-move', of: (r) => r.move_cycles },
  ...Object.entries(waits).map(([key, label]) => ({
    key, label: `waits: ${label}`, colour: `c-${key}`, of: (r) => r[`stall_${key}_cycles`],
  })),
  { key: 'tail', label: 'tail', colour: 'c-tail', of: (r) => r.tail_cycles },
];

export const energyParts = [['mac', 'MACs'], ['vector', 'vector unit'], ['sram', 'buffers'],
  ['shared', 'shared buffer'], ['dram', 'DRAM'], ['leakage', 'leakage']].map(([key, label]) => ({
  key, label, colour: `e-${key}`, of: (r) => r[`energy_${key}_pj`],
}));

export const boundColours = { compute: 'c-compute', 'weight load': 'c-weight_load',
  dram: 'c-dram_read', sram: 'c-shared', latency: 'c-slot', none: 'c-tail' };

/** Bytes over DRAM, the shared buffer's ports and the array's load ports. */
export const traffic = {
  dram: (r) => r.dram_read_bytes + r.dram_write_bytes,
  shared: (r) => r.shared_read_bytes + r.shared_write_bytes,
  ports: (r) => r.activation_write_bytes + r.weight_write_bytes + r.parameter_write_bytes,
};

/** "/layer1/layer1.0/conv1/Conv" -> layer1, 0, conv1, Conv. */
export function modulePath(name) {
  const out = [];
  let before = '';
  for (const part of name.split('/').filter(Boolean)) {
    const rest = before && part.startsWith(`${before}.`) ? part.slice(before.length + 1) : part;
    out.push(...rest.split('.').filter(Boolean));
    before = part;
  }
  return out.length ? out : [name];
}

/** The report with what the views need of it. */
export class Model {
  constructor(data) {
    this.data = data;
    this.report = data.report;
    this.hw = data.report.hw;
    this.totals = data.report.totals;
    this.fields = new Map(data.fields.map((f) => [f.key, f]));
    this.layers = data.report.layers;
    let start = 0;
    this.layers.forEach((layer, index) => {
      layer.index = index;
      layer.start = start;
      start += layer.cycles;
    });
    /** Layers that take time. */
    this.costed = this.layers.filter((l) => l.alone_cycles > 0);
    this.peak = this.hw.rows * this.hw.cols;
  }

  field(key) {
    return this.fields.get(key) ?? { key, unit: '', description: '' };
  }

  seconds(cycles) {
    return cycles / (this.hw.clock_mhz * 1e6);
  }
}

/** Parts in the present theme's colours. */
export function painted(parts) {
  return parts.map((p) => ({ ...p, paint: colour(p.colour) }));
}

/** Which layer is chosen; views listen. */
export class Selection {
  layer = null;
  #listeners = [];

  onChange(listener) {
    this.#listeners.push(listener);
  }

  choose(layer) {
    if (layer === this.layer) return;
    const before = this.layer;
    this.layer = layer;
    for (const listener of this.#listeners) listener(layer, before);
  }
}
