// What all pages have: head, way round, sections.
import { h } from './dom.js';
import { onTheme, isDark, toggleTheme } from './theme.js';

/** @param {{title: string, subtitle: string, facts?: string[]}} head */
export function frame(head, sections) {
  const theme = h('button', { type: 'button', onclick: toggleTheme });
  const label = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
  onTheme(label);
  label();
  const nav = h('nav', { 'aria-label': 'Sections' },
    sections.map((s) => h('a', { href: `#${s.id}` }, s.dataset.short)));
  follow(nav, sections);
  return [
    h('a.skip', { href: '#main' }, 'Skip to the content'),
    h('header.top', {},
      h('div.top-text', {},
        h('p.brand', {}, 'accsim'),
        h('h1', {}, head.title),
        h('p.subtitle', {}, head.subtitle)),
      h('div.top-tools', {}, theme,
        h('button', { type: 'button', onclick: () => window.print() }, 'Print'))),
    nav,
    h('main', { id: 'main', tabindex: '-1' }, sections),
  ];
}

/** Marks the section in sight. */
function follow(nav, sections) {
  const seen = new Map();
  const observer = new IntersectionObserver((entries) => {
    for (const e of entries) seen.set(e.target.id, e.isIntersecting);
    const first = sections.find((s) => seen.get(s.id));
    for (const a of nav.children) {
      const here = first && a.getAttribute('href') === `#${first.id}`;
      if (here) a.setAttribute('aria-current', 'true');
      else a.removeAttribute('aria-current');
    }
  }, { rootMargin: '-80px 0px -55% 0px' });
  for (const s of sections) observer.observe(s);
}

/**
 * @param {{id: string, short: string, title: string, note?: any, tools?: any[], wide?: boolean}} s
 */
export function section(s, ...children) {
  return h('section.card', { id: s.id, 'data-short': s.short, 'aria-labelledby': `${s.id}-title` },
    h('div.card-head', {},
      h('div', {}, h('h2', { id: `${s.id}-title` }, s.title),
        s.note instanceof Node ? s.note : s.note && h('p.note', {}, s.note)),
      s.tools && h('div.tools', {}, s.tools)),
    children);
}
