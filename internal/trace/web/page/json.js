"use strict";
// JSON as a tree that opens and closes. Objects and arrays are drawn when they are
// opened: an event may have megabytes.
const maxString = 600; // of a string, before it is asked for
const openDepth = 14; // to which a tree is open at first
const maxOpen = 1500; // values that are open at first

function jsonTree(value, find) {
  return el("div", { class: "json" }, jsonValue(value, 0, { left: maxOpen }, find, null, ""));
}

// jsonValue draws a value, with the key before it and the comma behind.
function jsonValue(v, depth, budget, find, key, comma) {
  budget.left--;
  const before = key === null ? "" : [el("span", { class: "k" }, marked(visible(key), find)), ": "];
  if (v === null) return el("div", {}, before, el("span", { class: "l" }, "null"), comma);
  switch (typeof v) {
    case "boolean": return el("div", {}, before, el("span", { class: "l" }, String(v)), comma);
    case "number": return el("div", {}, before, el("span", { class: "d" }, String(v)), comma);
    case "string": return el("div", {}, before, jsonString(v, find), comma);
  }
  if (v instanceof Big) return el("div", {}, before, el("span", { class: "d" }, v.text), comma);
  const list = Array.isArray(v), keys = list ? null : Object.keys(v), n = list ? v.length : keys.length;
  if (!n) return el("div", {}, before, list ? "[]" : "{}", comma);
  const open = depth < openDepth && budget.left > 0;
  const names = list ? n + (n === 1 ? " element" : " elements") : keys.slice(0, 4).join(", ") + (n > 4 ? ", …" : "");
  const box = el("div", { class: "in" });
  const fill = (b) => {
    let shown = 0;
    const some = () => {
      for (const end = Math.min(shown + 200, n); shown < end; shown++) {
        box.append(jsonValue(list ? v[shown] : v[keys[shown]], depth + 1, b, find, list ? null : keys[shown], shown < n - 1 ? "," : ""));
      }
      if (shown < n) {
        const more = el("button", { class: "long", type: "button", onclick: () => { more.remove(); some(); } }, "… " + (n - shown) + " more");
        box.append(more);
      }
    };
    some();
  };
  const d = el("details", { open }, el("summary", {}, before, list ? "[" : "{", el("span", { class: "count" }, " " + visible(names) + (list ? " ]" : " }") + comma)), box, el("div", {}, list ? "]" : "}", comma));
  if (open) fill(budget);
  else d.addEventListener("toggle", () => { if (d.open && !box.firstChild) fill({ left: 200 }); });
  return d;
}

function jsonString(s, find) {
  if (s === "***") return el("span", { class: "masked", title: "a credential, masked" }, "***");
  const lines = s.includes("\n");
  const short = s.length > maxString ? s.slice(0, maxString) : s;
  const text = (t) => (lines ? el("span", { class: "text" }, marked(visible(t), find)) : marked(visible(JSON.stringify(t)), find));
  const e = el("span", { class: "s" }, text(short));
  if (short !== s) {
    const more = el("button", { class: "long", type: "button", onclick: () => e.replaceChildren(text(s)) }, "… " + (s.length - short.length) + " more");
    e.append(more);
  }
  return e;
}

// marked puts marks around what was searched for.
function marked(text, find) {
  if (!find) return [text];
  const low = text.toLowerCase(), out = [];
  let at = 0;
  for (let i = low.indexOf(find); i >= 0 && out.length < 400; i = low.indexOf(find, at)) {
    if (i > at) out.push(text.slice(at, i));
    out.push(el("mark", {}, text.slice(i, i + find.length)));
    at = i + find.length;
  }
  out.push(text.slice(at));
  return out;
}

// A Big is a number that JavaScript cannot hold as it is written.
class Big { constructor(text) { this.text = text; } }

// parse reads JSON and keeps numbers as they are written, where the engine can.
function parse(text) {
  return JSON.parse(text, function (key, value, context) {
    if (typeof value === "number" && context && context.source && String(value) !== context.source) return new Big(context.source);
    return value;
  });
}

// indent writes JSON as text, as it is written but for white space: for copying.
function indent(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
