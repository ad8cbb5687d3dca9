"use strict";
// The list of records: of a hundred thousand, those that are in sight are there.
const List = {
  view: null, canvas: null,
  shown: [], // indices of rows
  place: new Map(), // of a row in shown
  pool: [],
  selected: -1, // a row
  pairs: new Set(),
  find: "", hits: new Set(),
  height: 28,
  onselect: () => {}, onscroll: () => {},

  start() {
    this.view = document.getElementById("list");
    this.canvas = document.getElementById("canvas");
    let waiting = false;
    const draw = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; this.draw(); this.onscroll(); }); } };
    this.view.addEventListener("scroll", draw, { passive: true });
    new ResizeObserver(draw).observe(this.view);
    this.canvas.addEventListener("click", (e) => {
      const row = e.target.closest(".row");
      if (row) this.select(row.index);
    });
  },

  // set shows these rows.
  set(indices) {
    this.shown = indices;
    this.place.clear();
    for (let k = 0; k < indices.length; k++) this.place.set(indices[k], k);
    this.measure();
    this.draw();
    document.getElementById("empty").hidden = indices.length > 0;
  },

  // add shows more rows, behind the others.
  add(indices) {
    for (const i of indices) { this.place.set(i, this.shown.length); this.shown.push(i); }
    this.measure();
    this.draw();
    document.getElementById("empty").hidden = this.shown.length > 0;
  },

  measure() {
    this.height = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 28;
    this.canvas.style.height = this.shown.length * this.height + "px";
  },

  range() {
    const first = Math.floor(this.view.scrollTop / this.height);
    return [first, Math.min(this.shown.length, first + Math.ceil(this.view.clientHeight / this.height) + 1)];
  },

  draw() {
    const [first, last] = this.range();
    const from = Math.max(0, first - 6), to = Math.min(this.shown.length, last + 6);
    while (this.pool.length < to - from) {
      const row = this.element();
      this.pool.push(row);
      this.canvas.append(row);
    }
    for (let p = 0; p < this.pool.length; p++) {
      // A row keeps its element while it is in sight.
      const k = from + ((p - from) % this.pool.length + this.pool.length) % this.pool.length;
      const row = this.pool[p];
      if (k >= to) { row.hidden = true; row.index = -1; continue; }
      row.hidden = false;
      row.style.transform = "translateY(" + k * this.height + "px)";
      if (row.index !== this.shown[k] || row.version !== this.version) this.fill(row, this.shown[k]);
      this.state(row);
    }
  },
  version: 0,

  element() {
    const row = el("div", { class: "row", role: "option" });
    row.n = el("span", { class: "r-n" });
    row.t = el("span", { class: "r-t" });
    row.arrow = el("i", {});
    row.lanes = el("span", { class: "r-lanes" }, el("i", { class: "life e" }), el("i", { class: "life b" }), el("i", { class: "life a" }), row.arrow);
    row.m = el("span", { class: "r-m" });
    row.i = el("span", { class: "r-i" });
    row.g = el("span", { class: "tag" });
    row.x = el("span", { class: "r-x" });
    row.z = el("span", { class: "r-z" });
    row.append(row.n, row.t, row.lanes, el("span", { class: "r-w" }, row.m, row.i, row.g, row.x), row.z);
    return row;
  },

  fill(row, index) {
    const r = Data.rows[index];
    row.index = index;
    row.version = this.version;
    row.n.textContent = r.n;
    row.t.textContent = stamp(r.u);
    row.t.className = r.gap >= 1e6 ? "r-t late" : "r-t";
    row.t.title = "+" + duration(r.gap) + " after the one before";
    row.arrow.className = arrow(r);
    row.style.setProperty("--c", "var(" + colour(r) + ")");
    row.m.replaceChildren(...marked(visible(r.m), this.find));
    row.i.textContent = r.k === "event" && r.c ? "(" + r.c + ")" : r.i ? "#" + visible(r.i.replace(/^"|"$/g, "")) : r.c ? "(" + r.c + ")" : "";
    row.g.textContent = r.g === "ask" ? "approval" : r.g === "cut" ? "lost" : r.g || "";
    row.g.hidden = !r.g;
    row.x.replaceChildren(...marked(visible(r.x || ""), this.find));
    row.z.textContent = size(r.z);
    row.said = /chunk|event\/text|session\/prompt/.test(r.m);
  },

  state(row) {
    const r = Data.rows[row.index];
    const wrong = Data.wrong.get(r.n);
    row.n.title = wrong ? wrong.map((p) => p.text).join("\n") : "";
    row.className = "row" + (r.b ? " bad" : "") + (wrong ? wrong.some((p) => p.weight === "error") ? " wrong" : " doubt" : "") + (row.said ? " said" : "") + (this.hits.has(row.index) ? " hit" : "") +
      (this.pairs.has(row.index) ? " pair" : "") + (row.index === this.selected ? " sel" : "");
    row.setAttribute("aria-selected", row.index === this.selected);
  },

  select(index, how) {
    if (index < 0 || index >= Data.rows.length) return;
    this.selected = index;
    const r = Data.rows[index];
    this.pairs = new Set([...r.p, ...(Data.into.get(r.n) || [])].map((n) => Data.byRecord.get(n)).filter((i) => i !== undefined));
    if (how !== "stay") this.reveal(index);
    this.draw();
    this.onselect(index);
  },

  reveal(index) {
    const k = this.place.get(index);
    if (k === undefined) return;
    const top = k * this.height, view = this.view;
    if (top < view.scrollTop) view.scrollTop = Math.max(0, top - this.height * 2);
    else if (top + this.height > view.scrollTop + view.clientHeight) view.scrollTop = top + this.height * 3 - view.clientHeight;
  },

  // move goes so many rows on, in what is shown.
  move(by) {
    if (!this.shown.length) return;
    let k = this.place.get(this.selected);
    if (k === undefined) k = by > 0 ? this.range()[0] - 1 : this.range()[1];
    this.select(this.shown[Math.max(0, Math.min(this.shown.length - 1, k + by))]);
  },

  atEnd() { return this.view.scrollTop + this.view.clientHeight >= this.shown.length * this.height - 2 * this.height; },
  end() { this.view.scrollTop = this.shown.length * this.height; },
};

// arrow is the class of a row's arrow: between which lanes, and which way.
function arrow(r) {
  if (!r.f || !r.t) return "dot";
  const from = "eba".indexOf(r.f), to = "eba".indexOf(r.t);
  const between = Math.abs(from - to) === 2 ? "ea" : Math.min(from, to) === 0 ? "eb" : "ba";
  return "arrow " + between + " " + r.k + (from < to ? " right" : " left");
}

function colour(r) {
  if (r.b) return "--bad";
  if (r.g) return "--ask";
  if (r.l) return "--tool";
  if (r.k === "http" || r.k === "note") return "--net";
  if (r.k === "decision") return "--bridge";
  return r.f === "e" || r.t === "e" ? "--editor" : "--agent";
}
