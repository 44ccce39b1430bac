// The threads of a channel: which are folded, and in a word how each stands; and the row above the conversation for
// that: folding, and how much waits for the person.

import { h, icon } from "./dom.js";
import { language, t } from "./i18n.js";
import { changed, folded, keepFolds, remember, state, ui } from "./store.js";

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

/** isFolded: what the person did to a thread counts. */
export function isFolded(root, top, threads) {
  const auto = byItself(root, top, threads);
  return folded(root) ?? auto;
}

/** fold folds threads, or opens them, and keeps it. */
export function fold(roots, yes) {
  keepFolds(roots, yes);
  changed();
}

const root = () => document.getElementById("tools");

let drawn = "";
let parts = null;

function frame() {
  parts = {
    folding: h("button.tool-btn", { type: "button", id: "fold-all", onclick: () => parts.act() }),
    waits: h("button.tool-btn.waits-btn", { type: "button", id: "open-waits",
      onclick: () => remember("panel", ui.panel === "waits" ? "" : "waits") }),
  };
  root().replaceChildren(parts.folding, parts.waits);
}

/** drawTools renders the row for what the channel has; an empty one needs none. */
export function drawTools(top, threads) {
  const long = top.filter((m) => threads.has(m.ts)).map((m) => m.ts);
  const waits = ui.waits.length;
  root().hidden = !top.length && !waits;
  const key = [language(), state.me, ui.channel].join();
  if (drawn !== key) {
    drawn = key;
    frame();
  }
  const open = long.filter((ts) => !isFolded(ts, top, threads));
  parts.folding.hidden = long.length < 2;
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
