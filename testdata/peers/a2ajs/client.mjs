// A client made with @a2a-js/sdk, unchanged: where the packages are, which of them
// (a2a-js-1, a2a-js-0.3), the agent's URL, what to say. It writes a line for each event;
// the last one is how long the stream took, in microseconds.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [dir, name, url, prompt] = process.argv.slice(2);
const require = createRequire(join(dir, 'package.json'));
const { ClientFactory } = require(name + '/client');
const v1 = name === 'a2a-js-1';

const client = await new ClientFactory().createFromUrl(url);
const message = v1
  ? { messageId: randomUUID(), role: require(name).Role.ROLE_USER, parts: [{ content: { $case: 'text', value: prompt } }], contextId: '', taskId: '', extensions: [], referenceTaskIds: [] }
  : { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text: prompt }] };
const request = v1 ? { tenant: '', message, configuration: undefined, metadata: undefined } : { message };
const text = (part) => part.text ?? part.content?.value;
let task;
for await (const event of client.sendMessageStream(request)) {
  const [kind, e] = v1 ? [event.payload.$case, event.payload.value] : [event.kind, event];
  switch (kind) {
    case 'task': task = e.id; console.log('task', e.status.state); break;
    case 'statusUpdate': case 'status-update': console.log('status', e.status.state); break;
    case 'artifactUpdate': case 'artifact-update': console.log('artifact', text(e.artifact.parts[0])); break;
    default: console.log(kind, text(e.parts[0]));
  }
}
if (task) {
  const t = await client.getTask(v1 ? { tenant: '', id: task, historyLength: undefined } : { id: task });
  console.log('in the end', t.status.state);
}
