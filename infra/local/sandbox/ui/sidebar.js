// The left side: workspace, channels, direct messages, and whose hands these are.

import { fill, h, icon, reconcile } from "./dom.js";
import { language, t } from "./i18n.js";
import { avatar, badge, channelName, nameOf, titleOf } from "./people.js";
import { become, changed, post, remember, state, ui, unread } from "./store.js";

// go shows a channel; the app hears when its direct messages are opened.
function go(channel, home = false) {
  const im = state.channels.find((c) => c.id === channel)?.im;
  ui.drawer = false;
  ui.home = home;
  if (innerWidth <= 1080) ui.panel = ""; // it lies over the conversation
  remember("channel", channel);
  if (im) post(home ? "home" : "open", { user: state.me }).catch(() => {});
}

// goHome shows the app's Home tab, which the app then publishes.
const goHome = () => go(state.channels.find((c) => c.im)?.id || ui.channel, true);

// row is a line of the list, with what stands before and after the name.
function row(key, here, isNew, name, onclick, sign, more) {
  return {
    key, sig: JSON.stringify([here, isNew, name]),
    render: () => h("li", {},
      h(`button.side-row${here ? ".here" : ""}${isNew ? ".new" : ""}`,
        { type: "button", "aria-current": here ? "page" : null, dataset: { focus: key }, onclick },
        sign, h("span.side-name", {}, name), more,
        isNew && h("span.dot", { title: t("unread") }, h("span.sr", {}, t("unread"))))),
  };
}

const entry = (c) => {
  const here = c.id === ui.channel && !(c.im && ui.home);
  return row(c.id, here, !here && unread(c.id), channelName(c), () => go(c.id),
    c.im ? avatar(state.bot, "small") : icon("hash"), c.im && badge(state.users.get(state.bot)));
};

// The app's Home tab stands where the direct messages with it do.
const homeEntry = (own) => row("home-tab", own.id === ui.channel && ui.home, false, `Ringi: ${t("homeTab")}`, goHome,
  avatar(state.bot, "small"));

// consoleEntry opens the console in a window of its own, in the page's language.
const consoleEntry = () => ({
  key: "console", sig: language(),
  render: () => h("li", {}, h("a.side-row", { href: `/console/language/${language()}?next=/console`, target: "_blank",
    rel: "noopener", dataset: { focus: "console" } }, icon("link"), h("span.side-name", {}, t("console")))),
});

function person(u) {
  const me = u.id === state.me;
  return {
    key: u.id, sig: JSON.stringify([me, language()]),
    render: () => h("li", {},
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

const channels = h("ul.side-list"), messages = h("ul.side-list"), people = h("ul.people");

/** drawSidebar renders the left side anew, keeping what did not change. */
export function drawSidebar(root) {
  root.setAttribute("aria-label", t("menu"));
  fill(root, language(), () => [
    h("div.brand", {}, h("img", { src: "/icon.svg", alt: "" }),
      h("div", {}, h("strong", {}, "Ringi Sandbox"), h("span", {}, "ringi-sandbox.local"))),
    h("nav.side-nav", { "aria-label": t("channels") }, h("h2.side-title", {}, t("channels")), channels,
      h("h2.side-title", {}, t("dms")), messages),
    h("section.side-people", { "aria-labelledby": "act-as" }, h("h2.side-title", { id: "act-as" }, t("actAs")),
      people)]);
  const own = state.channels.filter((c) => c.im);
  reconcile(channels, state.channels.filter((c) => !c.im).map(entry));
  reconcile(messages, [...own.map(entry), ...own.map(homeEntry), ...(state.console ? [consoleEntry()] : [])]);
  reconcile(people, [...state.users.values()].filter((u) => !u.bot).map(person));
}
