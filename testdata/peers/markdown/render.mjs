// Renders questions as editors do, and prints those that do not look as they are to.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [dir, file] = process.argv.slice(2);
const require = createRequire(pathToFileURL(dir + "/package.json"));
const { marked } = require("marked");
const markdownIt = require("markdown-it");
const renderers = {
  marked: (text) => marked.parse(text),
  "markdown-it": markdownIt({ html: true, linkify: true }).render.bind(markdownIt({ html: true, linkify: true })),
  "markdown-it, as CommonMark": (text) => markdownIt("commonmark").render(text),
};
// marked drops empty lines at the end of a block.
const plain = (html) => html.replaceAll("&#39;", "'").replaceAll(/\n+<\/code>/g, "\n</code>").trimEnd();
for (const { Markdown, HTML } of JSON.parse(readFileSync(file, "utf8"))) {
  for (const [name, render] of Object.entries(renderers)) {
    const got = render(Markdown);
    if (plain(got) !== plain(HTML)) {
      console.log(JSON.stringify({ name, Markdown, got, HTML }));
    }
  }
}
