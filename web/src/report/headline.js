// The figures that one looks for first, and where the time goes.
import { h } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count, digits, kib, percent, si } from '../base/format.js';
import { cycleParts, traffic } from './model.js';
import { strip } from './strip.js';

function tile(label, value, note, title) {
  return h('div.tile', { title }, h('dt', {}, label), h('dd', {}, value),
    h('dd.tile-note', {}, note));
}

export function headline({ model }) {
  const { totals, hw, report } = model;
  const about = (key) => model.field(key).description;
  const bytes = traffic.dram(totals);
  const tiles = h('dl.tiles', {},
    tile('Time', si(totals.seconds, 's'), `${count(totals.cycles)} cycles`, about('cycles')),
    tile('Throughput', `${si(totals.inferences_per_second)} /s`, 'one after the other',
      about('inferences_per_second')),
    tile('Array utilisation', percent(totals.utilization),
      `${si(totals.achieved_gmacs * 1e9)} of ${si(model.peak * hw.clock_mhz * 1e6)} MAC/s`,
      about('utilization')),
    tile('Times the least possible', `${digits(totals.over_lower_bound ?? 0)} \u00d7`,
      `mostly lost to ${totals.lost_to || 'nothing'}`, about('over_lower_bound')),
    tile('DRAM traffic', si(bytes, 'B'),
      `${si(bytes / totals.seconds, 'B/s')}; ${digits(totals.dram_over_bound ?? 0)} \u00d7 least`,
      about('dram_over_bound')),
    tile('Energy', si(totals.energy_pj * 1e-12, 'J'),
      `${digits(totals.energy_pj / Math.max(1, totals.macs))} pJ per MAC, `
      + `${si((totals.energy_pj * 1e-12) / totals.seconds, 'W')}`, about('energy_pj')),
    tile('Area', `${digits(totals.area_mm2)} mm\u00b2`, 'a proxy to rank machines',
      about('area_mm2')),
    tile('Shared buffer, most', kib(totals.shared_peak_bytes),
      `of ${kib(hw.buffers.shared.kib * 1024)}`, about('shared_peak_bytes')));
  const parts = cycleParts.map((p) => ({ ...p, value: p.of(totals) }));
  const warnings = [
    report.unsupported.length > 0
      && `${report.unsupported.length} nodes have no rule and cost their traffic only: `
      + report.unsupported.slice(0, 5).join(', '),
    report.model.defaulted.length > 0
      && `Sizes bound to 1 by default: ${report.model.defaulted.join(', ')}`,
  ].filter(Boolean);
  return section({
    id: 'overview', short: 'Overview', title: 'Overview',
    note: `Limited by ${totals.bound === 'none' ? 'nothing' : totals.bound}; `
      + `mappings chosen by ${totals.objective}.`,
  }, warnings.map((w) => h('p.warning', {}, w)), tiles,
  h('h3', {}, 'Where the time goes'),
  strip('Where the time goes', parts, (v) => si(model.seconds(v), 's')));
}
