// Light and dark: the colours are those of the style sheet, so that charts and page agree.
import { onRelease } from './scope.js';

const listeners = new Set();
const media = window.matchMedia('(prefers-color-scheme: dark)');
const root = document.documentElement;
let chosen = 'auto';
let printing = false;
let cache = new Map();

/** Tells of every change, after it. */
export function onTheme(listener) {
  listeners.add(listener);
  onRelease(() => listeners.delete(listener));
}

function apply() {
  const dark = !printing && (chosen === 'auto' ? media.matches : chosen === 'dark');
  root.dataset.theme = dark ? 'dark' : 'light';
  cache = new Map();
  for (const listener of listeners) listener();
}

/** The value of a colour of style.css, e.g. colour("ink"). */
export function colour(name) {
  if (!cache.has(name))
    cache.set(name, getComputedStyle(root).getPropertyValue(`--${name}`).trim());
  return cache.get(name);
}

export function isDark() {
  return root.dataset.theme === 'dark';
}

let family = '';
/** The page's fonts by name: a canvas takes no "inherit". */
export const fonts = () => (family ||= getComputedStyle(document.body).fontFamily);

/** A button that goes from the system's theme to the other one and back. */
export function toggleTheme() {
  chosen = isDark() ? 'light' : 'dark';
  apply();
}

const print = window.matchMedia('print');
const setPrinting = (on) => {
  if (on === printing) return;
  printing = on;
  root.classList.toggle('printing', on);
  apply();
};
media.addEventListener('change', apply);
print.addEventListener('change', (event) => setPrinting(event.matches));
window.addEventListener('beforeprint', () => setPrinting(true));
window.addEventListener('afterprint', () => setPrinting(false));
export const isPrinting = () => printing;
apply();

/** [r, g, b] of "#rrggbb". */
function rgb(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/** Between two colours of the style sheet; share 0 is the first. */
export function mix(from, to, share) {
  const a = rgb(colour(from)), b = rgb(colour(to));
  return `#${a.map((v, i) => Math.round(v + (b[i] - v) * share).toString(16).padStart(2, '0'))
    .join('')}`;
}

/** Black or white, whichever reads better on a colour. */
export function inkOn(hex) {
  const [r, g, b] = rgb(hex).map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#10141a' : '#ffffff';
}
