#!/usr/bin/env node
// Starts the program of this platform with our own stdin, stdout and stderr, and ends
// as it does. Nothing is read or written here.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

function program() {
  const name = `@a2astdio/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/a2astdio${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(
      `a2astdio: the package ${name} is not installed. npm leaves it out with --omit=optional, or if the ` +
        "lock file or node_modules was made on another platform; if there is no such package, there is no program " +
        "for this platform: see https://github.com/a2astdio/a2astdio",
    );
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const forward = (signal) => child.kill(signal);
for (const signal of signals) process.on(signal, forward);
child.on("error", (err) => {
  console.error(`a2astdio: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  for (const s of signals) process.removeListener(s, forward);
  if (signal === null) process.exit(code);
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
  process.kill(process.pid, signal); // to end as it has ended
});
