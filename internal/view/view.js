"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  for (const e of all(".scripted")) e.hidden = false;

  // What is chosen is in the address, so that a link shows what its sender saw. The fragment is
  // the turn's.
  const params = new URLSearchParams(location.search);
  const remember = (name, value) => {
    if (value) params.set(name, value); else params.delete(name);
    const query = params.toString();
    try {
      history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash);
    } catch { /* an address that does not change is no reason to stop */ }
  };

  const kinds = all("input[id^=show-]");
  const hidden = new Set((params.get("hide") || "").split(" "));
  for (const box of kinds) {
    box.checked = !hidden.has(box.id.slice(5));
    box.addEventListener("change", () => {
      remember("hide", kinds.filter(b => !b.checked).map(b => b.id.slice(5)).join(" "));
    });
  }

  const full = $("#full");
  const setFull = on => {
    if (!full) return;
    full.setAttribute("aria-pressed", String(on));
    for (const d of all("details.work")) d.open = on;
    remember("full", on ? "1" : "");
  };
  if (full) {
    full.addEventListener("click", () => setFull(full.getAttribute("aria-pressed") !== "true"));
    if (params.get("full")) setFull(true);
  }
  const openCalls = () => {
    const calls = all("details.call, details.group, details.reasoning");
    const open = !calls.every(d => d.open);
    if (open) setFull(true);
    for (const d of calls) d.open = open;
  };

  // A link may lead into what is folded.
  const reveal = node => {
    for (let e = node; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  };
  const goToHash = () => {
    const target = document.getElementById(location.hash.slice(1)) ||
      document.getElementById(decodeURI(location.hash.slice(1)));
    if (!target) return;
    const moved = target.closest(".moved"); // it is on another page by now
    if (moved) { location.replace(moved.dataset.page + location.hash); return; }
    reveal(target);
    target.scrollIntoView();
  };
  addEventListener("hashchange", goToHash);
  try { if (location.hash) goToHash(); } catch { /* a fragment of somebody's */ }

  // Prompts, one after the other.
  let turns = all(".turn");
  let links = new Map(all(".outline a").map(a => [a.getAttribute("href").slice(1), a]));
  let current = -1;
  const mark = i => {
    if (i === current) return;
    const was = turns[current] && links.get(turns[current].id);
    if (was) was.removeAttribute("aria-current");
    current = i;
    const is = turns[i] && links.get(turns[i].id);
    if (is) is.setAttribute("aria-current", "true");
  };
  const here = () => {
    let at = -1;
    turns.forEach((t, i) => { if (t.getBoundingClientRect().top < 120) at = i; });
    return at;
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (performance.now() - jumped > 500) mark(here());
    });
  }, { passive: true });
  mark(here());
  let jumped = -500; // when; a short page cannot scroll to where it was sent
  const goTo = i => {
    i = Math.max(0, Math.min(turns.length - 1, i));
    const turn = turns[i];
    if (!turn) return;
    jumped = performance.now();
    turn.scrollIntoView();
    mark(i);
    const link = $("h2 a, h3 a", turn);
    if (link) link.focus({ preventScroll: true });
  };

  const toast = words => {
    const e = document.createElement("div");
    e.className = "toast";
    e.setAttribute("role", "status");
    e.textContent = words;
    document.body.append(e);
    setTimeout(() => e.remove(), 1500);
  };
  const copyLink = () => {
    const turn = turns[Math.max(0, current)];
    if (!turn) return;
    const address = location.href.split("#")[0] + "#" + turn.id;
    if (navigator.clipboard) {
      navigator.clipboard.writeText(address).then(() => toast("Link copied"), () => toast(address));
    } else toast(address);
  };

  // Finding, also in what is folded. What was found is painted, the page is not changed.
  const find = $("#find"), found = $("#found");
  let hits = [], at = -1;
  const most = 2000, blocks = "pre, p, li, dt, dd, th, td, h1, h2, h3, h4, h5, h6, summary, caption, div";
  const search = words => {
    hits = []; at = -1;
    if (globalThis.CSS && CSS.highlights) CSS.highlights.clear();
    words = words.trim().toLowerCase();
    if (words.length < 2) { if (found) found.value = ""; return; }
    for (const root of all(".main, .page")) {
      // The pieces of a line of code, or of a paragraph, are one text.
      const nodes = [], starts = [];
      let text = "", block = null;
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      for (let n; (n = walker.nextNode());) {
        const own = n.parentElement.closest(blocks);
        if (own !== block) { text += "\n"; block = own; }
        nodes.push(n);
        starts.push(text.length);
        text += n.data;
      }
      const lower = text.toLowerCase();
      let k = 0;
      for (let i = lower.indexOf(words); i >= 0 && hits.length < most; i = lower.indexOf(words, i + words.length)) {
        const r = new Range(), end = i + words.length;
        while (k + 1 < nodes.length && starts[k + 1] <= i) k++;
        r.setStart(nodes[k], Math.min(i - starts[k], nodes[k].length));
        while (k + 1 < nodes.length && starts[k + 1] < end) k++;
        r.setEnd(nodes[k], Math.min(end - starts[k], nodes[k].length));
        hits.push(r);
      }
    }
    if (globalThis.Highlight) CSS.highlights.set("found", new Highlight(...hits));
    tell();
  };
  const tell = () => {
    if (found) found.value = hits.length ? `${at + 1} of ${hits.length}${hits.length >= most ? "+" : ""}` : "nothing";
  };
  const step = by => {
    if (!hits.length) return;
    at = (at + by + hits.length) % hits.length;
    const node = hits[at].startContainer.parentElement;
    reveal(node);
    node.scrollIntoView({ block: "center" });
    if (globalThis.Highlight) CSS.highlights.set("current", new Highlight(hits[at]));
    tell();
  };
  if (find) {
    let timer;
    find.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => search(find.value), 150);
    });
    find.addEventListener("keydown", e => {
      if (e.key === "Enter") {
        clearTimeout(timer);
        if (!hits.length) search(find.value);
        step(e.shiftKey ? -1 : 1);
      }
      if (e.key === "Escape") { find.value = ""; search(""); find.blur(); }
    });
    if (params.get("q")) {
      find.value = params.get("q");
      search(find.value);
      if (!hits.length) search(find.value.split(/\s+/)[0]);
      const turn = turns[Number(params.get("turn")) - 1];
      if (turn && hits.length) at = hits.findIndex(h => turn.contains(h.startContainer)) - 1;
      if (turn && (at < -1 || !hits.length)) turn.scrollIntoView(); else step(1);
    }
  }

  // What the page has no room for is on another one, and is put in its place where that can be
  // read: not from the disk.
  const beside = new Map();
  const fill = async a => {
    const [name, at] = a.getAttribute("href").split("#");
    if (!beside.has(name)) beside.set(name, fetch(name).then(r => r.text()));
    const there = new DOMParser().parseFromString(await beside.get(name), "text/html").getElementById(at);
    $("p", there).remove();
    a.parentElement.replaceChildren(...there.children);
  };
  addEventListener("click", e => {
    const a = e.target.closest("p.rest a");
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey || location.protocol === "file:") return;
    e.preventDefault();
    fill(a).catch(() => { location.href = a.href; });
  });

  const help = $("#help"), keys = $("#keys");
  const ask = () => { if (help && !help.open) help.showModal(); };
  if (keys) keys.addEventListener("click", ask);
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog")) return;
    const act = {
      j: () => goTo(current + 1), k: () => goTo(current - 1), f: () => full && full.click(),
      e: openCalls, "/": () => find && find.focus(), n: () => step(1), p: () => step(-1),
      c: copyLink, "?": ask,
    }[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  });

  // A conversation that grows: turns that changed are put in their place, open where they were.
  if ("live" in document.documentElement.dataset) {
    let tag = "";
    const said = new Map(turns.map(t => [t.id, t.textContent])); // a page may have more by now
    const follow = async () => {
      const answer = await fetch(location.pathname, { headers: tag ? { "If-None-Match": tag } : {} });
      if (answer.status !== 200) return;
      tag = answer.headers.get("ETag") ?? "";
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const turn of all(".turn", fresh)) {
        const old = document.getElementById(turn.id), was = said.get(turn.id);
        said.set(turn.id, turn.textContent);
        if (!old) { $(".main").append(turn); continue; }
        if (was === turn.textContent) continue;
        const open = all("details", old).map(d => d.open);
        all("details", turn).forEach((d, i) => { d.open = open[i] ?? false; });
        old.replaceWith(turn);
      }
      const list = $(".outline ol"), prompts = $(".outline ol", fresh);
      if (list && prompts && list.children.length !== prompts.children.length) list.replaceWith(prompts);
      turns = all(".turn");
      links = new Map(all(".outline a").map(a => [a.getAttribute("href").slice(1), a]));
    };
    setInterval(() => { if (!document.hidden) follow().catch(() => {}); }, 2000);
  }

  // On a small screen the list of prompts would hide the conversation.
  if (matchMedia("(max-width: 69.9rem)").matches) for (const d of all(".outline details")) d.open = false;
})();
