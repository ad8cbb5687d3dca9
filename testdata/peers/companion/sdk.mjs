// Checks a companion with the official TypeScript MCP client: node sdk.mjs DIR URL TOKEN FILE
import { createRequire } from 'node:module';
import http from 'node:http';
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [dir, url, token, file] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(dir), 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + name)));
const { Client } = await load('client/index.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
const { CallToolResultSchema } = await load('types.js');
const z = require('zod');

// The schemas of Gemini CLI (packages/core/src/ide/types.ts), with which it disconnects for good from a companion that does
// not keep to them.
const position = z.object({ line: z.number().min(1), character: z.number().min(1) });
const openFile = z.object({ path: z.string(), timestamp: z.number(), isActive: z.boolean().optional(), selectedText: z.string().optional(), cursor: position.optional() });
const notices = {
  context: z.object({ jsonrpc: z.literal('2.0').optional(), method: z.literal('ide/contextUpdate'), params: z.object({ workspaceState: z.object({ openFiles: z.array(openFile).optional(), isTrusted: z.boolean().optional() }).optional() }) }),
  accepted: z.object({ method: z.literal('ide/diffAccepted'), params: z.object({ filePath: z.string(), content: z.string() }) }),
  rejected: z.object({ method: z.literal('ide/diffRejected'), params: z.object({ filePath: z.string() }).strict() }),
};

const open = [];
async function connect({ bearer = token, fetch } = {}) {
  const client = new Client({ name: 'streamable-http-client', version: '0.61.0' });
  const heard = [], waiting = [], errors = [];
  client.onerror = (e) => errors.push(e);
  for (const [kind, schema] of Object.entries(notices)) {
    client.setNotificationHandler(schema, (n) => {
      heard.push({ kind, ...n.params });
      for (const w of waiting.splice(0)) w();
    });
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, requestInit: { headers: { Authorization: `Bearer ${bearer}` } } });
  await client.connect(transport);
  const c = {
    client, transport, heard, errors,
    tool: (name, args) => client.request({ method: 'tools/call', params: { name, arguments: args } }, CallToolResultSchema),
    // next waits for a notification that was not taken yet.
    async next(kind, test = () => true) {
      const deadline = Date.now() + 60000;
      for (;;) {
        const i = heard.findIndex((n) => n.kind === kind && test(n));
        if (i >= 0) return heard.splice(i, 1)[0];
        assert(Date.now() < deadline, `no ${kind}; heard ${JSON.stringify(heard).slice(0, 300)}`);
        await Promise.race([new Promise((r) => waiting.push(r)), new Promise((r) => setTimeout(r, 1000).unref())]);
      }
    },
  };
  open.push(c);
  return c;
}

function raw(method, headers, body = '', target = url) {
  return new Promise((resolve, reject) => {
    const u = new URL(target);
    const r = http.request({ host: u.hostname, port: u.port, path: u.pathname, method, headers: { Authorization: `Bearer ${token}`, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...headers } }, (res) => {
      res.resume();
      res.on('end', () => resolve(res.statusCode));
    });
    r.on('error', reject);
    r.end(body);
  });
}
const init = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '0' } } });

let failed = 0;
async function check(name, f) {
  try {
    await f();
    console.log(`ok ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAIL ${name}: ${String(e.message).replaceAll('\n', ' ')}`);
  }
}

const a = await connect();
await check('initialize', () => assert.equal(a.client.getServerVersion().name, 'a2astdio-companion'));
await check('session', () => assert(a.transport.sessionId));
await check('ping', () => a.client.ping());
await check('tools/list', async () => {
  const { tools } = await a.client.listTools();
  assert.deepEqual(tools.map((t) => t.name), ['openDiff', 'closeDiff']);
  assert.deepEqual(tools[0].inputSchema.required, ['filePath', 'newContent']);
});
await check('no prompts, no resources', () => assert.rejects(a.client.listPrompts()));
await check('context of a CLI that comes later', async () => {
  const n = await a.next('context');
  assert.deepEqual(n.workspaceState.openFiles, [{ path: file, timestamp: 1763769600123, isActive: true, cursor: { line: 2, character: 3 }, selectedText: 'beta' }]);
});
const at = (name) => path.join(path.dirname(file), name);
await check('openDiff, accepted with edits', async () => {
  assert.deepEqual(await a.tool('openDiff', { filePath: at('accept'), newContent: 'new\n' }), { content: [] });
  assert.deepEqual(await a.next('accepted'), { kind: 'accepted', filePath: at('accept'), content: 'new\nedited\n' });
});
await check('openDiff, rejected', async () => {
  assert.deepEqual(await a.tool('openDiff', { filePath: at('reject'), newContent: 'new\n' }), { content: [] });
  assert.equal((await a.next('rejected')).filePath, at('reject'));
});
await check('openDiff, not shown', async () => assert.deepEqual(await a.tool('openDiff', { filePath: at('fail'), newContent: 'new\n' }), { content: [] }));
await check('closeDiff', async () => {
  await a.tool('openDiff', { filePath: at('wait'), newContent: 'new\n' });
  const r = await a.tool('closeDiff', { filePath: at('wait'), suppressNotification: true });
  assert.deepEqual([r.content.length, r.content[0].type, JSON.parse(r.content[0].text)], [1, 'text', { content: 'new\nleft\n' }]);
});
await check('closeDiff of none', async () => assert.deepEqual(JSON.parse((await a.tool('closeDiff', { filePath: at('wait') })).content[0].text), {}));
await check('closeDiff fails', async () => {
  await a.tool('openDiff', { filePath: at('stuck'), newContent: 'new\n' });
  const r = await a.tool('closeDiff', { filePath: at('stuck') });
  assert(r.isError && r.content[0].type === 'text' && r.content[0].text);
});
for (const [name, args] of Object.entries({ 'no filePath': { newContent: 'x' }, 'no newContent': { filePath: at('x') }, 'a relative path': { filePath: 'x', newContent: 'x' }, 'a number': { filePath: 7, newContent: 'x' }, 'no arguments': undefined })) {
  await check(`malformed: ${name}`, async () => {
    const r = await a.tool('openDiff', args);
    assert(r.isError && r.content[0].text);
  });
}
await check('unknown tool', () => assert.rejects(a.tool('asExternalUri', { uri: 'x' }), { code: -32602 }));
await check('12 MB', async () => {
  const large = 'a line of text, ü and <&>\n'.repeat(500000).slice(0, 12 << 20);
  await a.tool('openDiff', { filePath: at('accept'), newContent: large });
  assert.equal((await a.next('accepted')).content, large + 'edited\n');
  await a.tool('openDiff', { filePath: at('wait'), newContent: large });
  assert.equal(JSON.parse((await a.tool('closeDiff', { filePath: at('wait') })).content[0].text).content, large + 'left\n');
});
await check('two clients', async () => {
  const b = await connect();
  await b.next('context');
  await Promise.all([a.tool('openDiff', { filePath: at('accept'), newContent: 'of a\n' }), b.tool('openDiff', { filePath: at('accept'), newContent: 'of b\n' })]);
  assert.equal((await a.next('accepted')).content, 'of a\nedited\n');
  assert.equal((await b.next('accepted')).content, 'of b\nedited\n');
  assert.equal(a.heard.concat(b.heard).filter((n) => n.kind !== 'context').length, 0);
  // A DELETE is goodbye: the session is not there any more.
  await b.transport.terminateSession();
  await assert.rejects(b.client.ping());
});
await check('a stalled client keeps nothing from the others', async () => {
  const session = await new Promise((resolve, reject) => {
    const u = new URL(url);
    const r = http.request({ host: u.hostname, port: u.port, path: u.pathname, method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' } }, (res) => resolve(res.headers['mcp-session-id']));
    r.on('error', reject);
    r.end(init);
  });
  await new Promise((resolve, reject) => {
    const u = new URL(url);
    const r = http.request({ host: u.hostname, port: u.port, path: u.pathname, method: 'GET', headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream', 'Mcp-Session-Id': session } }, (res) => {
      res.pause(); // and reads nothing
      res.on('error', () => {});
      resolve();
    });
    r.on('error', reject);
    r.end();
  });
  for (let i = 0; i < 50; i++) {
    await a.tool('openDiff', { filePath: at('accept'), newContent: `${i}\n` });
    assert.equal((await a.next('accepted')).content, `${i}\nedited\n`);
  }
});
await check('reconnect', async () => {
  // The stream is cut once: the SDK opens it again, in the same session.
  let cut;
  const c = await connect({ fetch: async (u, o = {}) => {
    const response = await fetch(u, o);
    if (o.method !== 'GET' || cut) return response;
    const reader = response.body.getReader();
    return new Response(new ReadableStream({
      start(controller) {
        cut = () => { controller.error(new Error('cut')); reader.cancel(); };
        (async () => { for (;;) { const { done, value } = await reader.read(); if (done) return; controller.enqueue(value); } })().catch(() => {});
      },
    }), { status: response.status, headers: response.headers });
  } });
  await c.next('context');
  cut();
  await c.next('context'); // again, since it may have forgotten it
  await c.tool('openDiff', { filePath: at('accept'), newContent: 'x\n' });
  assert.equal((await c.next('accepted')).content, 'x\nedited\n');
});
await check('wrong token', () => assert.rejects(connect({ bearer: 'wrong' }), /token/));
for (const [name, headers, status] of [
  ['no token', { Authorization: '' }, 401], ['another token', { Authorization: `Bearer ${token}x` }, 401],
  ['an Origin', { Origin: 'http://localhost' }, 403], ['a null Origin', { Origin: 'null' }, 403],
  ['another Host', { Host: 'evil.example' }, 403], ['another port in Host', { Host: '127.0.0.1:1' }, 403],
  ['an unknown version', { 'Mcp-Protocol-Version': '1999-01-01' }, 400], ['an unknown session', { 'Mcp-Session-Id': 'x' }, 404],
]) {
  await check(name, async () => assert.equal(await raw('POST', headers, init), status));
}
await check('another path', async () => assert.equal(await raw('POST', {}, init, new URL('/', url).href), 404));
await check('malformed JSON', async () => assert.equal(await raw('POST', {}, '{'), 400));
await check('no session', async () => assert.equal(await raw('GET', {}), 400));
await check('no errors', () => assert.deepEqual(a.errors, []));
for (const c of open) await c.client.close();
process.exit(failed ? 1 : 0);
