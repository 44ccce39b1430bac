// The left side: workspace, channels, direct messages, and whose hands these are.

import { h, icon, reconcile } from "./dom.js";
import { language, t } from "./i18n.js";
import { avatar, badge, channelName, nameOf, titleOf } from "./people.js";
import { become, changed, remember, state, ui, unread } from "./store.js";
import { post } from "./api.js";

/** go shows a channel; the app hears when its direct messages are opened. */
export function go(channel) {
  ui.drawer = false;
  remember("channel", channel);
  if (state.channels.find((c) => c.id === channel)?.im) post("open", { user: state.me, channel }).catch(() => {});
}

function entry(c) {
  const here = c.id === ui.channel && !(c.im && ui.home);
  const isNew = !here && unread(c.id);
  return {
    key: c.id,
    sig: JSON.stringify([here, isNew, c.name, c.archived, t("unread")]),
    render: () =>
      h("li", {},
        h(`button.side-row${here ? ".here" : ""}${isNew ? ".new" : ""}`,
          { type: "button", "aria-current": here ? "page" : null, dataset: { focus: c.id },
          onclick: () => { ui.home = false; go(c.id); } },
          c.im ? avatar(state.bot, "small") : icon("hash"),
          h("span.side-name", {}, channelName(c)),
          c.im && badge(state.users.get(state.bot)),
          isNew && h("span.dot", { title: t("unread") }, h("span.sr", {}, t("unread"))))),
  };
}

/** goHome shows the app's Home tab, which the app then publishes. */
export function goHome() {
  const own = state.channels.find((c) => c.im);
  ui.home = true;
  if (own) go(own.id);
  post("home", { user: state.me }).catch(() => {});
  changed();
}

// homeEntry leads to the app's Home tab, which stands where the direct messages with it do.
function homeEntry() {
  const own = state.channels.find((c) => c.im);
  const here = !!ui.home && own?.id === ui.channel;
  return {
    key: "home", sig: JSON.stringify([here, own?.id, t("homeTab")]),
    render: () => h("li", {}, h(`button.side-row${here ? ".here" : ""}`, {
      type: "button", dataset: { focus: "home-tab" }, onclick: goHome,
    }, avatar(state.bot, "small"), h("span.side-name", {}, `Ringi: ${t("homeTab")}`))),
  };
}

// consoleEntry opens the console in a window of its own, where the whole system runs.
const consoleEntry = () => ({
  key: "console", sig: t("console"),
  render: () => h("li", {}, h("a.side-row", { href: "/console", target: "_blank", rel: "noopener",
    dataset: { focus: "console" } }, icon("link"), h("span.side-name", {}, t("console")))),
});

function person(u) {
  const me = u.id === state.me;
  return {
    key: u.id,
    sig: JSON.stringify([me, t("you")]),
    render: () =>
      h("li", {},
        h(`button.person${me ? ".here" : ""}`, {
          type: "button", "aria-pressed": String(me), dataset: { focus: u.id, person: u.id },
          onclick: () => {
            ui.drawer = false;
            if (!me) become(u.id);
            changed();
          },
        }, avatar(u.id, "medium"), h("span.person-text", {}, h("span.person-name", {}, nameOf(u.id)),
          h("span.person-title", {}, titleOf(u))), me && h("span.you", {}, t("you")))),
  };
}

let channelList, dmList, peopleList;

/** drawSidebar renders the left side anew, keeping what did not change. */
export function drawSidebar(root) {
  root.setAttribute("aria-label", t("menu"));
  if (root.dataset.lang !== t("menu")) {
    root.dataset.lang = t("menu");
    channelList = h("ul.side-list");
    dmList = h("ul.side-list");
    peopleList = h("ul.people");
    root.replaceChildren(
      h("div.brand", {}, h("img", { src: "/icon.svg", alt: "" }),
        h("div", {}, h("strong", {}, "Ringi Sandbox"), h("span", {}, "ringi-sandbox.local"))),
      h("nav.side-nav", { "aria-label": t("channels") },
        h("h2.side-title", {}, t("channels")), channelList,
        h("h2.side-title", {}, t("dms")), dmList),
      h("section.side-people", { "aria-labelledby": "act-as" }, h("h2.side-title", { id: "act-as" }, t("actAs")),
        peopleList));
  }
  reconcile(channelList, state.channels.filter((c) => !c.im).map(entry));
  reconcile(dmList, [...state.channels.filter((c) => c.im).map(entry), homeEntry(),
    ...(state.admin ? [consoleEntry()] : [])]);
  reconcile(peopleList, [...state.users.values()].filter((u) => !u.bot).map(person));
}
