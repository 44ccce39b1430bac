// The conversation: messages with their threads beneath them.

import { blocks } from "./blocks.js";
import { bodies, composer } from "./composer.js";
import { h, icon, reconcile, toast } from "./dom.js";
import { clockTime, dayName, language, t } from "./i18n.js";
import { message, millis, reasonText, signature } from "./message.js";
import { confirmDialog } from "./modal.js";
import { avatar, nameOf, placeName } from "./people.js";
import { changed, draft, seen, state, ui } from "./store.js";
import { post } from "./api.js";
import { atEnd, drawNews, leaveEnd, toEnd } from "./scroll.js";
import { drawTools, fold, inChannel, isFolded, standing } from "./threads.js";

// groupTime is how long messages of one person stand under one name.
const groupTime = 5 * 60 * 1000;

function item(m, before, thread) {
  const whisper = !!m.is_ephemeral;
  const compact = !whisper && !!before && !before.is_ephemeral && before.user === m.user && !m.subtype &&
    millis(m.ts) - millis(before.ts) < groupTime;
  const place = { channel: ui.channel, compact, thread, whisper };
  return { key: "m" + m.ts, sig: signature(m, place), render: () => message(m, place) };
}

function foldRow(root, replies, folded) {
  const people = [...new Set(replies.map((m) => m.user))];
  const how = standing(replies);
  return {
    key: "f" + root.ts,
    sig: JSON.stringify([folded, replies.length, how, language()]),
    render: () =>
      h("div.fold.in-thread", {},
        h("button", { type: "button", "aria-expanded": String(!folded), dataset: { focus: "fold", fold: root.ts },
          onclick: () => {
          if (folded) leaveEnd(); // what opens is read from its beginning
          fold([root.ts], !folded);
        } },
          icon("chevron"), folded ? [people.slice(0, 3).map((p) => avatar(p, "tiny")),
            h("strong", {}, t(replies.length === 1 ? "reply" : "replies", { n: replies.length })), how &&
            h("span.standing", {}, how), h("span", {}, clockTime(millis(replies.at(-1).ts)))]
            : h("span", {}, t("hide")))),
  };
}

function session(root) {
  const s = state.sessions.get(ui.channel + root.ts);
  const text = s && { processing: s.waiting ? "Ringi " + s.waiting : t("processing"),
    suspended: t("suspended") }[s.status];
  if (!text) return [];
  const stop = s.status === "processing" && h("button.link",
    { type: "button", dataset: { focus: "stop" },
    onclick: () => post("stop", { user: state.me, channel: ui.channel, thread_ts: root.ts }) }, t("stop"));
  return [{ key: "s" + root.ts, sig: text, render: () => h("p.session.in-thread", {}, h("span.pulse"), text, stop) }];
}

function replyRow(root) {
  const open = ui.replying === root.ts;
  const key = `${state.me}/${ui.channel}/${root.ts}`;
  const kept = open ? "" : draft(key);
  return {
    key: "r" + root.ts,
    sig: JSON.stringify([open, kept, language(), state.me]),
    render: () =>
      h("div.reply.in-thread", {}, open
        ? composer({ key, placeholder: t("replyHere"), focus: true, send: (text, files) => say(text, root.ts, files),
          cancel: () => { ui.replying = ""; changed(); } })
        : h("button.reply-open", { type: "button", dataset: { focus: "reply" },
          onclick: () => { ui.replying = root.ts; changed(); } }, kept
          ? [h("strong", {}, t("draft")), ` ${kept.slice(0, 80)}`] : t("replyTo"))),
  };
}

/** say sends a message of the person to the channel that is shown. */
export async function say(text, thread, files = []) {
  if (!thread && !files.length && /^\/[a-z]/.test(text)) {
    await post("command", { user: state.me, channel: ui.channel, text });
    return;
  }
  await post("say", { user: state.me, channel: ui.channel, thread_ts: thread || "", text, files: await bodies(files) });
  if (!thread) toEnd();
}

// suggestions are what the app proposes in its direct messages, or else the
// three examples; in a channel they mention the app.
function suggestions(im) {
  const own = state.prompts[ui.channel];
  if (im && own?.length) return own;
  return [1, 2, 3].map((n) => ({ title: t(`s${n}`), message: t(`s${n}m`) }));
}

function emptyState(c) {
  const called = c.im || c.members.includes(state.bot);
  const list = called ? suggestions(c.im) : [];
  return {
    key: "empty" + c.id,
    sig: JSON.stringify([language(), list, state.me]),
    render: () =>
      h("section.empty", {},
        h("img", { src: "/icon.svg", alt: "" }),
        h("h2", {}, called ? t("emptyTitle") : placeName(c)),
        h("p", {}, c.im ? t("emptyDM") : called ? t("emptyText") : t("emptyQuiet")),
        choices(c, list)),
  };
}

function choices(c, list) {
  return h("div.suggestions", {}, list.map((s) => {
    const text = c.im ? s.message : `@${nameOf(state.bot)} ${s.message}`;
    return h("button.suggestion", { type: "button", onclick: () => say(text) }, h("strong", {}, s.title),
      h("span", {}, text));
  }));
}

// greeted is what the app proposes below its greeting, until the person says something.
function greeted(c) {
  const list = suggestions(true);
  return { key: "greeted" + c.id, sig: JSON.stringify([language(), list, state.me]),
    render: () => h("section.greeted", {}, choices(c, list)) };
}

// newest is the last message of the thread in which the person pressed a button.
function newest(log) {
  return ui.followed ? [...log.querySelectorAll(`[data-root="${ui.followed}"]`)].at(-1) : undefined;
}

let shown = "";

// dayRow parts the days.
const dayRow = (m, today) => ({ key: "d" + m.ts.slice(0, 10), sig: today,
  render: () => h("div.day", { role: "separator" }, h("span", {}, today)) });

// conversation is what the log shows: days, messages, and under each its thread.
function conversation(top, threads) {
  const items = [];
  let before = null;
  let day = "";
  for (const m of top) {
    const today = dayName(millis(m.ts));
    if (today !== day) {
      day = today;
      before = null;
      items.push(dayRow(m, today));
    }
    items.push(item(m, before, false));
    const replies = threads.get(m.ts) || [];
    before = replies.length ? null : m;
    if (!replies.length && ui.replying !== m.ts && !draft(`${state.me}/${ui.channel}/${m.ts}`)) {
      items.push(...session(m));
      continue;
    }
    const folded = replies.length > 0 && isFolded(m.ts, top, threads);
    if (replies.length) items.push(foldRow(m, replies, folded));
    if (folded) continue;
    let last = null;
    for (const r of replies) {
      items.push(item(r, last, true));
      last = r;
    }
    items.push(...session(m), replyRow(m));
  }
  return items;
}

// homeTab is what the app published for the person, with its buttons alive.
function homeTab() {
  const on = {
    busy: (e) => ui.pending.has("home/" + e.action_id + e.value),
    act: async (e) => {
      const key = "home/" + e.action_id + e.value;
      if (ui.pending.has(key) || e.url || (e.confirm && !(await confirmDialog(e.confirm, e.style)))) return;
      ui.pending.add(key);
      changed();
      try {
        await post("home/act", { user: state.me, action_id: e.action_id, value: e.value });
      } catch (err) {
        toast(err.trouble ? reasonText(err.trouble) : err.message, "error");
      } finally {
        ui.pending.delete(key);
        changed();
      }
    },
  };
  const busy = [...ui.pending].filter((k) => k.startsWith("home/"));
  return {
    key: "home", sig: JSON.stringify([state.home, busy, language(), state.me]),
    render: () => h("section.msg", { "aria-label": t("homeTab") },
      h("div.content.blocks.home", {}, state.home ? blocks(state.home.blocks, on) : h("p", {}, t("homeEmpty")))),
  };
}

/** drawChat renders the conversation and stays at its end if it was there. */
export function drawChat(scroll, log) {
  const c = state.channels.find((x) => x.id === ui.channel);
  if (!c) return;
  const moved = shown !== state.me + c.id;
  shown = state.me + c.id;
  const home = c.im && ui.home;
  const { top, threads } = home ? { top: [], threads: new Map() } : inChannel();
  const items = home ? [homeTab()] : conversation(top, threads);
  if (home) {
    log.setAttribute("aria-label", t("homeTab"));
    log.classList.remove("is-empty");
    reconcile(log, items);
    drawTools(top, threads);
    drawNews();
    return;
  }
  if (!top.length) items.push(emptyState(c));
  else if (c.im && top.every((m) => m.user === state.bot)) items.push(greeted(c));
  drawTools(top, threads);
  log.setAttribute("aria-label", placeName(c));
  log.classList.toggle("is-empty", !top.length);
  const was = newest(log);
  const last = was?.dataset.ts;
  const [foot, view] = [was?.getBoundingClientRect().bottom, scroll.getBoundingClientRect()];
  const whole = was && foot <= view.bottom && foot > view.top; // one that is above stays there
  reconcile(log, items);
  if (moved || document.visibilityState === "visible") seen(c.id);
  if (ui.flash) {
    leaveEnd();
    log.querySelector(".flash")?.scrollIntoView({ block: "center" });
  } else if (atEnd() || moved) {
    toEnd();
  } else {
    // What the person's own click brought about comes into view, and stays in it
    // while it grows; other things never move the page.
    const now = newest(log);
    if (last && now && (now.dataset.ts > last || whole)) now.scrollIntoView({ block: "nearest" });
  }
  drawNews();
}
