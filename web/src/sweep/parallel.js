// Parallel coordinates: an axis a column; dragging along an axis filters. Lines that share their
// ends are drawn once, the stronger the more there are: 100,000 points cost no more than 1,000.
import { canvasBox } from '../base/canvas.js';
import { h } from '../base/dom.js';
import { section } from '../base/frame.js';
import { fitted, haloText } from '../base/paint.js';
import { scaleOf } from '../base/scale.js';
import { colour } from '../base/theme.js';
import { Density } from './density.js';

const top = 46, bottom = 22;

/** Columns that are worth an axis: what differs, then what was asked for. */
function columnsOf(sweep) {
  const more = ['cycles', 'energy_pj', 'area_mm2', 'traffic_bytes'].map((n) => sweep.byName.get(n));
  return [...sweep.differing.filter((c) => c.axis),
    ...new Set([...sweep.objectives, ...more].filter((c) => c && c.high > c.low))].slice(0, 12);
}

/** An axis: even steps where there are few, else a scale. */
function axisOf(c) {
  const even = c.axis && c.steps.length <= 40;
  const log = !even && c.low > 0 && c.high / c.low > 10;
  const scale = scaleOf(c.low, c.high, log);
  const last = Math.max(1, c.steps.length - 1);
  return { c, even, log, last, bin: null, at: even ? (v) => c.steps.indexOf(v) / last : scale.at,
    back: even ? (p) => p * last : scale.back };
}

class Parallel {
  constructor(sweep, columns) {
    this.sweep = sweep;
    this.bins = sweep.n > 20000 ? 64 : 120;
    this.axes = columns.map(axisOf);
    this.all = { density: new Density(), size: '', key: '', image: null };
    this.some = new Density();
    Object.assign(this, { width: 1, height: 1 });
  }

  inset() {
    return Math.min(60, this.width / 8);
  }

  x(k) {
    return this.inset() + (k * (this.width - 2 * this.inset())) / (this.axes.length - 1);
  }

  y(p) {
    return this.height - bottom - p * (this.height - top - bottom);
  }

  /** Of each point which bin of an axis it is in. */
  binsOf(axis) {
    if (axis.bin) return axis.bin;
    const { sweep } = this, { c, even, log, last } = axis;
    const out = new Uint8Array(sweep.n), most = this.bins - 1;
    if (even) {
      const bin = c.steps.map((_, i) => Math.round((i / last) * most)), step = sweep.stepsOf(c);
      for (let i = 0; i < out.length; i++) out[i] = bin[step[i]];
    } else {
      const low = log ? Math.log(c.low) : c.low, { values } = c;
      const scale = most / ((log ? Math.log(c.high) : c.high) - low);
      for (let i = 0; i < out.length; i++)
        out[i] = Math.round(((log ? Math.log(values[i]) : values[i]) - low) * scale);
    }
    axis.bin = out;
    return out;
  }

  /** The lines between two axes; those that share their ends count once, by how many they are. */
  lines(density, k, passes, ratio) {
    const { bins } = this, a = this.binsOf(this.axes[k]), b = this.binsOf(this.axes[k + 1]);
    const counts = new Uint32Array(bins * bins);
    for (let i = 0; i < a.length; i++) counts[a[i] * bins + b[i]] += passes ? passes[i] : 1;
    let most = 0, different = 0;
    for (let key = 0; key < counts.length; key++) {
      if (counts[key] > 0) different += 1;
      if (counts[key] > most) most = counts[key];
    }
    const thin = Math.min(1, 22 / Math.sqrt(different || 1));
    const x0 = this.x(k) * ratio, x1 = this.x(k + 1) * ratio, full = Math.log(most + 1);
    for (let key = 0; key < counts.length; key++) {
      if (counts[key] === 0) continue;
      density.line(x0, this.y(Math.floor(key / bins) / (bins - 1)) * ratio,
        x1, this.y((key % bins) / (bins - 1)) * ratio,
        thin * (0.1 + (0.5 * Math.log(counts[key] + 1)) / full));
    }
  }

  count(density, passes, ratio) {
    density.begin(Math.round(this.width * ratio), Math.round(this.height * ratio));
    for (let k = 0; k + 1 < this.axes.length; k++) this.lines(density, k, passes, ratio);
  }

  /** All points: the lines themselves, or what lies behind those that pass a filter. */
  whole(ratio, filtered) {
    const { all } = this;
    const size = `${this.width} ${ratio}`, key = `${size} ${filtered} ${colour('surface')}`;
    if (all.size !== size) this.count(all.density, null, ratio);
    if (all.key !== key) {
      all.image = filtered ? all.density.picture('line', 'line-strong', 0.6)
        : all.density.picture('heat-low', 'heat-high');
    }
    Object.assign(all, { size, key });
    return all.image;
  }

  draw(c, width, height) {
    Object.assign(this, { width, height });
    const { sweep, some } = this;
    const ratio = window.devicePixelRatio || 1, filtered = sweep.passing < sweep.n;
    c.drawImage(this.whole(ratio, filtered), 0, 0, width, height);
    if (filtered) {
      this.count(some, sweep.passes, ratio);
      c.drawImage(some.picture('heat-low', 'heat-high'), 0, 0, width, height);
    }
    this.axes.forEach((axis, k) => this.drawAxis(c, axis, k));
  }

  /** The line of one point. */
  drawOne(c, i) {
    c.strokeStyle = colour('select');
    c.lineWidth = 2.5;
    c.beginPath();
    this.axes.forEach((axis, k) =>
      c[k ? 'lineTo' : 'moveTo'](this.x(k), this.y(axis.at(axis.c.values[i]))));
    c.stroke();
  }

  drawAxis(c, axis, k) {
    const x = this.x(k), range = this.sweep.ranges.get(axis.c.name);
    c.fillStyle = colour('line-strong');
    c.fillRect(x - 0.5, top, 1, this.height - top - bottom);
    if (range) {
      const [p, q] = axis.even ? inner(axis, range)
        : range.map((v) => Math.min(1, Math.max(0, axis.at(v))));
      c.fillStyle = colour('select-soft');
      c.fillRect(x - 8, this.y(q), 16, Math.max(3, this.y(p) - this.y(q)));
    }
    this.drawTitle(c, axis, k);
    c.textAlign = 'center';
    c.fillStyle = colour('muted');
    haloText(c, this.sweep.text(axis.c, axis.c.high), x, top - 10);
    haloText(c, this.sweep.text(axis.c, axis.c.low), x, this.height - bottom + 11);
    c.textAlign = 'left';
  }

  drawTitle(c, axis, k) {
    const last = this.axes.length - 1, inset = this.inset(), x = this.x(k);
    c.fillStyle = colour('ink');
    c.textAlign = k === 0 ? 'left' : k === last ? 'right' : 'center';
    const room = (this.width - 2 * inset) / last - 8;
    const rows = room < 70; // titles in two rows
    const title = fitted(c, this.sweep.title(axis.c), rows ? 2 * room : room);
    const at = k === 0 ? x - inset + 4 : k === last ? x + inset - 4 : x;
    c.fillText(title, at, rows ? 7 + 14 * (k % 2) : 12);
  }

  axisAt(x) {
    return this.axes.findIndex((_, k) => Math.abs(this.x(k) - x) < 18);
  }

  /** What lies between two heights of an axis. */
  rangeOf(axis, ya, yb) {
    const places = [ya, yb].map((y) =>
      Math.min(1, Math.max(0, (this.height - bottom - y) / (this.height - top - bottom))))
      .sort((p, q) => p - q);
    if (!axis.even) return places.map(axis.back);
    const from = Math.ceil(axis.back(places[0]) - 0.3), to = Math.floor(axis.back(places[1]) + 0.3);
    return [axis.c.steps[Math.min(from, axis.last)], axis.c.steps[Math.max(to, 0)]];
  }
}

/** Of an axis of even steps: places of the first and last step within a range. */
function inner(axis, [low, high]) {
  const held = axis.c.steps.filter((v) => v >= low && v <= high);
  return held.length ? [axis.at(held[0]), axis.at(held[held.length - 1])] : [0, 0];
}

/** Dragging along an axis filters, a click takes the filter away. */
function listen(plot, lines, sweep) {
  const { canvas } = plot;
  let drag = null, waiting = 0;
  const filter = (k, range) => sweep.filter({ [lines.axes[k].c.name]: range });
  canvas.addEventListener('pointerdown', (event) => {
    const [x, y] = plot.at(event), k = lines.axisAt(x);
    if (k < 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { k, y, moved: false };
  });
  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = plot.at(event);
    canvas.style.cursor = lines.axisAt(x) >= 0 ? 'ns-resize' : 'default';
    if (!drag) return;
    drag.moved ||= Math.abs(y - drag.y) > 4;
    if (!drag.moved) return;
    const { k } = drag, range = lines.rangeOf(lines.axes[k], drag.y, y);
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => filter(k, range));
  });
  canvas.addEventListener('pointerup', () => {
    if (drag && !drag.moved) filter(drag.k, null);
    drag = null;
  });
  canvas.addEventListener('pointercancel', () => { drag = null; });
}

export function parallel(sweep) {
  const columns = columnsOf(sweep);
  if (columns.length < 2) return null;
  const lines = new Parallel(sweep, columns);
  const plot = canvasBox({
    label: 'Parallel coordinates of the sweep; dragging on an axis filters', height: 400,
    draw: (c, width, height) => lines.draw(c, width, height),
    over(c) {
      if (sweep.chosen >= 0) lines.drawOne(c, sweep.chosen);
    },
  });
  plot.box.style.minWidth = `${columns.length * 84}px`;
  listen(plot, lines, sweep);
  sweep.onChange((what) => (what === 'chosen' ? plot.redrawOver() : plot.redraw()));
  return section({
    id: 'parallel', short: 'Parallel', title: 'Parallel coordinates',
    note: 'A line is a machine; strong lines are many. Drag along an axis to filter, click the '
      + 'axis to take the filter away.',
  }, h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Parallel coordinates' },
    plot.box));
}
