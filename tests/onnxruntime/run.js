// Runs a model with ONNX Runtime, one thread:
//   node run.js MODEL OUT [--time ROUNDS] [--plain] NAME=FILE.npy ...
//   node run.js --list < LINES
// A line of --list is the JSON array of such arguments: node starts once, which takes longer than a
// small model.
// --plain runs the graph as it is: optimising one of ten thousands of nodes takes over a minute.
// Writes OUT/<number of the output>.npy and prints JSON: names of the outputs, and with --time the
// milliseconds of every round; of a line that can't be run {"error": why}.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const TYPES = {
  '<f4': ['float32', Float32Array], '<f8': ['float64', Float64Array],
  '<i8': ['int64', BigInt64Array], '<i4': ['int32', Int32Array], '|i1': ['int8', Int8Array],
  '|u1': ['uint8', Uint8Array], '|b1': ['bool', Uint8Array],
};

function readNpy(file) {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + length);
  const [type, Elements] = TYPES[/'descr': '([^']*)'/.exec(header)[1]];
  const shape = /'shape': \(([^)]*)\)/.exec(header)[1];
  const dims = shape.split(',').filter((t) => t.trim() !== '').map(Number);
  const body = bytes.subarray(10 + length);
  const copy = body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength);
  return new ort.Tensor(type, new Elements(copy), dims);
}

function writeNpy(file, tensor) {
  const code = Object.keys(TYPES).find((key) => TYPES[key][0] === tensor.type);
  const shape = tensor.dims.map((d) => d + ',').join(' ');
  let header = `{'descr': '${code}', 'fortran_order': False, 'shape': (${shape}), }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
  const start = Buffer.from(
    [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  const data = tensor.data;
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(header, 'latin1'),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

async function run(args) {
  const at = args.indexOf('--time');
  const rounds = at >= 0 ? Number(args.splice(at, 2)[1]) : 0;
  const flag = args.indexOf('--plain');
  const level = flag >= 0 ? 'disabled' : 'all';
  if (flag >= 0) args.splice(flag, 1);
  const [model, out, ...inputs] = args;
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: 1, interOpNumThreads: 1, executionProviders: ['cpu'], logSeverityLevel: 3,
    graphOptimizationLevel: level,
  });
  const feeds = {};
  for (const text of inputs) {
    const split = text.lastIndexOf('=');
    feeds[text.slice(0, split)] = readNpy(text.slice(split + 1));
  }
  let results = await session.run(feeds);
  const times = [];
  for (let i = 0; i < rounds; ++i) {
    const start = process.hrtime.bigint();
    results = await session.run(feeds);
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  session.outputNames.forEach((name, i) => writeNpy(path.join(out, `${i}.npy`), results[name]));
  const names = session.outputNames;
  await session.release();
  return {outputs: names, times};
}

async function runLines(lines) {
  for (const line of lines) {
    const answer = await run(JSON.parse(line)).catch((error) => ({error: String(error)}));
    console.log(JSON.stringify(answer));
  }
}

async function main() {
  const args = process.argv.slice(2);
  if (args[0] === '--list') return runLines(fs.readFileSync(0, 'utf8').trim().split('\n'));
  console.log(JSON.stringify(await run(args)));
}

main().catch((error) => { console.error(String(error)); process.exit(1); });
