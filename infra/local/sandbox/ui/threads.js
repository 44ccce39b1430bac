// The threads of a channel: which are folded, which a search finds, and in a word how each stands; and the row above
// the
// conversation for that: search, folding, and how much waits for the person.

import { h, icon } from "./dom.js";
import { language, t } from "./i18n.js";
import { changed, folded, keepFolds, remember, state, ui } from "./store.js";
import { placeName } from "./people.js";

// openAtFirst is how many threads stand open when a channel is first shown; what still waits for somebody always does.
const openAtFirst = 8;

/** inChannel is what stands at the top of the channel that is shown, and the replies by thread; the oldest first. */
export function inChannel() {
  const all = [...(state.messages.get(ui.channel)?.values() || [])].sort((a, b) => (a.ts < b.ts ? -1 : 1));
  const mine = [...state.ephemerals.values()].filter((e) => e.channel === ui.channel).map((e) => e.message);
  const roots = all.filter((m) => !m.thread_ts || m.thread_ts === m.ts);
  const threads = new Map();
  for (const m of [...all, ...mine]) {
    if (m.thread_ts && m.thread_ts !== m.ts) threads.set(m.thread_ts, [...(threads.get(m.thread_ts) || []), m]);
  }
  threads.forEach((list) => list.sort((a, b) => (a.ts < b.ts ? -1 : 1)));
  const top = [...roots, ...mine.filter((m) => !m.thread_ts)].sort((a, b) => (a.ts < b.ts ? -1 : 1));
  return { top, threads };
}

const blocksOf = (m) => [...(m.blocks || []), ...(m.attachments || []).flatMap((a) => a.blocks || [])];

/** headline is the header of a message's card, "" without one. */
export const headline = (m) => blocksOf(m).find((b) => b.type === "header")?.text?.text || "";

/** origin is the line above the header of a card's copy, which names the request, without its link; "" without one. */
export function origin(m) {
  const all = blocksOf(m), above = all.slice(0, Math.max(all.findIndex((b) => b.type === "header"), 0));
  return (above.find((b) => b.type === "context")?.elements[0]?.text || "").replace(/ · <[^<>]*\|[^<>]*>$/, "");
}

const asks = (m) => blocksOf(m).some((b) => b.type === "actions" && b.elements.some((e) => e.type === "button"));

/** standing is the newest headline of a thread. */
export const standing = (replies) => replies.map(headline).filter(Boolean).at(-1) || "";

// Folded of themselves are, once for each channel and person, older threads in which nothing is left to press, but not
// the one that a link leads to.
const settled = new Map();

function byItself(root, top, threads) {
  const place = state.me + ui.channel;
  if (!settled.has(place)) {
    const long = top.filter((m) => threads.has(m.ts));
    settled.set(place, new Set(long.slice(0, -openAtFirst).filter((m) => !threads.get(m.ts).some((r) => asks(r) ||
      r.ts === ui.flash)).map((m) => m.ts)));
  }
  return settled.get(place).has(root);
}

/** isFolded: what the person did to a thread counts; in a search all are folded but those opened in it. */
export function isFolded(root, top, threads) {
  const auto = byItself(root, top, threads);
  if (ui.found) return !ui.found.opened.has(root);
  return folded(root) ?? auto;
}

/** fold folds threads, or opens them, and keeps it. */
export function fold(roots, yes) {
  if (ui.found && roots.length === 1) yes ? ui.found.opened.delete(roots[0]) : ui.found.opened.add(roots[0]);
  else keepFolds(roots, yes);
  changed();
}

// words is all that a message says, in small letters.
function words(m) {
  const texts = [m.text || ""];
  const walk = (x) => {
    if (Array.isArray(x)) x.forEach(walk);
    else if (x && typeof x === "object") {
      for (const [k, v] of Object.entries(x)) {
        if (typeof v === "string" && (k === "text" || k === "title")) texts.push(v);
        else walk(v);
      }
    }
  };
  walk(m.blocks);
  walk(m.attachments);
  return texts.join("\n").replace(/<@([A-Z0-9]+)>/g,
    (_, id) => `@${state.users.get(id)?.name || ""} ${state.users.get(id)?.name_en || ""}`).replaceAll("&lt;",
    "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&").toLowerCase();
}

/** search finds the threads that say all of the words asked for, or by somebody of that name. */
export function search(top, threads) {
  const asked = ui.found?.query.toLowerCase().split(/\s+/).filter(Boolean) || [];
  if (!asked.length) return top;
  return top.filter((m) => {
    const u = state.users.get(m.user);
    const said = [m, ...(threads.get(m.ts) || [])].map(words).join("\n") + `\n${u?.name} ${u?.name_en}`.toLowerCase();
    return asked.every((w) => said.includes(w));
  });
}

/** find searches the channel, or with "" no more. */
export function find(query) {
  ui.found = query.trim() ? { query, opened: ui.found?.opened || new Set() } : null;
  changed();
}

const root = () => document.getElementById("tools");

let drawn = "";
let parts = null;

function frame(name) {
  const input = h("input", {
    type: "search", id: "search", placeholder: t("searchIn", { name }), "aria-label": t("searchIn", { name }),
      autocomplete: "off", spellcheck: "false", value: ui.found?.query || "",
    oninput: (e) => find(e.target.value),
    onkeydown: (e) => {
      if (e.key !== "Escape" || e.isComposing) return;
      e.preventDefault();
      input.value = "";
      find("");
    },
  });
  parts = {
    input,
    count: h("span.found", { role: "status" }),
    folding: h("button.tool-btn", { type: "button", id: "fold-all", onclick: () => parts.act() }),
    waits: h("button.tool-btn.waits-btn", { type: "button", id: "open-waits",
      onclick: () => remember("panel", ui.panel === "waits" ? "" : "waits") }),
  };
  root().replaceChildren(h("label.search", {}, icon("search"), input), parts.count, parts.folding, parts.waits);
}

/** drawTools renders the row for what the channel has; an empty one needs none. */
export function drawTools(top, threads) {
  const c = state.channels.find((x) => x.id === ui.channel);
  const long = top.filter((m) => threads.has(m.ts)).map((m) => m.ts);
  const waits = ui.waits.length;
  root().hidden = !top.length && !waits;
  const key = [language(), state.me, c.id].join();
  if (drawn !== key) {
    if (drawn && ui.found) ui.found = null; // another channel is another search
    drawn = key;
    frame(placeName(c));
  }
  parts.count.textContent = ui.found ? t("found", { n: search(top, threads).length }) : "";
  const open = long.filter((ts) => !isFolded(ts, top, threads));
  parts.folding.hidden = long.length < 2 || !!ui.found;
  parts.folding.textContent = open.length ? t("foldAll") : t("openAll");
  parts.act = () => fold(long, open.length > 0);
  parts.waits.setAttribute("aria-pressed", String(ui.panel === "waits"));
  const label = JSON.stringify([waits, language()]);
  if (parts.waits.dataset.sig !== label) {
    parts.waits.dataset.sig = label;
    parts.waits.ariaLabel = `${t("waits")} ${waits}`; // a phone shows the number alone
    parts.waits.replaceChildren(icon("stamp"), h("span", {}, t("waits")), " ",
      h(`b.count${waits ? ".some" : ""}`, {}, String(waits)));
  }
}
