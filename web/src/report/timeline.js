// The whole network's time by queue, from all layers down to single commands.
import { canvasBox } from '../base/canvas.js';
import { h } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count } from '../base/format.js';
import { movable } from '../base/window.js';
import { timelineData } from './timeline_data.js';
import { Lanes } from './timeline_lanes.js';

/** `commands`, if the data have none: the page's way to ask for them later (serve/commands.js). */
export function timeline({ model, selection, choices, commands }) {
  const data = timelineData(model, model.data.timeline);
  if (data.layers.length === 0) return null;
  const lanes = new Lanes(data), { view } = lanes;
  const kept = choices.of('timeline', { from: 0, to: 1 }); // shares of the network's time
  view.show(kept.from * data.end, kept.to * data.end);
  const note = h('p.note', {},
    noteOf(data, commands && 'The commands follow when the fields rest.'));
  let asked = null;
  const plot = canvasBox({
    label: labelOf(data), height: lanes.height,
    draw(c, width) {
      lanes.draw(c, width);
      asked?.seen();
    },
    over(c) {
      const chosen = lanes.of(selection.layer);
      if (chosen) lanes.drawFrame(c, chosen);
    },
  });
  plot.box.classList.add('timeline');
  view.changed = () => {
    Object.assign(kept, { from: view.from / data.end, to: view.to / data.end });
    plot.redraw();
  };
  if (!data.known) {
    asked = commands?.({
      told(given) {
        lanes.data = timelineData(model, given);
        note.textContent = noteOf(lanes.data);
        plot.canvas.setAttribute('aria-label', labelOf(lanes.data));
        plot.redraw();
      },
      failed(why) {
        note.textContent = noteOf(data, `The commands can\u2019t be shown: ${why}`);
      },
    });
  }
  point(plot, lanes, selection);
  return section({ id: 'timeline', short: 'Timeline', title: 'Timeline by queue', note,
    tools: tools(plot, lanes, selection) }, plot.box);
}

function noteOf({ layers, known, summarised, told }, otherwise = '') {
  const whole = layers.filter((l) => l.whole).length;
  return 'Layers run one after the other. Ctrl and the wheel or two fingers zoom, dragging moves, '
    + 'a double click fills the view with a layer. '
    + (known ? `${count(told)} commands.` : otherwise)
    + (known && whole > 0 ? ` ${count(whole)} layers have no commands to show: one bar each.` : '')
    + (summarised ? ' Long loops are summarised: \u00d7 n stands for n commands.' : '');
}

const labelOf = ({ end, known, told }) => `Timeline by queue of ${count(end)} cycles${known
  ? ` and ${count(told)} commands` : ''}. Plus and minus zoom, arrows move, 0 shows everything.`;

/** What the pointer does on the plot. */
function point(plot, lanes, selection) {
  movable(plot, lanes.view, {
    hover(x, y) {
      const told = lanes.tip(x, y);
      if (told) plot.showTip(x, y, told);
      else plot.hideTip();
    },
    click(x) {
      const entry = lanes.layerAt(x);
      if (entry) selection.choose(entry.layer);
    },
    double(x) {
      const entry = lanes.layerAt(x);
      if (entry) lanes.show(entry);
    },
  });
}

function tools(plot, lanes, selection) {
  const { view } = lanes;
  const toChosen = h('button', { type: 'button', disabled: true, onclick: () => {
    const entry = lanes.of(selection.layer);
    if (entry) lanes.show(entry);
  } }, 'Chosen layer');
  selection.onChange((layer) => {
    const entry = lanes.of(layer);
    toChosen.disabled = !entry;
    if (entry && (entry.end <= view.from || entry.start >= view.to))
      view.pan((entry.start + entry.end - view.from - view.to) / 2);
    else plot.redrawOver();
  });
  const [closer, further, everything] = view.tools();
  return [closer, further, toChosen, everything];
}
