// The page of one report.
import { Choices } from '../base/choices.js';
import { frame, section } from '../base/frame.js';
import { count, counted, si } from '../base/format.js';
import { layerBars } from './bars.js';
import { coverage } from './coverage.js';
import { details } from './details.js';
import { headline } from './headline.js';
import { machine } from './machine.js';
import { memory } from './memory.js';
import { cycleParts, energyParts, Model, Selection } from './model.js';
import { repeat } from './repeat.js';
import { rollup } from './rollup.js';
import { roofline } from './roofline.js';
import { layerTable } from './table.js';
import { timeline } from './timeline.js';

const views = [headline, roofline, machine, cycles, timeline, memory, energy, rollup, layerTable,
  coverage, repeat];

/**
 * All sections of a report; `chosen` is the name of the layer that was chosen before, `commands`
 * how the timeline asks for what `data` lack.
 */
export function reportSections(data, { chosen = null, choices = new Choices(), commands } = {}) {
  const context = { model: new Model(data), selection: new Selection(), choices, commands };
  const sections = views.map((view) => view(context)).filter(Boolean);
  const panel = details(context);
  context.selection.choose(context.model.layers.find((l) => l.name === chosen) ?? null);
  return { ...context, sections, panel };
}

export function reportPage(data) {
  const { model, sections, panel } = reportSections(data);
  const { report, totals, hw } = model;
  document.title = `${fileName(report.model.file)} on ${hw.name}`;
  const page = frame({
    title: fileName(report.model.file),
    subtitle: `A run takes ${si(totals.seconds, 's')} on ${hw.name}, which multiplies up to `
      + `${count(hw.rows * hw.cols)} pairs of numbers at a time, at `
      + `${si(hw.clock_mhz * 1e6, 'Hz')}. The network has `
      + `${counted(report.model.nodes, 'operations')} and `
      + `${counted(report.model.params, 'parameters')}, and a run needs `
      + `${counted(totals.macs, 'multiplications')}.`,
  }, sections);
  return [...page, panel];
}

const fileName = (path) => path.split('/').pop();

function cycles(context) {
  const bars = layerBars(context, {
    parts: cycleParts,
    total: (r) => r.cycles,
    text: (v) => `${count(v)} cycles`,
    axis: (v) => si(v),
    name: 'cycles',
    label: 'Cycles of each layer, by what the main unit does or waits for',
  });
  return section({
    id: 'cycles', short: 'Cycles', title: 'Cycles by layer',
    note: 'Each layer has one main unit: array, vector unit or load engine. Its cycles are work at '
      + 'full rate, idle lanes, waits by reason, and the tail after its last work.',
    tools: bars.tools,
  }, bars.children);
}

function energy(context) {
  const bars = layerBars(context, {
    parts: energyParts,
    total: (r) => r.energy_pj,
    text: (v) => si(v * 1e-12, 'J'),
    axis: (v) => si(v * 1e-12, 'J'),
    name: 'energy',
    label: 'Energy of each layer by component',
    strip: true,
  });
  return section({
    id: 'energy', short: 'Energy', title: 'Energy by component and layer',
    note: 'Counts of each event times the machine\u2019s energy table.',
    tools: bars.tools,
  }, bars.children);
}
