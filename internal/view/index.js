"use strict";
(() => {
  const $ = selector => document.querySelector(selector);
  const params = new URLSearchParams(location.search);
  const remember = (name, value) => {
    if (value) params.set(name, value); else params.delete(name);
    const query = params.toString();
    try { history.replaceState(null, "", query ? "?" + query : location.pathname); } catch { /* as it was */ }
  };
  addEventListener("keydown", e => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.target.closest("input, select")) return;
    e.preventDefault();
    $("#words").focus();
  });
  const list = $("#list");
  if (!list) return; // what a server found
  const body = list.tBodies[0], total = list.caption;
  let rows = [...body.rows], caption = total.textContent, found = null;

  // Sorting, by the address too: "?sort=turns", "?sort=-last".
  const heads = [...list.tHead.rows[0].cells];
  const at = name => heads.findIndex(h => h.dataset.sort === name);
  const value = (row, i) => {
    const cell = row.cells[i];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim().toLowerCase();
  };
  const sort = (name, down) => {
    const i = at(name);
    if (i < 0) return;
    const sorted = rows.map(r => [value(r, i), r]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    if (down) sorted.reverse();
    rows = sorted.map(([, r]) => r);
    body.remove(); // nothing is laid out meanwhile
    body.append(...rows);
    show();
    list.append(body);
    for (const h of heads) h.removeAttribute("aria-sort");
    heads[i].setAttribute("aria-sort", down ? "descending" : "ascending");
    remember("sort", (down ? "-" : "") + name);
  };
  const sortAgain = () => {
    const by = params.get("sort");
    if (by) sort(by.replace(/^-/, ""), by.startsWith("-"));
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

  // Filters, by the address too: "?title=index&author=Ada&label=pr=5&since=2026-01-01".
  const text = (row, name) => row.cells[at(name)].textContent;
  const labels = row => [...row.querySelectorAll(".label")].map(l => l.textContent);
  const day = row => text(row, "last");
  const tests = {
    title: (r, v) => text(r, "title").toLowerCase().includes(v.toLowerCase()),
    label: (r, v) => labels(r).some(l => l === v || l.startsWith(v + "=")),
    since: (r, v) => day(r) >= v,
    until: (r, v) => day(r) !== "" && day(r) <= v,
  };
  const named = ["agent", "model", "author", "branch"];
  for (const n of named) tests[n] = (r, v) => text(r, n) === v;
  // So many rows are shown at once: a browser takes seconds to lay out thousands.
  let limit = 300;
  const more = document.createElement("button");
  more.className = "more";
  more.addEventListener("click", () => { limit = Infinity; show(); });
  list.after(more);
  const show = () => {
    const wanted = Object.entries(tests).filter(([n]) => params.get(n)).map(([n, f]) => [f, params.get(n)]);
    let shown = 0;
    for (const r of rows) {
      const fits = wanted.every(([f, v]) => f(r, v)) && (!found || found(r));
      if (fits) shown++;
      const hide = !fits || shown > limit;
      if (r.hidden !== hide) r.hidden = hide;
    }
    body.className = "ready";
    more.hidden = shown <= limit;
    more.textContent = `Show ${shown - limit} more`;
    total.textContent = shown < rows.length ? `${shown} of ${caption}` : caption;
  };
  const box = $("#filters"), fields = new Map();
  const field = (name, label, make) => {
    const l = document.createElement("label"), f = make();
    l.append(label + " ", f);
    f.name = name;
    f.value = params.get(name) ?? "";
    f.addEventListener("input", () => { remember(name, f.value); show(); });
    fields.set(name, f);
    box.append(l);
    return l;
  };
  const input = type => () => Object.assign(document.createElement("input"), { type });
  const values = name => new Set(name === "label" ? rows.flatMap(labels) : rows.map(r => text(r, name)));
  const choices = () => {
    for (const name of [...named, "label"]) {
      const all = [...values(name)].filter(v => v).sort(), chosen = params.get(name) ?? "";
      const f = fields.get(name);
      f.parentElement.hidden = all.length < 2 && !chosen;
      if (chosen && !all.includes(chosen)) all.push(chosen);
      if (f.length === all.length + 1) continue;
      f.replaceChildren(new Option("any", ""), ...all.slice(0, 500).map(v => new Option(v, v)));
      f.value = chosen;
    }
  };
  field("title", "Title", input("search"));
  for (const n of named) field(n, n[0].toUpperCase() + n.slice(1), () => document.createElement("select"));
  field("label", "Label", () => document.createElement("select"));
  field("since", "Since", input("date"));
  field("until", "Until", input("date"));
  box.parentElement.hidden = false;
  box.parentElement.open = Object.keys(tests).some(n => params.get(n));
  const filters = box.parentElement;
  filters.addEventListener("toggle", () => { if (filters.open) choices(); });
  if (filters.open) choices();
  show();
  sortAgain();

  // A server has the rows that changed, and the figures of those whose conversations it had not
  // read when the page was made.
  if (list.dataset.rows) {
    let next = list.dataset.next, pending = true;
    const update = async () => {
      const answer = await fetch(`${list.dataset.rows}?after=${next}`);
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const said = name => fresh.getElementById(name).textContent;
      next = fresh.getElementById("list").dataset.next;
      pending = said("pending") !== "0";
      for (const gone of said("gone").split(" ")) document.getElementById(gone)?.remove();
      const changed = [...fresh.getElementById("list").tBodies[0].rows];
      if (!changed.length && rows.length === body.rows.length && list.className === `list ${said("empty")}`.trim()) return;
      for (const row of changed) {
        const old = document.getElementById(row.id);
        if (old) old.replaceWith(row); else body.prepend(row);
      }
      list.className = `list ${said("empty")}`.trim();
      rows = [...body.rows];
      caption = `${rows.length} conversation${rows.length === 1 ? "" : "s"}`;
      sortAgain();
      if (filters.open) choices();
      show();
    };
    const again = () => setTimeout(async () => {
      if (!document.hidden) await update().catch(() => {});
      again();
    }, pending ? 1000 : 2000);
    again();
  }

  const words = $("#words"), hits = $("#hits"), places = $("#found"), searching = $("#searching");
  if (!searching) return; // a server searches
  searching.hidden = false;

  // The index is in pieces by the first two letters of words; one is fetched when it is asked for.
  // A piece calls gitjp with its words; each has its turns, by one number for all conversations, as
  // what is between them: digits of five bits, the least first, with a sixth where more follow.
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
    for (const [w, gaps] of Object.entries(data)) {
      if (!w.startsWith(word)) continue;
      let turn = 0, shift = 1;
      for (const letter of gaps) {
        const v = digits.indexOf(letter);
        turn += (v & 31) * shift;
        if (v < 32) { all.add(turn); shift = 1; } else shift *= 32;
      }
    }
    return all;
  };
  const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  const docs = rows.map(r => [Number(r.dataset.doc), r]).sort(([a], [b]) => a - b);
  const most = 200;
  let latest = 0;
  const search = async text => {
    const mine = ++latest;
    const typed = text.trim().toLowerCase();
    remember("q", typed);
    const terms = typed.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
    hits.replaceChildren();
    found = null;
    if (!terms.length) { places.value = ""; show(); return; }
    const sets = await Promise.all(terms.map(t => lookUp([...t].slice(0, 32).join(""))));
    if (mine !== latest) return;
    const all = [...sets[0]].filter(p => sets.every(s => s.has(p))).sort((a, b) => a - b);
    const turns = new Map();
    let at = 0;
    for (const p of all) {
      while (at + 1 < docs.length && docs[at + 1][0] <= p) at++;
      const [doc, row] = docs[at];
      if (!turns.has(row)) turns.set(row, []);
      turns.get(row).push(p - doc);
    }
    found = r => turns.has(r) ||
      terms.every(t => r.textContent.toLowerCase().includes(t));
    show();
    const ul = document.createElement("ul");
    ul.className = "hits";
    for (const [row, list] of [...turns].slice(0, most)) {
      const link = row.querySelector("a");
      const li = document.createElement("li");
      li.append(link.textContent + " · ");
      list.forEach((t, i) => {
        const a = document.createElement("a");
        a.href = `${link.getAttribute("href")}?q=${encodeURIComponent(typed)}&turn=${t}`;
        a.textContent = `turn ${t}`;
        if (i) li.append(", ");
        li.append(a);
      });
      ul.append(li);
    }
    hits.append(ul);
    places.value = all.length ? `${all.length} turns in ${turns.size} conversations` : "nothing";
  };
  let timer;
  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(words.value), 150);
  });
  if (params.get("q")) { words.value = params.get("q"); search(words.value); }
})();
