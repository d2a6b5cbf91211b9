// The whole network's time by queue, from all layers down to single commands.
import { canvasBox } from '../base/canvas.js';
import { h, tooltip } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count, percent, si } from '../base/format.js';
import { colour, mix } from '../base/theme.js';
import { mapHeight, movable, Window } from '../base/window.js';
import { firstAfter, timelineData } from './timeline_data.js';

const laneHeight = 34, laneGap = 8, layerHeight = 26, axisHeight = 30, left = 66;
const queueColours = { load: 'c-dram_read', execute: 'c-compute', post: 'c-post',
  store: 'c-array' };

export function timeline({ model, selection, choices }) {
  const data = timelineData(model);
  if (data.layers.length === 0) return null;
  const view = new Window(data.end, 16, left);
  const kept = choices.of('timeline', { from: 0, to: 1 }); // shares of the network's time
  view.show(kept.from * data.end, kept.to * data.end);
  const lanesTop = mapHeight + 8 + axisHeight + layerHeight + laneGap;
  const height = lanesTop + data.queues.length * (laneHeight + laneGap) + 2;
  let width = 0;
  const xOf = (time) => view.x(time);

  // ---- drawing ----

  const plot = canvasBox({
    label: 'Timeline by queue. Plus and minus zoom, arrows move, 0 shows everything.', height,
    draw(c, wide) {
      view.width = width = wide;
      view.drawMap(c);
      drawAxis(c);
      drawLayers(c);
      data.queues.forEach((queue, i) => drawQueue(c, queue, lanesTop + i * (laneHeight + laneGap)));
    },
    over: drawChosen,
  });
  plot.box.classList.add('timeline');
  view.changed = () => {
    Object.assign(kept, { from: view.from / data.end, to: view.to / data.end });
    plot.redraw();
  };

  function drawAxis(c) {
    const wanted = (view.to - view.from) / Math.max(3, (width - left) / 100);
    const size = 10 ** Math.floor(Math.log10(wanted));
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * size).find((s) => s >= wanted));
    const y = mapHeight + 8;
    c.textAlign = 'center';
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = xOf(t);
      c.fillStyle = colour('line');
      c.fillRect(Math.round(x), y + axisHeight - 8, 1, height - y - axisHeight + 8);
      c.fillStyle = colour('muted');
      if (x > left + 24 && x < width - 30) c.fillText(step >= 1000 ? si(t) : count(t), x, y + 10);
    }
    c.textAlign = 'left';
    c.fillText('cycle', 2, y + 10);
  }

  function bar(c, x0, x1, y, tall, fill, text) {
    const from = Math.max(left, x0), wide = Math.min(width, x1) - from;
    if (wide <= 0) return;
    c.fillStyle = fill;
    c.fillRect(from, y, wide > 2.5 ? wide - 0.8 : Math.max(wide, 0.6), tall);
    if (!text || wide < 30) return;
    const most = Math.floor((wide - 10) / 6.4);
    const shown = text.length <= most ? text : most > 4 ? `\u2026${text.slice(1 - most)}` : '';
    c.fillStyle = colour('ink');
    c.fillText(shown, from + 5, y + tall / 2 + 0.5);
  }

  /** Layers from the first in sight on, until f says that it is beyond. */
  function* visible() {
    const first = firstAfter(data.layers, view.from, (i) => data.layers[i].end);
    for (let i = first; i < data.layers.length && data.layers[i].start < view.to; i++)
      yield [data.layers[i], i];
  }

  function drawLayers(c) {
    const y = lanesTop - layerHeight - laneGap;
    c.fillStyle = colour('muted');
    c.fillText('layer', 2, y + layerHeight / 2);
    const fills = [mix('line-strong', 'surface', 0.35), mix('line-strong', 'surface', 0.6)];
    for (const [l, i] of visible())
      bar(c, xOf(l.start), xOf(l.end), y, layerHeight, fills[i % 2], l.layer.name);
  }

  function drawQueue(c, queue, y) {
    c.fillStyle = colour('muted');
    c.fillText(queue, 2, y + laneHeight / 2);
    c.fillStyle = colour('sunken');
    c.fillRect(left, y, width - left, laneHeight);
    const name = queueColours[queue] ?? 'c-tail';
    const paint = { one: mix(name, 'surface', 0.12), whole: mix(name, 'surface', 0.6),
      /** Of several commands: the fuller, the stronger. */
      many: Array.from({ length: 9 }, (_, k) => mix(name, 'surface', 0.78 - k * 0.065)) };
    // What is thinner than a pixel adds up to a shade.
    const shade = new Float32Array(Math.ceil(width - left) + 2);
    for (const [l] of visible()) {
      if (l.whole && l.main === queue)
        bar(c, xOf(l.start), xOf(l.end), y, laneHeight, paint.whole, 'no commands told');
      const lane = l.lanes[queue];
      if (lane) drawSlices(c, lane, y, paint, shade);
    }
    c.fillStyle = paint.one;
    for (let i = 0; i < shade.length; i++) {
      if (shade[i] <= 0.01) continue;
      c.globalAlpha = Math.min(1, shade[i]);
      c.fillRect(left + i, y, 1, laneHeight);
    }
    c.globalAlpha = 1;
  }

  function drawSlices(c, lane, y, paint, shade) {
    const k = view.scale;
    for (let i = firstAfter(lane.end, view.from); i < lane.end.length; i++) {
      if (lane.start[i] >= view.to) break;
      const wide = (lane.end[i] - lane.start[i]) * k;
      const x = xOf(lane.start[i]);
      if (wide < 1) {
        const at = Math.floor(x - left);
        if (at >= 0 && at < shade.length)
          shade[at] += (wide * lane.busy[i]) / (lane.end[i] - lane.start[i]);
        continue;
      }
      const many = lane.count[i] > 1;
      const full = Math.round((8 * lane.busy[i]) / (lane.end[i] - lane.start[i]));
      bar(c, x, x + wide, y, laneHeight, many ? paint.many[full] : paint.one,
        wide > 40 ? caption(lane, i) : '');
    }
  }

  function caption(lane, i) {
    const name = data.commands[lane.command[i]] ?? '';
    return lane.count[i] > 1 ? `${name} \u00d7 ${count(lane.count[i])}` : name;
  }

  function drawChosen(c) {
    const entry = data.layers.find((l) => l.layer === selection.layer);
    if (!entry || entry.end <= view.from || entry.start >= view.to) return;
    const x0 = Math.max(left, xOf(entry.start)), x1 = Math.min(width, xOf(entry.end));
    const y = lanesTop - layerHeight - laneGap;
    c.strokeStyle = colour('select');
    c.lineWidth = 2;
    c.strokeRect(x0, y - 1, Math.max(3, x1 - x0 - 1), height - y - 1);
  }

  // ---- what is under the pointer ----

  function layerAt(time) {
    const i = firstAfter(data.layers, time, (k) => data.layers[k].end);
    const l = data.layers[i];
    return l && l.start <= time ? l : null;
  }

  function sliceAt(entry, queue, time) {
    const lane = entry.lanes[queue];
    if (!lane) return null;
    const i = firstAfter(lane.end, time - 1.5 / view.scale);
    return i < lane.end.length && lane.start[i] <= time + 1.5 / view.scale ? [lane, i] : null;
  }

  function describe(x, y) {
    const time = view.at(x);
    const entry = x >= left && y > mapHeight ? layerAt(time) : null;
    if (!entry) return null;
    const at = Math.floor((y - lanesTop) / (laneHeight + laneGap));
    const found = at >= 0 && at < data.queues.length && sliceAt(entry, data.queues[at], time);
    if (!found) {
      return tooltip(entry.layer.name, [
        [`${entry.layer.op_type}, ${entry.layer.fate}`, `${count(entry.end - entry.start)} cycles`],
        ['of the network', percent(entry.end - entry.start, data.end)]]);
    }
    const [lane, i] = found, takes = lane.end[i] - lane.start[i];
    return tooltip(entry.layer.name, [
      [data.queues[at], caption(lane, i)],
      ['starts in the layer at', count(lane.start[i] - entry.start)],
      ['takes', `${count(takes)} cycles`],
      ...(lane.busy[i] < takes ? [['of them busy', `${count(lane.busy[i])} cycles`]] : [])]);
  }

  const showLayer = (entry) => {
    const margin = (entry.end - entry.start) * 0.04;
    view.show(entry.start - margin, entry.end + margin);
  };
  movable(plot, view, {
    hover(x, y) {
      const told = describe(x, y);
      if (told) plot.showTip(x, y, told);
      else plot.hideTip();
    },
    click(x) {
      const entry = layerAt(view.at(x));
      if (entry) selection.choose(entry.layer);
    },
    double(x) {
      const entry = layerAt(view.at(x));
      if (entry) showLayer(entry);
    },
  });
  const toChosen = h('button', { type: 'button', disabled: true, onclick: () => {
    const entry = data.layers.find((l) => l.layer === selection.layer);
    if (entry) showLayer(entry);
  } }, 'Chosen layer');
  const [closer, further, everything] = view.tools();
  selection.onChange((layer) => {
    const entry = data.layers.find((l) => l.layer === layer);
    toChosen.disabled = !entry;
    if (entry && (entry.end <= view.from || entry.start >= view.to))
      view.pan((entry.start + entry.end - view.from - view.to) / 2);
    else plot.redrawOver();
  });
  const whole = data.layers.filter((l) => l.whole).length;
  return section({
    id: 'timeline', short: 'Timeline', title: 'Timeline by queue',
    note: 'Layers run one after the other. Ctrl and the wheel or two fingers zoom, dragging moves, '
      + 'a double click fills the view with a layer.'
      + (whole > 0 && data.known ? ` ${count(whole)} layers have no commands to show: one bar each.`
        : '')
      + (data.summarised ? ' Long loops are summarised: \u00d7 n stands for n commands.' : ''),
    tools: [closer, further, toChosen, everything],
  }, plot.box);
}
