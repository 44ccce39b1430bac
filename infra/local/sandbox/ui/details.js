// What stands behind a line of the panel: whole rows, prompts as they were sent, payloads. Asked for when a person opens it.

import { get } from "./api.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";

// readable is JSON with its lines apart; text that is none stays as it is.
function readable(value) {
  let v = value;
  if (typeof v === "string") {
    try {
      v = JSON.parse(v);
    } catch {
      return value;
    }
  }
  return typeof v === "string" ? v : JSON.stringify(v, null, 2).replaceAll("\\n", "\n");
}

/** detailed is a label with JSON beneath; nothing without a value. */
export function detailed(label, value) {
  if (value === undefined || value === null || value === "") return null;
  return [h("p.json-label", {}, label), h("pre.json", { tabindex: "0", "aria-label": label }, readable(value))];
}

// onDemand is a button that gives way to what it fetches.
function onDemand(label, focus, load) {
  const button = h("button.more-btn", {
    type: "button", dataset: { more: focus, focus },
    onclick: async () => {
      button.setAttribute("aria-busy", "true");
      const box = h("div", {}, h("p.json-label", {}, t("loading")));
      button.after(box);
      try {
        const parts = await load();
        box.replaceChildren(...[parts].flat(Infinity).filter(Boolean));
        button.remove();
        box.querySelector("pre")?.focus({ preventScroll: true });
      } catch (err) {
        box.replaceChildren(h("p.field-error", { role: "alert" }, err.message));
        button.removeAttribute("aria-busy");
      }
    },
  }, label);
  return button;
}

// objects are the keys in the bucket that a row names.
function objects(row) {
  const found = new Set();
  const walk = (x) => {
    if (!x || typeof x !== "object") return;
    for (const [k, v] of Object.entries(x)) {
      if (k === "s3_key" && typeof v === "string" && v) found.add(v);
      else walk(v);
    }
  };
  walk(row);
  return [...found];
}

/** rowDetails offers all of a row, and from there what the row keeps in the bucket. */
export function rowDetails(task, key) {
  const query = (of) => `task=${encodeURIComponent(task)}&key=${encodeURIComponent(of)}`;
  return h("div.row-more", {}, onDemand(t("see", { what: t("whole") }), "whole", async () => {
    const row = await get("row?" + query(key));
    return [detailed(key, row), objects(row).map((o) => {
      const word = o.startsWith("prompts/") ? "sentPrompt" : "object";
      return onDemand(t("see", { what: t(word) }), "object", async () => detailed(t(word), await get("object?" + query(o))));
    })];
  }));
}

/** payloadOf offers what was sent in a delivery, and what the app answered. */
export function payloadOf(n) {
  return onDemand(t("see", { what: t("payload") }), "payload", async () => {
    const a = await get("attempts/" + n);
    return [detailed(t("payload"), a.payload), detailed(t("answer"), a.answer || t("emptyAnswer"))];
  });
}
