// SPDX-License-Identifier: MIT
// Raw columns through an ONNX model by ONNX Runtime: node run_columns.mjs MODEL.onnx IN.json OUT.json
// IN: {"column": {"type": "float32" or "string", "values": [...]}}, one value a row, null for NaN. OUT: outputs, flat.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const require = createRequire(join(process.env.NODE_FOLDER, 'package.json'));
const ort = require('onnxruntime-web');
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';
const [model, input, output] = process.argv.slice(2);
const session = await ort.InferenceSession.create(readFileSync(model));
const feeds = {};
for (const [name, { type, values }] of Object.entries(JSON.parse(readFileSync(input, 'utf8')))) {
  const data = type === 'string' ? values : Float32Array.from(values, (value) => (value === null ? NaN : value));
  feeds[name] = new ort.Tensor(type, data, [values.length, 1]);
}
const results = {};
for (const [name, tensor] of Object.entries(await session.run(feeds))) results[name] = Array.from(tensor.data);
writeFileSync(output, JSON.stringify(results));
