// Sums by module path, by operator and by fate, as a tree map.
import { canvasBox } from '../base/canvas.js';
import { choice, h, select, tooltip } from '../base/dom.js';
import { section } from '../base/frame.js';
import { count, percent, si } from '../base/format.js';
import { ending } from '../base/names.js';
import { fitted } from '../base/paint.js';
import { pointed } from '../base/pointed.js';
import { colour, inkOn, mix } from '../base/theme.js';
import { modulePath, traffic } from './model.js';
import { squarify } from './squarify.js';

const header = 20, gap = 2;
const least = 0.001; // of the whole, to be a node of its own

const metrics = {
  cycles: ['Cycles', (l) => l.cycles, (v) => `${count(v)} cycles`, (v) => si(v)],
  energy: ['Energy', (l) => l.energy_pj, (v) => si(v * 1e-12, 'J'), (v) => si(v * 1e-12, 'J')],
  macs: ['MACs', (l) => l.macs, (v) => `${si(v)} MACs`, (v) => si(v)],
  dram: ['DRAM bytes', traffic.dram, (v) => si(v, 'B'), (v) => si(v, 'B')],
};

function paths(by) {
  if (by === 'module') return (l) => modulePath(l.name);
  if (by === 'operator') return (l) => [l.op_type, l.name];
  return (l) => [l.fate, l.op_type, l.name];
}

/** A tree of {name, value, children, worked, cycles, layer}. At full use the array would do its
 * MACs in `worked` cycles. Chains of one child become one node. */
function tree(layers, path, value) {
  const root = { name: '', children: new Map() };
  for (const layer of layers) {
    if (!(value(layer) > 0)) continue;
    let node = root;
    for (const part of path(layer)) {
      if (!node.children.has(part)) node.children.set(part, { name: part, children: new Map() });
      node = node.children.get(part);
    }
    (node.layers ??= []).push(layer);
  }
  const whole = layers.reduce((s, l) => s + value(l), 0);
  return prune(finish(root, value), whole * least).children;
}

function finish(node, value) {
  const children = [...node.children.values()].map((c) => finish(c, value));
  for (const layer of node.layers ?? [])
    children.push({ name: node.name, value: value(layer),
      worked: (layer.utilization ?? 0) * layer.cycles, cycles: layer.cycles, layer });
  if (children.length === 1) {
    const [only] = children;
    const name = !node.name || only.name === node.name ? only.name : `${node.name}/${only.name}`;
    return node.name ? { ...only, name } : { name, children };
  }
  const sum = (key) => children.reduce((s, c) => s + c[key], 0);
  return { name: node.name, value: sum('value'), worked: sum('worked'), cycles: sum('cycles'),
    children };
}

/** What is too small to be seen becomes one node; a group without room for its parts, a leaf. */
function prune(node, smallest) {
  if (!node.children) return node;
  if (node.value < 6 * smallest) return { ...node, children: undefined };
  const large = node.children.filter((c) => c.value >= smallest);
  const small = node.children.filter((c) => c.value < smallest);
  const sum = (key) => small.reduce((s, c) => s + c[key], 0);
  const rest = small.length < 2 ? small : [{ name: `${small.length} small ones`,
    value: sum('value'), worked: sum('worked'), cycles: sum('cycles') }];
  return { ...node, children: [...large.map((c) => prune(c, smallest)), ...rest] };
}

/** The tree's nodes as rectangles of pixels, groups before what lies in them. */
function layOut(nodes, box, out, depth = 0) {
  for (const { item, rect } of squarify(nodes, box)) {
    const inner = { x: rect.x + gap, y: rect.y + header, width: rect.width - 2 * gap,
      height: rect.height - header - gap };
    const group = item.children && inner.width > 24 && inner.height > 12;
    out.push({ node: item, ...rect, group: Boolean(group), depth });
    if (group) layOut(item.children, inner, out, depth + 1);
  }
  return out;
}

/** Of a name that doesn't fit the module tells more than the operator behind it. */
function leafName(name, fits) {
  if (fits(name)) return name;
  const module = name.slice(0, Math.max(0, name.lastIndexOf('/')));
  return (module && ending(module, fits)) || ending(name, fits);
}

/** What a node and the whole tree map are made of at present. */
class Blocks {
  constructor(model, kept) {
    this.model = model;
    this.kept = kept;
    this.nodes = null;
    this.boxes = [];
  }

  set(what) {
    Object.assign(this.kept, what);
    this.nodes = null;
  }

  use(node) {
    return node.cycles > 0 ? node.worked / node.cycles : 0;
  }

  draw(c, width, height) {
    const value = metrics[this.kept.metric][1];
    this.nodes ??= tree(this.model.costed, paths(this.kept.by), value);
    this.boxes = layOut(this.nodes, { x: 0, y: 0, width, height }, []);
    for (const box of this.boxes) this.drawBox(c, box);
  }

  drawBox(c, box) {
    const { node, x, y, width, height, group } = box;
    const share = Math.sqrt(Math.min(1, this.use(node)));
    const fill = group ? colour(box.depth % 2 ? 'surface' : 'treemap-line')
      : mix('ramp-low', 'ramp-high', share);
    c.fillStyle = fill;
    c.fillRect(x, y, Math.max(0.5, width - 1), Math.max(0.5, height - 1));
    if (width < 34 || height < 16) return;
    const amount = metrics[this.kept.metric][3](node.value);
    c.fillStyle = group ? colour('ink') : inkOn(fill);
    if (group) {
      const text = `${node.name}  ${amount}`, fits = c.measureText(text).width <= width - 8;
      c.fillText(fits ? text : fitted(c, node.name, width - 8), x + 5, y + header / 2);
      return;
    }
    const name = leafName(node.name, (text) => c.measureText(text).width <= width - 8);
    const two = name && height > 36 && c.measureText(amount).width < width - 8;
    c.textAlign = 'center';
    c.fillText(name, x + width / 2, y + height / 2 - (two ? 8 : 0));
    if (two) c.fillText(amount, x + width / 2, y + height / 2 + 9);
    c.textAlign = 'left';
  }

  outline(c, box, name, wide) {
    c.strokeStyle = colour(name);
    c.lineWidth = wide;
    c.strokeRect(box.x + 1, box.y + 1, Math.max(2, box.width - 3), Math.max(2, box.height - 3));
  }

  tip({ node }) {
    const [title, value, text] = metrics[this.kept.metric];
    return tooltip(node.layer?.name ?? node.name, [
      [title, text(node.value)],
      ['of the network', percent(node.value, value(this.model.totals))],
      ['array utilisation', percent(this.use(node))],
    ]);
  }

  /** The innermost rectangle at a place. */
  under(px, py) {
    for (let i = this.boxes.length - 1; i >= 0; i--) {
      const { x, y, width, height } = this.boxes[i];
      if (px >= x && px < x + width && py >= y && py < y + height) return this.boxes[i];
    }
    return null;
  }
}

export function rollup({ model, selection, choices }) {
  const kept = choices.of('rollup', { by: 'module', metric: 'cycles' });
  const blocks = new Blocks(model, kept);
  const plot = canvasBox({
    label: 'Tree map of the layers by module, operator or fate', height: 460,
    draw: (c, width, height) => blocks.draw(c, width, height),
    over(c) {
      const chosen = selection.layer && blocks.boxes.find((b) => b.node.layer === selection.layer);
      if (under.thing) blocks.outline(c, under.thing, 'ink', 1.5);
      if (chosen) blocks.outline(c, chosen, 'select', 3);
    },
  });

  const under = pointed(plot, { under: (x, y) => blocks.under(x, y), tip: (b) => blocks.tip(b),
    layer: (b) => b.node.layer }, selection);
  const show = (what) => {
    blocks.set(what);
    under.thing = null;
    plot.redraw();
  };
  return section({
    id: 'rollup', short: 'Roll-up', title: 'Roll-up',
    note: 'Areas add up. A stronger colour means a better use of the array.',
    tools: [
      choice('Grouped by', [['module', 'Module'], ['operator', 'Operator'], ['fate', 'Fate']],
        kept.by, (by) => show({ by })),
      select('Area', Object.entries(metrics).map(([key, [text]]) => [key, text]), kept.metric,
        (metric) => show({ metric }))],
  }, plot.box, h('div.ramp', {}, h('span', {}, '0 %'), h('i', {}), h('span', {},
    '100 % of the array')));
}
