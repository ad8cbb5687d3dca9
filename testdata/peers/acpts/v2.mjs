// A client of ACP's version 2 made with the SDK for TypeScript. It reads what its user does from stdin, a JSON object a line, and
// prints what the user sees of each. What the SDK does not know, or refuses, is not seen, or is on stderr.
//   v2.mjs SDK DIR PROGRAM ARG...
//   {"do":"new"}  {"do":"resume"}  {"do":"prompt","text":TEXT,"pick":KIND,"cancelAt":TEXT}  {"do":"wait"}  {"do":"run","text":COMMAND}
// available_commands_update comes at any time, and is left out. "resume" is of the session that "new" has begun before, in the same DIR. A message whose ID is not that of before is marked.
import { execSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { Readable, Writable } from 'node:stream';
const [sdk, dir, program, ...args] = process.argv.slice(2);
const acp = await import(`${sdk}/node_modules/@agentclientprotocol/sdk/dist/v2/stable/acp.js`);
const { agent, client } = acp.methods;
const bridge = spawn(program, args, { cwd: dir, stdio: ['pipe', 'pipe', 'inherit'] });

const items = new Map(); // by kind and ID, where they were first seen
let seen, step, ended, end;
function begin() {
  seen = { states: [], touched: [], asked: [], notices: [], other: [] };
  ended = new Promise(resolve => { end = resolve; });
}
function item(kind, id) {
  const key = `${kind} ${id}`;
  if (!items.has(key)) items.set(key, { what: kind, id, text: '', replaced: 0 });
  if (!seen.touched.includes(key)) seen.touched.push(key);
  return items.get(key);
}
const file = path.join(dir, '.session'); // the session's ID, and those of its prompts
const session = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { id: '', prompts: [] };
function tell(found) {
  const lines = [`> ${step.do}${step.text ? ` ${step.text}` : ''}${step.pick ? `, ${step.pick}` : ''}`, `states: ${seen.states.join(' ')}`];
  for (const i of found) {
    if (i.what === 'user_message') lines.push(`user: ${i.text}${session.prompts.includes(i.id) ? '' : ' (another ID)'}`);
    else if (i.what === 'call') lines.push(`call: ${i.title}: ${i.status}`);
    else if (i.what === 'terminal') lines.push(`terminal, exit ${JSON.stringify(i.exitStatus)}: ${i.text}`);
    else lines.push(`${i.what.replace('agent_', '')}${i.replaced ? `, replaced ${i.replaced} times` : ''}: ${i.text}`);
  }
  for (const { title, subject } of seen.asked) {
    lines.push(`asked: ${title}${subject.type === 'command' ? ` (command ${subject.command} in ${subject.cwd})` : ''}`);
    for (const c of subject.toolCall?.content ?? []) {
      if (c.type === 'diff') lines.push(`diff: ${c.changes[0].operation} ${c.changes[0].path}, ${c.patch.format}:\n${c.patch.text}`);
    }
  }
  lines.push(...new Set(seen.other.filter(kind => kind !== 'available_commands_update').map(kind => `beside: ${kind}`)), ...seen.notices.map(n => `notice: ${n}`));
  if (seen.stopReason) lines.push(`stop: ${seen.stopReason}${seen.error ? `: ${seen.error}` : ''}`);
  console.log(lines.map(l => l.trim()).join('\n').replaceAll(dir, 'DIR') + '\n');
}
const text = content => (content ?? []).map(c => c.text ?? '').join('');
function take(u) {
  const kind = u.sessionUpdate;
  if (kind === 'state_update') {
    seen.states.push(u.state);
    if (u.state !== 'idle') return;
    seen.stopReason = u.stopReason;
    seen.error = u.error?.message;
    if (seen.states.some(s => s !== 'idle')) end();
  } else if (kind === 'notice') {
    seen.notices.push(`${u.title} ${u.description ?? ''}`);
  } else if (u.messageId) {
    const i = item(kind.replace('_chunk', ''), u.messageId);
    if (kind.endsWith('_chunk')) {
      i.text += u.content.text ?? '';
    } else if (u.content !== undefined) {
      i.replaced++;
      i.text = text(u.content);
    }
    if (step.cancelAt && i.text.includes(step.cancelAt)) {
      delete step.cancelAt;
      step.cancel();
    }
  } else if (kind === 'tool_call_update' || kind === 'tool_call_content_chunk') {
    const i = item('call', u.toolCallId);
    if (kind.endsWith('_chunk')) i.content = [...(i.content ?? []), u.content];
    else Object.assign(i, u);
  } else if (kind === 'terminal_update' || kind === 'terminal_output_chunk') {
    const i = item('terminal', u.terminalId);
    if (u.data) i.text += atob(u.data);
    if (u.output !== undefined) i.text = atob(u.output?.data ?? '');
    Object.assign(i, { ...u, output: undefined, data: undefined });
  } else {
    seen.other.push(kind);
  }
}
begin();
await acp.client({ name: 'peer' })
  .onNotification(client.session.update, ({ params }) => take(params.update))
  .onRequest(client.session.requestPermission, ({ params, signal }) => {
    seen.asked.push(params);
    if (params.subject?.type === 'tool_call') take({ sessionUpdate: 'tool_call_update', ...params.subject.toolCall });
    const { optionId } = params.options.find(o => o.kind === step.pick) ?? {};
    if (optionId) return { outcome: { outcome: 'selected', optionId } };
    if (step.pick) return { outcome: { outcome: 'cancelled' } };
    step.cancel(); // the user does not answer, and cancels the turn
    return new Promise(resolve => signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } })));
  })
  .connectWith(acp.ndJsonStream(Writable.toWeb(bridge.stdin), Readable.toWeb(bridge.stdout)), async ctx => {
    const hello = await ctx.request(agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, info: { name: 'peer', version: '1' }, capabilities: {} });
    console.log(`version ${hello.protocolVersion}, sessions ${hello.capabilities.session ? 'yes' : 'no'}\n`);
    let sessionId;
    for await (const line of readline.createInterface({ input: process.stdin })) {
      step = { ...JSON.parse(line), cancel: () => ctx.notify(agent.session.cancel, { sessionId }) };
      if (step.do !== 'wait') begin(); // "wait" is for what the step before has not seen yet
      const open = { cwd: dir, mcpServers: [] };
      if (step.do === 'new') {
        ({ sessionId } = await ctx.request(agent.session.new, open));
        session.id = sessionId;
      } else if (step.do === 'resume') {
        sessionId = session.id;
        await ctx.request(agent.session.resume, { sessionId, ...open, replayFrom: { type: 'start' } });
      } else if (step.do === 'prompt') {
        const { messageId } = await ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: step.text }] });
        session.prompts.push(messageId);
        await ended;
      } else if (step.do === 'run') {
        execSync(step.text, { cwd: dir });
        continue;
      } else {
        await ended;
      }
      await new Promise(setImmediate); // the SDK hands on what came before a response behind it
      const found = [...items].filter(([key]) => seen.touched.includes(key)).map(([, i]) => i);
      tell(found);
      writeFileSync(file, JSON.stringify(session));
      if (step.do === 'prompt') begin(); // what comes now is behind the turn
    }
  });
bridge.stdin.end();
bridge.on('exit', code => process.exit(code));
