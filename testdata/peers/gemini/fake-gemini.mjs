// Tiny scripted stand-in for the Gemini API (loopback only).
// The prompt carries [[scenario]], and a directory if it likes; step = number of model turns after that prompt.
import http from 'node:http';
import fs from 'node:fs';
const PORT = Number(process.env.FAKE_PORT || 41999);
const DEFAULT_WS = process.env.FAKE_WS || process.cwd();
// Where files are written: the prompt may name a directory of its own, "[[write]] in /dir", for tests with several
// sessions; otherwise FAKE_WS. Scripts hold this placeholder until then.
const WS = '@WS@';
const LOG = process.env.FAKE_LOG || '';
const sleep = (ms) => new Promise(r => setTimeout(r, ms));
const T = (text) => ({ text });
const TH = (text) => ({ text, thought: true });
const F = (name, args) => ({ functionCall: { name, args } });
const shLoop = (n, s) => `for i in ${Array.from({ length: n }, (_, i) => i + 1).join(' ')}; do echo "line $i of ${n}"; sleep ${s}; done`;
// scenario -> array of steps; a step = array of [delayMs, parts[], extraCandidateFields?] | {status, body}
const S = {
  hello: [[[0, [TH('**Greeting the user** I will just say hello.')]], [100, [T('Hello ')]], [100, [T('from the ')]], [100, [T('fake model.')]]]],
  write: [
    [[0, [TH('**Planning the file** I will create hello.txt with one line.')]], [150, [T("I'll create the file.")]], [150, [F('write_file', { file_path: `${WS}/hello.txt`, content: 'hello world\n' })]]],
    [[0, [TH('**Wrapping up** The file was written.')]], [150, [T('Done. ')]], [150, [T('Created hello.txt.')]]],
  ],
  write_relative: [
    [[0, [F('write_file', { file_path: `rel.txt`, content: 'rel\n' })]]],
    [[0, [T('Done rel.')]]],
  ],
  replace: [
    [[0, [F('replace', { file_path: `${WS}/edit.txt`, old_string: 'alpha', new_string: 'ALPHA', instruction: 'Upper-case alpha', allow_multiple: false })]]],
    [[0, [T('Edited edit.txt.')]]],
  ],
  replace2: [
    [[0, [F('replace', { file_path: `${WS}/edit2.txt`, old_string: 'beta', new_string: 'BETA', instruction: 'Upper-case beta', allow_multiple: false })]]],
    [[0, [T('Edited edit2.txt.')]]],
  ],
  replace_fail: [
    [[0, [F('replace', { file_path: `${WS}/nope.txt`, old_string: 'zzz', new_string: 'yyy', instruction: 'x', allow_multiple: false })]]],
    [[0, [T('Could not edit.')]]],
  ],
  shell: [
    [[0, [TH('**Running a command** Loop printing lines.')]], [100, [F('run_shell_command', { command: shLoop(5, 0.4), description: 'Print five lines' })]]],
    [[0, [T('Command finished.')]]],
  ],
  shell_long: [
    [[0, [F('run_shell_command', { command: shLoop(60, 0.5), description: 'Print sixty lines slowly' })]]],
    [[0, [T('Long command finished.')]]],
  ],
  shell_mid: [
    [[0, [F('run_shell_command', { command: shLoop(16, 0.5), description: 'Print sixteen lines' })]]],
    [[0, [T('Mid command finished.')]]],
  ],
  shell_fail: [
    [[0, [F('run_shell_command', { command: 'echo oops >&2; exit 3', description: 'Fails' })]]],
    [[0, [T('It failed with 3.')]]],
  ],
  shell_subst: [
    [[0, [F('run_shell_command', { command: 'echo $(date)', description: 'Command substitution' })]]],
    [[0, [T('Substituted.')]]],
  ],
  shell_pwd: [
    [[0, [F('run_shell_command', { command: 'pwd; touch here.tmp', description: 'Say where' })]]],
    [[0, [T('That is where.')]]],
  ],
  shell_safe: [
    [[0, [F('run_shell_command', { command: 'echo safe', description: 'Echo' })]]],
    [[0, [T('Echoed.')]]],
  ],
  shell_echo: [
    [[0, [F('run_shell_command', { command: 'touch again.tmp', description: 'Touch' })]]],
    [[0, [T('Echoed.')]]],
  ],
  read: [
    [[0, [T('Reading.')]], [50, [F('read_file', { file_path: `${WS}/edit.txt` })]]],
    [[0, [T('I read it.')]]],
  ],
  ls: [
    [[0, [F('list_directory', { dir_path: WS })]]],
    [[0, [T('Listed.')]]],
  ],
  two: [
    [[0, [T('Two tools.')]], [50, [F('write_file', { file_path: `${WS}/two.txt`, content: 'two\n' }), F('run_shell_command', { command: 'echo two; sleep 0.3; echo done', description: 'Echo two' })]]],
    [[0, [T('Both done.')]]],
  ],
  two_shell: [
    [[0, [F('run_shell_command', { command: 'touch one.tmp; echo one', description: 'Touch one' }), F('run_shell_command', { command: 'touch two.tmp; echo two', description: 'Touch two' })]]],
    [[0, [T('Both shells done.')]]],
  ],
  mcp: [
    [[0, [F('mcp_echo_say', { what: 'hi' })]]],
    [[0, [T('MCP done.')]]],
  ],
  mcp_say: [
    [[0, [F('say', { what: 'hi' })]]],
    [[0, [T('Said.')]]],
  ],
  mcp_read: [
    [[0, [F('read_text_file', { path: `${WS}/edit.txt` })]]],
    [[0, [T('Read.')]]],
  ],
  mcp_write: [
    [[0, [F('write_text_file', { path: `${WS}/edit.txt`, content: 'by the agent' })]]],
    [[0, [T('Written.')]]],
  ],
  mcp_shout: [
    [[0, [F('shout', { what: 'hi' })]]],
    [[0, [T('Shouted.')]]],
  ],
  git: [
    [[0, [F('run_shell_command', { command: 'git status', description: 'git status' })]]],
    [[0, [T('Git done.')]]],
  ],
  // git0 … are a command, and what "always" for it must not allow.
  ...Object.fromEntries(['git --version', 'git --version', 'PATH=/evil:$PATH git --version', 'A=1; B=2 git --version', 'GIT_SSH_COMMAND=x git --version', './git --version',
    '/evil/git --version', 'git  --version', 'git --version; true'].map((command, i) => [`git${i}`, [
    [[0, [F('run_shell_command', { command, description: 'git' })]]],
    [[0, [T('Git done.')]]],
  ]])),
  two_edits: [
    [[0, [F('write_file', { file_path: `${WS}/two.txt`, content: 'two\n' }), F('replace', { file_path: `${WS}/edit.txt`, old_string: 'alpha', new_string: 'ALPHA', instruction: 'Upper-case alpha', allow_multiple: false })]]],
    [[0, [T('Both edits done.')]]],
  ],
  multi: [
    [[0, [TH('**Step one** Look at the directory.')]], [100, [T('First I look around. ')]], [100, [F('list_directory', { dir_path: WS })]]],
    [[0, [TH('**Step two** Write the file.')]], [100, [T('Now I write. ')]], [100, [F('write_file', { file_path: `${WS}/hello.txt`, content: 'hello\n' })]]],
    [[0, [TH('**Step three** Run it.')]], [100, [F('run_shell_command', { command: 'cat hello.txt; sleep 0.2; touch done.tmp', description: 'Show it' })]]],
    [[0, [TH('**Done**')]], [100, [T('All ')]], [100, [T('done.')]]],
  ],
  web: [
    [[0, [F('web_fetch', { prompt: 'fetch https://example.invalid/ and summarise' })]]],
    [[0, [T('Fetched.')]]],
  ],
  plan: [
    [[0, [F('enter_plan_mode', { reason: 'test' })]]],
    [[0, [T('Plan mode tried.')]]],
  ],
  agent: [
    [[0, [F('invoke_agent', { agent_name: 'codebase_investigator', prompt: 'look' })]]],
    [[0, [T('Agent tried.')]]],
  ],
  bg: [
    [[0, [F('run_shell_command', { command: 'sleep 2; echo bg', description: 'bg', is_background: true })]]],
    [[0, [T('Backgrounded.')]]],
  ],
  unicode: [[[0, [T('Grüße, 世界 🌍 \u001b[31mred\u001b[0m <b>&amp;</b>\n\nnew para\r\n')]]]],
  shell_ansi: [
    [[0, [F('run_shell_command', { command: "printf '\\033[31mred\\033[0m\\n'; touch x.tmp", description: 'ansi' })]]],
    [[0, [T('Ansi done.')]]],
  ],
  ask: [
    [[0, [F('ask_user', { questions: [{ question: 'Which colour?', header: 'Colour', type: 'choice', options: [{ label: 'Red', description: 'r' }, { label: 'Blue', description: 'b' }], multiSelect: false }] })]]],
    [[0, [T('Thanks for the answer.')]]],
  ],
  badtool: [
    [[0, [F('no_such_tool', { x: 1 })]]],
    [[0, [T('No such tool, sorry.')]]],
  ],
  badargs: [
    [[0, [F('write_file', { content: 'no path' })]]],
    [[0, [T('Bad args, sorry.')]]],
  ],
  slow: [
    Array.from({ length: 20 }, (_, i) => [i ? 500 : 0, [T(`chunk${i + 1} `)]]),
  ],
  silent: [[[20000, [T('after 20 s of silence')]]]],
  topic: [
    [[0, [F('update_topic', { topic: 'Testing', summary: 'Testing the wire', strategic_intent: 'observe' })]]],
    [[0, [T('Topic set.')]]],
  ],
  todos: [
    [[0, [F('write_todos', { todos: [{ description: 'one', status: 'in_progress' }, { description: 'two', status: 'pending' }] })]]],
    [[0, [T('Todos set.')]]],
  ],
  cite: [[[0, [T('Cited text.')], { citationMetadata: { citations: [{ uri: 'https://example.invalid/a', title: 'A' }] } }]]],
  err400: [{ status: 400, body: { error: { code: 400, message: 'fake bad request', status: 'INVALID_ARGUMENT' } } }],
  err500: [{ status: 500, body: { error: { code: 500, message: 'fake internal error', status: 'INTERNAL' } } }],
  err429: [{ status: 429, body: { error: { code: 429, message: 'fake quota', status: 'RESOURCE_EXHAUSTED' } } }],
  err401: [{ status: 401, body: { error: { code: 401, message: 'fake API key not valid', status: 'UNAUTHENTICATED' } } }],
  empty: [[]],
  safety: [[[0, [T('partial ')], { finishReason: 'SAFETY' }]]],
};
function pick(contents) {
  let idx = -1, name = null, ws = DEFAULT_WS;
  for (let i = contents.length - 1; i >= 0; i--) {
    const c = contents[i];
    if (c.role !== 'user') continue;
    const txt = (c.parts || []).map(p => p.text || '').join(' ');
    const m = txt.match(/\[\[(\w+)\]\]/g);
    if (m) { name = m[m.length - 1].slice(2, -2); idx = i; ws = txt.match(/\]\] in (\S+)/)?.[1] || ws; break; }
  }
  const step = idx < 0 ? 0 : contents.slice(idx + 1).filter(c => c.role === 'model').length;
  return { name, step, ws };
}
let n = 0;
http.createServer((req, res) => {
  let b = '';
  req.on('data', d => b += d);
  req.on('end', async () => {
    let body = {};
    try { body = b ? JSON.parse(b) : {}; } catch {}
    const { name, step, ws } = pick(body.contents || []);
    const entry = { n: ++n, t: Date.now(), method: req.method, url: req.url, name, step, contents: (body.contents || []).length,
      lastParts: (body.contents || []).at(-1)?.parts?.map(p => JSON.stringify(p).slice(0, 600)), tools: (body.tools?.[0]?.functionDeclarations || []).map(f => f.name), gc: Object.keys(body.generationConfig || {}), sys: JSON.stringify(body.systemInstruction || '').length, headers: n <= 1 ? req.headers : undefined };
    if (LOG) fs.appendFileSync(LOG, JSON.stringify(entry) + '\n');
    if (process.env.FAKE_DUMP) fs.writeFileSync(`${process.env.FAKE_DUMP}/req-${n}.json`, b);
    const json = (st, o) => { res.writeHead(st, { 'content-type': 'application/json' }); res.end(JSON.stringify(o)); };
    const usage = { promptTokenCount: 100 + 10 * step, candidatesTokenCount: 20, totalTokenCount: 120 + 10 * step, thoughtsTokenCount: 5 };
    if (/:countTokens/.test(req.url)) return json(200, { totalTokens: 123 });
    if (/:generateContent/.test(req.url)) {
      // side calls (router classifier, next-speaker, summaries)
      const o = { reasoning: 'fake', model_choice: 'pro', complexity_reasoning: 'fake', complexity_score: 90, next_speaker: 'user' };
      return json(200, { candidates: [{ content: { role: 'model', parts: [T(JSON.stringify(o))] }, finishReason: 'STOP', index: 0 }], usageMetadata: usage, modelVersion: 'fake-model', responseId: `r${n}` });
    }
    if (/:streamGenerateContent/.test(req.url)) {
      const sc = S[name] || [[[0, [T(`(no scenario: ${name})`)]]]];
      const st = JSON.parse(JSON.stringify(sc[Math.min(step, sc.length - 1)]).replaceAll(WS, ws));
      if (!Array.isArray(st)) return json(st.status, st.body);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      let closed = false;
      res.on('close', () => { if (!res.writableFinished) { closed = true; if (LOG) fs.appendFileSync(LOG, JSON.stringify({ n: entry.n, t: Date.now(), clientClosedEarly: true }) + '\n'); } });
      for (let i = 0; i < st.length && !closed; i++) {
        const [d, parts, extra] = st[i];
        if (d) await sleep(d);
        const last = i === st.length - 1;
        const cand = { content: { role: 'model', parts }, index: 0, ...(last ? { finishReason: 'STOP' } : {}), ...(extra || {}) };
        res.write(`data: ${JSON.stringify({ candidates: [cand], ...(last ? { usageMetadata: usage } : {}), modelVersion: 'fake-model', responseId: `r${n}` })}\r\n\r\n`);
      }
      return res.end();
    }
    json(404, { error: { code: 404, message: 'fake: not found', status: 'NOT_FOUND' } });
  });
}).listen(PORT, '127.0.0.1', () => console.log(`fake gemini on ${PORT}`));
