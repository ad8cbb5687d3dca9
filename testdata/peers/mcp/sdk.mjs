// A client of an MCP server, made with an official TypeScript SDK, that does what it reads on stdin:
// node sdk.mjs DIR 1|2 VERSION ACTION CWD COMMAND [ARG]...
// ACTION is empty where nobody can be asked. A line of stdin is a call {id, tool, args}, a {cancel: id}, or the answer
// {answers: id, with: result} to a question. A line of stdout is {ID, Result}, {ID, Error} or the question {ID, Ask}.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [dir, sdk, version, action, cwd, command, ...args] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(dir), 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/' + name)));
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

const info = { name: 'typescript-sdk', version: sdk === '1' ? '1.32.2' : '2.4.0' };
const options = { capabilities: action ? { elicitation: { form: {}, url: {} } } : {} };
const questions = new Map();
let asked = 0;
const ask = ({ params }) => new Promise((answer) => {
  questions.set(++asked, answer);
  say({ ID: asked, Ask: params });
});

let client, Transport;
if (sdk === '1') {
  client = new (await load('sdk/client/index.js')).Client(info, options);
  Transport = (await load('sdk/client/stdio.js')).StdioClientTransport;
  if (action) client.setRequestHandler((await load('sdk/types.js')).ElicitRequestSchema, ask);
} else {
  const modern = version >= '2026';
  client = new (await load('client')).Client(info, { ...options, versionNegotiation: { mode: modern ? 'auto' : 'legacy' } });
  Transport = (await load('client/stdio')).StdioClientTransport;
  if (action) client.setRequestHandler('elicitation/create', ask);
}
const transport = new Transport({ command, args, cwd, env: process.env, stderr: 'inherit' });
// Neither SDK has an option for the older versions: they are asked for in the first line.
const send = transport.send.bind(transport);
transport.send = (message, ...more) => {
  if (message.method === 'initialize') message = { ...message, params: { ...message.params, protocolVersion: version } };
  return send(message, ...more);
};
await client.connect(transport);

const running = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.cancel) running.get(order.cancel)?.abort('the user has cancelled');
  else if (order.answers) questions.get(order.answers)(order.with);
  else {
    const abort = new AbortController();
    running.set(order.id, abort);
    client.callTool({ name: order.tool, arguments: order.args }, ...(sdk === '1' ? [undefined] : []), { signal: abort.signal })
      .then((r) => say({ ID: order.id, Result: r }), (e) => say({ ID: order.id, Error: String(e) }));
  }
}
await client.close();
