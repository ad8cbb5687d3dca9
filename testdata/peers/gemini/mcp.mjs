// A small MCP server on stdio, with one tool, say, whose answer tells what is in SAY_TOKEN.
import readline from 'node:readline';
const answers = {
  initialize: p => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'say', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'say', description: 'Says it', inputSchema: { type: 'object', properties: { what: { type: 'string' } } } }] }),
  'tools/call': p => ({ content: [{ type: 'text', text: `${p.arguments.what}, with ${process.env.SAY_TOKEN} and ${process.argv[2]}` }] }),
};
readline.createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(answer ? { result: answer(params) } : { error: { code: -32601, message: method } }) }));
});
