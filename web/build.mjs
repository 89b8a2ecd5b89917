// SPDX-License-Identifier: MIT
// node build.mjs [OUTDIR]: bundles src/ into OUTDIR/report.html and OUTDIR/watch.html, each one self-contained file.
import {mkdir, readFile, readdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, 'dist'));
const marker = '__UDV_REPORT__';
const policy = "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

const pages = [
  {name: 'report', entry: 'main.ts', policy, data: marker},
  {name: 'watch', entry: 'watch.ts', policy: `${policy}; connect-src 'self'`, data: 'null'},
];

async function bundle(entry, options = {}) {
  const result = await esbuild.build({
    absWorkingDir: here,
    entryPoints: [path.join('src', entry)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    charset: 'ascii',
    target: ['es2020', 'chrome100', 'firefox100', 'safari15'],
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
  return {text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs)};
}

// The licences of the bundled packages ask that their texts travel with every copy; equal texts are written once.
async function licences(inputs) {
  const folders = new Set(inputs.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(Boolean));
  const names_of = new Map();
  for (const folder of [...folders].sort()) {
    const absolute = path.resolve(here, folder);
    const {name, version, license} = JSON.parse(await readFile(path.join(absolute, 'package.json'), 'utf8'));
    const file = (await readdir(absolute)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? (await readFile(path.join(absolute, file), 'utf8')).trim() : `Licence: ${license}`;
    names_of.set(text, [...(names_of.get(text) ?? []), `${name} ${version}`]);
  }
  return [...names_of].map(([text, names]) => `${names.join(', ')}\n\n${text}\n`).join('\n----\n\n');
}

// A script or style inside HTML ends at the first closing tag, wherever it stands; a comment opening changes how it is read.
function safe_inside(tag, text) {
  if (new RegExp(`</${tag}|<!--|${marker}`, 'i').test(text)) throw new Error(`the bundled ${tag} cannot stand inside HTML`);
  return text;
}

const style = safe_inside('style', (await bundle('page.css')).text);
const template = await readFile(path.join(here, 'src', 'page.html'), 'utf8');
await mkdir(out, {recursive: true});
for (const page of pages) {
  const {text, inputs} = await bundle(page.entry, {format: 'iife'});
  const parts = {
    POLICY: page.policy, STYLE: style, DATA: page.data,
    SCRIPT: safe_inside('script', text), LICENCES: safe_inside('script', await licences(inputs)),
  };
  const html = template.replace(/\{\{([A-Z]+)\}\}/g, (_, name) => parts[name]);
  const file = path.join(out, `${page.name}.html`);
  await writeFile(file, html);
  console.log(`${file}: ${(Buffer.byteLength(html) / 1024).toFixed(0)} KiB`);
}
