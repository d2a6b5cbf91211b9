// The points of a store while a sweep fills it.
import { Choices } from '../base/choices.js';
import { h, replace } from '../base/dom.js';
import { count } from '../base/format.js';
import { section } from '../base/frame.js';
import { beginScope } from '../base/scope.js';
import { Sweep } from '../sweep/model.js';
import { scatter } from '../sweep/scatter.js';
import { ask } from './server.js';

const shortest = 1500, longest = 20000; // milliseconds between two looks

/** Asks for the points again and again; draws them anew only when there are more. */
export function watch(box) {
  const state = { stored: 0, release: null, sweep: null, choices: new Choices() };
  const progress = h('progress', { max: 1, value: 0, 'aria-label': 'Points stored' });
  const told = h('p.note', { 'aria-live': 'polite' }, 'Waiting for the store\u2019s first points.');
  const chosen = h('p.note', {});
  const plot = h('div', {});
  replace(box, section({ id: 'store', short: 'Sweep', title: 'The sweep', note: told }, progress,
    plot, chosen));
  async function look() {
    const before = performance.now();
    const reply = await ask(`api/points?stored=${state.stored}`).catch((failure) => failure);
    const why = reply.errors?.[0].message ?? reply.waiting;
    if (why) told.textContent = `Waiting: ${why}`;
    if (reply.sweep) show(reply);
    // A large store takes the server longer to read: it shall have time for fields too.
    const rest = Math.min(longest, Math.max(shortest, 8 * (performance.now() - before)));
    setTimeout(look, rest);
  }

  function show(store) {
    const { sweep: about } = store;
    const names = (sweep) => sweep?.differing.map((c) => c.name).join(' ');
    let { sweep } = state;
    const before = names(sweep);
    if (sweep) sweep.load({ store });
    else sweep = state.sweep = new Sweep({ store });
    state.stored = about.stored;
    progress.max = about.points;
    progress.value = about.stored;
    told.textContent = `${about.spec.split('/').pop()}: ${count(about.stored)} of `
      + `${count(about.points)} points stored, ${count(about.feasible)} can be costed, `
      + `${count(sweep.front.length)} on the front so far.`;
    if (names(sweep) !== before && sweep.differing.length > 1) draw(sweep);
  }

  /** The first points, or the first that differ in a column: there is more to choose from. */
  function draw({ data }) {
    const sweep = state.sweep = new Sweep(data);
    state.release?.();
    state.release = beginScope();
    sweep.onChange(() => {
      chosen.textContent = sweep.chosen < 0 ? ''
        : `Point ${sweep.points[sweep.chosen]}: ${sweep.settings(sweep.chosen)}`;
    });
    const { tools, box: picture } = scatter(sweep, state.choices);
    replace(plot, tools, picture, filters(sweep));
  }
  look();
}

/** What is filtered, with a button that takes it away. */
function filters(sweep) {
  const box = h('div.filters', { 'aria-live': 'polite' });
  const draw = () => replace(box, sweep.ranges.size > 0 && [
    h('span', {}, `Shown: ${sweep.summary()}`),
    h('button.chip', { type: 'button', onclick: () => sweep.filter(Object.fromEntries(
      [...sweep.ranges.keys()].map((name) => [name, null]))) }, 'All  \u00d7')]);
  sweep.onChange(draw);
  draw();
  return box;
}
