// An agent of Mastra: its A2A server, with a scripted model. Prints its URL; ends with
// its input.
//
//     node mastra.mjs DIR    DIR is where the packages of package.json are installed
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import fs from 'node:fs';

// They have no entry for require, so their own word for import is looked up.
function load(name) {
  const [, pkg, rest] = name.match(/^(@[^/]+\/[^/]+|[^/]+)(.*)$/);
  const dir = path.join(process.argv[2], 'node_modules', pkg);
  const { exports: has, main } = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
  let entry = has?.['.' + rest] ?? main;
  while (typeof entry === 'object') entry = entry.import ?? entry.default;
  return import(pathToFileURL(path.join(dir, entry)));
}
const { Hono } = await load('hono');
const { serve } = await load('@hono/node-server');
const { Mastra } = await load('@mastra/core');
const { Agent } = await load('@mastra/core/agent');
const { MastraServer } = await load('@mastra/hono');
const { InMemoryTaskStore } = await load('@mastra/server/a2a/store');

const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18 };
function text(prompt) {
  const user = prompt.findLast((m) => m.role === 'user');
  return `You said ${user.content.map((c) => c.text ?? '').join(' ').trim()}, which is the answer.`;
}
const model = {
  specificationVersion: 'v2', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    return { content: [{ type: 'text', text: text(prompt) }], finishReason: 'stop', usage, warnings: [] };
  },
  async doStream({ prompt }) {
    return { stream: new ReadableStream({ start(c) {
      c.enqueue({ type: 'stream-start', warnings: [] });
      c.enqueue({ type: 'text-start', id: '1' });
      for (const delta of text(prompt).split(/(?<= )/)) c.enqueue({ type: 'text-delta', id: '1', delta });
      c.enqueue({ type: 'text-end', id: '1' });
      c.enqueue({ type: 'finish', finishReason: 'stop', usage });
      c.close();
    } }) };
  },
};
const agent = new Agent({ id: 'demo', name: 'demo', instructions: 'Say it again.', model });
const app = new Hono();
await new MastraServer({ app, mastra: new Mastra({ agents: { demo: agent }, logger: false }), taskStore: new InMemoryTaskStore() }).init();
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/api/.well-known/demo/agent-card.json`);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
