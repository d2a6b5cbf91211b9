// The page of a sweep's store.
import { h, replace } from '../base/dom.js';
import { frame, section } from '../base/frame.js';
import { count } from '../base/format.js';
import { front } from './front.js';
import { heat } from './heat.js';
import { Sweep } from './model.js';
import { parallel } from './parallel.js';
import { pointPanel } from './point.js';
import { scatterSection } from './scatter.js';

export function sweepPage(data) {
  const sweep = new Sweep(data);
  const about = data.store.sweep;
  document.title = `Sweep of ${about.spec}`;
  const views = sweep.n === 0 ? [empty] : [overview, scatterSection, parallel, heat, front];
  const page = frame({
    title: about.spec.split('/').pop(),
    subtitle: `${about.strategy} sweep by ${about.version}: ${count(about.stored)} of `
      + `${count(about.points)} points stored, ${count(about.feasible)} can be costed`
      + (about.where ? `, ${count(sweep.n)} of them with ${about.where}` : ''),
  }, views.map((view) => view(sweep)).filter(Boolean));
  return [...page, pointPanel(sweep)];
}

function empty() {
  return section({ id: 'overview', short: 'Overview', title: 'No point to show',
    note: 'No machine of the sweep can be costed, or the condition lets none through.' });
}

/** The best machine of each objective, and the filters in force. */
function overview(sweep) {
  const tiles = h('dl.tiles', {});
  const filters = h('div.filters', { 'aria-live': 'polite' });
  const columns = [...new Set([...sweep.objectives,
    ...['cycles', 'energy_pj', 'area_mm2', 'traffic_bytes'].map((n) => sweep.byName.get(n))])]
    .filter(Boolean).slice(0, 4);
  function draw(what) {
    if (what === 'chosen') return;
    replace(tiles, columns.map((c) => {
      const best = sweep.best(c);
      return h('div.tile', {}, h('dt', {}, `Least ${sweep.title(c)}`),
        h('dd', {}, best < 0 ? '\u2013' : sweep.text(c, c.values[best])),
        best >= 0 && h('dd.tile-note', {}, h('button.link', { type: 'button',
          onclick: () => sweep.choose(best) }, `point ${sweep.points[best]}`),
        ` ${sweep.settings(best)}`));
    }));
    replace(filters, h('span', {}, `Shown: ${sweep.summary()}`),
      [...sweep.ranges].map(([name, [low, high]]) => {
        const c = sweep.byName.get(name);
        const bound = (v) => (c.words ? c.words[Math.round(v)] ?? '' : sweep.text(c, v));
        return h('button.chip', { type: 'button', title: 'Take this filter away',
          onclick: () => sweep.filter({ [name]: null }) },
        `${sweep.title(c)} ${bound(low)} \u2026 ${bound(high)}  \u00d7`);
      }));
  }
  sweep.onChange(draw);
  draw();
  return section({ id: 'overview', short: 'Overview', title: 'Overview' }, tiles, filters);
}
