// Every point over two columns, the front among them; dragging filters, clicking chooses.
import { canvasBox } from '../base/canvas.js';
import { Choices } from '../base/choices.js';
import { choice, h, select, tooltip } from '../base/dom.js';
import { section } from '../base/frame.js';
import { drawAxes } from '../base/paint.js';
import { scaleOf } from '../base/scale.js';
import { colour, mix } from '../base/theme.js';
import { Pixels } from './pixels.js';

const left = 74, right = 16, top = 14, bottom = 44, shades = 12;

export function scatter(sweep, choices = new Choices()) {
  const options = sweep.differing.map((c) => [c.name, sweep.title(c)]);
  const [first, second] = sweep.objectives.filter((c) => c.high > c.low);
  const kept = choices.of('scatter', { x: null, y: null, tint: '', log: true });
  let x = sweep.byName.get(kept.x) ?? first ?? sweep.differing[0];
  let y = sweep.byName.get(kept.y) ?? second ?? sweep.differing.find((c) => c !== x) ?? x;
  let tint = sweep.byName.get(kept.tint) ?? null;
  let sx = null, sy = null, grid = null, shade = null, drag = null;
  const pixels = new Pixels();

  const plot = canvasBox({
    label: 'Points of the sweep over two columns; the front\u2019s table has the numbers',
    height: 460, draw, over,
  });

  const isLog = (c) => kept.log && !c.words && c.low > 0 && c.high / c.low > 3;
  const padded = (c) => {
    if (isLog(c)) {
      const by = (c.high / c.low) ** 0.04;
      return scaleOf(c.low / by, c.high * by, true);
    }
    const by = (c.high - c.low) * 0.04;
    return scaleOf(c.low - by, c.high + by, false);
  };
  const value = (s, pixel, vertical) => s.back(vertical
    ? (plot.height - bottom - pixel) / (plot.height - top - bottom)
    : (pixel - left) / (plot.width - left - right));

  function draw(c, width, height) {
    sx = padded(x);
    sy = padded(y);
    drawAxes(c, { left, top, right: width - right, bottom: height - bottom },
      { scale: sx, text: (v) => sweep.text(x, v), title: sweep.title(x) },
      { scale: sy, text: (v) => sweep.text(y, v), title: sweep.title(y) });
    drawPoints(c);
  }

  function over(c) {
    if (sweep.chosen >= 0) ring(c, sweep.chosen, 7, colour('select'), 3);
    if (drag?.moved) {
      c.fillStyle = colour('select-soft');
      c.strokeStyle = colour('accent');
      const box = [drag.from[0], drag.from[1], drag.to[0] - drag.from[0],
        drag.to[1] - drag.from[1]];
      c.fillRect(...box);
      c.strokeRect(...box);
    }
  }

  /** Of each point its shade by the colouring column, once for a column and a scale. */
  function shadesOf() {
    const key = tint ? `${tint.name} ${isLog(tint)}` : '';
    if (shade?.key === key) return shade.of;
    const of = new Uint8Array(sweep.n);
    if (tint) {
      const logs = isLog(tint), { values } = tint;
      const low = logs ? Math.log(tint.low) : tint.low;
      const high = logs ? Math.log(tint.high) : tint.high;
      const span = high > low ? shades / (high - low) : 0;
      for (let i = 0; i < of.length; i++) {
        const v = logs ? Math.log(values[i]) : values[i];
        of[i] = Math.min(shades - 1, Math.max(0, Math.floor((v - low) * span) || 0));
      }
    }
    shade = { key, of };
    return of;
  }

  /** Pixels of all points, sorted by cell of a grid to find the nearest: once for axes and size. */
  function place() {
    const key = `${x.name} ${y.name} ${kept.log} ${plot.width}`;
    if (grid?.key === key) return;
    const n = sweep.n, xs = new Float32Array(n), ys = new Float32Array(n);
    fill(xs, x, sx, left, plot.width - left - right);
    fill(ys, y, sy, plot.height - bottom, top + bottom - plot.height);
    const wide = (plot.width >> 4) + 2, cells = wide * ((plot.height >> 4) + 2);
    const starts = new Int32Array(cells + 1), cellOf = new Int32Array(n);
    for (let i = 0; i < n; i++) {
      cellOf[i] = xs[i] >= 0 && ys[i] >= 0 ? (ys[i] >> 4) * wide + (xs[i] >> 4) : -1;
      if (cellOf[i] >= 0) starts[cellOf[i] + 1] += 1;
    }
    for (let k = 0; k < cells; k++) starts[k + 1] += starts[k];
    const next = starts.slice(), order = new Int32Array(starts[cells]);
    for (let i = 0; i < n; i++) if (cellOf[i] >= 0) order[next[cellOf[i]]++] = i;
    grid = { key, wide, starts, order, xs, ys };
  }

  /** Places of a column's values, `length` pixels from `from` on. */
  function fill(out, c, scale, from, length) {
    const { values } = c, logs = isLog(c), { low, span } = scale, by = length / span;
    for (let i = 0; i < out.length; i++)
      out[i] = from + ((logs ? Math.log(values[i]) : values[i]) - low) * by;
  }

  function drawPoints(c) {
    place();
    const of = shadesOf(), { xs, ys } = grid, { passes, n } = sweep;
    const paints = [colour('line-strong'), ...Array.from({ length: shades }, (_, k) =>
      (tint ? mix('heat-low', 'heat-high', k / (shades - 1)) : colour('c-compute')))];
    if (n > 3000) {
      pixels.draw(c, plot, grid, { passes, of, paints, front: sweep.front,
        frontPaint: colour('c-dram_read') });
      return;
    }
    paints.forEach((hex, k) => {
      c.fillStyle = hex;
      c.globalAlpha = k === 0 ? 0.35 : 0.75;
      for (let i = 0; i < n; i++)
        if ((passes[i] ? 1 + of[i] : 0) === k) c.fillRect(xs[i] - 2.5, ys[i] - 2.5, 5, 5);
    });
    c.globalAlpha = 1;
    drawFront(c);
  }

  function ring(c, i, radius, stroke, wide) {
    c.strokeStyle = stroke;
    c.lineWidth = wide;
    c.beginPath();
    c.arc(grid.xs[i], grid.ys[i], radius, 0, 7);
    c.stroke();
  }

  function drawFront(c) {
    c.lineWidth = 1;
    c.fillStyle = colour('c-dram_read');
    c.strokeStyle = colour('surface');
    for (const i of sweep.front) {
      c.globalAlpha = sweep.passes[i] ? 1 : 0.25;
      c.beginPath();
      c.arc(grid.xs[i], grid.ys[i], 4, 0, 7);
      c.fill();
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  /** The nearest point within 12 pixels, points of the front first. */
  function nearest(mx, my) {
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

  const { canvas } = plot;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag = { from: plot.at(event), to: plot.at(event), moved: false };
  });
  canvas.addEventListener('pointermove', (event) => {
    const [mx, my] = plot.at(event);
    if (drag) {
      drag.to = [mx, my];
      drag.moved ||= Math.hypot(mx - drag.from[0], my - drag.from[1]) > 5;
      plot.hideTip();
      plot.redrawOver();
      return;
    }
    const i = nearest(mx, my);
    if (i < 0) plot.hideTip();
    else plot.showTip(mx, my, describe(i));
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!drag) return;
    const { from, moved } = drag;
    const to = plot.at(event);
    drag = null;
    if (moved) {
      const range = (s, a, b, vertical) => [value(s, a, vertical), value(s, b, vertical)]
        .sort((p, q) => p - q);
      sweep.filter({ [x.name]: range(sx, from[0], to[0], false),
        [y.name]: range(sy, from[1], to[1], true) });
    } else {
      sweep.choose(nearest(...to));
    }
  });
  canvas.addEventListener('pointercancel', () => { drag = null; });

  function describe(i) {
    const shown = [...new Set([x, y, ...(tint ? [tint] : []), ...sweep.objectives])];
    return tooltip(`Point ${sweep.points[i]}`,
      shown.map((c) => [sweep.title(c), sweep.text(c, c.values[i])]), sweep.settings(i));
  }

  sweep.onChange((what) => {
    if (what === 'data') {
      [x, y] = [x, y].map((c) => sweep.byName.get(c.name));
      tint &&= sweep.byName.get(tint.name);
      grid = shade = null;
    }
    if (what === 'chosen') plot.redrawOver();
    else plot.redraw();
  });
  const pick = (key, set) => (name) => {
    kept[key] = name;
    set(sweep.byName.get(name) ?? null);
    plot.redraw();
  };
  const tools = h('div.tools', {},
    select('x', options, x.name, pick('x', (c) => { x = c; })),
    select('y', options, y.name, pick('y', (c) => { y = c; })),
    select('colour', [['', 'none'], ...options], tint?.name ?? '', pick('tint', (c) => {
      tint = c;
    })),
    choice('Scale', [[true, 'Log'], [false, 'Linear']], kept.log, (v) => {
      kept.log = v;
      plot.redraw();
    }));
  return { tools, box: plot.box };
}

export function scatterSection(sweep) {
  const { tools, box } = scatter(sweep);
  return section({
    id: 'scatter', short: 'Points', title: 'Points and the front',
    note: 'A square is a machine; orange points are the Pareto front. Dragging a box filters '
      + 'everywhere, a click chooses a machine.',
    tools: [...tools.children],
  }, box);
}
