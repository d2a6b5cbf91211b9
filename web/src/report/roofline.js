// Work against traffic: a point a layer under the roofs of the array and of each memory.
import { canvasBox } from '../base/canvas.js';
import { choice, h, replace, tooltip } from '../base/dom.js';
import { section } from '../base/frame.js';
import { digits, percent, si } from '../base/format.js';
import { drawAxes, haloText } from '../base/paint.js';
import { pointed } from '../base/pointed.js';
import { scaleOf } from '../base/scale.js';
import { colour } from '../base/theme.js';
import { boundColours, traffic } from './model.js';

const left = 74, right = 16, top = 22, bottom = 44;
const boundNames = { dram: 'DRAM', sram: 'SRAM ports' };

/** The slopes: bytes a second of each memory. */
function memories({ hw }) {
  const rate = (bytesPerCycle) => bytesPerCycle * hw.clock_mhz * 1e6;
  const b = hw.buffers;
  return {
    dram: {
      name: 'DRAM', of: 'byte of DRAM traffic', slopes: [
        { label: 'DRAM reads', rate: rate(hw.dram.read_bytes_per_cycle) },
        { label: 'DRAM both ways',
          rate: rate(hw.dram.read_bytes_per_cycle + hw.dram.write_bytes_per_cycle) }],
    },
    shared: {
      name: 'shared buffer', of: 'byte of shared buffer traffic', slopes: b.shared.kib > 0 ? [
        { label: 'shared reads', rate: rate(b.shared.read_bytes_per_cycle) },
        { label: 'shared both ways',
          rate: rate(b.shared.read_bytes_per_cycle + b.shared.write_bytes_per_cycle) }] : [],
    },
    ports: {
      name: 'array ports', of: 'byte through the array\u2019s load ports', slopes: [
        { label: 'array ports', rate: rate(Math.max(b.activation.width, b.weight.width)) }],
    },
  };
}

/** A point a layer, the largest first, so that the small ones lie on them. */
function points(model, level) {
  return model.costed.filter((l) => l.macs > 0 && traffic[level](l) > 0).map((l) => ({
    layer: l,
    x: l.macs / traffic[level](l),
    y: l.macs / model.seconds(l.cycles),
    radius: 3 + Math.min(15, 22 * Math.sqrt(l.cycles / model.totals.cycles)),
  })).sort((a, b) => b.radius - a.radius);
}

function bounds(shown, peak) {
  const down = (v) => 10 ** Math.floor(Math.log10(v));
  let low = 1, high = 1000, least = peak / 100;
  for (const p of shown) {
    low = Math.min(low, down(p.x));
    high = Math.max(high, down(p.x) * 10);
    least = Math.min(least, down(p.y));
  }
  return { low, high, least };
}

/** The picture: roofs and circles at pixels of the plot. */
class Roofs {
  constructor(model, peak) {
    this.model = model;
    this.peak = peak;
  }

  set(level, memory) {
    this.memory = memory;
    this.shown = points(this.model, level);
    Object.assign(this, bounds(this.shown, this.peak));
    this.sx = scaleOf(this.low, this.high, true);
    this.sy = scaleOf(this.least, this.peak * 2, true);
    this.placed = '';
  }

  /** Pixels of all circles, once for a size. */
  place(width, height) {
    if (this.placed === `${width} ${height}`) return;
    this.placed = `${width} ${height}`;
    this.frame = { left, top, right: width - right, bottom: height - bottom };
    for (const p of this.shown) [p.px, p.py] = this.at(p.x, p.y);
  }

  at(x, y) {
    const f = this.frame;
    return [f.left + this.sx.at(x) * (f.right - f.left),
      f.bottom - this.sy.at(y) * (f.bottom - f.top)];
  }

  draw(c) {
    drawAxes(c, this.frame,
      { scale: this.sx, text: (v) => (v < 1000 ? digits(v) : si(v)),
        title: `MACs a ${this.memory.of}` },
      { scale: this.sy, text: (v) => si(v), title: 'MAC/s' });
    this.memory.slopes.forEach((s, i) => this.drawSlope(c, s, i > 0));
    this.line(c, [this.low, this.peak], [this.high, this.peak], false);
    c.fillStyle = colour('ink-soft');
    const [x, y] = this.at(this.low, this.peak);
    haloText(c, `array peak ${si(this.peak, 'MAC/s')}`, x + 8, y - 10);
    const paints = new Map(Object.entries(boundColours).map(([b, name]) => [b, colour(name)]));
    c.strokeStyle = colour('surface');
    c.lineWidth = 1;
    c.globalAlpha = 0.7;
    for (const p of this.shown) {
      c.fillStyle = paints.get(p.layer.bound);
      c.beginPath();
      c.arc(p.px, p.py, p.radius, 0, 7);
      c.fill();
      if (p.radius > 4) c.stroke();
    }
  }

  line(c, from, to, dashed) {
    c.strokeStyle = colour('ink-soft');
    c.lineWidth = 1.6;
    c.setLineDash(dashed ? [5, 4] : []);
    c.beginPath();
    c.moveTo(...this.at(...from));
    c.lineTo(...this.at(...to));
    c.stroke();
    c.setLineDash([]);
  }

  /** A memory's roof from where it enters the plot to the array's peak, its name along it. */
  drawSlope(c, slope, dashed) {
    const start = Math.max(this.low, this.least / slope.rate);
    const end = Math.min(Math.max(this.peak / slope.rate, start), this.high);
    const from = [start, start * slope.rate], to = [end, Math.min(end * slope.rate, this.peak)];
    this.line(c, from, to, dashed);
    const [x0, y0] = this.at(...from), [x1, y1] = this.at(...to);
    const text = `${slope.label} ${si(slope.rate, 'B/s')}`;
    const room = Math.hypot(x1 - x0, y1 - y0) - c.measureText(text).width;
    if (room < 40 || this.frame.right - left < 450) return; // the legend has it too
    c.save();
    c.translate((x0 + x1) / 2, (y0 + y1) / 2);
    c.rotate(Math.atan2(y1 - y0, x1 - x0));
    c.textAlign = 'center';
    c.fillStyle = colour('ink-soft');
    haloText(c, text, 0, dashed ? -10 : 11);
    c.restore();
  }

  ring(c, p, radius, name, wide) {
    c.strokeStyle = colour(name);
    c.lineWidth = wide;
    c.beginPath();
    c.arc(p.px, p.py, radius, 0, 7);
    c.stroke();
  }

  tip({ layer, x, y }) {
    return tooltip(layer.name, [
      ['achieved', si(y, 'MAC/s')],
      ['of the array\u2019s peak', percent(y, this.peak)],
      [`MACs a ${this.memory.of}`, digits(x)],
      ['cycles', `${si(layer.cycles)} (${percent(layer.cycles, this.model.totals.cycles)})`],
      ['bound', layer.bound, colour(boundColours[layer.bound])],
    ]);
  }

  /** The uppermost circle at a place, with a little room around small ones. */
  under(x, y) {
    for (let i = this.shown.length - 1; i >= 0; i--) {
      const p = this.shown[i];
      if ((p.px - x) ** 2 + (p.py - y) ** 2 <= Math.max(5, p.radius) ** 2) return p;
    }
    return null;
  }
}

export function roofline({ model, selection, choices }) {
  const levels = memories(model);
  const peak = model.peak * model.hw.clock_mhz * 1e6;
  const roofs = new Roofs(model, peak);
  const kept = choices.of('roofline', { level: 'dram' });
  if (levels[kept.level].slopes.length === 0) kept.level = 'dram';
  const show = () => roofs.set(kept.level, levels[kept.level]);
  show();

  const plot = canvasBox({
    label: `Roofline of ${model.report.model.file}: MAC/s against MACs per byte; the table `
      + 'has the numbers',
    height: 420,
    draw(c, width, height) {
      roofs.place(width, height);
      roofs.draw(c);
    },
    over(c) {
      if (under.thing) roofs.ring(c, under.thing, under.thing.radius, 'ink', 2);
      const chosen = roofs.shown.find((p) => p.layer === selection.layer);
      if (chosen) roofs.ring(c, chosen, chosen.radius + 5, 'select', 3);
    },
  });

  const under = pointed(plot, { under: (x, y) => roofs.under(x, y), tip: (p) => roofs.tip(p),
    layer: (p) => p.layer }, selection);
  const legend = h('ul.legend.compact');
  const present = [...new Set(model.costed.map((l) => l.bound))];
  const drawLegend = () => replace(legend, legendOf(present, levels[kept.level], peak));
  drawLegend();
  return section({
    id: 'roofline', short: 'Roofline', title: 'Roofline',
    note: 'A circle is a layer with MACs. Its area is the share of the cycles. Under a slope, a '
      + 'memory limits; under the flat roof, the array. Click a layer to mark it everywhere.',
    tools: [choice('Traffic counted at', [['dram', 'DRAM'],
      ...(levels.shared.slopes.length ? [['shared', 'Shared buffer']] : []),
      ['ports', 'Array ports']], kept.level, (v) => {
      kept.level = v;
      under.thing = null;
      show();
      drawLegend();
      plot.redraw();
    })],
  }, legend, plot.box);
}

function legendOf(present, memory, peak) {
  return [
    present.map((b) => h('li', {}, h('i.dot', { style: `background:var(--${boundColours[b]})` }),
      h('span', {}, b === 'none' ? 'no bound' : `bound by ${boundNames[b] ?? b}`))),
    memory.slopes.map((s, i) => h('li', {}, h(i > 0 ? 'i.roof.dashed' : 'i.roof', {}),
      h('span', {}, `${s.label} ${si(s.rate, 'B/s')}`))),
    h('li', {}, h('i.roof', {}), h('span', {}, `array peak ${si(peak, 'MAC/s')}`))];
}
