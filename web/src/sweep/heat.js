// Two axes against a column: of all points in a cell the one that is least, or most.
import { canvasBox } from '../base/canvas.js';
import { choice, h, replace, select, tooltip } from '../base/dom.js';
import { count } from '../base/format.js';
import { section } from '../base/frame.js';
import { colour, inkOn, mix } from '../base/theme.js';
import { cellsOf } from './cells.js';

const top = 8, right = 12, bottom = 46, shades = 32;

/** The picture and where its cells are. */
class HeatMap {
  constructor(sweep, axes, values) {
    this.sweep = sweep;
    [this.x, this.y] = [...axes].sort((a, b) => b.steps.length - a.steps.length);
    this.z = sweep.objectives.find((c) => values.includes(c)) ?? values[0];
    this.most = false;
    this.cells = null;
  }

  count() {
    this.cells ??= cellsOf(this.sweep, this.x, this.y, this.z, this.most);
    const { low, high } = this.cells;
    this.log = low > 0 && high / low > 3;
    return this.cells;
  }

  share(value) {
    const { low, high } = this.cells;
    if (!(high > low)) return 0;
    return this.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  }

  draw(c, width, height) {
    const { wide, tall } = this.count(), { sweep, x, y } = this;
    const names = y.steps.map((v) => sweep.text(y, v));
    this.left = 34 + Math.max(...names.map((text) => c.measureText(text).width));
    this.dx = (width - this.left - right) / wide;
    this.dy = (height - top - bottom) / tall;
    this.drawNames(c, names, height);
    const paints = Array.from({ length: shades + 1 }, (_, k) =>
      mix('heat-low', 'heat-high', k / shades));
    const inks = paints.map(inkOn), gap = Math.min(this.dx, this.dy) > 8 ? 1 : 0;
    const texts = this.texts(c);
    c.textAlign = 'center';
    for (let at = 0; at < wide * tall; at++) {
      const i = this.cells.point[at];
      if (i < 0) continue;
      const k = Math.round(this.share(this.z.values[i]) * shades);
      const box = this.box(at);
      c.fillStyle = paints[k];
      c.fillRect(box.x, box.y, box.width - gap + (gap ? 0 : 0.6), box.height - gap
        + (gap ? 0 : 0.6));
      if (!texts) continue;
      c.fillStyle = inks[k];
      c.fillText(texts[at], box.x + box.width / 2, box.y + box.height / 2);
    }
    c.textAlign = 'left';
  }

  /** Labels of the cells, if they are large enough for all of them. */
  texts(c) {
    if (this.dy < 16 || this.dx < 26) return null;
    const { sweep, z, cells } = this;
    const out = Array.from(cells.point, (i) => (i < 0 ? '' : sweep.text(z, z.values[i])));
    return out.every((text) => c.measureText(text).width < this.dx - 6) ? out : null;
  }

  drawNames(c, names, height) {
    const { sweep, x, y, left, dx, dy } = this, end = height - bottom;
    c.fillStyle = colour('muted');
    c.textAlign = 'center';
    let last = -Infinity;
    x.steps.forEach((v, k) => {
      const text = sweep.text(x, v), half = c.measureText(text).width / 2;
      const at = left + (k + 0.5) * dx;
      if (at - half < last + 8) return;
      last = at + half;
      c.fillText(text, at, end + 12);
    });
    c.textAlign = 'right';
    let above = Infinity;
    names.forEach((text, k) => {
      const at = end - (k + 0.5) * dy;
      if (at > above - 14) return;
      above = at;
      c.fillText(text, left - 8, at);
    });
    c.fillStyle = colour('ink-soft');
    c.textAlign = 'center';
    c.fillText(sweep.title(x), left + (x.steps.length * dx) / 2, end + 34);
    c.save();
    c.translate(9, (top + end) / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(sweep.title(y), 0, 0);
    c.restore();
  }

  /** Pixels of a cell; the first step of y lies at the bottom. */
  box(at) {
    const { wide, tall } = this.cells;
    return { x: this.left + (at % wide) * this.dx, width: this.dx,
      y: top + (tall - 1 - Math.floor(at / wide)) * this.dy, height: this.dy };
  }

  outline(c, at, name, wide) {
    const box = this.box(at);
    c.strokeStyle = colour(name);
    c.lineWidth = wide;
    c.strokeRect(box.x - 0.5, box.y - 0.5, Math.max(4, box.width), Math.max(4, box.height));
  }

  under(px, py) {
    if (!this.cells) return -1;
    const { wide, tall } = this.cells;
    const i = Math.floor((px - this.left) / this.dx), j = tall - 1 - Math.floor((py - top)
      / this.dy);
    return i >= 0 && i < wide && j >= 0 && j < tall ? j * wide + i : -1;
  }

  /** The cell that a point lies in. */
  of(i) {
    return this.sweep.stepsOf(this.y)[i] * this.x.steps.length + this.sweep.stepsOf(this.x)[i];
  }
}

export function heat(sweep) {
  const axes = sweep.columns.filter((c) => c.axis && c.steps.length > 1);
  const values = [...new Set([...sweep.objectives,
    ...sweep.columns.filter((c) => !c.axis)])].filter((c) => c.high > c.low);
  if (axes.length < 2 || values.length === 0) return null;
  const map = new HeatMap(sweep, axes, values);
  const ramp = h('div.ramp.heat');
  let hovered = -1;

  const plot = canvasBox({
    label: 'Heat map of two axes of the sweep; arrow keys go from cell to cell', height: 420,
    draw(c, width, height) {
      map.draw(c, width, height);
      replace(ramp, legendOf(sweep, map));
    },
    over(c) {
      if (hovered >= 0) map.outline(c, hovered, 'ink', 1.5);
      if (sweep.chosen >= 0) map.outline(c, map.of(sweep.chosen), 'select', 3);
    },
  });
  plot.box.classList.add('cells');

  function hover(at, place) {
    const found = at >= 0 && map.cells.point[at] >= 0 ? at : -1;
    if (found >= 0) plot.showTip(...place, tipOf(sweep, map, found));
    else plot.hideTip();
    if (found === hovered) return;
    hovered = found;
    plot.redrawOver();
  }
  listen(plot, map, sweep, hover);
  let waiting = 0;
  const again = () => {
    map.cells = null;
    hovered = -1;
    plot.redraw();
  };
  sweep.onChange((what) => {
    if (what === 'chosen') return plot.redrawOver();
    clearTimeout(waiting); // while a filter is being dragged only the points follow
    waiting = setTimeout(again, 250);
    return null;
  });
  return section({
    id: 'heat', short: 'Heat map', title: 'Two axes',
    note: 'Each cell has the best figure of all its machines, over all other axes. A '
      + 'click chooses that machine; filters hold here too.',
    tools: heatTools(sweep, map, axes, values, again),
  }, plot.box, ramp);
}

const word = (map) => (map.most ? 'most' : 'least');

function legendOf(sweep, map) {
  const { low, high } = map.cells;
  return [h('span', {}, `${word(map)} ${sweep.title(map.z)}:`),
    high >= low ? [h('span', {}, sweep.text(map.z, low)), h('i', {}),
      h('span', {}, sweep.text(map.z, high))] : h('span', {}, 'no point passes the filters')];
}

function tipOf(sweep, map, at) {
  const i = map.cells.point[at];
  return tooltip(`${word(map)} ${sweep.title(map.z)}: ${sweep.text(map.z, map.z.values[i])}`, [
    [sweep.title(map.x), sweep.text(map.x, map.x.values[i])],
    [sweep.title(map.y), sweep.text(map.y, map.y.values[i])],
    ['points in the cell', count(map.cells.held[at])],
  ], `point ${sweep.points[i]}: ${sweep.settings(i)}`);
}

/** Pointer and arrow keys over the cells. */
function listen(plot, map, sweep, hover) {
  const { canvas } = plot;
  canvas.addEventListener('pointermove', (event) => {
    const place = plot.at(event);
    hover(map.under(...place), place);
  });
  canvas.addEventListener('pointerleave', () => hover(-1));
  canvas.addEventListener('click', (event) => {
    const at = map.under(...plot.at(event));
    if (at >= 0 && map.cells.point[at] >= 0) sweep.choose(map.cells.point[at]);
  });
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
      ArrowDown: [0, -1] }[event.key];
    if (!step || !map.cells) return;
    event.preventDefault();
    const next = neighbour(map, sweep.chosen, ...step);
    if (next >= 0) sweep.choose(next);
  });
}

/** From the chosen point's cell to the next one with a point in a direction. */
function neighbour(map, chosen, dx, dy) {
  const { wide, tall, point } = map.cells;
  if (chosen < 0) return point.find((i) => i >= 0) ?? -1;
  const from = map.of(chosen);
  let i = from % wide + dx, j = Math.floor(from / wide) + dy;
  for (; i >= 0 && i < wide && j >= 0 && j < tall; i += dx, j += dy)
    if (point[j * wide + i] >= 0) return point[j * wide + i];
  return -1;
}

function heatTools(sweep, map, axes, values, again) {
  const names = (list) => list.map((c) => [c.name, sweep.title(c)]);
  const set = (key, other) => (name) => {
    const before = map[key];
    map[key] = sweep.byName.get(name);
    if (other && map[other] === map[key]) { // the two change places
      map[other] = before;
      boxes[other].querySelector('select').value = before.name;
    }
    again();
  };
  const boxes = {
    x: select('x', names(axes), map.x.name, set('x', 'y')),
    y: select('y', names(axes), map.y.name, set('y', 'x')),
    z: select('of', names(values), map.z.name, set('z')),
  };
  return [boxes.x, boxes.y, boxes.z, choice('In each cell', [[false, 'Least'], [true, 'Most']],
    map.most, (most) => {
      map.most = most;
      again();
    })];
}
