// What stands around the conversation: at the left workspace, channels, direct messages and whose hands these are; the
// bar above, and the faults that its gear opens.

import { fill, h, icon, onEscape, openMenu, reconcile, toast } from "./dom.js";
import { language, nameIn, setLanguage, t } from "./i18n.js";
import { act } from "./message.js";
import { avatar, badge, channelName, nameOf, purposeOf, titleOf } from "./people.js";
import { become, changed, here, post, put, remember, speak, state, ui, unread } from "./store.js";

// go shows a channel; the app hears when its direct messages are opened.
function go(channel, home = false) {
  const im = state.channels.find((c) => c.id === channel)?.im;
  ui.drawer = false;
  ui.home = home;
  remember("channel", channel);
  if (im) post(home ? "home" : "open", { user: state.me }).catch(() => {});
}

// goHome shows the app's Home tab, which the app then publishes.
const goHome = () => go(state.channels.find((c) => c.im)?.id || ui.channel, true);

// row is a line of the list, with what stands before and after the name.
function row(key, here, isNew, name, onclick, sign, more) {
  return {
    key, sig: JSON.stringify([here, isNew, name, language()]),
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
  reconcile(messages, [...own.map(entry), ...own.map(homeEntry), consoleEntry()]);
  reconcile(people, [...state.users.values()].filter((u) => !u.bot).map(person));
}

async function speaks(code) {
  setLanguage(code);
  changed();
  try {
    await speak();
    if (here().im) await post(ui.home ? "home" : "open", { user: state.me }); // what the app offers there changes, too
  } catch (err) {
    toast(err.message, "error");
  }
}

const troubled = () => Object.values(state.toggles).some((v) => v);

const languages = () => h("div.segmented", { role: "group", "aria-label": t("language") },
  [["ja", "日本語"], ["en", "EN"]].map(([code, label]) => h("button", { type: "button", lang: code,
    "aria-pressed": String(language() === code), dataset: { focus: "lang-" + code }, onclick: () => speaks(code) },
    label)));

// openDrawer shows the sidebar on a phone and puts the focus into it.
function openDrawer() {
  ui.drawer = true;
  changed();
  setTimeout(() => document.querySelector("#sidebar button")?.focus(), 0);
}

function bar(c, news) {
  const shortcuts = () => state.globals.map((s) => ({ label: nameIn(s), app: true, id: s.callback_id,
    run: () => act("global", { callback_id: s.callback_id }) }));
  return h("div.header-row", {},
    h("button.menu-btn.only-phone", { type: "button", "aria-expanded": String(ui.drawer), dataset: { focus: "menu" },
      onclick: openDrawer }, icon("menu"), h("span.sr", {}, t("menu")), avatar(state.me, "medium"),
      news && h("span.dot", { title: t("unread") })),
    h("div.header-title", {},
      h("h1", {}, c.im ? avatar(state.bot, "small") : icon("hash"), h("span", {}, channelName(c))),
      h("p", {}, c.im ? titleOf(state.users.get(state.bot)) : purposeOf(c))),
    troubled() && h("button.pill", { type: "button", dataset: { focus: "bad" }, onclick: openFaults }, icon("bolt"),
      h("span", {}, t("active"))),
    state.globals.length > 0 && h("button.icon-btn.only-wide", { type: "button", "aria-label": t("shortcuts"),
      title: t("shortcuts"), "aria-haspopup": "menu", dataset: { focus: "shortcuts" },
      onclick: (e) => openMenu(e.currentTarget, shortcuts()) }, icon("bolt")),
    languages(),
    h("button.icon-btn.labelled", { type: "button", id: "open-faults", "aria-label": t("faults"), title: t("faults"),
      dataset: { focus: "settings" }, onclick: openFaults }, icon("gear"), h("span", {}, t("faults"))));
}

/** drawHeader renders the bar when something in it changed. */
export function drawHeader(root) {
  const c = here();
  if (!c) return;
  const news = state.channels.some((x) => x.id !== c.id && unread(x.id));
  reconcile(root, [{ key: "bar", render: () => bar(c, news), sig: JSON.stringify([c, language(), ui.drawer, ui.home,
    state.globals.length, state.me, troubled(), news]) }]);
}

// toggle is the switch of a fault.
function toggle(name) {
  const set = async (e) => {
    try {
      state.toggles = await put("toggles", { ...state.toggles, [name]: e.target.checked });
      changed();
    } catch (err) {
      toast(err.message, "error");
    }
  };
  return h("label.switch", {}, h("span.switch-text", {}, h("span", {}, t(name)), h("small", {}, t(name + "Text"))),
    h("input", { type: "checkbox", role: "switch", name, checked: state.toggles[name], onchange: set }));
}

// openFaults shows their switches in a dialog.
function openFaults() {
  const leave = () => dialog.close();
  const dialog = h("dialog.modal.faults", { "aria-labelledby": "faults-title" },
    h("header", {}, h("h2", { id: "faults-title" }, t("faults")),
      h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave }, icon("close"))),
    h("div.modal-body", {}, h("p.note", {}, t("faultsText")),
      ["fail_writes", "lose_answers", "rate_limited", "drop_answers", "twice"].map(toggle)));
  const opener = document.activeElement?.dataset.focus;
  dialog.addEventListener("close", () => {
    dialog.remove();
    document.querySelector(`#header [data-focus="${opener}"]`)?.focus();
  });
  onEscape(dialog, leave);
  document.body.append(dialog);
  dialog.showModal();
}
