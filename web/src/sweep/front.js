// The Pareto front as a table.
import { h, replace } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count } from '../base/format.js';
import { drawSoon, whenInSight } from '../base/sight.js';
import { isPrinting, onTheme } from '../base/theme.js';

const most = 200;

export function front(sweep) {
  const columns = [...new Set([...sweep.objectives, ...sweep.columns.filter((c) => c.axis),
    ...sweep.differing])];
  let sort = sweep.objectives[0], down = false;
  const head = h('tr', {}), body = h('tbody', {}), note = h('p.note', { 'aria-live': 'polite' });
  const by = (c) => {
    down = sort === c ? !down : false;
    sort = c;
    draw();
  };
  function draw() {
    replace(head, h('th.number', { scope: 'col' }, 'point'), columns.map((c) => h('th.number', {
      scope: 'col', 'aria-sort': sort === c ? (down ? 'descending' : 'ascending') : 'none',
    }, h('button', { type: 'button', onclick: () => by(c) }, sweep.title(c),
      h('span.arrow', { 'aria-hidden': 'true' }, sort !== c ? '' : down ? '\u25be' : '\u25b4')))));
    const rows = sweep.front.filter((i) => sweep.passes[i])
      .sort((a, b) => (sort.values[a] - sort.values[b]) * (down ? -1 : 1) || a - b);
    note.textContent = `${count(rows.length)} of ${count(sweep.front.length)} points of the front `
      + 'of '
      + `${sweep.objectives.map((c) => sweep.title(c)).join(' and ')}`
      + (rows.length > most ? `; the first ${most} are shown` : '');
    replace(body, rows.slice(0, most).map((i) => line(i)));
  }

  function line(i) {
    const tr = h('tr', {
      class: i === sweep.chosen ? 'chosen' : null, onclick: () => sweep.choose(i),
    }, h('th.number', { scope: 'row' }, h('button.link', { type: 'button' }, sweep.points[i])),
    columns.map((c) => h('td.number', {}, sweep.text(c, c.values[i]))));
    tr.point = i;
    return tr;
  }
  const box = h('div.scroll.table-box.front', { tabindex: '0', role: 'region',
    'aria-label': 'The front' }, h('table.layers', {},
    h('caption.offscreen', {}, 'Pareto front'), h('thead', {}, head), body));
  let waiting = 0, current = false;
  const now = () => {
    if (!current) draw();
    current = true;
  };
  const later = () => { // while a filter is being dragged only the pictures follow
    current = false;
    clearTimeout(waiting);
    waiting = setTimeout(() => drawSoon(box, now), 250);
  };
  sweep.onChange((what) => {
    if (what === 'filter') later();
    else for (const tr of body.rows) tr.classList.toggle('chosen', tr.point === sweep.chosen);
  });
  whenInSight(box, () => drawSoon(box, now));
  onTheme(() => isPrinting() && now());
  return section({ id: 'front', short: 'Front', title: 'Pareto front', note }, box);
}
