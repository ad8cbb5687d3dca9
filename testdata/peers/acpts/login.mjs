// A client of ACP made with the SDK for TypeScript, with nothing configured: it meets "authentication required", has the
// terminal method run (by whoever reads "run ARGS" on its stdout, and answers with a line on stdin), authenticates, and prompts.
//   login.mjs SDK PROGRAM DIR
import { spawn } from 'node:child_process';
import readline from 'node:readline';
import { Readable, Writable } from 'node:stream';
const [sdk, program, dir] = process.argv.slice(2);
const acp = await import(`${sdk}/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js`);
const { agent, client } = acp.methods;
const bridge = spawn(program, [], { cwd: dir, stdio: ['pipe', 'pipe', 'inherit'] });
let text = '';
await acp.client({ name: 'peer' })
  .onNotification(client.session.update, ({ params }) => {
    if (params.update.sessionUpdate === 'agent_message_chunk') text += params.update.content.text;
  })
  .connectWith(acp.ndJsonStream(Writable.toWeb(bridge.stdin), Readable.toWeb(bridge.stdout)), async ctx => {
    const hello = await ctx.request(agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: { auth: { terminal: true } } });
    const login = hello.authMethods.find(m => m.type === 'terminal');
    const open = { cwd: dir, mcpServers: [] };
    const refused = await ctx.request(agent.session.new, open).then(() => null, e => e);
    if (refused?.code !== -32000) throw new Error(`session/new: ${refused}`);
    console.log(`run ${JSON.stringify({ args: login.args, env: login.env ?? {} })}`);
    await readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
    await ctx.request(agent.authenticate, { methodId: login.id });
    const { sessionId } = await ctx.request(agent.session.new, open);
    const { stopReason } = await ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'hello' }] });
    console.log(`said ${JSON.stringify({ stopReason, text })}`);
  });
bridge.stdin.end();
bridge.on('exit', code => process.exit(code));
