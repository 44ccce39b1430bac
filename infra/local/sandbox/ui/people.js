// How people look: picture, name, and what they are here.

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
  return h(`span.avatar${size && "." + size}`, { "aria-hidden": "true", style: { "--tint": "#" + (user?.color || "888888") } }, letter);
}

/** nameOf is a person's name as the page's language writes it. */
export function nameOf(id) {
  const user = state.users.get(id);
  return (language() === "en" && user?.name_en) || user?.name || id;
}

export const titleOf = (user) => (language() === "ja" ? user.title : user.title_en || user.title) || "";

/** badge marks who is not an ordinary member. */
export function badge(user) {
  if (user?.bot) return h("span.badge", {}, t("app"));
  if (user?.restricted) return h("span.badge", {}, t("guest"));
  if (user?.stranger) return h("span.badge", {}, t("external"));
  return null;
}
