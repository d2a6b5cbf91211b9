// A control for each field of the machine, made of the list that the program gives.
import { h } from '../base/dom.js';
import { digits } from '../base/format.js';

const steps = 200;

/** What a technology gives has more digits than anybody reads, or the field has room for. */
const shown = (field, value) => (field.kind === 'whole' ? value : Number(value.toPrecision(7)));

/** Sliders are logarithmic, a factor of eight either way of the machine's own value. */
function reach(field) {
  const middle = field.value > 0 ? field.value : 64;
  return [Math.max(field.min || (field.kind === 'whole' ? 1 : field.min), middle / 8),
    Math.min(field.max, middle * 8)];
}

function number(field, change) {
  const [low, high] = reach(field);
  const box = h('input', { type: 'number', min: field.min, max: field.max,
    value: shown(field, field.value), step: 'any', 'aria-label': `${field.path}, ${field.unit}` });
  const slider = h('input', { type: 'range', min: 0, max: steps, tabindex: '-1',
    'aria-label': `${field.path}, slider` });
  const place = () => {
    const v = Math.min(high, Math.max(low, Number(box.value)));
    slider.value = String((steps * Math.log(v / low)) / Math.log(high / low));
  };
  slider.addEventListener('input', () => {
    const v = low * (high / low) ** (Number(slider.value) / steps);
    box.value = field.kind === 'whole' ? String(Math.round(v)) : digits(v);
    change(Number(box.value));
  });
  box.addEventListener('change', () => {
    place();
    change(Number(box.value));
  });
  place();
  const set = (v) => {
    box.value = shown(field, v);
    place();
  };
  return { nodes: high > low ? [box, slider] : [box], set };
}

function word(field, change) {
  const box = h('select', { 'aria-label': field.path, onchange: () => change(box.value) },
    field.choices.map((c) => h('option', { value: c, selected: c === field.value }, c)));
  return { nodes: [box], set: (v) => { box.value = v; } };
}

function words(field, change) {
  const boxes = field.choices.map((c) => h('input', { type: 'checkbox', value: c,
    checked: field.value.includes(c), onchange: () =>
      change(boxes.filter((b) => b.checked).map((b) => b.value)) }));
  return {
    nodes: boxes.map((b) => h('label.check', {}, b, b.value)),
    set: (v) => boxes.forEach((b) => { b.checked = v.includes(b.value); }),
  };
}

function text(field, change) {
  const box = h('input', { type: 'text', value: field.value, 'aria-label': field.path,
    onchange: () => change(box.value) });
  return { nodes: [box], set: (v) => { box.value = v; } };
}

/** Where there is no room beside the report, less is open at first. */
const narrow = window.matchMedia('(max-width: 559px)');
const openFirst = () => (narrow.matches ? ['array'] : ['', 'array', 'dram']);

const makers = { whole: number, number, rate: number, word, words, text };

/** @param {(edits: object) => void} changed is given all fields that differ from the machine */
export function controls(sections, fields, changed) {
  const edits = {}, rows = new Map();
  const valueOf = (path) => edits[path] ?? fields.find((f) => f.path === path)?.value;
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  function row(field) {
    const problem = h('p.problem', { role: 'alert', hidden: true });
    const back = h('button.link', { type: 'button', hidden: true,
      'aria-label': `undo ${field.path}`, onclick: () => apply(field.value) }, 'undo');
    const { nodes, set } = makers[field.kind](field, (v) => apply(v, false));
    function apply(value, show = true) {
      if (show) set(value);
      if (same(value, field.value)) delete edits[field.path];
      else edits[field.path] = value;
      back.hidden = !(field.path in edits);
      visible();
      changed({ ...edits });
    }
    const key = field.path.split('.').pop();
    const box = h('div.field', { title: field.description }, h('div.field-head', {},
      h('span', {}, key), h('span.muted', {}, field.unit), back), nodes, problem);
    rows.set(field.path, { box, problem, field });
    return box;
  }

  function visible() {
    for (const { box, field } of rows.values())
      box.hidden = Boolean(field.only) && valueOf(field.only.path) !== field.only.word;
  }

  const groups = ['', ...sections.map((s) => s.path)].map((path) => {
    const own = fields.filter((f) => f.section === path);
    if (own.length === 0) return null;
    const about = sections.find((s) => s.path === path);
    return h('details.group', { open: openFirst().includes(path) },
      h('summary', { title: about?.description }, path || 'machine'), own.map(row));
  });
  visible();

  /** Shows what is wrong beside its field; returns what belongs to none. */
  function complain(errors) {
    for (const { problem } of rows.values()) problem.hidden = true;
    return errors.filter(({ field, message }) => {
      const found = rows.get(field);
      if (!found) return true;
      found.problem.textContent = message;
      found.problem.hidden = false;
      found.box.closest('details').open = true;
      return false;
    });
  }

  return { box: h('div.groups', {}, groups), complain };
}
