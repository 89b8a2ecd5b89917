// SPDX-License-Identifier: MIT
// Outputs of an ONNX model by ONNX Runtime: node run_onnx.mjs MODEL.onnx X.f32 ROWS COLS OUT.f32
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const require = createRequire(join(process.env.NODE_FOLDER, 'package.json'));
const ort = require('onnxruntime-web');
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';
const [model, input, rows, cols, output] = process.argv.slice(2);
const bytes = readFileSync(input);
const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const session = await ort.InferenceSession.create(readFileSync(model));
const features = new ort.Tensor('float32', values, [Number(rows), Number(cols)]);
const results = await session.run({ features });
writeFileSync(output, Buffer.from(new Float32Array(results.output.data).buffer));
