// The conversation: messages with their threads beneath them.

import { composer } from "./composer.js";
import { h, icon, reconcile } from "./dom.js";
import { clockTime, dayName, language, t } from "./i18n.js";
import { message, millis, signature } from "./message.js";
import { avatar, nameOf } from "./people.js";
import { changed, seen, state, ui } from "./store.js";
import { post } from "./api.js";

// groupTime is how long messages of one person stand under one name.
const groupTime = 5 * 60 * 1000;

function inChannel() {
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

function item(m, before, thread) {
  const whisper = !!m.is_ephemeral;
  const compact = !whisper && !!before && !before.is_ephemeral && before.user === m.user && !m.subtype && millis(m.ts) - millis(before.ts) < groupTime;
  const place = { channel: ui.channel, compact, thread, whisper };
  return { key: "m" + m.ts, sig: signature(m, place), render: () => message(m, place) };
}

function foldRow(root, replies) {
  const folded = ui.folded.has(root.ts);
  const people = [...new Set(replies.map((m) => m.user))];
  return {
    key: "f" + root.ts,
    sig: JSON.stringify([folded, replies.length, language()]),
    render: () =>
      h("div.fold.in-thread", {},
        h("button", {
          type: "button", "aria-expanded": String(!folded), dataset: { focus: "fold" },
          onclick: () => {
            folded ? ui.folded.delete(root.ts) : ui.folded.add(root.ts);
            changed();
          },
        }, icon("chevron"), folded ? [people.slice(0, 3).map((p) => avatar(p, "tiny")), h("strong", {}, t("replies", { n: replies.length })), h("span", {}, clockTime(millis(replies.at(-1).ts)))] : h("span", {}, t("hide")))),
  };
}

function session(root) {
  const s = state.sessions.get(ui.channel + root.ts);
  const text = s && { processing: t("processing"), suspended: t("suspended") }[s.status];
  if (!text) return [];
  return [{ key: "s" + root.ts, sig: text, render: () => h("p.session.in-thread", {}, h("span.pulse"), text) }];
}

function replyRow(root) {
  const open = ui.replying === root.ts;
  return {
    key: "r" + root.ts,
    sig: JSON.stringify([open, language(), state.me]),
    render: () =>
      h("div.reply.in-thread", {}, open
        ? composer({ key: `${ui.channel}/${root.ts}`, placeholder: t("replyHere"), focus: true, send: (text) => say(text, root.ts), cancel: () => { ui.replying = ""; changed(); } })
        : h("button.reply-open", { type: "button", dataset: { focus: "reply" }, onclick: () => { ui.replying = root.ts; changed(); } }, t("replyTo"))),
  };
}

/** say sends a message of the person to the channel that is shown. */
export async function say(text, thread) {
  await post("say", { user: state.me, channel: ui.channel, thread_ts: thread || "", text });
  if (!thread) stick = true;
}

// suggestions are what the app proposes in its direct messages, or else the
// three examples; in a channel they mention the app.
function suggestions(im) {
  const own = state.prompts[ui.channel];
  if (im && own?.length) return own;
  return [1, 2, 3].map((n) => ({ title: t(`s${n}`), message: t(`s${n}m`) }));
}

function emptyState(c) {
  const called = c.im || c.id.endsWith("HR");
  const list = called ? suggestions(c.im) : [];
  return {
    key: "empty" + c.id,
    sig: JSON.stringify([language(), list, state.me]),
    render: () =>
      h("section.empty", {},
        h("img", { src: "/icon.svg", alt: "" }),
        h("h2", {}, called ? t("emptyTitle") : "#" + c.name),
        h("p", {}, c.im ? t("emptyDM") : called ? t("emptyText") : t("emptyQuiet")),
        choices(c, list)),
  };
}

function choices(c, list) {
  return h("div.suggestions", {}, list.map((s) => {
    const text = c.im ? s.message : `@${nameOf(state.bot)} ${s.message}`;
    return h("button.suggestion", { type: "button", onclick: () => say(text) }, h("strong", {}, s.title), h("span", {}, text));
  }));
}

// greeted is what the app proposes below its greeting, until the person says something.
function greeted(c) {
  const list = suggestions(true);
  return { key: "greeted" + c.id, sig: JSON.stringify([language(), list, state.me]), render: () => h("section.greeted", {}, choices(c, list)) };
}

// newest is the last message of the thread in which the person pressed a button.
function newest(log) {
  return ui.followed ? [...log.querySelectorAll(`[data-root="${ui.followed}"]`)].at(-1) : undefined;
}

let stick = true;
let shown = "";

/** follow keeps the end in view while the person is there, and only then. */
export function follow(scroll) {
  scroll.addEventListener("scroll", () => { stick = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 24; });
}

/** drawChat renders the conversation and stays at its end if it was there. */
export function drawChat(scroll, log) {
  const c = state.channels.find((x) => x.id === ui.channel);
  if (!c) return;
  const moved = shown !== state.me + c.id;
  shown = state.me + c.id;
  const atEnd = stick || moved;
  const { top, threads } = inChannel();
  const items = [];
  let before = null;
  let day = "";
  for (const m of top) {
    const today = dayName(millis(m.ts));
    if (today !== day) {
      day = today;
      before = null;
      items.push({ key: "d" + m.ts.slice(0, 10), sig: today, render: () => h("div.day", { role: "separator" }, h("span", {}, today)) });
    }
    items.push(item(m, before, false));
    const replies = threads.get(m.ts) || [];
    before = replies.length ? null : m;
    if (!replies.length && ui.replying !== m.ts) {
      items.push(...session(m));
      continue;
    }
    if (replies.length) items.push(foldRow(m, replies));
    if (ui.folded.has(m.ts)) continue;
    let last = null;
    for (const r of replies) {
      items.push(item(r, last, true));
      last = r;
    }
    items.push(...session(m), replyRow(m));
  }
  if (!top.length) items.push(emptyState(c));
  else if (c.im && top.every((m) => m.user === state.bot)) items.push(greeted(c));
  log.setAttribute("aria-label", c.im ? nameOf(state.bot) : "#" + c.name);
  log.classList.toggle("is-empty", !top.length);
  const was = newest(log);
  const last = was?.dataset.ts;
  const whole = was && was.getBoundingClientRect().bottom <= scroll.getBoundingClientRect().bottom;
  reconcile(log, items);
  if (moved || document.visibilityState === "visible") seen(c.id);
  if (ui.flash) {
    log.querySelector(".flash")?.scrollIntoView({ block: "center" });
  } else if (atEnd) {
    scroll.scrollTop = scroll.scrollHeight;
  } else {
    // What the person's own click brought about comes into view, and stays in it
    // while it grows; other things never move the page.
    const now = newest(log);
    if (last && now && (now.dataset.ts > last || whole)) now.scrollIntoView({ block: "nearest" });
  }
}
