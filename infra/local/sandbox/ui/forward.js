// The dialog that forwards a message, and how what a message encloses is drawn: forwarded messages, cards, files.

import { post } from "./api.js";
import { attachments, blocks } from "./blocks.js";
import { composer } from "./composer.js";
import { h, icon } from "./dom.js";
import { clockTime, dayName, sizeText, t } from "./i18n.js";
import { onEscape } from "./modal.js";
import { mrkdwn } from "./mrkdwn.js";
import { nameOf } from "./people.js";
import { channelName, go } from "./sidebar.js";
import { state } from "./store.js";

/** openForward asks where a message goes, and what the person says to it. */
export function openForward(channel, m) {
  const places = state.channels.filter((c) => !c.archived);
  const to = h("select", { id: "forward-to", name: "to" }, places.map((c) => h("option", { value: c.id, selected: c.id === channel }, (c.im ? "" : "#") + channelName(c))));
  const leave = () => dialog.close();
  const send = async (text) => {
    await post("forward", { user: state.me, channel, ts: m.ts, to: to.value, text });
    leave();
    go(to.value);
  };
  const dialog = h("dialog.modal.forward", { "aria-labelledby": "forward-title" },
    h("header", {}, h("h2", { id: "forward-title" }, t("forward")), h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave }, icon("close"))),
    h("div.modal-body", {},
      h("label", { for: "forward-to" }, t("forwardTo")), to,
      composer({ key: `${state.me}/forward/${m.ts}`, placeholder: t("forwardText"), send, optional: true, bare: true })));
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
  h("a", { href: `/sandbox/files/${encodeURIComponent(f.id)}`, download: f.name, title: t("download", { name: f.name }) }, icon("clip"), h("span", {}, f.title || f.name), h("small", {}, sizeText(f.size))))));

/** enclosed draws a message's attachments: forwarded messages as quotes, others as cards. */
export const enclosed = (list, on) => (list || []).map((a) => (a.is_share ? forwarded(a) : attachments([a], on)));

const still = (list) => (list || []).filter((b) => b.type !== "actions");

// forwarded is a quote, in which nothing can be pressed.
function forwarded(a) {
  const said = a.message_blocks?.[0]?.message || {};
  const on = { busy: () => true, act: () => {} };
  const at = Number(a.ts) * 1000;
  return h("blockquote.forwarded", {},
    h("div.meta", {}, h("span.name", {}, a.author_id ? nameOf(a.author_id) : a.author_name), h("time.time", { datetime: new Date(at).toISOString() }, `${dayName(at)} ${clockTime(at)}`)),
    a.text ? h("div.text-body", {}, mrkdwn(a.text)) : h("div.blocks", {}, blocks(still(said.blocks), on)),
    enclosed((said.attachments || []).map((x) => ({ ...x, blocks: still(x.blocks) })), on),
    filesOf(a.files),
    h("a.link", { href: new URL(a.from_url).pathname }, t("original")));
}
