// Elements without innerHTML: text from models and machines is never read as HTML.

/**
 * @param {string} tag e.g. "div", "div.card"; SVG elements with svg()
 * @param {Record<string, any>} attributes "on..." are listeners; null and false are left out
 * @param {...any} children nodes, strings, arrays of them; null is left out
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  return fill(document.createElement(name), classes, attributes, children);
}

/** The same for elements of SVG. */
export function svg(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  return fill(element, classes, attributes, children);
}

function fill(element, classes, attributes, children) {
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const [key, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child == null || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child);
  }
}

/** A text that may be broken behind points and underscores. */
export function breakable(text) {
  return text.match(/[^._]*[._]?/g).filter(Boolean).map((part) => [part, h('wbr')]);
}

/** @param {Element} element */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** What a pointer is told; rows are [label, value, colour?]. ECharts takes it too. */
export function tooltip(title, rows, note) {
  return h('div.tip', {}, h('div.tip-title', {}, title),
    rows.map(([label, value, colour]) => h('div.tip-row', {},
      h('i', { style: colour ? `background:${colour}` : null }), h('span', {}, label),
      h('b', {}, value))),
    note && h('div.tip-note', {}, note));
}

/** A group of buttons of which one is pressed. */
export function choice(label, options, chosen, change) {
  const buttons = options.map(([value, text]) => h('button', {
    type: 'button',
    'aria-pressed': String(value === chosen),
    onclick: () => {
      for (const [i, button] of buttons.entries())
        button.setAttribute('aria-pressed', String(options[i][0] === value));
      change(value);
    },
  }, text));
  return h('div.choice', { role: 'group', 'aria-label': label }, buttons);
}

/** A labelled select. */
export function select(label, options, chosen, change) {
  const element = h('select', { onchange: () => change(element.value) },
    options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)));
  return h('label.select', {}, h('span', {}, label), element);
}

/** A button that copies what text() gives and says so. */
export function copyButton(text, label = 'Copy') {
  const button = h('button.copy', {
    type: 'button',
    onclick: async () => {
      button.textContent = (await copy(text())) ? 'Copied' : 'Select it and press Ctrl-C';
      setTimeout(() => { button.textContent = label; }, 1800);
    },
  }, label);
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // pages opened from a file may lack the clipboard's API
    const area = h('textarea.offscreen', { 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
