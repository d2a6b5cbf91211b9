// node pages.js CHROMIUM FOLDER: opens the pages that pages_test.py has put into the folder.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  accessible, check, drawAll, figures, fits, loading, open, prints, problems, slow, visit,
  visitAgain,
} from './browser.js';
import { onPhone } from './phone.js';
import { useReport } from './report_pages.js';
import { useServe, watchesSweep } from './serve_pages.js';
import { useSweep } from './sweep_pages.js';

const [, , program, folder] = process.argv;
const pages = JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8'));
const browser = await open(program);
const answers = {};

/** In the other theme and on a phone: contrast, nothing sticks out, and paper if `print`. */
async function look(view, what, kinds) {
  for (const kind of kinds) {
    await visitAgain(view, kind);
    await drawAll(view);
    await accessible(view);
    await fits(view);
    if (kind.width) await onPhone(view, what);
    if (kind.print) await prints(view);
    if (kind.shot) await view.page.screenshot({ path: join(folder, kind.shot), fullPage: true });
  }
}

async function use(file, described) {
  const { name, kind, layers, points } = described;
  if (kind === 'serve') return useServe(browser, file, described);
  const view = await visit(browser, file);
  await loading(view, 2000);
  if (kind === 'report') await useReport(view, layers);
  if (kind === 'sweep') answers[name] = await useSweep(view, points);
  return view;
}

for (const described of pages) {
  const { name, thorough, address } = described;
  const file = address ?? join(folder, `${name}.html`);
  let view = await use(file, described);
  // Other tests share caches and cores: what is slow is so every time.
  let always = slow.splice(0);
  for (let round = 0; round < 3 && always.length > 0; ++round) {
    figures.push(`${name}: once more, because ${always.map((s) => s.text).join('; ')}`);
    await view.context.close();
    view = await use(file, described);
    const again = new Set(slow.splice(0).map((s) => s.what));
    always = always.filter((s) => again.has(s.what));
  }
  problems.push(...always.map((s) => s.text));
  if (described.sweep) await watchesSweep(view, described.sweep);
  await drawAll(view);
  check(await view.page.locator('main section').count() > 3, `${name}: sections are missing`);
  await accessible(view);
  await prints(view);
  const dark = { scheme: 'dark', print: !thorough };
  await look(view, described.kind, thorough ? [dark, { scheme: 'light', width: 360 },
    { scheme: 'dark', width: 390 }] : [dark]);
  await view.context.close();
}
await browser.close();
writeFileSync(join(folder, 'answers.json'), JSON.stringify(answers));
for (const line of figures) console.log(line);
for (const line of problems) console.log(`PROBLEM: ${line}`);
process.exit(problems.length > 0 ? 1 : 0);
