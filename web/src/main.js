// Reads the data that the page carries and shows the view of its kind.
import './style.css';
import { h } from './base/dom.js';
import { comparePage } from './compare/page.js';
import { reportPage } from './report/page.js';
import { servePage } from './serve/page.js';
import { sweepPage } from './sweep/page.js';

const views = { report: reportPage, compare: comparePage, serve: servePage, sweep: sweepPage };

function start() {
  const element = document.getElementById('data');
  const app = document.getElementById('app');
  try {
    const data = JSON.parse(element.textContent);
    const kind = data.kind ?? element.dataset.kind;
    const view = views[kind];
    if (!view) throw new Error(`this page has no view of ${kind}`);
    app.append(...view(data));
  } catch (error) {
    app.append(h('main', {}, h('h1', {}, 'This page can\u2019t be shown'),
      h('p', {}, String(error.message ?? error))));
    throw error;
  }
}

start();
