// What waits for the person: asked of the sandbox, which knows who may stamp, whenever a message changes.

import { get } from "./api.js";
import { fill, h, reconcile } from "./dom.js";
import { clockTime, dayName, language, t } from "./i18n.js";
import { millis } from "./message.js";
import { mrkdwn } from "./mrkdwn.js";
import { avatar, nameOf } from "./people.js";
import { channelName } from "./sidebar.js";
import { changed, onChange, onLoad, state, ui } from "./store.js";
import { show } from "./goto.js";
import { blank } from "./run.js";
import { headline, origin } from "./threads.js";

let timer = 0;

async function ask() {
  const me = ui.person;
  try {
    const found = await get("waits?user=" + encodeURIComponent(me));
    if (me !== ui.person) return;
    ui.waits = found;
    ui.waitsTrouble = "";
  } catch (err) {
    ui.waitsTrouble = err.message;
  }
  changed();
}

function soon(ms) {
  clearTimeout(timer);
  timer = setTimeout(ask, ms);
}

onLoad(() => soon(0));
onChange((c) => { if (["message", "deleted"].includes(c.kind)) soon(200); });
addEventListener("focus", () => soon(0)); // meanwhile the console may have changed who may stamp

const said = (text) => mrkdwn((text || "").split("\n")[0].slice(0, 120));

// when says how far away a time is, in the page's language.
function when(time) {
  const minutes = (new Date(time) - Date.now()) / 60000, far = Math.abs(minutes);
  const [n, unit] = far < 60 ? [minutes, "minute"] : far < 1440 ? [minutes / 60, "hour"] : [minutes / 1440, "day"];
  return new Intl.RelativeTimeFormat(language(), { numeric: "auto" }).format(Math.trunc(n), unit);
}

// facts are what an approver picks by: what is written to, and until when it waits.
function facts(w) {
  if (!w.until && !w.writes) return null;
  return h("span.wait-facts", {},
    h("span", {}, t("writes", { what: w.writes?.[language()] || t("unplanned") })),
    w.until && h("time", { dateTime: w.until, title: new Date(w.until).toLocaleString(language()) }, t("due", { when: when(w.until) })));
}

function entry(w) {
  const m = state.messages.get(w.channel)?.get(w.ts);
  const root = state.messages.get(w.channel)?.get(w.root);
  if (!m) return null;
  const about = origin(m), asker = about ? null : root; // a copy has no request above it
  const c = state.channels.find((x) => x.id === w.channel);
  return {
    key: w.channel + w.ts,
    sig: JSON.stringify([headline(m), about, root?.text, language(), w.writes, w.until && when(w.until)]),
    render: () =>
      h("li", {},
        h("button.wait", { type: "button", dataset: { wait: w.ts, focus: w.ts }, onclick: () => { opened = w.ts; show(w.channel, w.ts, w.root); } },
          h("strong", {}, headline(m) || t("waits")),
          (about || root) && h("span.wait-said", {}, said(about || root.text)),
          facts(w),
          h("span.wait-meta", {}, asker && [avatar(asker.user, "tiny"), nameOf(asker.user), " · "], c && (c.im ? channelName(c) : "#" + c.name), " · ", dayName(millis(w.ts)), " ", clockTime(millis(w.ts))))),
  };
}

const list = h("ul.waits");

// j and k go from one that waits to the next, and Enter opens it. On a card, a goes to the button that approves and r to
// the one that rejects: neither presses it.
const steps = { j: 1, k: -1 };
const begins = { a: ["approve_", "review_"], r: ["reject_"] };

function buttonOf(card, key) {
  const all = [...(card?.querySelectorAll("button[data-action]") || [])];
  return all.find((b) => begins[key].some((p) => b.dataset.action.startsWith(p)));
}

let opened = null; // the message that was opened from the list

function onKey(e) {
  const typing = e.target.closest("input, select, textarea, [contenteditable], dialog");
  if (typing || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  let to = null;
  if (steps[e.key] && list.isConnected) {
    const rows = [...list.querySelectorAll("button.wait")], at = rows.indexOf(document.activeElement);
    to = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + steps[e.key]))];
  } else if (begins[e.key]) {
    const ts = document.activeElement?.dataset.wait || opened;
    to = buttonOf(document.activeElement?.closest("[data-ts]") || (ts && document.querySelector(`[data-ts="${ts}"]`)), e.key);
  }
  if (!to) return;
  e.preventDefault();
  to.focus();
}
document.addEventListener("keydown", onKey);

/** drawWaits renders the list, the oldest first. */
export function drawWaits(body) {
  const items = ui.waits.map(entry).filter(Boolean);
  if (!items.length) {
    const title = ui.waitsTrouble || t("noWaits");
    fill(body, `no waits ${title}`, () => [blank(title, t("noWaitsText"), "stamp")]);
    return;
  }
  reconcile(list, items);
  fill(body, "waits" + language(), () => [h("p.panel-note", {}, t("waitsText")), list]);
}
