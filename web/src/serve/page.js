// The report, live: fields on the left, each change costs the network anew. A pinned machine is
// compared with; a dropped ONNX file becomes one of the models; a sweep's store is watched.
import { waterfall } from '../compare/waterfall.js';
import { Compared } from '../compare/model.js';
import { Choices } from '../base/choices.js';
import { h, replace, select } from '../base/dom.js';
import { count, percent, si } from '../base/format.js';
import { beginScope } from '../base/scope.js';
import { isDark, onTheme, toggleTheme } from '../base/theme.js';
import { reportSections } from '../report/page.js';
import { Commands } from './commands.js';
import { controls } from './controls.js';
import { ask, newest } from './server.js';
import { watch } from './store.js';

const settle = 350; // milliseconds of rest after which everything is drawn anew

export function servePage(data) {
  document.documentElement.classList.add('serving');
  const state = { models: data.models, wanted: { model: 0, machine: {} }, pinned: null,
    shown: null, shownOf: null, drawn: null, release: null, timer: 0, choices: new Choices(),
    commands: new Commands() };
  const parts = { main: h('main', { id: 'main', tabindex: '-1' }), now: h('div.now', {}),
    panel: h('div', {}), problems: h('div', { role: 'alert' }), models: h('div', {}),
    against: h('div', {}), store: h('div', {}) };

  const machine = controls(data.sections, data.fields, (edits) => {
    state.wanted = { ...state.wanted, machine: edits };
    run();
  });
  const drawLater = () => {
    state.timer = setTimeout(() => {
      state.drawn = state.shown;
      rebuild(state, parts);
      if (state.pinned) compare(state, parts);
    }, parts.main.firstChild ? settle : 0);
  };
  const show = (report, wanted) => {
    state.shown = report;
    state.shownOf = wanted;
    figures(parts.now, report, state); // of now: not marked as old
    parts.now.classList.remove('old');
    clearTimeout(state.timer);
    drawLater();
  };
  const cost = newest(async (wanted) => {
    try {
      const report = await ask('api/cost', wanted);
      complain([]);
      show(report, wanted);
    } catch (failure) {
      if (!failure.errors) throw failure;
      complain(failure.errors);
      markOld(parts.now, state);
      if (state.drawn === state.shown) state.commands.resume();
      else drawLater();
    }
  });
  const complain = (errors) => replace(parts.problems,
    machine.complain(errors).map((e) => h('p.warning', {}, e.message)));
  const run = () => {
    state.commands.pause();
    clearTimeout(state.timer);
    cost(state.wanted);
  };

  const options = chooser(state, parts, data, run, complain);
  if (data.report) show(data.report, state.wanted);
  else complain([{ message: 'Name a model on the command line, or drop an ONNX file here.' }]);
  dropping(options.upload);
  if (data.store) watch(parts.store);
  document.title = 'accsim serve';
  return layout(parts, options, machine);
}

function layout(parts, options, machine) {
  return [
    h('a.skip', { href: '#main' }, 'Skip to the content'),
    h('aside.controls', { 'aria-label': 'Fields of the machine' },
      h('p.brand', {}, 'accsim serve'), h('h1', {}, 'The machine'), options.box, machine.box),
    h('div.live', {}, parts.now, parts.problems, parts.against, parts.store, parts.main),
    parts.panel,
  ];
}

/** What follows each change at once. */
function figures(box, data, state) {
  const { totals } = data.report;
  const before = state.pinned?.report.totals;
  const figure = (label, key, text, more = 'more') => {
    const ratio = before && totals[key] / before[key];
    return h('div.figure', {}, h('span.muted', {}, label), h('b', {}, text(totals[key])),
      ratio && Math.abs(ratio - 1) > 5e-4
        && h('span', { class: (ratio > 1) === (more === 'more') ? 'more' : 'less' },
          `${ratio < 1 ? '\u2212' : '+'}${percent(Math.abs(ratio - 1))}`));
  };
  replace(box, figure('cycles', 'cycles', count), figure('time', 'seconds', (v) => si(v, 's')),
    figure('use', 'utilization', (v) => percent(v), 'less'),
    figure('energy', 'energy_pj', (v) => si(v * 1e-12, 'J')),
    figure('area', 'area_mm2', (v) => `${v.toFixed(1)} mm\u00b2`),
    figure('DRAM read', 'dram_read_bytes', (v) => si(v, 'B')));
}

/** What is asked for can't be costed: the figures, and all below, are of what was before. */
function markOld(box, { shown }) {
  if (!shown || box.classList.contains('old')) return;
  box.classList.add('old');
  box.prepend(h('p.old-note', { role: 'status' },
    'These figures and all below are old: the new fields can\u2019t be costed.'));
}

/** All sections anew, at the same place and with the same layer chosen. */
function rebuild(state, parts) {
  const chosen = state.selection?.layer?.name ?? null;
  state.release?.();
  state.release = beginScope();
  const { sections, panel, selection } = reportSections(state.shown, { chosen,
    choices: state.choices, commands: (tell) => state.commands.begin(state.shownOf, tell) });
  state.selection = selection;
  const top = window.scrollY;
  replace(parts.main, sections);
  replace(parts.panel, panel);
  parts.main.querySelector('#layers .table-box').restore();
  window.scrollTo({ top, behavior: 'instant' });
}

/** The waterfall from the pinned machine to the one that is shown. */
async function compare(state, parts) {
  const { pinned, shownOf } = state;
  const file = await ask('api/compare', { a: pinned.wanted, b: shownOf }).catch(() => null);
  const late = state.pinned !== pinned || state.shownOf !== shownOf;
  if (!file || late) return; // the next one shows it
  const compared = new Compared(file.causes, file.comparisons[0]);
  state.releaseCompare?.();
  state.releaseCompare = beginScope();
  replace(parts.against, waterfall({ compared }));
}

/** Model, objective, effort, pin, theme. */
function chooser(state, parts, data, run, complain) {
  const set = (key, value) => {
    state.wanted = { ...state.wanted, [key]: value };
    run();
  };
  const upload = async (file) => {
    try {
      const model = await ask('api/models', file,
        { headers: { 'X-Accsim-Name': encodeURIComponent(file.name) } });
      state.models = [...state.models, model];
      models();
      set('model', model.index);
      models();
    } catch (failure) {
      complain(failure.errors);
    }
  };
  const models = () => replace(parts.models, select('Model',
    state.models.map((m) => [String(m.index), m.name || m.file]), String(state.wanted.model),
    (v) => set('model', Number(v))));
  models();
  const file = h('input.offscreen', { type: 'file', accept: '.onnx', tabindex: '-1',
    'aria-label': 'ONNX file', onchange: () => file.files[0] && upload(file.files[0]) });
  const pin = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    state.pinned = state.pinned ? null : { wanted: state.shownOf, report: state.shown.report };
    pin.setAttribute('aria-pressed', String(Boolean(state.pinned)));
    pin.textContent = state.pinned ? 'Unpin' : 'Pin this machine';
    if (!state.pinned) replace(parts.against);
    run();
  } }, 'Pin this machine');
  const theme = h('button', { type: 'button', onclick: toggleTheme });
  const label = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
  onTheme(label);
  label();
  const words = (key, list) => list?.length > 1 && select(key, list.map((w) => [w, w]), data[key],
    (v) => set(key, v));
  return {
    upload,
    box: h('div.serve-options', {}, parts.models, words('objective', data.objectives),
      words('effort', data.efforts), h('div.tools', {}, pin,
        h('button', { type: 'button', onclick: () => file.click() }, 'Open a model \u2026'), theme),
      file),
  };
}

/** An ONNX file dropped anywhere on the page. */
function dropping(upload) {
  const over = (on) => document.documentElement.classList.toggle('dropping', on);
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    over(true);
  });
  document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) over(false); });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    over(false);
    for (const file of event.dataTransfer.files) upload(file);
  });
}
