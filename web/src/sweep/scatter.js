// Every point over two columns, the front among them; dragging filters, clicking chooses.
import { canvasBox } from '../base/canvas.js';
import { Choices } from '../base/choices.js';
import { choice, h, replace, select, tooltip } from '../base/dom.js';
import { section } from '../base/frame.js';
import { drawAxes } from '../base/paint.js';
import { scaleOf } from '../base/scale.js';
import { colour, mix } from '../base/theme.js';
import { Pixels } from './pixels.js';

const left = 74, right = 16, top = 14, bottom = 44, shades = 12;

/** The picture: which columns, where the points are, and their shades. */
class Points {
  constructor(sweep, kept) {
    Object.assign(this, { sweep, kept, sx: null, sy: null, grid: null, shade: null,
      width: 1, height: 1 });
    const [first, second] = sweep.objectives.filter((c) => c.high > c.low);
    this.x = sweep.byName.get(kept.x) ?? first ?? sweep.differing[0];
    this.y = sweep.byName.get(kept.y) ?? second
      ?? sweep.differing.find((c) => c !== this.x) ?? this.x;
    // A front of three objectives is a surface: the third is its colour.
    const third = sweep.objectives.filter((c) => c.high > c.low)
      .find((c) => c !== this.x && c !== this.y);
    this.tint = kept.tint == null ? third ?? null : sweep.byName.get(kept.tint) ?? null;
    this.pixels = new Pixels();
  }

  /** Chooses a column for 'x', 'y' or 'tint'. */
  pick(key, name) {
    this.kept[key] = name;
    this[key] = this.sweep.byName.get(name) ?? null;
  }

  /** The columns are others, of the same names. */
  reload() {
    for (const key of ['x', 'y', 'tint'])
      if (this[key]) this[key] = this.sweep.byName.get(this[key].name);
    this.grid = this.shade = null;
  }

  isLog(c) {
    return this.kept.log && !c.words && c.low > 0 && c.high / c.low > 3;
  }

  padded(c) {
    if (this.isLog(c)) {
      const by = (c.high / c.low) ** 0.04;
      return scaleOf(c.low / by, c.high * by, true);
    }
    const by = (c.high - c.low) * 0.04;
    return scaleOf(c.low - by, c.high + by, false);
  }

  /** The values of x and y at a place. */
  at([px, py]) {
    return [this.sx.back((px - left) / (this.width - left - right)),
      this.sy.back((this.height - bottom - py) / (this.height - top - bottom))];
  }

  draw(c, width, height) {
    const { sweep, x, y } = this;
    Object.assign(this, { width, height, sx: this.padded(x), sy: this.padded(y) });
    drawAxes(c, { left, top, right: width - right, bottom: height - bottom },
      { scale: this.sx, text: (v) => sweep.text(x, v), title: sweep.title(x) },
      { scale: this.sy, text: (v) => sweep.text(y, v), title: sweep.title(y) });
    this.drawPoints(c);
  }

  /** Of each point its shade by the colouring column, once for a column and a scale. */
  shadesOf() {
    const { tint, sweep } = this;
    const key = tint ? `${tint.name} ${this.isLog(tint)}` : '';
    if (this.shade?.key === key) return this.shade.of;
    const of = new Uint8Array(sweep.n);
    if (tint) {
      const logs = this.isLog(tint), { values } = tint;
      const low = logs ? Math.log(tint.low) : tint.low;
      const high = logs ? Math.log(tint.high) : tint.high;
      const span = high > low ? shades / (high - low) : 0;
      for (let i = 0; i < of.length; i++) {
        const v = logs ? Math.log(values[i]) : values[i];
        of[i] = Math.min(shades - 1, Math.max(0, Math.floor((v - low) * span) || 0));
      }
    }
    this.shade = { key, of };
    return of;
  }

  /** Pixels of all points, sorted by cell of a grid to find the nearest: once for axes and size. */
  place() {
    const { width, height, sweep } = this;
    const key = `${this.x.name} ${this.y.name} ${this.kept.log} ${width}`;
    if (this.grid?.key === key) return;
    const { n } = sweep, xs = new Float32Array(n), ys = new Float32Array(n);
    this.fill(xs, this.x, this.sx, left, width - left - right);
    this.fill(ys, this.y, this.sy, height - bottom, top + bottom - height);
    const wide = (width >> 4) + 2, cells = wide * ((height >> 4) + 2);
    const starts = new Int32Array(cells + 1), cellOf = new Int32Array(n);
    for (let i = 0; i < n; i++) {
      cellOf[i] = xs[i] >= 0 && ys[i] >= 0 ? (ys[i] >> 4) * wide + (xs[i] >> 4) : -1;
      if (cellOf[i] >= 0) starts[cellOf[i] + 1] += 1;
    }
    for (let k = 0; k < cells; k++) starts[k + 1] += starts[k];
    const next = starts.slice(), order = new Int32Array(starts[cells]);
    for (let i = 0; i < n; i++) if (cellOf[i] >= 0) order[next[cellOf[i]]++] = i;
    this.grid = { key, wide, starts, order, xs, ys };
  }

  /** Places of a column's values, `length` pixels from `from` on. */
  fill(out, c, scale, from, length) {
    const { values } = c, logs = this.isLog(c), { low, span } = scale, by = length / span;
    for (let i = 0; i < out.length; i++)
      out[i] = from + ((logs ? Math.log(values[i]) : values[i]) - low) * by;
  }

  drawPoints(c) {
    this.place();
    const of = this.shadesOf(), { grid, tint } = this, { passes, n, front } = this.sweep;
    const paints = [colour('line-strong'), ...Array.from({ length: shades }, (_, k) =>
      (tint ? mix('heat-low', 'heat-high', k / (shades - 1)) : colour('c-compute')))];
    if (n > 3000) {
      this.pixels.draw(c, this, grid, { passes, of, paints, front, tinted: tint != null,
        frontPaint: colour('c-dram_read') });
      return;
    }
    paints.forEach((hex, k) => {
      c.fillStyle = hex;
      c.globalAlpha = k === 0 ? 0.35 : 0.75;
      for (let i = 0; i < n; i++) {
        if ((passes[i] ? 1 + of[i] : 0) === k)
          c.fillRect(grid.xs[i] - 2.5, grid.ys[i] - 2.5, 5, 5);
      }
    });
    c.globalAlpha = 1;
    this.drawFront(c, (i) => tint && paints[1 + of[i]]);
  }

  /** `paintOf` a point: its shade, within an orange ring; or nothing, all orange. */
  drawFront(c, paintOf) {
    const { grid, sweep } = this;
    for (const i of sweep.front) {
      const paint = paintOf(i), front = colour('c-dram_read');
      c.lineWidth = paint ? 2 : 1;
      c.fillStyle = paint ?? front;
      c.strokeStyle = paint ? front : colour('surface');
      c.globalAlpha = sweep.passes[i] ? 1 : 0.25;
      c.beginPath();
      c.arc(grid.xs[i], grid.ys[i], paint ? 5 : 4, 0, 7);
      c.fill();
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  ring(c, i) {
    c.strokeStyle = colour('select');
    c.lineWidth = 3;
    c.beginPath();
    c.arc(this.grid.xs[i], this.grid.ys[i], 7, 0, 7);
    c.stroke();
  }

  /** The nearest point within 12 pixels, points of the front first. */
  nearest(mx, my) {
    const { grid, sweep } = this;
    let best = -1, least = 144;
    const look = (i, bonus) => {
      const d = (grid.xs[i] - mx) ** 2 + (grid.ys[i] - my) ** 2 - bonus;
      if (d < least && sweep.passes[i]) [best, least] = [i, d];
    };
    if (!grid) return -1;
    for (let b = Math.max(0, (my >> 4) - 1); b <= (my >> 4) + 1; b++) {
      const row = b * grid.wide, from = row + Math.max(0, (mx >> 4) - 1), to = row + (mx >> 4) + 1;
      for (let k = grid.starts[from] ?? 0; k < (grid.starts[to + 1] ?? 0); k++)
        look(grid.order[k], 0);
    }
    for (const i of sweep.front) look(i, 20);
    return best;
  }

  tip(i) {
    const { sweep, x, y, tint } = this;
    const shown = [...new Set([x, y, ...(tint ? [tint] : []), ...sweep.objectives])];
    return tooltip(`Point ${sweep.points[i]}`,
      shown.map((c) => [sweep.title(c), sweep.text(c, c.values[i])]), sweep.settings(i));
  }
}

/** A box that is being drawn filters, a click chooses. */
function listen(plot, points, sweep, drag) {
  const { canvas } = plot;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag.box = { from: plot.at(event), to: plot.at(event), moved: false };
  });
  canvas.addEventListener('pointermove', (event) => {
    const [mx, my] = plot.at(event), { box } = drag;
    if (box) {
      box.to = [mx, my];
      box.moved ||= Math.hypot(mx - box.from[0], my - box.from[1]) > 5;
      plot.hideTip();
      plot.redrawOver();
      return;
    }
    const i = points.nearest(mx, my);
    if (i < 0) plot.hideTip();
    else plot.showTip(mx, my, points.tip(i));
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!drag.box) return;
    const { from, moved } = drag.box, to = plot.at(event);
    drag.box = null;
    if (!moved) {
      sweep.choose(points.nearest(...to));
      return;
    }
    const ends = [points.at(from), points.at(to)];
    const range = (k) => ends.map((e) => e[k]).sort((p, q) => p - q);
    sweep.filter({ [points.x.name]: range(0), [points.y.name]: range(1) });
  });
  canvas.addEventListener('pointercancel', () => { drag.box = null; });
}

function drawBox(c, { from, to }) {
  const box = [from[0], from[1], to[0] - from[0], to[1] - from[1]];
  c.fillStyle = colour('select-soft');
  c.strokeStyle = colour('accent');
  c.fillRect(...box);
  c.strokeRect(...box);
}

export function scatter(sweep, choices = new Choices()) {
  const kept = choices.of('scatter', { x: null, y: null, tint: null, log: true });
  const points = new Points(sweep, kept), drag = { box: null };
  const ramp = h('div.ramp.heat');
  const plot = canvasBox({
    label: 'Points of the sweep over two columns; the front\u2019s table has the numbers',
    height: 460,
    draw(c, width, height) {
      points.draw(c, width, height);
      replace(ramp, legendOf(sweep, points));
    },
    over(c) {
      if (sweep.chosen >= 0) points.ring(c, sweep.chosen);
      if (drag.box?.moved) drawBox(c, drag.box);
    },
  });
  listen(plot, points, sweep, drag);
  sweep.onChange((what) => {
    if (what === 'data') points.reload();
    if (what === 'chosen') plot.redrawOver();
    else plot.redraw();
  });
  return { tools: toolsOf(plot, points, sweep, kept), box: h('div', {}, plot.box, ramp) };
}

/** What the shades stand for. */
function legendOf(sweep, { tint }) {
  return tint && [h('span', {}, `${sweep.title(tint)}:`),
    h('span', {}, sweep.text(tint, tint.low)), h('i', {}),
    h('span', {}, sweep.text(tint, tint.high))];
}

function toolsOf(plot, points, sweep, kept) {
  const options = sweep.differing.map((c) => [c.name, sweep.title(c)]);
  const pick = (key) => (name) => {
    points.pick(key, name);
    plot.redraw();
  };
  return h('div.tools', {},
    select('x', options, points.x.name, pick('x')),
    select('y', options, points.y.name, pick('y')),
    select('colour', [['', 'none'], ...options], points.tint?.name ?? '', pick('tint')),
    choice('Scale', [[true, 'Log'], [false, 'Linear']], kept.log, (v) => {
      kept.log = v;
      plot.redraw();
    }));
}

export function scatterSection(sweep) {
  const { tools, box } = scatter(sweep);
  return section({
    id: 'scatter', short: 'Points', title: 'Points and the front',
    note: 'A square is a machine; orange points, or rings where points are coloured, are the '
      + 'Pareto front. Dragging a box filters everywhere, a click chooses a machine.',
    tools: [...tools.children],
  }, box);
}
