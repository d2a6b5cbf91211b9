// What it takes to make this page again.
import { copyButton, h } from '../base/dom.js';
import { section } from '../base/frame.js';

export function codeBox(title, text) {
  return h('div.code', {}, h('div.code-head', {}, h('h3', {}, title), copyButton(() => text)),
    h('pre', { tabindex: '0', 'aria-label': title }, text));
}

export function repeat({ model }) {
  const { command, machine_yaml: yaml, version } = model.data;
  return section({
    id: 'repeat', short: 'Repeat', title: 'Run it again',
    note: `Made by ${version} of ${model.report.model.file} on ${model.hw.file}. The same model, `
      + 'machine and options give the same page.',
  }, codeBox('Command line', command), codeBox('Machine', yaml));
}
