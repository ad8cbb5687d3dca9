// An agent made with Google's ADK for JavaScript: its A2A server, with a scripted model and a
// tool that asks for a confirmation. Prints its URL; ends with its input.
//
//     node adk.mjs DIR    DIR is where the packages of adk.json are installed
import http from 'node:http';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.argv[2], 'package.json'));
const load = (name) => import(pathToFileURL(path.join(process.argv[2], 'node_modules', name)));
const adk = await load('@google/adk/dist/esm/index.js');
const { z } = require('zod');

// The first word of the last prompt says what it does.
class Script extends adk.BaseLlm {
  constructor() { super({ model: 'scripted' }); }

  async *generateContentAsync(request) {
    // An answer to a confirmation has no words: a model goes by the prompt before it then.
    const parts = (request.contents ?? []).findLast((c) => c.parts?.some((p) => p.text || p.functionResponse))?.parts ?? [];
    const answer = parts.find((p) => p.functionResponse)?.functionResponse;
    const text = parts.map((p) => p.text ?? '').join(' ').trim();
    if (answer) {
      yield this.says([{ text: `The tool ${answer.name} has answered.` }]);
    } else if (text.startsWith('fail')) {
      throw new Error('model refused');
    } else if (text.startsWith('tool')) {
      yield this.says([{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }]);
    } else if (text.startsWith('confirm')) {
      yield this.says([{ functionCall: { name: 'wipe', args: { path: 'build' } } }]);
    } else {
      for (const word of `You said ${text}, which is the answer.`.split(/(?<= )/)) yield { ...this.says([{ text: word }]), partial: true };
      yield this.says([{ text: `You said ${text}, which is the answer.` }]);
    }
  }

  says(parts) { return { content: { role: 'model', parts } }; }
}

const weather = new adk.FunctionTool({ name: 'weather', description: 'tells the weather', parameters: z.object({ city: z.string() }), execute: ({ city }) => `5 degrees in ${city}` });
const wipe = new adk.FunctionTool({ name: 'wipe', description: 'wipes a directory', parameters: z.object({ path: z.string() }), requireConfirmation: true,
  execute: ({ path: what }) => `wiped ${what}` });
const agent = new adk.LlmAgent({ name: 'scripted', description: 'an agent of ADK for JavaScript', model: new Script(), tools: [weather, wipe] });
const probe = http.createServer(); // finds a free port: the server wants a number
const port = await new Promise((done) => { probe.listen(0, '127.0.0.1', () => done(probe.address().port)); });
await new Promise((done) => { probe.close(done); });
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true; // the server's own words
const app = await adk.toA2a(agent, { host: '127.0.0.1', port, allowUnauthenticated: true });
app.listen(port, '127.0.0.1', () => print(`http://127.0.0.1:${port}\n`));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
