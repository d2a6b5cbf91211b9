// All that is known of the chosen layer.
import { drawer } from '../base/drawer.js';
import { h } from '../base/dom.js';
import { byUnit } from '../base/format.js';
import { cycleParts } from './model.js';
import { strip } from './strip.js';

const first = ['op_type', 'fate', 'bound', 'cycles', 'seconds', 'utilization', 'over_lower_bound',
  'lost_to', 'macs', 'mapping', 'output_shape', 'input_shapes', 'energy_pj'];

export function details({ model, selection, choices }) {
  const panel = drawer({ label: 'Chosen layer', close: () => selection.choose(null) });
  const row = (key, layer) => {
    const f = model.field(key);
    return h('div', { title: f.description }, h('dt', {},
      key.replace(/_(pj|cycles|bytes|gbps|gmacs)$/, '').replace(/_/g, ' ')),
      h('dd', {}, byUnit(layer[key], f.unit, key)));
  };
  const kept = choices.of('details', { open: false }); // the fold of further fields
  selection.onChange((layer) => {
    if (!layer) return panel.hide();
    const rest = Object.keys(layer).filter((k) => model.fields.has(k) && k !== 'name'
      && !first.includes(k) && layer[k] !== 0 && layer[k] !== '' && layer[k] != null);
    return panel.show(layer.name,
      layer.cycles > 0 && strip('Its cycles', cycleParts.map((p) => ({
        ...p, value: p.of(layer) })), (v) => byUnit(v, 'cycles')),
      h('div', {},
        layer.merged_into && h('p.note', {}, `${layer.merged_into} does its work.`),
        h('dl.values', {}, first.filter((k) => layer[k] != null && layer[k] !== '')
          .map((k) => row(k, layer))),
        h('details', { open: kept.open,
          ontoggle: (event) => { kept.open = event.target.open; } },
          h('summary', {}, `${rest.length} more`),
          h('dl.values', {}, rest.map((k) => row(k, layer))))));
  });
  return panel.box;
}
