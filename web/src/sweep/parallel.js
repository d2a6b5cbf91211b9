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

export function parallel(sweep) {
  const bins = sweep.n > 20000 ? 64 : 120;
  const columns = [...sweep.differing.filter((c) => c.axis),
    ...new Set([...sweep.objectives.filter((c) => c.high > c.low),
      ...['cycles', 'energy_pj', 'area_mm2', 'traffic_bytes'].map((n) => sweep.byName.get(n))
        .filter((c) => c && c.high > c.low)])].slice(0, 12);
  if (columns.length < 2) return null;
  const axes = columns.map((c) => {
    const even = c.axis && c.steps.length <= 40;
    const log = !even && c.low > 0 && c.high / c.low > 10;
    const scale = scaleOf(c.low, c.high, log);
    const last = Math.max(1, c.steps.length - 1);
    const at = even ? (v) => c.steps.indexOf(v) / last : scale.at;
    return { c, at, even, log, bin: null, back: even ? (p) => p * last : scale.back, last };
  });
  const all = { density: new Density(), size: '', key: '', image: null }, some = new Density();

  /** Of each point which bin of an axis it is in. */
  function binsOf(axis) {
    const { c, even, log, last } = axis;
    if (axis.bin) return axis.bin;
    const out = new Uint8Array(sweep.n), top_ = bins - 1;
    if (even) {
      const bin = c.steps.map((_, i) => Math.round((i / last) * top_)), step = sweep.stepsOf(c);
      for (let i = 0; i < out.length; i++) out[i] = bin[step[i]];
    } else {
      const low = log ? Math.log(c.low) : c.low;
      const scale = top_ / ((log ? Math.log(c.high) : c.high) - low), { values } = c;
      for (let i = 0; i < out.length; i++)
        out[i] = Math.round(((log ? Math.log(values[i]) : values[i]) - low) * scale);
    }
    axis.bin = out;
    return out;
  }
  let drag = null;
  const plot = canvasBox({ label: 'Parallel coordinates of the sweep; dragging on an axis filters',
    height: 400, draw, over });
  plot.box.style.minWidth = `${axes.length * 84}px`;
  const inset = () => Math.min(60, plot.width / 8);
  const xOf = (k) => inset() + (k * (plot.width - 2 * inset())) / (axes.length - 1);
  const yOf = (p) => plot.height - bottom - p * (plot.height - top - bottom);

  /** The lines between two axes; those that share their ends count once, by how many they are. */
  function lines(density, k, passes, ratio) {
    const a = binsOf(axes[k]), b = binsOf(axes[k + 1]), counts = new Uint32Array(bins * bins);
    for (let i = 0; i < a.length; i++) counts[a[i] * bins + b[i]] += passes ? passes[i] : 1;
    let most = 0, different = 0;
    for (let key = 0; key < counts.length; key++) {
      if (counts[key] > 0) different += 1;
      if (counts[key] > most) most = counts[key];
    }
    const thin = Math.min(1, 22 / Math.sqrt(different || 1));
    const x0 = xOf(k) * ratio, x1 = xOf(k + 1) * ratio, full = Math.log(most + 1);
    for (let key = 0; key < counts.length; key++) {
      if (counts[key] === 0) continue;
      density.line(x0, yOf(Math.floor(key / bins) / (bins - 1)) * ratio,
        x1, yOf((key % bins) / (bins - 1)) * ratio,
        thin * (0.1 + (0.5 * Math.log(counts[key] + 1)) / full));
    }
  }

  function count(density, passes, ratio) {
    density.begin(Math.round(plot.width * ratio), Math.round(plot.height * ratio));
    for (let k = 0; k + 1 < axes.length; k++) lines(density, k, passes, ratio);
  }

  /** All points: the lines themselves, or what lies behind those that pass a filter. */
  function whole(ratio, filtered) {
    const size = `${plot.width} ${ratio}`, key = `${size} ${filtered} ${colour('surface')}`;
    if (all.size !== size) count(all.density, null, ratio);
    if (all.key !== key) {
      all.image = filtered ? all.density.picture('line', 'line-strong', 0.6)
        : all.density.picture('heat-low', 'heat-high');
    }
    Object.assign(all, { size, key });
    return all.image;
  }

  function draw(c, width, height) {
    const ratio = window.devicePixelRatio || 1, filtered = sweep.passing < sweep.n;
    c.drawImage(whole(ratio, filtered), 0, 0, width, height);
    if (filtered) {
      count(some, sweep.passes, ratio);
      c.drawImage(some.picture('heat-low', 'heat-high'), 0, 0, width, height);
    }
    axes.forEach((axis, k) => drawAxis(c, axis, k));
  }

  function over(c) {
    if (sweep.chosen >= 0) drawOne(c, sweep.chosen);
  }

  function drawOne(c, i) {
    c.strokeStyle = colour('select');
    c.lineWidth = 2.5;
    c.beginPath();
    axes.forEach((axis, k) => c[k ? 'lineTo' : 'moveTo'](xOf(k), yOf(axis.at(axis.c.values[i]))));
    c.stroke();
  }

  function drawAxis(c, axis, k) {
    const x = xOf(k), range = sweep.ranges.get(axis.c.name);
    c.fillStyle = colour('line-strong');
    c.fillRect(x - 0.5, top, 1, plot.height - top - bottom);
    if (range) {
      const [p, q] = axis.even ? inner(axis, range)
        : range.map((v) => Math.min(1, Math.max(0, axis.at(v))));
      c.fillStyle = colour('select-soft');
      c.fillRect(x - 8, yOf(q), 16, Math.max(3, yOf(p) - yOf(q)));
    }
    c.fillStyle = colour('ink');
    c.textAlign = k === 0 ? 'left' : k === axes.length - 1 ? 'right' : 'center';
    const room = (plot.width - 2 * inset()) / (axes.length - 1) - 8;
    const rows = room < 70; // titles in two rows
    const title = fitted(c, sweep.title(axis.c), rows ? 2 * room : room);
    const at = k === 0 ? x - inset() + 4 : k === axes.length - 1 ? x + inset() - 4 : x;
    c.fillText(title, at, rows ? 7 + 14 * (k % 2) : 12);
    c.textAlign = 'center';
    c.fillStyle = colour('muted');
    haloText(c, sweep.text(axis.c, axis.c.high), x, top - 10);
    haloText(c, sweep.text(axis.c, axis.c.low), x, plot.height - bottom + 11);
    c.textAlign = 'left';
  }

  /** Of an axis of even steps: places of the first and last step within a range. */
  function inner(axis, [low, high]) {
    const held = axis.c.steps.filter((v) => v >= low && v <= high);
    return held.length ? [axis.at(held[0]), axis.at(held[held.length - 1])] : [0, 0];
  }

  function rangeOf(axis, ya, yb) {
    const places = [ya, yb].map((y) =>
      Math.min(1, Math.max(0, (plot.height - bottom - y) / (plot.height - top - bottom))))
      .sort((p, q) => p - q);
    if (!axis.even) return places.map(axis.back);
    const from = Math.ceil(axis.back(places[0]) - 0.3), to = Math.floor(axis.back(places[1]) + 0.3);
    return [axis.c.steps[Math.min(from, axis.last)], axis.c.steps[Math.max(to, 0)]];
  }

  const { canvas } = plot;
  const axisAt = (x) => axes.findIndex((_, k) => Math.abs(xOf(k) - x) < 18);
  canvas.addEventListener('pointerdown', (event) => {
    const [x, y] = plot.at(event), k = axisAt(x);
    if (k < 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { k, y, moved: false };
  });
  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = plot.at(event);
    canvas.style.cursor = axisAt(x) >= 0 ? 'ns-resize' : 'default';
    if (!drag) return;
    drag.moved ||= Math.abs(y - drag.y) > 4;
    if (drag.moved) apply(drag.k, rangeOf(axes[drag.k], drag.y, y));
  });
  let waiting = 0;
  function apply(k, range) {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => sweep.filter({ [axes[k].c.name]: range }));
  }
  canvas.addEventListener('pointerup', () => {
    if (drag && !drag.moved) sweep.filter({ [axes[drag.k].c.name]: null });
    drag = null;
  });
  canvas.addEventListener('pointercancel', () => { drag = null; });
  sweep.onChange((what) => (what === 'chosen' ? plot.redrawOver() : plot.redraw()));
  return section({
    id: 'parallel', short: 'Parallel', title: 'Parallel coordinates',
    note: 'A line is a machine; strong lines are many. Drag along an axis to filter, click the '
      + 'axis to take the filter away.',
  }, h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Parallel coordinates' },
    plot.box));
}
