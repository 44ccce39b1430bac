// One message: who, when, what it says, its cards and files, and what can be done with it.

import { attachments, blocks, mrkdwn } from "./blocks.js";
import { h, icon, openMenu, toast } from "./dom.js";
import { clockTime, language, nameIn, sizeText, t } from "./i18n.js";
import { confirmDialog } from "./modal.js";
import { avatar, badge, nameOf } from "./people.js";
import { changed, post, state, ui } from "./store.js";

export const millis = (ts) => Number(ts) * 1000;

// troubles are the words for what went wrong with the app's answer.
const troubles = { http_timeout: "timeout", noButton: "noButton", connection_failed: "noConnection" };

/** act does something of a person's and says what came in between. */
export async function act(path, body) {
  try {
    await post(path, { user: state.me, ...body });
  } catch (err) {
    toast(err.trouble ? t(troubles[err.trouble] || "failed") : err.message, "error");
  }
}

/** actor is what blocks need to be alive: acts, and which of them are under way. */
export function actor(place, path, body) {
  const key = (e) => [place, e.action_id, e.value].join("/");
  return {
    busy: (e) => ui.pending.has(key(e)),
    act: async (e) => {
      if (ui.pending.has(key(e)) || (e.confirm && !(await confirmDialog(e.confirm, e.style)))) return;
      ui.pending.add(key(e));
      changed();
      await act(path, { ...body, action_id: e.action_id, value: e.value || "" });
      ui.pending.delete(key(e));
      changed();
    },
  };
}

// reply opens the thread of a message, and its box.
function reply(m) {
  ui.replying = m.thread_ts || m.ts;
  ui.folds.set(ui.replying, false);
  changed();
}

function tools(channel, m) {
  const entries = () => [
    { label: t("replyHere"), icon: "reply", run: () => reply(m) },
    ...state.shortcuts.map((s, i) => ({ label: nameIn(s), app: true, first: i === 0, id: s.callback_id,
      run: () => act("shortcut", { channel, ts: m.ts, callback_id: s.callback_id }) })),
  ];
  return h("div.tools", {},
    h("button.icon-btn", { type: "button", "aria-label": t("more"), title: t("more"), "aria-haspopup": "menu",
      dataset: { focus: "more" }, onclick: (e) => openMenu(e.currentTarget, entries()) }, icon("dots")));
}

function mark(a) {
  if (!a) return null;
  return h("p.mark", { role: "alert", dataset: { attempt: a.n } }, icon("warn"),
    h("span", {}, t(troubles[a.reason] || "failed")), h("code", {}, a.status ? `${a.status}` : a.reason));
}

function content(channel, m) {
  if (m.subtype === "tombstone") return [h("p.tombstone", {}, t("deleted"))];
  const on = actor(m.ts, "act", { channel, ts: m.ts });
  const press = { ...on, act: (e) => { ui.followed = m.thread_ts || m.ts; return on.act(e); } };
  const said = m.blocks ? h("div.blocks", {}, blocks(m.blocks, press))
    : m.text && h("div.text-body", {}, mrkdwn(m.text),
      m.edited && h("span.note", {}, " " + t("edited")));
  return [
    said,
    attachments(m.attachments, press),
    m.files && h("ul.shared-files", {}, m.files.map((f) => h("li", {},
      h("a", { href: `/sandbox/files/${encodeURIComponent(f.id)}`, download: f.name }, icon("clip"),
        h("span", {}, f.title || f.name), h("small", {}, sizeText(f.size)))))),
  ];
}

/** message draws one message; place is {channel, compact, thread, whisper}. */
export function message(m, place) {
  const name = m.subtype === "tombstone" ? "" : nameOf(m.user);
  const at = millis(m.ts);
  const classes = ["msg", place.thread && "in-thread", place.compact && "compact", place.whisper && "whisper",
    ui.flash === m.ts && "flash"].filter(Boolean).join(".");
  return h(`article.${classes}`, { "aria-label": `${name} ${clockTime(at)}`,
    dataset: { ts: m.ts, root: m.thread_ts || m.ts } },
    h("div.gutter", {}, !place.compact && avatar(m.user, place.thread ? "mid" : "")),
    h("div.content", {},
      place.whisper && h("p.only-you", {}, icon("eye"), h("span", {}, t("onlyYou")),
        h("button.link", { type: "button", onclick: () => act("dismiss", { ts: m.ts }) }, t("dismiss"))),
      !place.compact && h("div.meta", {}, h("span.name", {}, name), badge(state.users.get(m.user)),
        h("time.time", { datetime: new Date(at).toISOString() }, clockTime(at))),
      content(place.channel, m),
      mark(state.marks[place.channel + m.ts])),
    !place.whisper && m.subtype !== "tombstone" && tools(place.channel, m));
}

/** signature changes when a message has to be drawn again. */
export function signature(m, place) {
  const busy = [...ui.pending].filter((k) => k.startsWith(m.ts + "/"));
  return JSON.stringify([m, place, busy, state.marks[place.channel + m.ts], language(), ui.flash === m.ts,
    state.me]);
}
