// Bundles src/ into dist/: accsim.js, accsim.css, the script's hash and the licences of what is in
// it. `node build.js --out FOLDER` writes elsewhere. The result depends on src/ and on the packages
// that package-lock.json pins, on nothing else.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const at = process.argv.indexOf('--out');
const out = at > 0 ? process.argv[at + 1] : join(here, 'dist');

const result = await build({
  absWorkingDir: here,
  entryPoints: { accsim: 'src/main.js' },
  outdir: out,
  bundle: true,
  write: false,
  minify: true,
  format: 'iife',
  target: ['chrome100', 'firefox100', 'safari15'],
  charset: 'ascii',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});

/** Packages of which the bundle has code, by the paths of its inputs. */
function packagesOf(inputs) {
  const names = new Set();
  for (const path of Object.keys(inputs)) {
    const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (match) names.add(match[1]);
  }
  return [...names].sort();
}

function licences(names) {
  const parts = names.map((name) => {
    const folder = join(here, 'node_modules', name);
    const info = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const read = (file) => {
      try {
        return readFileSync(join(folder, file), 'utf8').trim();
      } catch {
        return '';
      }
    };
    const text = [read('NOTICE'), read('LICENSE') || read('LICENSE.txt')];
    const clean = text.join('\n\n').replace(/[ \t]+$/gm, '').trim();
    return `${name} ${info.version}, ${info.license}\n\n${clean}\n`;
  });
  const rule = `\n${'-'.repeat(78)}\n\n`;
  return `accsim.js holds code of these packages.\n${rule}${parts.join(rule)}`;
}

const names = packagesOf(result.metafile.outputs[
  Object.keys(result.metafile.outputs).find((path) => path.endsWith('.js'))].inputs);
const notice = names.map((name) => {
  const info = JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json'), 'utf8'));
  return `${name} ${info.version} (${info.license})`;
}).join(', ');

mkdirSync(out, { recursive: true });
for (const file of result.outputFiles) {
  if (file.path.endsWith('.css')) {
    writeFileSync(join(out, 'accsim.css'), file.text);
    continue;
  }
  const text = `/* accsim, with ${notice}; licences: web/dist/LICENSES.txt */\n${file.text}`;
  if (/<\/script|<!--/i.test(text)) throw new Error('the bundle holds what ends a script');
  writeFileSync(join(out, 'accsim.js'), text);
  const hash = createHash('sha256').update(text).digest('base64');
  writeFileSync(join(out, 'accsim.js.sha256'), `sha256-${hash}`);
}
writeFileSync(join(out, 'LICENSES.txt'), licences(names));
