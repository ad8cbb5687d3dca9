"use strict";
const Lanes = { e: "editor", b: "bridge", a: "agent" };

const kinds = [
  ["editor", "editor", "--editor", (r) => r.f === "e" || r.t === "e"],
  ["agent", "agent", "--agent", (r) => (r.f === "a" || r.t === "a") && r.k !== "http"],
  ["http", "connections", "--net", (r) => r.k === "http"],
  ["bridge", "decisions", "--bridge", (r) => !r.f],
];
const traits = [
  ["tools", "tool calls", "--tool", (r) => !!r.l],
  ["marks", "approvals, reconnects", "--ask", (r) => !!r.g],
  ["bad", "failures", "--bad", (r) => !!r.b],
  ["wrong", "problems", "--bad", (r) => Data.wrong.has(r.n)],
];
const off = new Set(); // kinds that are not shown
const only = new Set(); // traits, of which one at least is wanted
let found = [], onlyFound = false, scope = null; // scope: a session or a task
let following = false;

function picked(r) {
  for (const [id, , , is] of kinds) if (is(r)) { if (off.has(id)) return false; break; }
  if (only.size && !traits.some(([id, , , is]) => only.has(id) && is(r))) return false;
  if (scope && r.s !== scope && r.o !== scope && !(scope.startsWith("exchange ") && "exchange " + r.c === scope)) return false;
  return !onlyFound || List.hits.has(r.at);
}

function refresh() {
  const keep = List.selected, top = List.view.scrollTop, place = List.place.get(keep);
  List.set(Data.rows.filter(picked).map((r) => r.at));
  if (place !== undefined && List.place.has(keep)) List.view.scrollTop = top + (List.place.get(keep) - place) * List.height;
  List.draw();
  Axis.draw();
}

function drawFilters() {
  const count = (is) => { let n = 0; for (const r of Data.rows) if (is(r)) n++; return n; };
  const chip = (cls, id, name, colour, is, pressed, toggle) => {
    const n = count(is);
    if (!n) return "";
    const b = el("button", { type: "button", class: "chip " + cls, "aria-pressed": String(pressed), onclick: () => { toggle(id); drawFilters(); refresh(); } }, el("i", {}), name, el("small", {}, n));
    b.style.setProperty("--c", "var(" + colour + ")");
    return b;
  };
  const flip = (set) => (id) => (set.has(id) ? set.delete(id) : set.add(id));
  document.getElementById("filters").replaceChildren(
    ...kinds.map((k) => chip("kind", ...k, !off.has(k[0]), flip(off))).filter(Boolean),
    el("span", { class: "sep" }), el("span", { class: "only" }, "only"),
    ...traits.map((k) => chip("trait", ...k, only.has(k[0]), flip(only))).filter(Boolean),
    scope ? el("button", { type: "button", class: "chip", onclick: () => { scope = null; drawFilters(); refresh(); } }, "only " + visible(scope).slice(0, 28), " ✕") : "",
    el("span", { class: "scope" }, List.shown.length.toLocaleString() + " of " + Data.rows.length.toLocaleString() + " records"));
}

function drawTop() {
  const h = Data.head, start = h.start || {}, rows = Data.rows;
  document.getElementById("title").textContent = visible(h.file || "trace");
  document.title = (h.file || "trace") + " – a2astdio trace";
  const last = rows.length ? rows[rows.length - 1].u : 0;
  const bad = rows.reduce((n, r) => n + (r.b || 0), 0), turns = Data.spans.filter((s) => s.kind === "turn").length;
  const fact = (value, name, cls) => el("span", { class: cls || "" }, el("b", {}, value), " " + name);
  document.getElementById("facts").replaceChildren(
    start.t ? fact(String(start.t).slice(0, 16).replace("T", " "), "UTC") : "", fact(rows.length.toLocaleString(), "records"), fact(duration(last), "long"),
    turns ? fact(turns, turns === 1 ? "turn" : "turns") : "", bad ? fact(bad, bad === 1 ? "failure" : "failures", "bad") : "");
  const notes = [...(h.notes || [])];
  const box = document.getElementById("notes");
  box.replaceChildren(...notes.map((n) => el("div", {}, visible(n))));
  box.hidden = !notes.length;
  drawProblems();
  const mode = start.mode;
  if (mode === "proxy") Lanes.b = "proxy";
  if (mode === "client") Lanes.b = "a2astdio";
  if (mode === "tap") { Lanes.e = "client"; Lanes.b = "tap"; Lanes.a = "command"; }
  document.getElementById("laneheads").replaceChildren(..."eba".split("").map((l) => el("span", { class: l, "data-short": Lanes[l][0] }, Lanes[l])));
}

// drawProblems lists what is wrong by the protocols, the worst first.
let unfolded = true, listed = null;
function drawProblems() {
  const box = document.getElementById("problems"), all = Data.problems;
  if (listed === all && box.childElementCount) return;
  listed = all;
  box.hidden = !all.length;
  if (!all.length) return box.replaceChildren();
  const errors = all.filter((p) => p.weight === "error").length, total = Data.head.problems || all.length;
  const sorted = [...all].sort((a, b) => (a.weight === "error" ? 0 : 1) - (b.weight === "error" ? 0 : 1) || a.record - b.record);
  const item = (p) => el("button", { type: "button", class: "problem " + p.weight, title: p.source || "", onclick: () => showProblem(p) },
    el("span", { class: "p-n" }, p.record ? "#" + p.record : ""), el("b", {}, p.weight), el("span", { class: "p-w" }, p.who + " · " + p.rule + (p.what ? " · " + visible(p.what) : "")),
    el("span", { class: "p-x" }, visible(p.text)), p.source ? el("small", {}, p.source) : "");
  const head = el("button", { type: "button", class: "p-head", "aria-expanded": String(unfolded), onclick: () => { unfolded = !unfolded; listed = null; drawProblems(); } },
    el("b", {}, total + (total === 1 ? " problem" : " problems")), errors ? ", " + errors + (errors === 1 ? " error" : " errors") : ", no errors", el("i", {}, unfolded ? "▾" : "▸"));
  box.replaceChildren(head, ...(unfolded ? [el("div", { class: "p-list" }, ...sorted.map(item))] : []));
}

// showProblem goes to the record, also where filters hide it.
function showProblem(p) {
  const i = Data.byRecord.get(p.record);
  if (i === undefined) return;
  if (!List.place.has(i)) { off.clear(); only.clear(); scope = null; onlyFound = false; document.getElementById("only").checked = false; drawFilters(); refresh(); }
  List.select(i);
}

let searched = 0;
async function search(text) {
  const asked = ++searched;
  List.find = text.toLowerCase();
  List.version++;
  const all = text ? await Data.search(text) : [];
  if (asked !== searched) return;
  found = all;
  List.hits = new Set(found);
  document.getElementById("hits").textContent = text ? (found.length ? "0 / " + found.length : "none") : "";
  if (onlyFound) { refresh(); drawFilters(); }
  List.draw();
  if (found.length) step(1);
}

// step goes to the next record that was found.
function step(by) {
  const list = found.filter((i) => List.place.has(i));
  if (!list.length) return;
  let k = by > 0 ? list.findIndex((i) => i > List.selected) : list.findLastIndex((i) => i < List.selected);
  if (k < 0) k = by > 0 ? 0 : list.length - 1;
  document.getElementById("hits").textContent = k + 1 + " / " + list.length;
  List.select(list[k]);
}

function goToPair() {
  const list = [...List.pairs].sort((a, b) => a - b);
  const to = list.find((i) => i > List.selected) ?? list[0];
  if (to === undefined) return;
  if (!List.place.has(to)) { off.clear(); only.clear(); scope = null; onlyFound = false; document.getElementById("only").checked = false; drawFilters(); refresh(); }
  List.select(to);
}

function theme(next) {
  let now = next || document.documentElement.dataset.theme;
  if (next) { try { localStorage.setItem("a2astdio-theme", next); } catch { /* a file has no storage */ } }
  document.documentElement.dataset.theme = now;
  Axis.draw();
}

// hash is what the URL says behind #: theme, record, tab.
function hash() { return new URLSearchParams(location.hash.slice(1)); }

// goTo chooses what the URL names, so that a link can lead to a record.
function goTo() {
  const h = hash(), i = Data.byRecord.get(Number(h.get("record")));
  if (h.get("tab")) Detail.tab = h.get("tab");
  if (i !== undefined && i !== List.selected) List.select(i);
}

function firstTheme() {
  let kept = null;
  try { kept = localStorage.getItem("a2astdio-theme"); } catch { /* a file has no storage */ }
  const asked = hash().get("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = asked || kept || (dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => { if (!kept) theme(dark.matches ? "dark" : "light"); });
}

function follow(on) {
  following = on;
  document.getElementById("follow").setAttribute("aria-pressed", String(on));
  if (on) List.end();
}

const keys = [
  ["j k ↓ ↑", "the next record, the one before"], ["PgDn PgUp", "a page"], ["g G", "the first, the last"], ["Enter", "into the record"], ["p", "its other side: what became of it, what it was made of"],
  ["[ ]", "the record before and after of the same exchange or session"], ["x", "only its task or session; again: all"], ["/", "search"], ["n N", "the next that was found, the one before"],
  ["1 … 5", "JSON, raw, both sides, …"], ["+ −", "the time axis closer, wider"], ["f", "follow what is being written"], ["t", "dark or light"], ["Esc", "back"],
];

function help() {
  const d = document.getElementById("keys");
  d.replaceChildren(el("h2", {}, "Keys"), el("dl", {}, keys.flatMap(([k, what]) => [el("dt", {}, k.split(" ").flatMap((x) => [el("kbd", {}, x), " "])), el("dd", {}, what)])));
  d.showModal();
}

function sibling(by) {
  const r = Data.rows[List.selected];
  if (!r) return;
  for (let k = List.place.get(List.selected) + by; k >= 0 && k < List.shown.length; k += by) {
    const o = Data.rows[List.shown[k]];
    if (r.c ? o.c === r.c : r.s ? o.s === r.s : o.f === r.f) return List.select(o.at);
  }
}

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target.matches("input, textarea");
  if (typing) {
    if (e.key === "Escape") { e.target.blur(); List.view.focus(); }
    if (e.key === "Enter" && e.target.id === "query") { e.preventDefault(); step(e.shiftKey ? -1 : 1); }
    return;
  }
  if (document.getElementById("keys").open) return;
  const page = Math.max(1, Math.floor(List.view.clientHeight / List.height) - 1);
  const does = {
    j: () => List.move(1), ArrowDown: () => List.move(1), k: () => List.move(-1), ArrowUp: () => List.move(-1),
    PageDown: () => List.move(page), PageUp: () => List.move(-page), g: () => List.move(-1e9), Home: () => List.move(-1e9), G: () => List.move(1e9), End: () => List.move(1e9),
    Enter: () => { document.body.classList.add("open"); document.getElementById("body").focus(); },
    Escape: () => { document.body.classList.remove("open"); List.view.focus(); },
    p: goToPair, "[": () => sibling(-1), "]": () => sibling(1),
    x: () => { const r = Data.rows[List.selected]; scope = scope ? null : r && (r.s || r.o || (r.c ? "exchange " + r.c : null)); refresh(); drawFilters(); },
    "/": () => document.getElementById("query").focus(), n: () => step(1), N: () => step(-1),
    f: () => follow(!following), t: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"), "?": help,
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
  }[e.key];
  if (does) { e.preventDefault(); does(); return; }
  if (e.key >= "1" && e.key <= "5") { const tab = document.querySelectorAll("#tabs button")[e.key - 1]; if (tab) tab.click(); }
}

function zoom(by) {
  const r = Data.rows[List.selected], at = r ? r.u : (Axis.from + Axis.to) / 2;
  Axis.show(at - (at - Axis.from) * by, at + (Axis.to - at) * by);
}

function splitter() {
  const split = document.getElementById("split"), detail = document.getElementById("detail");
  split.addEventListener("pointerdown", (e) => {
    split.setPointerCapture(e.pointerId);
    const move = (m) => { detail.style.width = Math.max(280, document.body.clientWidth - m.clientX) + "px"; };
    split.addEventListener("pointermove", move);
    split.addEventListener("pointerup", () => split.removeEventListener("pointermove", move), { once: true });
  });
}

async function main() {
  firstTheme();
  List.start();
  Axis.start();
  Detail.start();
  splitter();
  List.onselect = (i) => {
    Detail.show(i);
    Axis.draw();
    const h = hash();
    h.set("record", Data.rows[i].n);
    try { history.replaceState(null, "", "#" + h); } catch { /* a file that may not */ }
    if (innerWidth <= 680) document.body.classList.add("open");
  };
  List.onscroll = () => { Axis.draw(); if (following && !List.atEnd()) follow(false); };
  Axis.onpick = (i) => { if (i !== undefined) List.select(i); };
  document.addEventListener("keydown", onKey);
  const query = document.getElementById("query");
  let typing = 0;
  query.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => search(query.value.trim()), 180); });
  document.getElementById("find").addEventListener("submit", (e) => e.preventDefault());
  document.getElementById("only").addEventListener("change", (e) => { onlyFound = e.target.checked; refresh(); drawFilters(); });
  document.getElementById("next").addEventListener("click", () => step(1));
  document.getElementById("prev").addEventListener("click", () => step(-1));
  document.getElementById("follow").addEventListener("click", () => follow(!following));
  document.getElementById("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  document.getElementById("help").addEventListener("click", help);
  addEventListener("resize", () => { List.measure(); List.draw(); });
  try {
    await Data.start();
  } catch (e) {
    document.getElementById("empty").hidden = false;
    document.getElementById("empty").textContent = "The trace cannot be read: " + e.message;
    return;
  }
  drawTop();
  Axis.set();
  refresh();
  drawFilters();
  goTo();
  addEventListener("hashchange", goTo);
  List.view.focus();
  const pill = document.getElementById("live"), button = document.getElementById("follow");
  button.hidden = !!Data.embedded;
  const state = (there) => {
    pill.hidden = false;
    pill.className = "pill" + (there && !Data.head.stopped ? " on" : "");
    pill.textContent = !there ? "the server has ended" : Data.head.stopped ? "complete" : "live";
  };
  Data.live((n) => {
    if (n) {
      const stay = following;
      List.add(Data.rows.slice(Data.rows.length - n).filter(picked).map((r) => r.at));
      drawTop();
      Axis.set();
      drawFilters();
      if (stay) List.end();
    }
  }, state);
  document.documentElement.dataset.ready = "yes";
}

main();
