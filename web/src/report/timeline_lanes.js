// The timeline's picture: an axis, a row of layers, a lane a queue; and what lies under a pointer.
import { tooltip } from '../base/dom.js';
import { count, percent, si } from '../base/format.js';
import { ending, shortNames } from '../base/names.js';
import { colour, mix } from '../base/theme.js';
import { mapHeight, Window } from '../base/window.js';
import { firstAfter } from './timeline_data.js';

const laneHeight = 34, laneGap = 8, layerHeight = 26, axisHeight = 30, left = 66;
const lanesTop = mapHeight + 8 + axisHeight + layerHeight + laneGap;
const layersTop = lanesTop - layerHeight - laneGap;
const queueColours = { load: 'c-dram_read', execute: 'c-compute', post: 'c-post',
  store: 'c-array' };

export class Lanes {
  constructor(data) {
    this.data = data;
    this.short = shortNames(data.layers.map((l) => l.layer.name), 24);
    this.view = new Window(data.end, 16, left);
    this.height = lanesTop + data.queues.length * (laneHeight + laneGap) + 2;
    this.width = 0;
  }

  draw(c, width) {
    this.view.width = this.width = width;
    this.view.drawMap(c);
    this.drawAxis(c);
    this.drawLayers(c);
    this.data.queues.forEach((queue, i) =>
      this.drawQueue(c, queue, lanesTop + i * (laneHeight + laneGap)));
  }

  drawAxis(c) {
    const { view, width, height } = this;
    const wanted = (view.to - view.from) / Math.max(3, (width - left) / 100);
    const size = 10 ** Math.floor(Math.log10(wanted));
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * size).find((s) => s >= wanted));
    const y = mapHeight + 8;
    c.textAlign = 'center';
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = view.x(t);
      c.fillStyle = colour('line');
      c.fillRect(Math.round(x), y + axisHeight - 8, 1, height - y - axisHeight + 8);
      c.fillStyle = colour('muted');
      if (x > left + 24 && x < width - 30) c.fillText(step >= 1000 ? si(t) : count(t), x, y + 10);
    }
    c.textAlign = 'left';
    c.fillText('cycle', 2, y + 10);
  }

  /** A bar with the first of some texts that fits into it. */
  bar(c, [x0, x1], y, tall, fill, ...texts) {
    const from = Math.max(left, x0), wide = Math.min(this.width, x1) - from;
    if (wide <= 0) return;
    c.fillStyle = fill;
    c.fillRect(from, y, wide > 2.5 ? wide - 0.8 : Math.max(wide, 0.6), tall);
    if (texts.length === 0 || wide < 30) return;
    const fits = (text) => c.measureText(text).width <= wide - 9;
    c.fillStyle = colour('ink');
    c.fillText(texts.find(fits) ?? ending(texts[0], fits), from + 5, y + tall / 2 + 0.5);
  }

  ends({ start, end }) {
    return [this.view.x(start), this.view.x(end)];
  }

  /** Layers in sight, also only of what their queues begin with, with their indices. */
  * visible() {
    const { layers } = this.data, { from, to } = this.view;
    const first = firstAfter(layers, from, (i) => layers[i].reach);
    for (let i = first; i < layers.length && layers[i].from < to; i++) yield [layers[i], i];
  }

  drawLayers(c) {
    c.fillStyle = colour('muted');
    c.fillText('layer', 2, layersTop + layerHeight / 2);
    const fills = [mix('line-strong', 'surface', 0.35), mix('line-strong', 'surface', 0.6)];
    for (const [l, i] of this.visible())
      this.bar(c, this.ends(l), layersTop, layerHeight, fills[i % 2], l.layer.name,
        this.short.get(l.layer.name));
  }

  drawQueue(c, queue, y) {
    c.fillStyle = colour('muted');
    c.fillText(queue, 2, y + laneHeight / 2);
    c.fillStyle = colour('sunken');
    c.fillRect(left, y, this.width - left, laneHeight);
    const name = queueColours[queue] ?? 'c-tail';
    const paint = { one: mix(name, 'surface', 0.12), whole: mix(name, 'surface', 0.6),
      /** Of several commands: the fuller, the stronger. */
      many: Array.from({ length: 9 }, (_, k) => mix(name, 'surface', 0.78 - k * 0.065)) };
    // What is thinner than a pixel adds up to a shade.
    const shade = new Float32Array(Math.ceil(this.width - left) + 2);
    for (const [l] of this.visible()) {
      if (l.whole && l.main === queue) {
        this.bar(c, this.ends(l), y, laneHeight, paint.whole,
          ...(this.data.known ? ['no commands told', ''] : []));
      }
      const lane = l.lanes[queue];
      if (lane) this.drawSlices(c, lane, y, paint, shade);
    }
    c.fillStyle = paint.one;
    for (let i = 0; i < shade.length; i++) {
      if (shade[i] <= 0.01) continue;
      c.globalAlpha = Math.min(1, shade[i]);
      c.fillRect(left + i, y, 1, laneHeight);
    }
    c.globalAlpha = 1;
  }

  drawSlices(c, lane, y, paint, shade) {
    const { view } = this;
    for (let i = firstAfter(lane.end, view.from); i < lane.end.length; i++) {
      if (lane.start[i] >= view.to) break;
      const takes = lane.end[i] - lane.start[i], wide = takes * view.scale;
      const x = view.x(lane.start[i]);
      if (wide < 1) {
        const at = Math.floor(x - left);
        if (at >= 0 && at < shade.length) shade[at] += (wide * lane.busy[i]) / takes;
        continue;
      }
      const full = Math.round((8 * lane.busy[i]) / takes);
      this.bar(c, [x, x + wide], y, laneHeight, lane.count[i] > 1 ? paint.many[full] : paint.one,
        ...(wide > 30 ? this.captions(lane, i) : []));
    }
  }

  caption(lane, i) {
    return this.captions(lane, i)[0];
  }

  /** What a slice does, the longest text first, at last none. */
  captions(lane, i) {
    const name = this.data.commands[lane.command[i]] ?? '';
    const times = lane.count[i] > 1 ? ` \u00d7 ${count(lane.count[i])}` : '';
    const words = name.split(' ');
    return [`${name}${times}`, name, `${words.slice(0, 2).join(' ')} \u2026`, words[0], ''];
  }

  /** A frame around a layer and what its queues do. */
  drawFrame(c, entry) {
    const { view } = this;
    if (entry.end <= view.from || entry.start >= view.to) return;
    const x0 = Math.max(left, view.x(entry.start)), x1 = Math.min(this.width, view.x(entry.end));
    c.strokeStyle = colour('select');
    c.lineWidth = 2;
    c.strokeRect(x0, layersTop - 1, Math.max(3, x1 - x0 - 1), this.height - layersTop - 1);
  }

  of(layer) {
    return this.data.layers.find((l) => l.layer === layer);
  }

  /** Fills the view with a layer. */
  show(entry) {
    const margin = (entry.end - entry.start) * 0.04;
    this.view.show(entry.start - margin, entry.end + margin);
  }

  layerAt(x) {
    const time = this.view.at(x), { layers } = this.data;
    const l = layers[firstAfter(layers, time, (k) => layers[k].end)];
    return l && l.start <= time ? l : null;
  }

  sliceAt(entry, queue, time) {
    const lane = entry.lanes[queue], near = 1.5 / this.view.scale;
    if (!lane) return null;
    const i = firstAfter(lane.end, time - near);
    return i < lane.end.length && lane.start[i] <= time + near ? [lane, i] : null;
  }

  /** The slice at a time, of the layer that runs then or one that its queue is busy with. */
  sliceNear(entry, queue, time) {
    const { layers } = this.data;
    const first = firstAfter(layers, time, (k) => layers[k].reach);
    for (let i = first; i < layers.length && layers[i].from <= time; i++) {
      const found = this.sliceAt(layers[i], queue, time);
      if (found) return [layers[i], found];
    }
    return [entry, null];
  }

  /** What a pointer is told; nothing where there is nothing. */
  tip(x, y) {
    const { data } = this;
    const entry = x >= left && y > mapHeight ? this.layerAt(x) : null;
    if (!entry) return null;
    const queue = data.queues[Math.floor((y - lanesTop) / (laneHeight + laneGap))];
    const [owner, found] = queue ? this.sliceNear(entry, queue, this.view.at(x)) : [entry, null];
    if (!found) {
      return tooltip(entry.layer.name, [
        [`${entry.layer.op_type}, ${entry.layer.fate}`, `${count(entry.end - entry.start)} cycles`],
        ['of the network', percent(entry.end - entry.start, data.end)]]);
    }
    const [lane, i] = found, takes = lane.end[i] - lane.start[i];
    return tooltip(owner.layer.name, [
      [queue, this.caption(lane, i)],
      ['starts in the layer at', count(lane.start[i] - owner.start)],
      ['takes', `${count(takes)} cycles`],
      ...(lane.busy[i] < takes ? [['of them busy', `${count(lane.busy[i])} cycles`]] : [])]);
  }
}
