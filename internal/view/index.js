"use strict";
(() => {
  const $ = selector => document.querySelector(selector);
  const list = $("#list"), body = list.tBodies[0], rows = [...body.rows];
  const params = new URLSearchParams(location.search);
  const remember = (name, value) => {
    if (value) params.set(name, value); else params.delete(name);
    const query = params.toString();
    try { history.replaceState(null, "", query ? "?" + query : location.pathname); } catch { /* as it was */ }
  };

  // Sorting, by the address too: "?sort=turns", "?sort=-last".
  const heads = [...list.tHead.rows[0].cells];
  const value = (row, i) => {
    const cell = row.cells[i];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim().toLowerCase();
  };
  const sort = (name, down) => {
    const i = heads.findIndex(h => h.dataset.sort === name);
    if (i < 0) return;
    const sorted = rows.map(r => [value(r, i), r]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    if (down) sorted.reverse();
    body.append(...sorted.map(([, r]) => r));
    for (const h of heads) h.removeAttribute("aria-sort");
    heads[i].setAttribute("aria-sort", down ? "descending" : "ascending");
    remember("sort", (down ? "-" : "") + name);
  };
  for (const h of heads) {
    const b = document.createElement("button");
    b.textContent = h.textContent;
    b.className = "sort";
    h.replaceChildren(b);
    b.addEventListener("click", () => {
      const was = h.getAttribute("aria-sort");
      sort(h.dataset.sort, was ? was === "ascending" : "v" in (rows[0]?.cells[h.cellIndex].dataset ?? {}));
    });
  }
  const by = params.get("sort");
  if (by) sort(by.replace(/^-/, ""), by.startsWith("-"));

  const words = $("#words"), hits = $("#hits"), found = $("#found"), box = $("#searching");
  addEventListener("keydown", e => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.target.closest("input")) return;
    e.preventDefault();
    words.focus();
  });
  if (!box) return; // a server searches
  box.hidden = false;

  // The index is in pieces by the first two letters of words; one is fetched when it is asked for.
  // A piece calls gitjp with its words; each has conversations with their turns, as
  // "conversation:turn,turn;…" in base 36.
  const pieces = new Map(), waiting = new Map();
  globalThis.gitjp = (name, data) => {
    pieces.set(name, data);
    waiting.get(name)?.();
  };
  const bucket = w => {
    const [a, b] = [...w].map(c => c.codePointAt(0));
    return ((a * 31 + (b ?? 0)) % 256).toString(16).padStart(2, "0");
  };
  const piece = name => new Promise(done => {
    if (pieces.has(name)) return done(pieces.get(name));
    waiting.set(name, () => done(pieces.get(name)));
    const s = document.createElement("script");
    s.src = `search/${name}.js`;
    s.onerror = () => { pieces.set(name, {}); done({}); };
    document.head.append(s);
  });
  const lookUp = async word => {
    const data = await piece(bucket(word)), all = new Set();
    for (const [w, places] of Object.entries(data)) {
      if (!w.startsWith(word)) continue;
      for (const place of places.split(";")) {
        const [doc, turns] = place.split(":");
        for (const t of turns.split(",")) all.add(doc + ":" + t);
      }
    }
    return all;
  };
  const byDoc = new Map(rows.map(r => [Number(r.dataset.doc).toString(36), r]));
  const most = 200, caption = list.caption.textContent;
  let latest = 0;
  const search = async text => {
    const mine = ++latest;
    const typed = text.trim().toLowerCase();
    remember("q", typed);
    const terms = typed.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
    hits.replaceChildren();
    for (const r of rows) r.hidden = false;
    list.caption.textContent = caption;
    if (!terms.length) { found.value = ""; return; }
    const sets = await Promise.all(terms.map(t => lookUp([...t].slice(0, 32).join(""))));
    if (mine !== latest) return;
    const places = [...sets[0]].filter(p => sets.every(s => s.has(p)));
    const turns = new Map();
    for (const p of places) {
      const [doc, t] = p.split(":");
      if (!turns.has(doc)) turns.set(doc, []);
      turns.get(doc).push(parseInt(t, 36));
    }
    for (const r of rows) {
      const doc = Number(r.dataset.doc).toString(36);
      r.hidden = !turns.has(doc) && !terms.every(t => r.textContent.toLowerCase().includes(t));
    }
    list.caption.textContent = `${rows.filter(r => !r.hidden).length} of ${caption}`;
    const ul = document.createElement("ul");
    ul.className = "hits";
    for (const [doc, list] of [...turns].slice(0, most)) {
      const link = byDoc.get(doc)?.querySelector("a");
      if (!link) continue;
      const li = document.createElement("li");
      li.append(link.textContent + " · ");
      list.sort((a, b) => a - b).forEach((t, i) => {
        const a = document.createElement("a");
        a.href = `${link.getAttribute("href")}?q=${encodeURIComponent(typed)}&turn=${t}`;
        a.textContent = `turn ${t}`;
        if (i) li.append(", ");
        li.append(a);
      });
      ul.append(li);
    }
    hits.append(ul);
    found.value = places.length ? `${places.length} turns in ${turns.size} conversations` : "nothing";
  };
  let timer;
  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(words.value), 150);
  });
  if (params.get("q")) { words.value = params.get("q"); search(words.value); }
})();
