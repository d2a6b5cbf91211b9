// node text.js: names and numbers as the pages write them. What is expected follows from how the
// names were made, or from the numbers.
import assert from 'node:assert/strict';
import { count, counted, digits, times } from '../../web/src/base/format.js';
import { shortNames } from '../../web/src/base/names.js';

const range = (n) => Array.from({ length: n }, (_, i) => i);
const long = 'a-part-that-all-names-have';
/** Names by what tells them apart; of each name's label is asked that it holds that. */
const families = {
  'layers of a transformer': range(24).map((i) =>
    [`/model/${long}/encoder/layer.${i}/attention/self/query/MatMul`, `${i}/`]),
  'operators of a block': ['query', 'key', 'value', 'dense'].map((part) =>
    [`/model/${long}/layer.3/attention/self/${part}/MatMul`, part]),
  'modules with points': range(30).map((i) => [`${long}.model.blocks.${i}.mlp.fc1`, `${i}.`]),
  'numbered nodes': range(300).map((i) => [`node_of_${long.replaceAll('-', '_')}_${i}`, `${i}`]),
  'ends without parts': range(12).map((i) => [`${long}${long}${i}`, `${i}`]),
  'starts without parts': range(12).map((i) => [`${i}${long}${long}`, `${i}`]),
  'other letters': range(9).map((i) => [`/\u5c64/${'\u5c64'.repeat(30)}/${i}/\u5377`, `${i}`]),
};

function namesAreToldApart(family, made, most) {
  const names = made.map(([name]) => name), short = shortNames(names, most);
  const labels = names.map((name) => short.get(name));
  const what = `${family} in ${most}: ${labels.slice(0, 4).join(' ')}`;
  assert.equal(new Set(labels).size, new Set(names).size, what);
  for (const [i, [name, part]] of made.entries()) {
    const letters = [...labels[i]].length;
    assert.ok(letters <= most, `${what}: ${labels[i]} has ${letters}`);
    if ([...name].length <= most) assert.equal(labels[i], name);
    else assert.ok(labels[i].includes(part), `${what}: ${name} is ${labels[i]}`);
  }
}

for (const most of [21, 22, 24, 30, 200])
  for (const [family, made] of Object.entries(families)) namesAreToldApart(family, made, most);
// The part that all have isn't shown, where there is room for the rest.
for (const [name, label] of shortNames(families['operators of a block'].map(([n]) => n), 22))
  assert.equal(label, `\u2026${name.split('/').at(-2)}/MatMul`);
// A long operator's name doesn't hide the module.
namesAreToldApart('norms', range(12).flatMap((i) => [1, 2].map((k) =>
  [`/blocks.${i}/ln${k}/LayerNormalization`, `blocks.${i}/ln${k}/`])), 21);
// Others that don't have it take nothing away from those that do.
const mixed = [...families['layers of a transformer'], [`/classifier/${long}/Gemm`, 'Gemm']];
namesAreToldApart('with an outlier', mixed, 21);
namesAreToldApart('one alone', [[`/model/${long}/layer.3/attention/MatMul`, 'MatM']], 21);
namesAreToldApart('the same twice', [[`${long}/Conv`, 'Conv'], [`${long}/Conv`, 'Conv']], 21);
// What no cut tells apart gets a number.
const alike = range(40).map((i) => [`${'x'.repeat(30)}${String.fromCharCode(97 + (i % 20))}`
  + `${'y'.repeat(20)}${i < 20 ? 'p' : 'q'}${'z'.repeat(30)}`, '']);
namesAreToldApart('told apart in the middle', alike, 21);
assert.equal(shortNames([], 21).size, 0);

// Numbers that are less than nothing only by rounding.
for (const v of [-0, -1e-9, -4e-7]) assert.equal(digits(v), '0');
for (const v of [-0, -0.3]) assert.equal(count(v), '0');
assert.equal(count(-1234.6), '-1,235');
// A factor is said as what it is of A.
assert.equal(times(4.02), '4.02 \u00d7');
assert.equal(times(1 / 4.02), '1/4.02 of');
assert.equal(times(1.002), '0.2 % more than');
assert.equal(times(0.998), '0.2 % less than');
assert.equal(times(1 + 1e-9), '< 0.1 % more than');
assert.equal(counted(1, 'operations'), '1 operation');
assert.equal(counted(0, 'operations'), '0 operations');
assert.equal(counted(152, 'operations'), '152 operations');
assert.equal(counted(25_557_032, 'parameters'), '25.6 million parameters');
assert.equal(counted(4.09e9, 'multiplications'), '4.09 billion multiplications');
assert.equal(counted(999_999_999, 'things'), '1 billion things');
assert.equal(counted(3e15, 'things'), '3000 trillion things');
console.log('names and numbers are as they should be');
