// One message: who, when, what it says, its cards, what it encloses (forwarded messages, cards, files), and what can be
// done
// with it.

import { post } from "./api.js";
import { attachments, blocks } from "./blocks.js";
import { composer } from "./composer.js";
import { h, icon, openMenu, toast } from "./dom.js";
import { clockTime, dayName, language, sizeText, t } from "./i18n.js";
import { changed, keepDraft, keepFolds, pin, remember, state, taskOf, ui } from "./store.js";
import { confirmDialog, onEscape } from "./modal.js";
import { literal, mrkdwn, typed } from "./mrkdwn.js";
import { avatar, badge, nameOf, placeName } from "./people.js";
import { go } from "./sidebar.js";

export const millis = (ts) => Number(ts) * 1000;

/** reasonText says in words why nothing came of an act. */
export function reasonText(reason) {
  if (reason === "http_timeout") return t("timeout");
  if (reason === "noButton") return t("noButton");
  return reason === "connection_failed" ? t("noConnection") : t("failed");
}

// actor is what blocks need to be alive: acts, and which of them are under way.
function actor(channel, m) {
  const key = (e) => m.ts + "/" + e.action_id;
  return {
    busy: (e) => ui.pending.has(key(e)),
    act: async (e, value) => {
      if (ui.pending.has(key(e))) return;
      if (e.confirm && !(await confirmDialog(e.confirm, e.style))) return;
      ui.followed = m.thread_ts || m.ts;
      ui.pending.add(key(e));
      changed();
      try {
        await post("act", { user: state.me, channel, ts: m.ts, action_id: e.action_id, value });
      } catch (err) {
        toast(err.trouble ? reasonText(err.trouble) : err.message, "error");
      } finally {
        ui.pending.delete(key(e));
        changed();
      }
    },
  };
}

async function shortcut(channel, m, s) {
  try {
    await post("shortcut", { user: state.me, channel, ts: m.ts, callback_id: s.callback_id });
  } catch (err) {
    toast(err.trouble ? reasonText(err.trouble) : err.message, "error");
  }
}

const own = (m) => m.user === state.me && !m.bot_id;
const isEdited = (m) => ui.editing === m.ts && own(m);
const editKey = (m) => `${state.me}/edit/${m.ts}`;

// edit opens a message's text, or closes it again with ts "".
function edit(m, ts) {
  keepDraft(editKey(m), ts && typed(m.text));
  ui.editing = ts;
  changed();
}

// editor is a message's text in a box. A text that stays as it was is no edit.
function editor(channel, m) {
  const was = typed(m.text).trim();
  const leave = () => edit(m, "");
  const send = async (text) => {
    if (text !== was) await post("edit", { user: state.me, channel, ts: m.ts, text });
    leave();
  };
  return h("div.editor", {},
    composer({ key: editKey(m), placeholder: t("edit"), verb: t("save"), send, cancel: leave, focus: true, bare: true,
      optional: !!(m.files || m.attachments) }),
    h("button.link", { type: "button", dataset: { focus: "leave" }, onclick: leave }, t("cancel")));
}

async function remove(channel, m) {
  const sure = await confirmDialog({ title: { text: t("remove") }, text: { type: "plain_text", text: t("removeText") },
    confirm: { text: t("removeYes") }, deny: { text: t("cancel") } }, "danger");
  if (sure) await post("delete", { user: state.me, channel, ts: m.ts }).catch((err) => toast(err.message, "error"));
}

function tools(channel, m) {
  const entries = () => {
    const task = taskOf(m);
    return [
      { label: t("replyHere"), icon: "reply", run: () => { ui.replying = m.thread_ts || m.ts;
        keepFolds([ui.replying], false); changed(); } },
      task && state.has.run && { label: t("showRun"), icon: "run",
        run: () => { pin(task); remember("panel", "run"); } },
      { label: t("forward"), icon: "forward", id: "forward", run: () => openForward(channel, m) },
      { label: t("copyLink"), icon: "link", run: () => copyLink(channel, m) },
      own(m) && { label: t("edit"), icon: "pencil", id: "edit", run: () => edit(m, m.ts) },
      own(m) && { label: t("remove"), icon: "trash", id: "delete", run: () => remove(channel, m) },
      ...state.shortcuts.map((s, i) => ({ label: language() === "ja" ? s.name : s.name_en || s.name, app: true,
        first: i === 0, id: s.callback_id, run: () => shortcut(channel, m, s) })),
    ].filter(Boolean);
  };
  return h("div.tools", {},
    h("button.icon-btn", { type: "button", "aria-label": t("more"), title: t("more"), "aria-haspopup": "menu",
      dataset: { focus: "more" }, onclick: (e) => openMenu(e.currentTarget, entries()) }, icon("dots")));
}

async function copyLink(channel, m) {
  const link = `${location.origin}/archives/${channel}/p${m.ts.replace(".", "")}`;
  try {
    await navigator.clipboard.writeText(link);
    toast(t("copied"));
  } catch {
    toast(link);
  }
}

function mark(a) {
  if (!a) return null;
  const more = a.final ? (a.id ? ` · ${t("gaveUp")}` : "") : ` · ${t("retrying", { n: a.retry + 1 })}`;
  return h("p.mark", { role: "alert", dataset: { attempt: a.n } }, icon("warn"),
    h("span", {}, reasonText(a.reason) + more), h("code", {}, a.status ? `${a.status}` : a.reason));
}

function content(channel, m) {
  const on = actor(channel, m);
  if (m.subtype === "tombstone") return [h("p.tombstone", {}, t("deleted"))];
  const byHand = !m.bot_id;
  const said = m.blocks ? blocks(m.blocks, on) : m.text && [m.mrkdwn === false ? literal(m.text) : mrkdwn(m.text)];
  return [
    isEdited(m) ? editor(channel, m) : said && h(byHand || !m.blocks ? "div.text-body" : "div.blocks", {}, said,
      (byHand || !m.blocks) && m.edited && h("span.note", {}, " " + t("edited"))),
    enclosed(m.attachments, on),
    filesOf(m.files),
  ];
}

/** message draws one message; place is {channel, compact, thread, whisper}. */
export function message(m, place) {
  const name = m.subtype === "tombstone" ? "" : nameOf(m.user);
  const at = millis(m.ts);
  const stamp = h("time.time", { datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString() },
    clockTime(at));
  const classes = ["msg", place.thread && "in-thread", place.compact && "compact", place.whisper && "whisper",
    ui.flash === m.ts && "flash"].filter(Boolean).join(".");
  return h(`article.${classes}`, { "aria-label": `${name} ${clockTime(at)}`,
    dataset: { ts: m.ts, root: m.thread_ts || m.ts, channel: place.channel, task: taskOf(m) } },
    h("div.gutter", {}, place.compact ? h("span.time", { title: stamp.title },
      stamp.textContent.replace(/\s[AP]M$/, "")) : avatar(m.user, place.thread ? "mid" : "")),
    h("div.content", {},
      place.whisper && h("p.only-you", {}, icon("eye"), h("span", {}, t("onlyYou")),
        h("button.link", { type: "button", onclick: () => post("dismiss", { user: state.me, ts: m.ts }) },
        t("dismiss"))),
      !place.compact && h("div.meta", {}, h("span.name", {}, name), badge(state.users.get(m.user)), stamp),
      content(place.channel, m),
      mark(state.marks.get(place.channel + m.ts))),
    !place.whisper && m.subtype !== "tombstone" && tools(place.channel, m));
}

/** signature changes when a message has to be drawn again. */
export function signature(m, place) {
  const busy = [...ui.pending].filter((k) => k.startsWith(m.ts + "/"));
  if (isEdited(m)) return JSON.stringify(["edited", place, language()]); // what is typed stays
  return JSON.stringify([m, place, busy, state.marks.get(place.channel + m.ts), language(), ui.flash === m.ts,
    state.me]);
}

/** openForward asks where a message goes, and what the person says to it. */
export function openForward(channel, m) {
  const places = state.channels.filter((c) => !c.archived);
  const to = h("select", { id: "forward-to", name: "to" },
    places.map((c) => h("option", { value: c.id, selected: c.id === channel }, placeName(c))));
  const leave = () => dialog.close();
  const send = async (text) => {
    await post("forward", { user: state.me, channel, ts: m.ts, to: to.value, text });
    leave();
    go(to.value);
  };
  const dialog = h("dialog.modal.forward", { "aria-labelledby": "forward-title" },
    h("header", {}, h("h2", { id: "forward-title" }, t("forward")),
      h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave }, icon("close"))),
    h("div.modal-body", {},
      h("label", { for: "forward-to" }, t("forwardTo")), to,
      composer({ key: `${state.me}/forward/${m.ts}`, placeholder: t("forwardText"), send, optional: true,
        bare: true })));
  dialog.addEventListener("close", () => {
    dialog.remove();
    document.querySelector(`[data-ts="${m.ts}"] [data-focus="more"]`)?.focus({ preventScroll: true });
  });
  onEscape(dialog, leave);
  document.body.append(dialog);
  dialog.showModal();
}

/** filesOf lists the files of a message. */
export const filesOf = (files) => files && h("ul.shared-files", {}, files.map((f) => h("li", {},
  h("a", { href: `/sandbox/files/${encodeURIComponent(f.id)}`, download: f.name,
    title: t("download", { name: f.name }) }, icon("clip"), h("span", {}, f.title || f.name),
    h("small", {}, sizeText(f.size))))));

/** enclosed draws a message's attachments: forwarded messages as quotes, others as cards. */
export const enclosed = (list, on) => (list || []).map((a) => (a.is_share ? forwarded(a) : attachments([a], on)));

const still = (list) => (list || []).filter((b) => b.type !== "actions");

// forwarded is a quote, in which nothing can be pressed.
function forwarded(a) {
  const said = a.message_blocks?.[0]?.message || {};
  const on = { busy: () => true, act: () => {} };
  const at = Number(a.ts) * 1000;
  return h("blockquote.forwarded", {},
    h("div.meta", {}, h("span.name", {}, a.author_id ? nameOf(a.author_id) : a.author_name),
      h("time.time", { datetime: new Date(at).toISOString() }, `${dayName(at)} ${clockTime(at)}`)),
    a.text ? h("div.text-body", {}, mrkdwn(a.text)) : h("div.blocks", {}, blocks(still(said.blocks), on)),
    enclosed((said.attachments || []).map((x) => ({ ...x, blocks: still(x.blocks) })), on),
    filesOf(a.files),
    h("a.link", { href: new URL(a.from_url).pathname }, t("original")));
}
