// The panel beside the conversation: the run behind a task, what waits for the person, and the deliveries.

import { payloadOf } from "./details.js";
import { fill, h, icon, reconcile } from "./dom.js";
import { language, t } from "./i18n.js";
import { reasonText } from "./message.js";
import { nameOf } from "./people.js";
import { blank, drawRun } from "./run.js";
import { remember, state, ui } from "./store.js";
import { drawWaits } from "./waits.js";

const names = { run: "tabRun", waits: "waits", deliveries: "tabDeliveries" };

const shownTabs = () => Object.keys(names).filter((name) => name !== "run" || state.has.run);

const parts = {};

function frame(root) {
  parts.tabs = h("div.tabs", { role: "tablist", "aria-label": t("panels"), onkeydown: arrows },
    shownTabs().map((name) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel-body", dataset: { focus: name }, onclick: () => remember("panel", name) }, t(names[name]))));
  parts.body = h("div.panel-body", { role: "tabpanel", id: "panel-body", tabindex: "0" });
  parts.deliveries = h("ul.deliveries");
  root.replaceChildren(
    h("header.panel-head", {}, parts.tabs, h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: () => remember("panel", "") }, icon("close"))),
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
        h("div.row-text", {}, h("code", {}, a.kind), h("p", {}, nameOf(a.user), a.retry > 0 && ` · ${t("retry", { n: a.retry })}`, !ok && ` · ${a.reason}`)),
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
