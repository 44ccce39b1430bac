// The conversation: messages with their threads beneath them, and where it is scrolled to. At its end it follows what
// comes; elsewhere it stays.

import { blocks } from "./blocks.js";
import { bodies, composer } from "./composer.js";
import { h, icon, reconcile } from "./dom.js";
import { clockTime, language, t } from "./i18n.js";
import { act, actor, message, millis, signature } from "./message.js";
import { avatar, nameOf, placeName } from "./people.js";
import { all, blocksOf, changed, here, post, seen, state, ui } from "./store.js";

// groupTime is how long messages of one person stand under one name.
const groupTime = 5 * 60 * 1000;

function item(m, before, thread) {
  const whisper = !!m.is_ephemeral;
  const compact = !whisper && !!before && !before.is_ephemeral && before.user === m.user && !m.subtype &&
    millis(m.ts) - millis(before.ts) < groupTime;
  const place = { channel: ui.channel, compact, thread, whisper };
  return { key: "m" + m.ts, sig: signature(m, place), render: () => message(m, place) };
}

// headline is the header of a message's card, "" without one.
const headline = (m) => blocksOf(m).find((b) => b.type === "header")?.text?.text || "";

function foldRow(root, replies) {
  const folded = !!ui.folds.get(root.ts);
  const people = [...new Set(replies.map((m) => m.user))].slice(0, 3);
  const how = replies.map(headline).filter(Boolean).at(-1);
  return {
    key: "f" + root.ts,
    sig: JSON.stringify([folded, replies.length, how, language()]),
    render: () => h("div.fold.in-thread", {},
      h("button", { type: "button", "aria-expanded": String(!folded), dataset: { focus: "fold" },
        onclick: () => {
          if (folded) stick = false; // what opens is read from its beginning
          ui.folds.set(root.ts, !folded);
          changed();
        } }, icon("chevron"), folded ? [people.map((p) => avatar(p, "tiny")),
        h("strong", {}, t(replies.length === 1 ? "reply" : "replies", { n: replies.length })),
        how && h("span.standing", {}, how), h("span", {}, clockTime(millis(replies.at(-1).ts)))]
        : h("span", {}, t("hide")))),
  };
}

function session(root) {
  const s = state.sessions[ui.channel + root.ts];
  const text = s && { processing: s.waiting ? "Ringi " + s.waiting : t("processing"),
    suspended: t("suspended") }[s.status];
  if (!text) return [];
  const stop = () => act("stop", { channel: ui.channel, thread_ts: root.ts });
  return [{ key: "s" + root.ts, sig: text, render: () => h("p.session.in-thread", {}, h("span.pulse"), text,
    s.status === "processing" && h("button.link", { type: "button", dataset: { focus: "stop" }, onclick: stop },
      t("stop"))) }];
}

function replyRow(root) {
  const open = ui.replying === root.ts;
  const answer = (ts) => { ui.replying = ts; changed(); };
  return {
    key: "r" + root.ts,
    sig: JSON.stringify([open, language(), state.me]),
    render: () => h("div.reply.in-thread", {}, open
      ? composer({ key: `${state.me}/${ui.channel}/${root.ts}`, placeholder: t("replyHere"), focus: true,
        send: (text, files) => say(text, root.ts, files), cancel: () => answer("") })
      : h("button.reply-open", { type: "button", dataset: { focus: "reply" }, onclick: () => answer(root.ts) },
        t("replyTo"))),
  };
}

/** say sends a message of the person to the channel that is shown. */
export async function say(text, thread, files = []) {
  const to = { user: state.me, channel: ui.channel };
  if (!thread && !files.length && /^\/[a-z]/.test(text)) {
    await post("command", { ...to, text });
    return;
  }
  await post("say", { ...to, thread_ts: thread || "", text, files: await bodies(files) });
  if (!thread) toEnd();
}

// choices are what the app proposes in its direct message, or else the three examples; in a channel they mention the
// app.
function choices(c) {
  const own = c.im && state.prompts[c.id];
  const list = own?.length ? own : [1, 2, 3].map((n) => ({ title: t(`s${n}`), message: t(`s${n}m`) }));
  return h("div.suggestions", {}, list.map((s) => {
    const text = c.im ? s.message : `@${nameOf(state.bot)} ${s.message}`;
    return h("button.suggestion", { type: "button", onclick: () => say(text) }, h("strong", {}, s.title),
      h("span", {}, text));
  }));
}

function emptyState(c) {
  const called = c.im || c.members.includes(state.bot);
  return {
    key: "empty" + c.id,
    sig: JSON.stringify([language(), state.prompts[c.id], state.me]),
    render: () => h("section.empty", {}, h("img", { src: "/icon.svg", alt: "" }),
      h("h2", {}, called ? t("emptyTitle") : placeName(c)),
      h("p", {}, c.im ? t("emptyDM") : called ? t("emptyText") : t("emptyQuiet")), called && choices(c)),
  };
}

// conversation is what the log shows: messages, and under each its thread.
function conversation(c) {
  const mine = state.ephemerals.filter((e) => e.channel === c.id).map((e) => e.message);
  const messages = [...all(c.id), ...mine].sort((a, b) => (a.ts < b.ts ? -1 : 1));
  const threads = new Map();
  const replies = (m) => m.thread_ts && m.thread_ts !== m.ts;
  for (const m of messages.filter(replies)) threads.set(m.thread_ts, [...(threads.get(m.thread_ts) || []), m]);
  const items = [];
  let before = null;
  for (const m of messages.filter((x) => !replies(x))) {
    items.push(item(m, before, false));
    const under = threads.get(m.ts) || [];
    before = under.length ? null : m;
    if (!under.length && ui.replying !== m.ts) {
      items.push(...session(m));
      continue;
    }
    if (under.length) items.push(foldRow(m, under));
    if (under.length && ui.folds.get(m.ts)) continue;
    items.push(...under.map((r, i) => item(r, under[i - 1], true)), ...session(m), replyRow(m));
  }
  if (!items.length) items.push(emptyState(c));
  else if (c.im && messages.every((m) => m.user === state.bot)) { // what the app proposes below its greeting
    items.push({ key: "greeted", sig: JSON.stringify([language(), state.prompts[c.id], state.me]),
      render: () => h("section.greeted", {}, choices(c)) });
  }
  return items;
}

// homeTab is what the app published for the person, with its buttons alive.
const homeTab = () => ({
  key: "home", sig: JSON.stringify([state.home, [...ui.pending], language(), state.me]),
  render: () => h("section.msg", { "aria-label": t("homeTab") }, h("div.content.blocks.home", {},
    state.home ? blocks(state.home.blocks, actor("home", "act", { view_id: state.home.id })) : h("p", {}, t("homeEmpty")))),
});

let shown = "";
let stick = true; // to the end
let scrolled = 0;
let watched = false;

// toEnd shows the end, and stays there.
function toEnd() {
  stick = true;
  const scroll = document.getElementById("scroll");
  scroll.scrollTop = scroll.scrollHeight;
}

// follow watches the area that scrolls: what changes its height is not the person leaving the end.
function follow(scroll, log) {
  watched = true;
  scroll.addEventListener("scroll", () => {
    if (scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 24) stick = true;
    else if (scroll.scrollTop < scrolled - 1) stick = false;
    scrolled = scroll.scrollTop;
  });
  const resized = new ResizeObserver(() => stick && toEnd());
  resized.observe(scroll);
  resized.observe(log);
}

/** show goes to a message, opens its thread and lights it up for a while. */
export function show(channel, ts, root) {
  ui.channel = channel;
  ui.home = false;
  ui.folds.set(root || ts, false);
  ui.flash = ts;
  changed();
  setTimeout(() => {
    if (ui.flash === ts) ui.flash = "";
    changed();
  }, 3000);
}

/** drawChat renders the conversation and stays at its end if it was there. */
export function drawChat(scroll, log) {
  const c = here();
  if (!c) return;
  if (!watched) follow(scroll, log);
  const home = c.im && ui.home;
  const moved = shown !== [state.me, c.id, home].join();
  shown = [state.me, c.id, home].join();
  log.setAttribute("aria-label", home ? t("homeTab") : placeName(c));
  const newest = () => [...log.querySelectorAll(`[data-root="${ui.followed}"]`)].at(-1);
  const last = newest()?.dataset.ts;
  reconcile(log, home ? [homeTab()] : conversation(c));
  log.classList.toggle("is-empty", !!log.querySelector(".empty"));
  if (moved || document.visibilityState === "visible") seen(c.id);
  if (ui.flash && log.querySelector(".flash")) {
    stick = false;
    log.querySelector(".flash").scrollIntoView({ block: "center" });
  } else if (stick || moved) {
    toEnd();
  } else if (last && newest()?.dataset.ts > last) {
    newest().scrollIntoView({ block: "nearest" }); // what the person's own click brought about comes into view
  }
}
