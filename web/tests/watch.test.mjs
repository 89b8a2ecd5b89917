// SPDX-License-Identifier: MIT
// The watch page against a small server of events.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import {test} from 'node:test';
import {block, open_page, overflow} from './browser.mjs';
import {drawn_bars, drawn_paths} from './drawn.mjs';

const html = readFileSync(new URL('../dist/watch.html', import.meta.url));
const limit = {timeout: 60_000};

class Server {
  clients = new Set();
  last = '';

  async start(port = 0) {
    this.server = http.createServer((request, response) => {
      if (request.url === '/') return response.writeHead(200, {'Content-Type': 'text/html'}).end(html);
      if (request.url !== '/events') return response.writeHead(404).end();
      response.writeHead(200, {'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store'});
      response.write(`retry: 200\n\n${this.last}`);
      this.clients.add(response);
      return response.on('close', () => this.clients.delete(response));
    });
    await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.port = this.server.address().port;
  }

  send(event, data) {
    const message = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    if (event === 'report') this.last = message;
    for (const client of this.clients) client.write(message);
  }

  async stop() {
    for (const client of this.clients) client.destroy();
    await new Promise((resolve) => {
      this.server.close(resolve);
      this.server.closeAllConnections?.();
    });
  }
}

function job(iterations, state = 'running') {
  const times = Array.from({length: iterations}, (_, i) => i);
  return {
    format: 1, title: 'udv watch run-1', udv: '0.1.0',
    progress: {done: iterations / 100, text: `iteration ${iterations} of 100`, seconds: iterations / 10, left: (100 - iterations) / 10, state},
    sections: [
      {id: 'live', title: 'Live', status: state === 'running' ? 'running' : undefined, blocks: [
        {kind: 'lines', title: 'Objective', x: {title: 'iteration', scale: 'linear'}, y: {title: 'objective', scale: 'log'},
          series: [{name: 'udu', points: times.map((t) => [t, Math.exp(-t / 9)])}, {name: 'bm', dash: true, points: times.map((t) => [t, Math.exp(-t / 30)])}]},
        {kind: 'bars', title: 'Columns', times, time_title: 'iteration', x_title: 'column', panels: [{title: 'norm', values: times.map((t) => [1, Math.exp(-t / 20), 0.5])}]},
        {kind: 'facts', title: 'Now', items: [['rank', String(Math.max(3, 60 - iterations))]]},
      ]},
      {id: 'log', title: 'More', open: true, blocks: [{kind: 'text', text: 'Words. '.repeat(2000)}]},
    ],
  };
}

const says = (page, text) => page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text);
const points = async (figure) => (await drawn_paths(figure, 0, 'lines')).map((path) => path.length);

test('the watch page follows a job in place, survives a lost connection, and the end', limit, async (t) => {
  const server = new Server();
  await server.start();
  t.after(() => server.stop());
  const address = `http://127.0.0.1:${server.port}/`;
  const page = await open_page(address, {height: 600});
  await says(page, 'Waiting for the first update');
  server.send('report', job(10));
  await says(page, 'iteration 10 of 100');
  assert.ok(await page.locator('.notice').isHidden());
  const [lines, bars] = [await block(page, 0, 0), await block(page, 0, 1)];
  assert.deepEqual(await points(lines), [10, 10]);

  await lines.getByRole('button', {name: 'bm'}).click();
  await bars.locator('input[type=range]').fill('4');
  await page.locator('details.card').nth(1).locator('summary').click();
  await page.evaluate(() => {
    document.querySelectorAll('.chart').forEach((figure) => (figure.kept = true));
    scrollTo(0, 150);
  });
  server.send('report', job(20));
  await says(page, 'iteration 20 of 100');
  assert.deepEqual(await points(lines), [20], 'the hidden series stays hidden');
  assert.equal(await bars.locator('output').innerText(), 'iteration 4', 'the slider stays');
  assert.equal(await page.locator('details.card').nth(1).evaluate((card) => card.open), false, 'a folded section stays folded');
  assert.equal(await page.evaluate(() => [...document.querySelectorAll('.chart')].every((figure) => figure.kept)), true);
  assert.equal(await page.evaluate(() => scrollY), 150);
  await says(page, '40');

  await bars.locator('input[type=range]').fill('19');
  server.send('report', job(30));
  await says(page, 'iteration 30 of 100');
  assert.equal(await bars.locator('output').innerText(), 'iteration 29', 'who looks at the newest follows it');
  assert.equal((await drawn_bars(bars, 0)).length, 3);

  await server.stop();
  await says(page, 'connection to udv watch is lost');
  server.last = '';
  await server.start(server.port);
  await page.waitForFunction(() => document.querySelector('.notice').hidden);
  server.send('report', job(60));
  await says(page, 'iteration 60 of 100');

  server.send('report', job(100, 'ended'));
  server.send('end', {});
  await says(page, 'The job has ended');
  await server.stop();
  await page.waitForTimeout(600);
  await says(page, 'The job has ended');
  assert.deepEqual(await points(lines), [100]);
  const unexpected = page.requests.filter((url) => !url.startsWith(address) && !/^(data|blob):/.test(url));
  assert.deepEqual(unexpected, []);
  assert.deepEqual([...new Set(page.requests.map((url) => new URL(url).pathname))].filter((path) => path !== ','), ['/', '/events']);
  assert.ok(await overflow(page) <= 0);
  await page.context().close();
});

test('the watch page is quiet while all is well, also on a phone', limit, async (t) => {
  const server = new Server();
  await server.start();
  t.after(() => server.stop());
  const page = await open_page(`http://127.0.0.1:${server.port}/`, {width: 390});
  for (let k = 1; k <= 20; ++k) {
    server.send('report', job(k * 5));
    await page.waitForTimeout(30);
  }
  await says(page, 'iteration 100 of 100');
  assert.deepEqual(page.trouble, []);
  assert.ok(await overflow(page) <= 0);
  await page.context().close();
});
