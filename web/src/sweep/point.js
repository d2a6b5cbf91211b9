// The panel of the chosen point.
import { drawer } from '../base/drawer.js';
import { h } from '../base/dom.js';
import { codeBox } from '../report/repeat.js';
import { commands, machineYaml } from './machine.js';

export function pointPanel(sweep) {
  const panel = drawer({ label: 'Chosen point', close: () => sweep.choose(-1) });
  const front = new Set(sweep.front);
  sweep.onChange((what) => {
    if (what !== 'chosen') return;
    const i = sweep.chosen;
    if (i < 0) panel.hide();
    else panel.show(`Point ${sweep.points[i]}`, facts(sweep, i, front.has(i)), machine(sweep, i));
  });
  return panel.box;
}

function facts(sweep, i, onFront) {
  return h('div', {}, onFront && h('p.note', {}, 'On the Pareto front.'),
    h('dl.values', {}, sweep.columns.map((c) => h('div', {}, h('dt', {}, sweep.title(c)),
      h('dd', {}, sweep.text(c, c.values[i]))))));
}

function machine(sweep, i) {
  if (!sweep.data.space) {
    return h('p.note', {}, `The sweep\u2019s spec (${sweep.store.sweep.spec}) couldn\u2019t be `
      + 'read when this page was made, or has changed since; without it its machine isn\u2019t '
      + 'known.');
  }
  return h('div.codes', {}, codeBox('Cost it', commands(sweep, i)),
    codeBox('Machine', machineYaml(sweep, i)));
}
