// A stand-in for VS Code, with what the extension ACP Client needs of it: it writes what the user reads to stdout, and
// picks the first choice. The extension is bundled with this file in the place of vscode and of its telemetry. Run as a
// program, vscode.cjs EXTENSION SETTINGS AGENT PROMPT... connects to an agent as a click does, and sends prompts.
let words = ''; // of the agent, in however many pieces
const say = (kind, text) => {
  if (words) process.stdout.write(`[chat] ${words.trimEnd()}\n`);
  words = '';
  process.stdout.write(`[${kind}] ${text}\n`);
};
const nothing = () => ({ dispose() {} });
const path = (fsPath) => ({ fsPath, toString: () => fsPath });
const message = (kind) => async (text, ...more) => say(kind, text) || more.find((m) => typeof m === 'string');
const seat = (globalThis.seat ??= { commands: {} });
const show = {
  error: (m) => say('chat: error', m.message),
  promptEnd: (m) => say('chat', `the turn ends: ${m.stopReason}`),
  sessionUpdate: ({ update: u }) => {
    if (u.sessionUpdate === 'agent_message_chunk') words += u.content.text;
    else if (u.title && u.toolCallId) say('chat', `${u.title}, ${u.status}`); // all that it shows of a call
  },
};
module.exports = {
  EventEmitter: class { event = nothing; fire() {} dispose() {} },
  TreeItem: class {}, ThemeIcon: class {}, ThemeColor: class {}, MarkdownString: class {}, TelemetryReporter: class { sendTelemetryEvent() {} sendTelemetryErrorEvent() {} dispose() {} },
  TreeItemCollapsibleState: {}, StatusBarAlignment: {}, ProgressLocation: {}, ConfigurationTarget: {},
  Uri: { file: path, parse: path, joinPath: path },
  env: {},
  extensions: { getExtension: () => undefined },
  workspace: {
    workspaceFolders: [{ uri: path(process.cwd()) }], textDocuments: [],
    getConfiguration: (section) => ({ get: (key, otherwise) => seat.settings[`${section}.${key}`] ?? otherwise }),
    onDidChangeConfiguration: nothing, onDidChangeWorkspaceFolders: nothing,
  },
  window: {
    createOutputChannel: () => ({ appendLine() {}, append() {}, show() {}, dispose() {} }),
    createStatusBarItem: () => ({ show() {}, hide() {}, dispose() {} }),
    createTreeView: () => ({ dispose() {}, onDidChangeVisibility: nothing, onDidExpandElement: nothing }),
    registerTreeDataProvider: nothing,
    registerWebviewViewProvider: (_, provider) => ((seat.chat = provider), nothing()),
    showErrorMessage: message('error'), showWarningMessage: message('warning'), showInformationMessage: message('message'),
    showQuickPick: async (items, { title, placeHolder }) => say('question', `${title}: ${placeHolder}: ${items.map((i) => i.label).join(', ')}`) || items[0],
    withProgress: (_, work) => work({ report() {} }, {}),
  },
  commands: { registerCommand: (name, run) => ((seat.commands[name] = run), nothing()), executeCommand: async (name, ...args) => seat.commands[name]?.(...args) },
};
if (require.main === module) {
  const [extension, settings, agent, ...prompts] = process.argv.slice(2);
  const store = { get: (_, otherwise) => otherwise, update: async () => {}, keys: () => [] };
  (async () => {
    seat.settings = JSON.parse(require('fs').readFileSync(settings));
    const { activate, deactivate } = require(extension);
    await activate({ subscriptions: [], extensionUri: path('/'), globalState: store, workspaceState: store });
    let tell;
    const webview = { onDidReceiveMessage: (f) => ((tell = f), nothing()), postMessage: (m) => show[m.type]?.(m) };
    await seat.chat.resolveWebviewView({ webview, visible: true, onDidDispose: nothing, onDidChangeVisibility: nothing }, {}, {});
    await seat.commands['acp.connectAgent'](agent);
    for (const text of prompts) await tell({ type: 'sendPrompt', text });
    await deactivate?.();
    process.exit();
  })();
}
