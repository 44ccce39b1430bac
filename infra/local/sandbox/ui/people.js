// How people look: picture, name, and what they are here. How channels are called.

import { h } from "./dom.js";
import { language, t } from "./i18n.js";
import { state } from "./store.js";

const stamp = () => h("img", { src: "/icon.svg", alt: "" });

/** avatar is a person's picture; the app's is its stamp. */
export function avatar(id, size = "") {
  const user = state.users.get(id);
  if (user?.bot) return h(`span.avatar${size && "." + size}`, { "aria-hidden": "true" }, stamp());
  const name = user ? nameOf(id) : "?";
  const letter = /^[\x20-\x7e]/.test(name) ? name.split(" ").map((p) => p[0]).join("").slice(0, 2) : name[0];
  return h(`span.avatar${size && "." + size}`,
    { "aria-hidden": "true", style: { "--tint": "#" + (user?.color || "888888") } }, letter);
}

/** nameOf is a person's name as the page's language writes it. */
export function nameOf(id) {
  const user = state.users.get(id);
  return (language() === "en" && user?.name_en) || user?.name || id;
}

/** channelName is a channel's name as the page's language writes it; a direct message has the app's. */
export const channelName = (c) => (c.im ? nameOf(state.bot) : (language() === "en" && c.name_en) || c.name);

/** placeName is channelName with the sign of a channel. */
export const placeName = (c) => (c.im ? "" : "#") + channelName(c);

/** purposeOf says what a channel is for. */
export const purposeOf = (c) => (language() === "ja" ? c.purpose : c.purpose_en || c.purpose) || "";

export const titleOf = (user) => (language() === "ja" ? user.title : user.title_en || user.title) || "";

/** badge marks who is not an ordinary member. */
export function badge(user) {
  if (user?.bot) return h("span.badge", {}, t("app"));
  if (user?.restricted) return h("span.badge", {}, t("guest"));
  if (user?.stranger) return h("span.badge", {}, t("external"));
  return null;
}
