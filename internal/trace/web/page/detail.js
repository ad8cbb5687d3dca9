"use strict";
// What is known of one record: its JSON, the bytes, the header, and what it became
// on the other wire, or was made of.
const Detail = {
  tab: "json", index: -1, asked: 0,

  start() { this.blank(); },

  blank() {
    document.getElementById("detail-head").replaceChildren();
    document.getElementById("tabs").replaceChildren();
    document.getElementById("body").replaceChildren(el("div", { class: "blank" }, "Choose a record: with a click, or with ", el("kbd", {}, "j"), " and ", el("kbd", {}, "k"), "."));
  },

  async show(index) {
    this.index = index;
    const asked = ++this.asked;
    let line;
    try { line = await Data.line(index); } catch (e) { line = ""; }
    if (asked !== this.asked) return; // another one was chosen meanwhile
    this.draw(index, line);
  },

  draw(index, line) {
    const r = Data.rows[index];
    const record = read(line);
    const pairs = List.pairs.size;
    document.getElementById("detail-head").replaceChildren(...this.head(r, record, line));
    const tabs = [["json", "JSON"], ["raw", "Raw"]];
    if (pairs) tabs.push(["both", "Both sides"]);
    if (record.header) tabs.push(["header", "Header"]);
    tabs.push(["record", "Record"]);
    this.now = tabs.some(([id]) => id === this.tab) ? this.tab : "json";
    if (this.now === "json" && !payload(record).text && record.kind !== "decision") this.now = record.header ? "header" : "record";
    document.getElementById("tabs").replaceChildren(...tabs.map(([id, name]) =>
      el("button", { type: "button", role: "tab", "aria-selected": String(id === this.now), onclick: () => { this.tab = id; this.draw(index, line); } },
        name + (id === "both" ? " (" + (pairs + 1) + ")" : ""))));
    const body = document.getElementById("body");
    body.scrollTop = 0;
    switch (this.now) {
      case "raw": body.replaceChildren(...this.raw(record)); break;
      case "header": body.replaceChildren(table(Object.entries(record.header).map(([k, v]) => [k, v.join(", ")]))); break;
      case "both": this.both(body, index); break;
      case "record": body.replaceChildren(jsonTree(without(record), List.find)); break;
      default: body.replaceChildren(...this.json(record));
    }
  },

  head(r, record, line) {
    const lanes = { e: "editor", b: "bridge", a: "agent" };
    const way = r.f && r.t ? el("span", { class: "way" }, el("span", { class: "lane-" + r.f }, Lanes[r.f] || lanes[r.f]), " → ", el("span", { class: "lane-" + r.t }, Lanes[r.t] || lanes[r.t])) : el("span", { class: "way lane-b" }, "bridge");
    const time = record.t ? record.t.replace("T", " ").replace("Z", " UTC") : "";
    const meta = [["record", r.n], ["time", stamp(r.u) + " s"], ["after", "+" + duration(r.gap)], ["at", time], ["bytes", r.z], ["id", r.i], ["exchange", r.c], ["session", r.s], ["task", r.o],
      ["took", record.took ? duration(record.took) : ""], ["ended", record.reason]];
    const copy = el("button", { type: "button", title: "Copy the payload", onclick: () => navigator.clipboard.writeText(indent(payload(record).text)).then(() => { copy.textContent = "Copied"; setTimeout(() => { copy.textContent = "Copy"; }, 1200); }, () => {}) }, "Copy");
    const pair = List.pairs.size ? el("button", { type: "button", title: "Go to the other side (P)", onclick: () => goToPair() }, "Other side") : null;
    const close = el("button", { type: "button", id: "close", onclick: () => document.body.classList.remove("open") }, "Close");
    return [
      el("div", { class: "line" }, way, el("span", { class: "name" }, visible(r.m)), el("div", { class: "buttons" }, pair, copy, close)),
      el("div", { class: "meta" }, meta.filter(([, v]) => v !== undefined && v !== "" && v !== 0).map(([k, v]) => el("span", {}, k + " ", el("b", {}, visible(String(v)))))),
    ];
  },

  json(record) {
    const p = payload(record);
    const out = hints(record);
    if (!p.text) return out.concat(el("div", { class: "blank" }, record.kind === "decision" ? visible([record.what, record.why].filter(Boolean).join(": ")) : "There is no payload."), record.kind === "decision" ? jsonTree(without(record), List.find) : "");
    const value = p.value !== undefined ? p.value : parsed(p.text);
    if (value === undefined || typeof value !== "object" || value === null) return out.concat(el("pre", { class: "raw" }, marked(visible(p.text), List.find)));
    return out.concat(jsonTree(value, List.find));
  },

  raw(record) {
    const p = payload(record);
    const text = p.raw || p.text;
    return hints(record).concat(text ? el("pre", { class: "raw" }, marked(visible(text.length > 400000 ? text.slice(0, 400000) + "\n… " + (text.length - 400000) + " more" : text), List.find)) : el("div", { class: "blank" }, "There is no payload."));
  },

  // both shows the records of both wires beside each other.
  async both(body, index) {
    const asked = this.asked;
    const all = [index, ...List.pairs].sort((a, b) => a - b);
    const shown = all.slice(0, 60);
    const lines = await Promise.all(shown.map((i) => Data.line(i).catch(() => "")));
    if (asked !== this.asked) return;
    const side = (i, line) => {
      const r = Data.rows[i], record = read(line), p = payload(record);
      const value = p.value !== undefined ? p.value : parsed(p.text);
      return el("div", { class: "side" },
        el("header", {}, el("span", { class: "n" }, "#" + r.n), el("b", {}, visible(r.m)), el("span", { class: "n" }, stamp(r.u)), i === index ? "" : el("button", { type: "button", onclick: () => List.select(i) }, "go")),
        value !== undefined && typeof value === "object" ? jsonTree(value, List.find) : el("pre", { class: "raw" }, visible(p.text)));
    };
    const editor = [], agent = [];
    shown.forEach((i, k) => { const r = Data.rows[i]; (r.f === "e" || r.t === "e" ? editor : agent).push(side(i, lines[k])); });
    body.replaceChildren(
      all.length > shown.length ? el("div", { class: "hint" }, "The first " + shown.length + " of " + all.length + ".") : "",
      el("div", { class: "both" }, el("div", { class: "col" }, el("h3", { class: "lane-e" }, Lanes.e || "editor"), editor), el("div", { class: "col" }, el("h3", { class: "lane-a" }, Lanes.a || "agent"), agent)));
  },
};

// read decodes a record, and notes how its JSON is written.
function read(line) {
  try {
    const record = parse(line);
    if (record.json !== undefined) {
      const at = line.indexOf(',"json":');
      let end = line.length - 1;
      if (record.masked && line.endsWith(',"masked":true}')) end -= ',"masked":true'.length;
      if (record.error && line.lastIndexOf(',"error":') > at) end = line.lastIndexOf(',"error":');
      record.written = line.slice(at + ',"json":'.length, end);
    }
    return record;
  } catch { return {}; }
}

function payload(record) {
  if (record.json !== undefined) return { value: record.json, text: record.written, raw: record.written };
  if (record.base64) return { text: record.base64 };
  return { text: record.text || record.head || record.comment || "" };
}

function parsed(text) { try { return parse(text); } catch { return undefined; } }

// without is a record without its payload.
function without(record) {
  const { json, text, written, ...rest } = record;
  return rest;
}

function hints(record) {
  const out = [];
  if (record.size) out.push(el("div", { class: "hint" }, "This had " + record.size + " bytes. Recorded is how it begins."));
  if (record.base64) out.push(el("div", { class: "hint" }, "This is no UTF-8: it is shown as base64."));
  if (record.error) out.push(el("div", { class: "hint" }, visible(record.error)));
  if (record.masked) out.push(el("div", { class: "hint" }, "Credentials, or texts, are masked in this."));
  return out;
}

function table(rows) {
  return el("table", { class: "kv" }, rows.map(([k, v]) => el("tr", {}, el("td", {}, visible(k)), el("td", {}, visible(v)))));
}
