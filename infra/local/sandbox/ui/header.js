// The bar above the conversation.

import { h, icon, toast } from "./dom.js";
import { openMenu } from "./menu.js";
import { post } from "./api.js";
import { language, setLanguage, t } from "./i18n.js";
import { avatar, titleOf } from "./people.js";
import { channelName, purposeOf } from "./sidebar.js";
import { openSettings } from "./settings.js";
import { changed, remember, speak, state, ui, unread } from "./store.js";

/** togglePanel shows or hides the panel beside the conversation. */
export function togglePanel(name) {
  remember("panel", ui.panel === name ? "" : name);
}

function languageSwitch() {
  const one = (code, label) =>
    h("button", {
      type: "button", lang: code, "aria-pressed": String(language() === code), dataset: { focus: "lang-" + code },
      onclick: async () => {
        setLanguage(code);
        changed();
        try {
          await speak(state.me);
          if (ui.home) await post("home", { user: state.me });
          if (state.cards && state.cards !== code) toast(t("cardsKeep"));
        } catch (err) {
          toast(err.message, "error");
        }
      },
    }, label);
  return h("div.segmented", { role: "group", "aria-label": t("language") }, one("ja", "日本語"), one("en", "EN"));
}

const troubled = () => Object.values(state.toggles).some((v) => v);

// openDrawer shows the sidebar on a phone and puts the focus into it.
function openDrawer() {
  ui.drawer = true;
  changed();
  setTimeout(() => document.querySelector("#sidebar button")?.focus(), 0);
}

let drawn = "";

/** drawHeader renders the bar when something in it changed. */
export function drawHeader(root) {
  const c = state.channels.find((x) => x.id === ui.channel);
  if (!c) return;
  const news = state.channels.some((x) => x.id !== c.id && unread(x.id));
  const sig = JSON.stringify([c, language(), ui.panel, ui.drawer, ui.home, state.globals.length, state.me, troubled(), state.has, news]);
  if (sig === drawn) return;
  drawn = sig;
  const focus = root.contains(document.activeElement) ? document.activeElement.dataset.focus : "";
  const bot = state.users.get(state.bot);
  root.replaceChildren(...[
    h("button.menu-btn.only-phone", { type: "button", "aria-expanded": String(ui.drawer), dataset: { focus: "menu" }, onclick: openDrawer }, icon("menu"), h("span.sr", {}, t("menu")), avatar(state.me, "medium"), news && h("span.dot", { title: t("unread") })),
    h("div.header-title", {},
      h("h1", {}, c.im ? avatar(state.bot, "small") : icon("hash"), h("span", {}, channelName(c))),
      h("p", {}, c.im ? titleOf(bot) : purposeOf(c))),
    troubled() && h("button.pill.bad", { type: "button", dataset: { focus: "bad" }, onclick: () => openSettings() }, icon("bolt"), h("span", {}, t("active"))),
    !c.im && h("div.stack", { role: "img", "aria-label": t("members", { n: c.members.length }), title: t("members", { n: c.members.length }) }, c.members.slice(0, 4).map((m) => avatar(m, "tiny")), h("span.count", {}, String(c.members.length))),
    c.im && h("div.segmented.only-wide", { role: "group", "aria-label": t("homeTab") },
      h("button", { type: "button", "aria-pressed": String(!!ui.home), dataset: { focus: "home" }, onclick: () => { ui.home = true; changed(); post("home", { user: state.me }).catch(() => {}); } }, t("homeTab")),
      h("button", { type: "button", "aria-pressed": String(!ui.home), dataset: { focus: "messages" }, onclick: () => { ui.home = false; changed(); } }, t("messagesTab"))),
    state.globals.length > 0 && h("button.icon-btn.only-wide", { type: "button", "aria-label": t("shortcuts"), title: t("shortcuts"), "aria-haspopup": "menu", dataset: { focus: "shortcuts" }, onclick: (e) => openMenu(e.currentTarget, state.globals.map((s) => ({
      label: language() === "ja" ? s.name : s.name_en || s.name, app: true, id: s.callback_id,
      run: () => post("global", { user: state.me, callback_id: s.callback_id }).catch((err) => toast(err.message, "error")),
    }))) }, icon("bolt")),
    languageSwitch(),
    h("button.icon-btn.labelled", { type: "button", "aria-label": t("runPanel"), title: t("runPanel"), "aria-pressed": String(ui.panel === "run"), dataset: { focus: "run" }, onclick: () => togglePanel("run") }, icon("run"), h("span", {}, t("run"))),
    h("button.icon-btn.labelled", { type: "button", id: "open-settings", "aria-label": t("setTitle"), title: t("setText"), dataset: { focus: "settings" }, onclick: () => openSettings() }, icon("gear"), h("span", {}, t("setTitle"))),
  ].filter(Boolean));
  if (focus) root.querySelector(`[data-focus="${focus}"]`)?.focus();
}
