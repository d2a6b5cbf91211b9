// Which layers' programs `accsim verify` runs on the RTL, and their shares.
import { h } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count, percent, si } from '../base/format.js';
import { strip } from './strip.js';

const colours = { gemm: 'c-compute', vector: 'c-array', memory: 'c-dram_read',
  unsupported: 'c-slot', view: 'c-tail', folded: 'c-tail' };
const meaning = {
  gemm: 'matrix products on the array', vector: 'the vector unit',
  memory: 'copies by the load engine',
  view: 'the same bytes under another shape', folded: 'part of another layer\u2019s program',
  unsupported: 'no rule: traffic only',
};

export function coverage({ model }) {
  const { core_reason: reason } = model.data;
  const groups = new Map();
  for (const l of model.layers) {
    const g = groups.get(l.fate)
      ?? { fate: l.fate, layers: 0, cycles: 0, verified: 0, ops: new Map(), why: new Set() };
    g.layers += 1;
    g.cycles += l.cycles;
    g.verified += l.verifiable_cycles;
    if (l.unverifiable && !reason) g.why.add(l.unverifiable);
    g.ops.set(l.op_type, (g.ops.get(l.op_type) ?? 0) + 1);
    groups.set(l.fate, g);
  }
  const rows = [...groups.values()].sort((a, b) => b.cycles - a.cycles || b.layers - a.layers);
  const state = (g) => {
    if (g.cycles === 0) return 'no program';
    if (g.verified === g.cycles) return 'verified';
    const why = g.why.size > 0 ? `: ${[...g.why].join('; ')}` : '';
    return (g.verified === 0 ? 'not verified' : `${percent(g.verified, g.cycles)} verified`) + why;
  };
  const parts = (g) => [
    { label: `${g.fate} (verified)`, value: g.verified },
    { label: g.fate, value: g.cycles - g.verified },
  ].filter((p) => p.value > 0).map((p) => ({ ...p, colour: colours[g.fate] ?? 'c-tail' }));
  const ops = (g) => [...g.ops].sort((a, b) => b[1] - a[1]).map(([op, n]) => `${op} ${n}`);
  return section({
    id: 'coverage', short: 'RTL', title: 'Cycles that RTL verifies',
    note: reason ? `No RTL core exists for this machine: ${reason}.`
      : 'accsim verify runs the programs of layers on the RTL core and compares every cycle and '
        + 'byte. If the core lacks a command, the whole layer is left out. Its cycles rest on '
        + 'the timing model alone.',
  }, h('p.big', {}, h('b', {}, percent(model.totals.verifiable_cycles, model.totals.cycles)),
    ' of the cycles are in layers that RTL verifies'),
  strip('Cycles by fate', rows.flatMap(parts), (v) => si(v)),
  h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Layers by fate' },
    h('table.plain', {}, h('thead', {}, h('tr', {},
      ['fate', 'what runs it', 'layers', 'cycles', 'of all', 'RTL', 'operators']
        .map((t, i) => h('th', { scope: 'col', class: i > 1 && i < 5 ? 'number' : null }, t)))),
    h('tbody', {}, rows.map((g) => h('tr', {}, h('th', { scope: 'row' }, g.fate),
      h('td.words', {}, meaning[g.fate] ?? ''), h('td.number', {}, count(g.layers)),
      h('td.number', {}, count(g.cycles)),
      h('td.number', {}, percent(g.cycles, model.totals.cycles)),
      h('td.words', {}, state(g)),
      h('td.wrap.long', {},
        ops(g).slice(0, 12).join(', ') + (g.ops.size > 12 ? ', \u2026' : '')))))))
  );
}
