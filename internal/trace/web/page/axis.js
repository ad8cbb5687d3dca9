"use strict";
// The time axis: turns, requests, tool calls, waits for approval and lost
// connections as bars; how much passed below them.
const Axis = {
  canvas: null, box: null, tip: null,
  from: 0, to: 1, // microseconds that are in sight
  total: 1, fit: true,
  tracks: [], // spans in rows: [{name, spans}]
  onpick: () => {},
  left: 74, // of the names

  start() {
    this.box = document.getElementById("axis");
    this.canvas = document.getElementById("bars");
    this.tip = document.getElementById("tip");
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.canvas.addEventListener("mousemove", (e) => this.hover(e));
    this.canvas.addEventListener("mouseleave", () => { this.tip.hidden = true; });
    this.canvas.addEventListener("click", (e) => this.pick(e));
    this.canvas.addEventListener("dblclick", () => { this.fit = true; this.scale(); this.draw(); });
    this.canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    let drag = null;
    this.canvas.addEventListener("pointerdown", (e) => { drag = { x: e.offsetX, from: this.from, to: this.to }; });
    addEventListener("pointerup", () => { drag = null; });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!drag || !(e.buttons & 1) || Math.abs(e.offsetX - drag.x) < 3) return;
      const by = (drag.x - e.offsetX) / this.width() * (drag.to - drag.from);
      this.show(drag.from + by, drag.to + by);
    });
  },

  width() { return Math.max(1, this.box.clientWidth - this.left - 10); },
  x(us) { return this.left + (us - this.from) / (this.to - this.from) * this.width(); },
  us(x) { return this.from + (x - this.left) / this.width() * (this.to - this.from); },

  // set takes the spans anew.
  set() {
    const rows = Data.rows;
    this.total = Math.max(1000, rows.length ? rows[rows.length - 1].u : 0);
    const kinds = [["turn", "turns"], ["leg", "requests"], ["call", "tool calls"], ["approval", "approval"], ["reconnect", "lost"]];
    this.tracks = kinds.map(([kind, name]) => ({ kind, name, spans: Data.spans.filter((s) => s.kind === kind) })).filter((t) => t.spans.length);
    this.box.style.height = 44 + Math.max(1, this.tracks.length) * 15 + "px";
    this.scale();
    this.draw();
  },

  scale() {
    if (this.fit) { this.from = 0; this.to = this.total * 1.01; }
  },

  show(from, to) {
    const wide = Math.min(Math.max(to - from, 20), this.total * 1.2);
    from = Math.max(-0.05 * wide, Math.min(from, this.total - 0.2 * wide));
    this.from = from;
    this.to = from + wide;
    this.fit = false;
    this.draw();
  },

  wheel(e) {
    e.preventDefault();
    const wide = this.to - this.from;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) return this.show(this.from + e.deltaX / this.width() * wide, this.to + e.deltaX / this.width() * wide);
    const at = this.us(e.offsetX), by = Math.exp(e.deltaY * 0.002);
    this.show(at - (at - this.from) * by, at + (this.to - at) * by);
  },

  layout() {
    const high = this.box.clientHeight, ruler = 18, foot = 22;
    const n = Math.max(1, this.tracks.length);
    return { ruler, foot, high, track: Math.min(17, (high - ruler - foot - 4) / n) };
  },

  draw() {
    const ratio = devicePixelRatio || 1, wide = this.box.clientWidth, high = this.box.clientHeight;
    if (!wide || !high) return;
    if (this.canvas.width !== Math.round(wide * ratio) || this.canvas.height !== Math.round(high * ratio)) {
      this.canvas.width = Math.round(wide * ratio);
      this.canvas.height = Math.round(high * ratio);
    }
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, wide, high);
    const style = getComputedStyle(document.documentElement);
    const c = (name) => style.getPropertyValue(name).trim();
    const look = this.layout();
    g.font = "11px " + style.getPropertyValue("--sans");
    g.textBaseline = "middle";
    this.window(g, c, look);
    this.ruler(g, c, look, wide);
    g.save();
    g.beginPath();
    g.rect(this.left, 0, wide - this.left, high);
    g.clip();
    this.tracks.forEach((t, k) => this.bars(g, c, t, look.ruler + k * look.track, look.track));
    this.flow(g, c, look);
    this.cursor(g, c, look);
    g.restore();
    g.fillStyle = c("--dim");
    g.textAlign = "right";
    this.tracks.forEach((t, k) => g.fillText(t.name, this.left - 8, look.ruler + (k + 0.5) * look.track));
    g.fillText("events", this.left - 8, high - look.foot / 2);
  },

  ruler(g, c, look, wide) {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((n) => [n, n * 1e3, n * 1e6]).concat([6e7, 3e8, 6e8, 1.8e9, 3.6e9, 1.44e10]).sort((a, b) => a - b);
    const step = steps.find((s) => s / (this.to - this.from) * this.width() > 74) || 3.6e10;
    g.strokeStyle = c("--soft");
    g.fillStyle = c("--faint");
    g.textAlign = "left";
    for (let us = Math.ceil(this.from / step) * step; us < this.to; us += step) {
      const x = Math.round(this.x(us)) + 0.5;
      if (x < this.left) continue;
      g.beginPath();
      g.moveTo(x, 0);
      g.lineTo(x, look.high);
      g.stroke();
      if (x < wide - 40) g.fillText(tick(us), x + 4, look.ruler / 2);
    }
  },

  // bars draws a track. Of bars that are narrower than a pixel there is one a pixel.
  bars(g, c, track, top, high) {
    const tall = Math.max(4, high - 4), colours = { turn: "--editor", leg: "--agent", call: "--tool", approval: "--ask", reconnect: "--bad" };
    let last = -1;
    for (const s of track.spans) {
      const end = s.end || this.total;
      if (end < this.from || s.start > this.to) continue;
      const x = this.x(s.start), w = Math.max(2, this.x(end) - x);
      if (w <= 2 && Math.round(x) === last) continue;
      last = Math.round(x);
      g.globalAlpha = s.end ? 0.9 : 0.5;
      g.fillStyle = c(s.bad ? "--bad" : colours[s.kind]);
      g.beginPath();
      g.roundRect(x, top + 2, w, tall, Math.min(4, w / 2));
      g.fill();
      g.globalAlpha = 1;
      if (s.kind === "approval" || s.kind === "reconnect") this.hatch(g, c, x, top + 2, w, tall);
      if (w > 46) {
        g.save();
        g.beginPath();
        g.rect(x, top, w - 4, high);
        g.clip();
        g.fillStyle = c(s.kind === "approval" ? "--on-ask" : "--on-bar");
        g.textAlign = "left";
        g.fillText(visible(s.name.replace(/^(session|message)\//, "")), Math.max(x, this.left) + 6, top + high / 2 + 0.5);
        g.restore();
      }
    }
  },

  hatch(g, c, x, y, w, h) {
    if (w < 6) return;
    g.save();
    g.beginPath();
    g.roundRect(x, y, w, h, 4);
    g.clip();
    g.strokeStyle = c("--panel");
    g.globalAlpha = 0.2;
    g.lineWidth = 2;
    g.beginPath();
    for (let k = Math.max(x, this.left) - h - ((Math.max(x, this.left) - x) % 7); k < Math.min(x + w, this.left + this.width()) + h; k += 7) { g.moveTo(k, y + h); g.lineTo(k + h, y); }
    g.stroke();
    g.restore();
  },

  // flow draws how many records there are at a time.
  flow(g, c, look) {
    const n = Math.ceil(this.width() / 3), counts = new Float64Array(n), bad = new Uint8Array(n);
    const rows = Data.rows, wide = this.to - this.from;
    let lo = 0, hi = rows.length;
    while (lo < hi) { const m = (lo + hi) >> 1; if (rows[m].u < this.from) lo = m + 1; else hi = m; }
    for (let i = lo; i < rows.length && rows[i].u <= this.to; i++) {
      const k = Math.min(n - 1, Math.floor((rows[i].u - this.from) / wide * n));
      counts[k]++;
      if (rows[i].b) bad[k] = 1;
    }
    const most = counts.reduce((a, b) => Math.max(a, b), 1), base = look.high - 2;
    for (let k = 0; k < n; k++) {
      if (!counts[k]) continue;
      const h = Math.max(2, Math.log1p(counts[k]) / Math.log1p(most) * (look.foot - 6));
      g.fillStyle = c(bad[k] ? "--bad" : "--bridge");
      g.globalAlpha = 0.75;
      g.fillRect(this.left + k * 3, base - h, 2.2, h);
    }
    g.globalAlpha = 1;
  },

  // window shades what the list shows.
  window(g, c, look) {
    const [first, last] = List.range();
    if (!List.shown.length || last <= first) return;
    const a = Data.rows[List.shown[first]], b = Data.rows[List.shown[Math.min(last, List.shown.length) - 1]];
    if (!a || !b) return;
    g.fillStyle = c("--hover");
    const x = Math.max(this.left, this.x(a.u)), w = Math.max(3, this.x(b.u) - x);
    if (x + w > this.left) g.fillRect(x, 0, w, look.high);
  },

  cursor(g, c, look) {
    const r = Data.rows[List.selected];
    if (!r) return;
    const x = Math.round(this.x(r.u)) + 0.5;
    g.strokeStyle = c("--sel-line");
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(x, 0);
    g.lineTo(x, look.high);
    g.stroke();
    g.lineWidth = 1;
  },

  at(e) {
    const look = this.layout(), k = Math.floor((e.offsetY - look.ruler) / look.track), track = this.tracks[k];
    if (!track || e.offsetX < this.left || e.offsetY < look.ruler) return null;
    const us = this.us(e.offsetX), slack = 3 / this.width() * (this.to - this.from);
    let best = null;
    for (const s of track.spans) {
      if (s.start - slack <= us && us <= (s.end || this.total) + slack && (!best || s.start >= best.start)) best = s;
    }
    return best;
  },

  hover(e) {
    const s = this.at(e);
    this.canvas.style.cursor = s ? "pointer" : "crosshair";
    this.tip.hidden = !s;
    if (!s) return;
    this.tip.replaceChildren(el("b", {}, visible(s.name)), el("span", {}, s.kind + ", " + (s.end ? duration(s.end - s.start) : "still open") + (s.status ? ", " + visible(s.status) : "") +
      (s.first_event ? ", first event after " + duration(s.first_event - s.start) : "") + (s.events ? ", " + s.events + " events" : "")));
    const x = Math.min(e.offsetX + 12, this.box.clientWidth - this.tip.offsetWidth - 8);
    this.tip.style.left = Math.max(4, x) + "px";
    this.tip.style.top = Math.min(e.offsetY + 14, this.box.clientHeight + 10) + "px";
  },

  pick(e) {
    const s = this.at(e);
    if (s) return this.onpick(Data.byRecord.get(s.first));
    if (e.offsetX < this.left) return;
    const us = this.us(e.offsetX), rows = Data.rows;
    let lo = 0, hi = rows.length - 1;
    while (lo < hi) { const m = (lo + hi) >> 1; if (rows[m].u < us) lo = m + 1; else hi = m; }
    this.onpick(lo);
  },
};

// tick is a time on the ruler.
function tick(us) {
  if (us === 0) return "0";
  if (us >= 6e7) return +(us / 6e7).toFixed(2) + " min";
  return us >= 1e6 ? +(us / 1e6).toFixed(3) + " s" : us >= 1000 ? +(us / 1000).toFixed(3) + " ms" : us + " µs";
}
