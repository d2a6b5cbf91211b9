// One bar that shows how a whole falls into parts, with its legend: plain HTML.
import { h } from '../base/dom.js';
import { percent } from '../base/format.js';

/**
 * @param {{label: string, colour: string, value: number}[]} parts colours are names of style.css
 * @param {(value: number) => string} text
 */
export function strip(label, parts, text) {
  const whole = parts.reduce((sum, p) => sum + p.value, 0);
  const shown = parts.filter((p) => p.value > 0);
  return h('figure.strip', { 'aria-label': label },
    h('div.strip-bar', { 'aria-hidden': 'true' }, shown.map((p) => h('span', {
      style: `flex-grow:${p.value / whole};background:var(--${p.colour})`,
      title: `${p.label}: ${text(p.value)}`,
    }))),
    h('ul.legend', {}, shown.map((p) => h('li', {},
      h('i', { style: `background:var(--${p.colour})` }),
      h('span', {}, p.label), h('b', {}, percent(p.value, whole)),
      h('span.muted', {}, text(p.value))))));
}
