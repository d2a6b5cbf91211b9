// The points of a sweep as columns of numbers, what filters let through, and which point is chosen.
import { byUnit, count, digits, si } from '../base/format.js';

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} unit
 * @property {boolean} axis
 * @property {Float64Array} values
 * @property {string[] | null} words of an axis of words: what each number stands for
 * @property {number} low
 * @property {number} high
 * @property {number[]} steps of an axis: the values that occur, rising
 */

/** A column of a page: an array, {all} of one value, or {from, count} of numbers that count up. */
function unpacked(given, n) {
  if (Array.isArray(given)) return given;
  return 'all' in given ? new Array(n).fill(given.all)
    : Array.from({ length: given.count }, (_, i) => given.from + i);
}

function column({ name, unit, axis }, given) {
  const n = given.length, values = new Float64Array(n);
  const words = typeof given.find((v) => v != null) === 'string' ? [...new Set(given)] : null;
  const code = words && new Map(words.map((w, i) => [w, i]));
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < n; i++) {
    const v = words ? code.get(given[i]) : given[i] ?? NaN;
    values[i] = v;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  const steps = axis ? Float64Array.from(new Set(values)).sort() : [];
  return { name, unit, axis, values, words, low, high, steps: [...steps] };
}

/** The point with the least value among those that pass; -1 where none does. */
function least(values, passes) {
  let best = -1;
  for (let i = 0; i < values.length; i++)
    if (passes[i] && (best < 0 || values[i] < values[best])) best = i;
  return best;
}

export class Sweep {
  ranges = new Map(); // column name -> [low, high]
  chosen = -1;
  #listeners = [];

  constructor(data) {
    this.#take(data);
  }

  /** The same sweep with more points; filters and choice stay. */
  load(data) {
    const chosen = this.points[this.chosen];
    this.#take(data);
    this.chosen = chosen == null ? -1 : this.points.indexOf(chosen);
    this.#pass();
    this.#tell('data');
  }

  #take(data) {
    this.data = data;
    this.store = data.store;
    this.points = unpacked(data.store.points.point);
    this.n = this.points.length;
    this.columns = data.store.columns.map((c) => column(c,
      unpacked(data.store.points[c.name], this.n)));
    this.byName = new Map(this.columns.map((c) => [c.name, c]));
    /** Columns in which points differ. */
    this.differing = this.columns.filter((c) => c.high > c.low);
    const front = new Set(this.store.front);
    /** Places of the front's points. */
    this.front = [];
    for (let i = 0; i < this.n; i++) if (front.has(this.points[i])) this.front.push(i);
    this.passes = new Uint8Array(this.n).fill(1);
    this.passing = this.n;
  }

  get objectives() {
    return this.store.objectives.map((name) => this.byName.get(name));
  }

  onChange(listener) {
    this.#listeners.push(listener);
  }

  #tell(what) {
    for (const listener of this.#listeners) listener(what);
  }

  choose(index) {
    this.chosen = index;
    this.#tell('chosen');
  }

  /** Ranges of several columns at once; null takes a range away. */
  filter(changes) {
    for (const [name, range] of Object.entries(changes)) {
      if (range) this.ranges.set(name, range);
      else this.ranges.delete(name);
    }
    this.#pass();
    this.#tell('filter');
  }

  #pass() {
    const { passes, n } = this;
    passes.fill(1);
    for (const [name, [low, high]] of this.ranges) {
      const { values } = this.byName.get(name);
      for (let i = 0; i < n; i++) if (!(values[i] >= low && values[i] <= high)) passes[i] = 0;
    }
    let passing = 0;
    for (let i = 0; i < n; i++) passing += passes[i];
    this.passing = passing;
  }

  /** The point of those that pass with the least value of a column, or -1. */
  best(c) {
    return least(c.values, this.passes);
  }

  /** Of an axis: which step each point has. */
  stepsOf(c) {
    if (!c.at) {
      const rank = new Map(c.steps.map((v, i) => [v, i])), { values } = c;
      c.at = new Uint16Array(values.length);
      for (let i = 0; i < values.length; i++) c.at[i] = rank.get(values[i]);
    }
    return c.at;
  }

  /** A value of a column as text. */
  text(c, value) {
    if (c.words) return c.words[value] ?? '';
    if (c.name === 'edp_pj_us') return si(value * 1e-18, 'J s');
    if (c.name === 'time_us') return si(value * 1e-6, 's');
    if (c.name === 'area_mm2') return `${digits(value)} mm\u00b2`;
    if (c.axis) return digits(value).length > 9 ? si(value) : digits(value);
    return c.unit === 'cycles' ? si(value) : byUnit(value, c.unit);
  }

  title(c) {
    return c.axis ? c.name : c.name.replace(/_(pj_us|pj|us|mm2|bytes)$/, '').replace(/_/g, ' ');
  }

  /** "point 17: array 32, dram_gbps 40". */
  settings(i) {
    return this.columns.filter((c) => c.axis)
      .map((c) => `${c.name} ${this.text(c, c.values[i])}`).join(', ');
  }

  summary() {
    return this.ranges.size === 0 ? `all ${count(this.n)} points`
      : `${count(this.passing)} of ${count(this.n)} points`;
  }
}
