// An agent made with Strands for TypeScript: its A2A server, with a scripted model
// behind a chat-completions endpoint of our own. Prints its URL; ends with its input.
//
//     node strands.mjs DIR    DIR is where the packages of package.json are installed
import http from 'node:http';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.argv[2], 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Agent, tool } = await load('@strands-agents/sdk');
const { OpenAIModel } = await load('@strands-agents/sdk/models/openai');
const { A2AExpressServer } = await load('@strands-agents/sdk/a2a/express');
const { z } = await load('zod');

// The model: the first word of the last prompt says what it does.
function script(messages) {
  const last = messages.at(-1) ?? {};
  const user = messages.findLast((m) => m.role === 'user');
  const text = typeof user?.content === 'string' ? user.content : (user?.content ?? []).map((c) => c.text ?? '').join(' ');
  const word = text.trim().split(/\s+/)[0];
  if (word === 'fail') return { error: 'model refused' };
  if (last.role === 'tool') return { text: 'The tool has answered.' };
  if (word === 'tool') return { text: 'Running it. ', call: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  return { text: `You said ${word}, which is the answer.` };
}

const model = http.createServer((request, response) => {
  let body = '';
  request.on('data', (d) => { body += d; });
  request.on('end', () => {
    const { messages = [], model } = JSON.parse(body || '{}');
    const says = script(messages);
    if (says.error) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: says.error, type: 'invalid_request_error' } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta, finish_reason = null) => response.write('data: ' + JSON.stringify({
      id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] }) + '\n\n');
    chunk({ role: 'assistant', content: '' });
    for (const content of says.text.split(/(?<= )/)) chunk({ content });
    if (says.call) chunk({ tool_calls: [{ index: 0, id: 'call-1', type: 'function', function: says.call }] });
    chunk({}, says.call ? 'tool_calls' : 'stop');
    response.end('data: [DONE]\n\n');
  });
});

const listen = (server) => new Promise((done) => { server.listen(0, '127.0.0.1', () => done(server.address().port)); });
const modelPort = await listen(model);
const port = await (async () => { // a free one: the server wants a number
  const probe = http.createServer();
  const n = await listen(probe);
  await new Promise((done) => { probe.close(done); });
  return n;
})();
const weather = tool({ name: 'weather', description: 'tells the weather', inputSchema: z.object({ city: z.string() }), callback: () => '5 degrees' });
const agentFactory = () => new Agent({
  model: new OpenAIModel({ api: 'chat', apiKey: 'none', modelId: 'scripted', clientConfig: { baseURL: `http://127.0.0.1:${modelPort}/v1` } }),
  tools: [weather], printer: false,
});
const log = console.log;
console.log = () => {}; // the server's own words
new A2AExpressServer({ agentFactory, name: 'strands', description: 'an agent of Strands', host: '127.0.0.1', port }).serve();
const url = `http://127.0.0.1:${port}`;
for (;;) {
  try { await fetch(`${url}/.well-known/agent-card.json`); break; } catch { await new Promise((done) => { setImmediate(done); }); }
}
log(url);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
