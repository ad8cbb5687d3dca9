// An agent made with @a2a-js/sdk, which understands the prompts of ../a2ago/README.md that the tests use.
//   node server.mjs DIR PACKAGE [sign]
//     DIR: where package.json is installed
//     PACKAGE: a2a-js-0.3 (0.3.14: A2A 0.3) or a2a-js-1 (1.3.0: A2A 1.0, and 0.3 by its compatibility layer)
//     sign: a2a-js-1 signs its card; the key is at /jwks.json
// It prints its URL as the only line on stdout when it listens, and ends when its standard input does.
import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

const [dir, pkg, signs] = process.argv.slice(2);
const require = createRequire(join(dir, 'package.json'));
const sdk = require(pkg);
const { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } = require(`${pkg}/server`);
const { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } = require(`${pkg}/server/express`);
const express = require('express');
const v1 = pkg === 'a2a-js-1';

// What follows down to the agent is what differs between the two generations of the SDK.

const state = (s) => (v1 ? sdk.TaskState['TASK_STATE_' + s.toUpperCase().replace('-', '_')] : s);

const part = {
  of: ($case, value, extra) => ({ content: { $case, value }, metadata: undefined, filename: '', mediaType: '', ...extra }),
  text: (text, metadata) => (v1 ? part.of('text', text, { metadata }) : { kind: 'text', text, metadata }),
  data: (data) => (v1 ? part.of('data', data) : { kind: 'data', data }),
  raw: (bytes, name, mimeType) => v1
    ? part.of('raw', Buffer.from(bytes), { filename: name, mediaType: mimeType })
    : { kind: 'file', file: { bytes: Buffer.from(bytes).toString('base64'), name, mimeType } },
  url: (uri, name, mimeType) => v1
    ? part.of('url', uri, { filename: name, mediaType: mimeType })
    : { kind: 'file', file: { uri, name, mimeType } },
};

const textOf = (p) => (v1 ? (p.content?.$case === 'text' ? p.content.value : '') : p.kind === 'text' ? p.text : '');

const newMessage = (ids, text) => v1
  ? { taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [], ...ids, messageId: randomUUID(), role: sdk.Role.ROLE_AGENT, parts: [part.text(text)] }
  : { kind: 'message', ...ids, messageId: randomUUID(), role: 'agent', parts: [part.text(text)] };

const newStatus = (ids, s, text) => ({
  state: state(s), message: text ? newMessage(ids, text) : undefined, timestamp: new Date().toISOString(),
});

const ends = ['completed', 'failed', 'canceled', 'input-required'];

const event = {
  message: (m) => (v1 ? AgentEvent.message(m) : m),
  task: (ids, message) => {
    const task = { id: ids.taskId, contextId: ids.contextId, status: newStatus(ids, 'submitted'), artifacts: [], history: [message], metadata: undefined };
    return v1 ? AgentEvent.task(task) : { kind: 'task', ...task };
  },
  status: (ids, s, text) => v1
    ? AgentEvent.statusUpdate({ ...ids, status: newStatus(ids, s, text), metadata: undefined })
    : { kind: 'status-update', ...ids, status: newStatus(ids, s, text), final: ends.includes(s) },
  artifact: (ids, artifactId, name, parts, append, lastChunk) => {
    const artifact = { artifactId, name, parts };
    return v1
      ? AgentEvent.artifactUpdate({ ...ids, artifact: { description: '', metadata: undefined, extensions: [], ...artifact }, append, lastChunk, metadata: undefined })
      : { kind: 'artifact-update', ...ids, artifact, append, lastChunk };
  },
};

const newCard = (base) => {
  const card = {
    name: 'a2a-js', description: `an agent of ${pkg}`, version: '1',
    defaultInputModes: ['text'], defaultOutputModes: ['text'], skills: [],
  };
  if (!v1) {
    return {
      ...card, protocolVersion: '0.3.0', url: base + '/rpc', preferredTransport: 'JSONRPC', capabilities: { streaming: true, pushNotifications: true },
      additionalInterfaces: [{ url: base + '/rest', transport: 'HTTP+JSON' }],
    };
  }
  const at = (path, protocolBinding, protocolVersion) => ({ url: base + path, protocolBinding, tenant: '', protocolVersion });
  return {
    ...card, provider: undefined,
    supportedInterfaces: [
      at('/rpc', 'JSONRPC', '1.0'), at('/rpc', 'JSONRPC', '0.3'), at('/rest', 'HTTP+JSON', '1.0'), at('/rest', 'HTTP+JSON', '0.3'),
    ], securitySchemes: {}, securityRequirements: [], signatures: [],
    capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: false },
  };
};

// The agent.

class Agent {
  async execute(context, bus) {
    const ids = { taskId: context.taskId, contextId: context.contextId };
    const say = (e) => bus.publish(e);
    const prompt = context.userMessage.parts.map(textOf).join(' ').trim();
    if (prompt === 'message') {
      say(event.message(newMessage({ contextId: ids.contextId }, 'direct reply')));
      return bus.finished();
    }
    if (!context.task) {
      say(event.task(ids, context.userMessage));
    } else if (v1) {
      say(AgentEvent.task(context.task)); // SDK 1.x refuses a stream that begins with anything else
    }
    say(event.status(ids, 'working', 'working on it'));
    if (context.task) {
      say(event.status(ids, 'completed'));
      return bus.finished();
    }
    const [word, n, wait] = prompt.split(' ');
    switch (word) {
      case 'count': {
        const id = randomUUID();
        const count = Number(n ?? 3);
        for (let i = 0; i < count; i++) {
          say(event.artifact(ids, id, 'counter', [part.text(`chunk-${i} `)], i > 0, i === count - 1));
          await new Promise((done) => setTimeout(done, Number(wait ?? 10)));
        }
        break;
      }
      case 'ask':
        say(event.status(ids, 'input-required', 'which city?'));
        return bus.finished();
      case 'parts':
        say(event.artifact(ids, randomUUID(), '', [
          part.text('plain', { hint: 't' }), part.raw('hello bytes', 'hello.bin', 'application/octet-stream'),
          part.url('https://example.com/f.pdf', 'f.pdf', 'application/pdf'), part.data({ k: 'v', n: 1.5 }),
          ...(v1 ? [part.data([1, 'two'])] : []), // 0.3 has only objects
        ], false, true));
        break;
      case 'fail':
        say(event.status(ids, 'failed', 'it failed as asked'));
        return bus.finished();
      default:
        say(event.artifact(ids, randomUUID(), '', [part.text(prompt)], false, true));
    }
    say(event.status(ids, 'completed'));
    bus.finished();
  }

  async cancelTask() {}
}

const app = express();
const listener = app.listen(0, '127.0.0.1', async () => {
  const base = `http://127.0.0.1:${listener.address().port}`;
  let card = newCard(base);
  if (signs) {
    const jose = require('jose');
    const { privateKey, publicKey } = await jose.generateKeyPair('EdDSA', { extractable: true });
    const keys = [{ ...(await jose.exportJWK(publicKey)), kid: 'js' }];
    app.get('/jwks.json', (_, response) => response.json({ keys }));
    card = await sdk.generateAgentCardSignature(privateKey, { alg: 'EdDSA', kid: 'js', typ: 'JOSE', jku: base + '/jwks.json' })(card);
  }
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Agent());
  const legacyCompat = { enabled: true };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  app.use('/rest', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  console.log(base);
});
process.stdin.resume().on('end', () => process.exit(0));
