"use strict";
// Where the rows, the spans and the records come from: a server that reads the
// trace, or the page itself, which has it.
const Data = {
  head: null, // of the trace
  rows: [],
  spans: [],
  problems: [], // findings about records
  wrong: new Map(), // findings by the number of their record
  byRecord: new Map(), // rows by the number of their record
  events: new Map(), // the numbers of the agent's events, by exchange and event
  into: new Map(), // what was made of a record: the inverse of row.p
  embedded: null, // lines, if the page has the trace

  async start() {
    const holder = document.getElementById("trace");
    if (holder) {
      const all = await unpack(holder.textContent.trim());
      this.embedded = all.lines;
      this.head = all.head;
      this.take(all.rows);
      this.spans = all.spans;
      this.judge(all.problems);
      return;
    }
    this.head = await ask("head");
    await this.more();
    this.spans = await ask("spans");
    this.judge(await ask("problems"));
  },

  // judge takes the findings. They may be about rows of before.
  judge(problems) {
    this.problems = problems || [];
    this.wrong.clear();
    for (const p of this.problems) {
      const list = this.wrong.get(p.record);
      if (list) list.push(p); else this.wrong.set(p.record, [p]);
    }
  },

  // more gets the rows that are new; it returns how many there were.
  async more() {
    let n = 0;
    for (;;) {
      const from = this.rows.length;
      if (from >= this.head.count) return n;
      const some = await ask("rows?count=20000&from=" + from);
      if (!some.length) return n;
      this.take(some);
      n += some.length;
    }
  },

  take(rows) {
    for (const r of rows) {
      const i = this.rows.length;
      r.at = i;
      r.gap = i ? r.u - this.rows[i - 1].u : 0;
      this.rows.push(r);
      this.byRecord.set(r.n, i);
      if (r.f === "a" && (r.k === "event" || r.k === "reply")) this.events.set(r.c + ":" + (r.e || 0), r.n);
      r.p = (r.p || []).map(([x, e]) => this.events.get(x + ":" + e)).filter((n) => n !== undefined);
      for (const n of r.p) {
        const list = this.into.get(n);
        if (list) list.push(r.n); else this.into.set(n, [r.n]);
      }
    }
  },

  // line is a record as it is in the file.
  async line(i) {
    if (this.embedded) return this.embedded[i] || "";
    const answer = await fetch("api/record?row=" + i);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.text();
  },

  // search returns the indices of the rows whose records contain a text.
  async search(text) {
    const low = text.toLowerCase();
    if (this.embedded) {
      const found = [];
      for (let i = 0; i < this.rows.length; i++) {
        if ((this.embedded[i] || "").toLowerCase().includes(low)) found.push(i);
      }
      return found;
    }
    const found = await ask("search?text=" + encodeURIComponent(text));
    return found.filter((i) => i < this.rows.length);
  },

  // live calls changed whenever there is more, as long as the server is there.
  live(changed, state) {
    if (this.embedded) return;
    const source = new EventSource("api/live");
    let busy = false, again = false;
    const update = async () => {
      if (busy) { again = true; return; }
      busy = true;
      do {
        again = false;
        const n = await this.more();
        if (n) this.spans = await ask("spans");
        if (this.head.problems !== this.problems.length) this.judge(await ask("problems"));
        changed(n);
      } while (again);
      busy = false;
    };
    source.onmessage = (e) => { this.head = JSON.parse(e.data); state(true); update().catch(() => { busy = false; }); };
    source.onerror = () => state(false);
  },
};

async function ask(what) {
  const answer = await fetch("api/" + what);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// unpack reads what a page has in it: gzip, as base64.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const all = JSON.parse(await new Response(stream).text());
  all.lines = all.lines.split("\n");
  return all;
}

// Text that people and agents have written is shown as it is, but for what would
// turn its direction, or hide: that is shown by its number.
const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
function visible(text) {
  return text.replace(hidden, (c) => "⟨" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
}

// el makes an element. What is a string becomes text, never markup.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") e.className = value;
    else if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined && c !== "") e.append(typeof c === "number" ? String(c) : c);
  return e;
}

function duration(us) {
  if (us < 1000) return us + " µs";
  if (us < 1e6) return (us / 1000).toFixed(us < 1e4 ? 2 : us < 1e5 ? 1 : 0) + " ms";
  if (us < 6e7) return (us / 1e6).toFixed(us < 1e7 ? 2 : 1) + " s";
  return Math.floor(us / 6e7) + " min " + Math.round((us % 6e7) / 1e6) + " s";
}

function stamp(us) { return (us / 1e6).toFixed(3); }

function size(n) {
  if (!n) return "";
  if (n < 10000) return String(n);
  return n < 1e7 ? (n / 1000).toFixed(n < 1e5 ? 1 : 0) + "k" : (n / 1e6).toFixed(1) + "M";
}
