// Makes the npm packages: node build.mjs VERSION OUT PLATFORM=PROGRAM...
//
// PLATFORM is npm's (linux-x64, darwin-arm64, win32-x64 ...), PROGRAM the program for
// it. NOTICES is the file with the third parties' licences (a2astdio version --licenses). OUT
// gets a tarball for each platform, and for the package that chooses among them.
// Publish the platforms first, and a2astdio last.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [version, outName, ...programs] = process.argv.slice(2);
const notices = process.env.NOTICES;
if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version ?? "") || !outName || programs.length === 0 || !notices) {
  console.error("usage: NOTICES=FILE node build.mjs VERSION OUT PLATFORM=PROGRAM...");
  process.exit(2);
}
const out = resolve(outName);
const main = JSON.parse(readFileSync(join(here, "a2astdio", "package.json"), "utf8"));

// pack writes a package, and its tarball.
function pack(description, fill) {
  const dir = join(out, "packages", description.name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(join(dir, "bin"), { recursive: true });
  writeFileSync(join(dir, "package.json"), JSON.stringify(description, null, 2) + "\n");
  cpSync(join(here, "..", "..", "LICENSE"), join(dir, "LICENSE"));
  cpSync(notices, join(dir, "THIRD_PARTY_NOTICES"));
  fill(dir);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", out, dir], { stdio: ["ignore", "inherit", "inherit"], shell: process.platform === "win32" });
}

const platforms = {};
for (const each of programs) {
  const cut = each.indexOf("=");
  const platform = each.slice(0, cut);
  const [os, cpu] = platform.split("-");
  const name = `@a2astdio/${platform}`;
  platforms[name] = version;
  pack({
    name, version,
    description: `${main.description}: the program for ${platform}`,
    license: main.license, repository: main.repository,
    os: [os], cpu: [cpu], files: ["bin", "LICENSE", "THIRD_PARTY_NOTICES"], preferUnplugged: true,
  }, (dir) => {
    const program = join(dir, "bin", os === "win32" ? "a2astdio.exe" : "a2astdio");
    cpSync(each.slice(cut + 1), program);
    chmodSync(program, 0o755); // npm pack keeps the mode
  });
}
pack({ ...main, version, optionalDependencies: platforms }, (dir) => {
  cpSync(join(here, "a2astdio", "README.md"), join(dir, "README.md"));
  cpSync(join(here, "a2astdio", "bin"), join(dir, "bin"), { recursive: true });
  chmodSync(join(dir, "bin", "a2astdio.js"), 0o755);
});
