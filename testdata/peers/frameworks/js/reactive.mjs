// An agent made with Reactive Agents, @reactive-agents/a2a: its A2A server with an executor of
// ours. The server is for Bun, so that Bun.serve is Node's here. Prints its URL; ends with its
// input.
//
//     node reactive.mjs DIR    DIR is where the packages of reactive.json are installed
import http from 'node:http';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.argv[2], 'package.json'));
const { Effect, Layer } = await import(pathToFileURL(require.resolve('effect')));
const a2a = await import(pathToFileURL(path.join(process.argv[2], 'node_modules/@reactive-agents/a2a/dist/index.js')));

globalThis.Bun = {
  serve({ port, fetch }) {
    const server = http.createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const answer = await fetch(new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method, headers: request.headers, body: chunks.length > 0 ? Buffer.concat(chunks) : undefined }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));
    return { stop: () => server.close() };
  },
};

const probe = http.createServer(); // finds a free port: the server wants a number
const port = await new Promise((done) => { probe.listen(0, '127.0.0.1', () => done(probe.address().port)); });
await new Promise((done) => { probe.close(done); });
const card = a2a.generateAgentCard({ name: 'reactive', description: 'an agent of Reactive Agents', url: `http://127.0.0.1:${port}` });
const executor = (text) => {
  if (text.startsWith('fail')) return Effect.fail(new Error('model refused'));
  return Effect.delay(Effect.succeed(`You said ${text}, which is the answer.`), text.startsWith('slow') ? '30 seconds' : '0 seconds');
};
const layer = a2a.createA2AHttpServer(port, executor).pipe(Layer.provide(a2a.createA2AServer(card)));
await Effect.runPromise(Effect.gen(function* () { yield* (yield* a2a.A2AHttpServer).start(); }).pipe(Effect.provide(layer)));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
