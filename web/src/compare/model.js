// Two runs and what the difference of their cycles is made of, as accsim.compare/1 has it.
import { colour } from '../base/theme.js';

/** Where a part has several causes, each has a colour of its own. */
const causeColours = { array: 'c-compute', array_idle: 'c-idle', weight_load: 'c-weight_load',
  array_fill: 'c-array',
  vector: 'c-vector', vector_idle: 'c-vector_idle', dram_read: 'c-dram_read',
  dram_write: 'c-dram_write', post: 'c-post', only_a: 'down', only_b: 'up' };
const unitColours = { array: 'c-compute', vector: 'c-vector', mover: 'c-dram_write',
  dram: 'c-dram_read', shared: 'c-shared', slots: 'c-slot', tail: 'c-tail', none: 'c-idle' };

export class Compared {
  constructor(causes, comparison) {
    Object.assign(this, comparison);
    this.causes = new Map(causes.map((c) => [c.key, c]));
    /** Causes with a difference: what adds cycles first, then what takes them away. */
    this.steps = comparison.waterfall.filter((w) => w.difference !== 0)
      .sort((x, y) => y.difference - x.difference);
    this.sortedLayers = [...comparison.layers]
      .sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference));
  }

  label(key) {
    return this.causes.get(key)?.label ?? key;
  }

  paint(key) {
    return colour(causeColours[key] ?? unitColours[this.causes.get(key)?.unit] ?? 'c-tail');
  }

  title(side) {
    const s = this[side];
    const file = (path) => path.split('/').pop();
    return this.a.model.file === this.b.model.file ? s.hw.name
      : `${file(s.model.file)} on ${s.hw.name}`;
  }
}

/** "+1.2 M", "-300". */
export function signed(value, text) {
  return `${value > 0 ? '+' : value < 0 ? '\u2212' : ''}${text(Math.abs(value))}`;
}
