// The panel beside the conversation: the run behind a task, what waits for the person, and the deliveries. What waits
// is
// asked of the sandbox, which knows who may stamp, whenever a message changes.

import { get } from "./api.js";
import { blank, drawRun, payloadOf } from "./run.js";
import { fill, h, icon, reconcile } from "./dom.js";
import { show } from "./scroll.js";
import { clockTime, dayName, language, t } from "./i18n.js";
import { millis, reasonText } from "./message.js";
import { mrkdwn } from "./mrkdwn.js";
import { avatar, nameOf, placeName } from "./people.js";
import { changed, onChange, onLoad, remember, state, ui } from "./store.js";
import { goHome } from "./sidebar.js";
import { headline, origin } from "./threads.js";

const names = { run: "tabRun", waits: "waits", deliveries: "tabDeliveries" };

const shownTabs = () => Object.keys(names).filter((name) => name !== "run" || state.has.run);

const parts = {};

function frame(root) {
  parts.tabs = h("div.tabs", { role: "tablist", "aria-label": t("panels"), onkeydown: arrows },
    shownTabs().map((name) => h("button", { type: "button", role: "tab", id: `tab-${name}`,
      "aria-controls": "panel-body", dataset: { focus: name }, onclick: () => remember("panel", name) },
      t(names[name]))));
  parts.body = h("div.panel-body", { role: "tabpanel", id: "panel-body", tabindex: "0" });
  parts.deliveries = h("ul.deliveries");
  root.replaceChildren(
    h("header.panel-head", {}, parts.tabs, h("button.icon-btn",
      { type: "button", "aria-label": t("close"), onclick: () => remember("panel", "") }, icon("close"))),
    parts.body);
}

// arrows moves along the tabs, as everywhere: the one that has the focus is shown.
function arrows(e) {
  const all = shownTabs();
  const at = all.indexOf(ui.panel);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[e.key];
  if (to === undefined) return;
  e.preventDefault();
  const name = all[(to + all.length) % all.length];
  remember("panel", name);
  parts.tabs.querySelector(`#tab-${name}`).focus();
}

function tabs() {
  for (const name of shownTabs()) {
    const here = ui.panel === name;
    const tab = parts.tabs.querySelector(`#tab-${name}`);
    tab.setAttribute("aria-selected", String(here));
    tab.tabIndex = here ? 0 : -1;
  }
  parts.body.setAttribute("aria-labelledby", `tab-${ui.panel}`);
}

function deliveryItem(a) {
  const ok = !a.reason;
  return {
    key: String(a.n),
    sig: JSON.stringify([ok, language()]),
    render: () =>
      h(`li.delivery${ok ? "" : ".failed"}`, {},
        h("span.light", { title: ok ? "OK" : reasonText(a.reason) }),
        h("div.row-text", {}, h("code", {}, a.kind),
          h("p", {}, nameOf(a.user), a.retry > 0 && ` · ${t("retry", { n: a.retry })}`, !ok && ` · ${a.reason}`)),
        h("span.row-rev", {}, a.status ? String(a.status) : "—"),
        h("time", {}, `${a.millis} ms`),
        h("div.delivery-more", {}, payloadOf(a.n))),
  };
}

function drawDeliveries(body) {
  if (!state.attempts.length) {
    fill(body, "no deliveries", () => [blank(t("noDeliveries"), t("deliveriesText"))]);
    return;
  }
  reconcile(parts.deliveries, state.attempts.map(deliveryItem));
  fill(body, "deliveries", () => [h("p.panel-note", {}, t("deliveriesText")), parts.deliveries]);
}

/** drawPanel renders the panel, or hides it. */
export function drawPanel(root) {
  if (ui.panel && !shownTabs().includes(ui.panel)) ui.panel = "deliveries";
  root.hidden = !ui.panel;
  root.setAttribute("aria-label", t("panels"));
  if (root.hidden) return;
  if (root.dataset.lang !== language()) {
    root.dataset.lang = language();
    frame(root);
  }
  tabs();
  ({ run: drawRun, waits: drawWaits, deliveries: drawDeliveries })[ui.panel](parts.body);
}

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
    w.writes && h("span", {}, t("writes", { what: w.writes[language()] })),
    w.until && h("time", { dateTime: w.until, title: new Date(w.until).toLocaleString(language()) },
      t("due", { when: when(w.until) })));
}

// atHome is an entry for what the person doesn't see, and may stamp for somebody on the app's Home tab.
const atHome = (w) => ({
  key: "home" + w.ts, sig: JSON.stringify([w.instead, language(), w.writes, w.until && when(w.until)]),
  render: () =>
    h("li", {},
      h("button.wait", { type: "button", dataset: { wait: w.ts, focus: w.ts },
        onclick: () => goHome() },
        h("strong", {}, t("instead", { name: nameOf(w.instead) })),
        facts(w),
        h("span.wait-meta", {}, `${nameOf(state.bot)}: ${t("homeTab")} · `, dayName(millis(w.ts)), " ",
          clockTime(millis(w.ts))))),
});

function entry(w) {
  if (!w.channel) return atHome(w);
  const m = state.messages.get(w.channel)?.get(w.ts);
  const root = state.messages.get(w.channel)?.get(w.root);
  if (!m) return null;
  const about = origin(m), asker = about ? null : root; // a copy has no request above it
  const c = state.channels.find((x) => x.id === w.channel);
  return {
    key: w.channel + w.ts,
    sig: JSON.stringify([headline(m), about, root?.text, language(), w.instead, w.writes, w.until && when(w.until)]),
    render: () =>
      h("li", {},
        h("button.wait", { type: "button", dataset: { wait: w.ts, focus: w.ts },
          onclick: () => show(w.channel, w.ts, w.root) },
          h("strong", {}, headline(m) || t("waits")),
          (about || root) && h("span.wait-said", {}, said(about || root.text)),
          facts(w),
          h("span.wait-meta", {}, w.instead && `${t("instead", { name: nameOf(w.instead) })} · `, asker &&
            [avatar(asker.user, "tiny"), nameOf(asker.user), " · "], c && placeName(c), " · ", dayName(millis(w.ts)),
            " ", clockTime(millis(w.ts))))),
  };
}

const list = h("ul.waits");

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
