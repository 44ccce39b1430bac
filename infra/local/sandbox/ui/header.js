// The bar above the conversation, and the settings that its gear opens: the way to the console's, failing tools,
// Slack's
// bad days.

import { get, post, put } from "./api.js";
import { h, icon, openMenu, toast } from "./dom.js";
import { language, setLanguage, t } from "./i18n.js";
import { onEscape } from "./modal.js";
import { avatar, channelName, nameOf, placeName, purposeOf, titleOf } from "./people.js";
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
  const sig = JSON.stringify([c, language(), ui.panel, ui.drawer, ui.home, state.globals.length, state.me, troubled(),
    state.has, news]);
  if (sig === drawn) return;
  drawn = sig;
  const focus = root.contains(document.activeElement) ? document.activeElement.dataset.focus : "";
  const bot = state.users.get(state.bot);
  root.replaceChildren(...[
    h("button.menu-btn.only-phone", { type: "button", "aria-expanded": String(ui.drawer), dataset: { focus: "menu" },
      onclick: openDrawer }, icon("menu"), h("span.sr", {}, t("menu")), avatar(state.me, "medium"), news &&
      h("span.dot", { title: t("unread") })),
    h("div.header-title", {},
      h("h1", {}, c.im ? avatar(state.bot, "small") : icon("hash"), h("span", {}, channelName(c))),
      h("p", {}, c.im ? titleOf(bot) : purposeOf(c))),
    troubled() && h("button.pill.bad", { type: "button", dataset: { focus: "bad" }, onclick: () => openSettings() },
      icon("bolt"), h("span", {}, t("active"))),
    !c.im && h("div.stack", { role: "img", "aria-label": t("members", { n: c.members.length }),
      title: t("members", { n: c.members.length }) }, c.members.slice(0, 4).map((m) => avatar(m, "tiny")),
      h("span.count", {}, String(c.members.length))),
    c.im && h("div.segmented.only-wide", { role: "group", "aria-label": t("homeTab") },
      h("button", { type: "button", "aria-pressed": String(!!ui.home), dataset: { focus: "home" },
        onclick: () => { ui.home = true; changed(); post("home", { user: state.me }).catch(() => {}); } },
        t("homeTab")),
      h("button", { type: "button", "aria-pressed": String(!ui.home), dataset: { focus: "messages" },
        onclick: () => { ui.home = false; changed(); } }, t("messagesTab"))),
    state.globals.length > 0 && h("button.icon-btn.only-wide",
      { type: "button", "aria-label": t("shortcuts"), title: t("shortcuts"), "aria-haspopup": "menu",
      dataset: { focus: "shortcuts" }, onclick: (e) => openMenu(e.currentTarget, state.globals.map((s) => ({
      label: language() === "ja" ? s.name : s.name_en || s.name, app: true, id: s.callback_id,
      run: () => post("global", { user: state.me, callback_id: s.callback_id }).catch((err) => toast(err.message,
        "error")),
    }))) }, icon("bolt")),
    languageSwitch(),
    h("button.icon-btn.labelled", { type: "button", "aria-label": t("runPanel"), title: t("runPanel"),
      "aria-pressed": String(ui.panel === "run"), dataset: { focus: "run" }, onclick: () => togglePanel("run") },
      icon("run"), h("span", {}, t("run"))),
    h("button.icon-btn.labelled", { type: "button", id: "open-settings", "aria-label": t("setTitle"),
      title: t("setText"), dataset: { focus: "settings" }, onclick: () => openSettings() }, icon("gear"),
      h("span", {}, t("setTitle"))),
  ].filter(Boolean));
  if (focus) root.querySelector(`[data-focus="${focus}"]`)?.focus();
}

// toggle is a switch with a label; change hears the new value.
function toggle(name, label, on, change, note) {
  return h("label.switch", { dataset: { field: name } },
    h("span.switch-text", {}, h("span", {}, label), note && h("small", {}, note)),
    h("input", { type: "checkbox", role: "switch", name, checked: on,
      onchange: (e) => change(e.target.checked, e.target) }),
    h("span.track", { "aria-hidden": "true" }));
}

function numberField(name, label, value, change, max) {
  return h("label.number", { dataset: { field: name } }, h("span", {}, label),
    h("input", { type: "number", name, value: String(value), min: "0", max, inputmode: "numeric",
      onchange: (e) => change(Number(e.target.value)) }));
}

const section = (title, text, ...children) => h("section.set", {}, h("h3", {}, title), text &&
  h("p.set-note", {}, text), children);

// consoleLink leads to where an administrator changes what holds, in the page's language: the console asks who signs
// in, and goes on
// to its settings.
const consoleLink = () => section(t("setConsole"), t("setConsoleText", { name: nameOf(state.admin) }),
  h("p.set-link", {}, h("a", { id: "console-settings", href: `/console/language/${language()}?next=/console/settings`,
    target: "_blank", rel: "noopener" }, icon("link"), h("span", {}, t("setConsoleOpen")))));

function toolSwitches(list) {
  return section(t("setTools"), t("setToolsText"), list.map((f) =>
    toggle("tool-" + f.tool, f.tool, f.failing, async (on, input) => {
      try {
        await put("tools", { tool: f.tool, failing: on });
      } catch (err) {
        input.checked = !on;
        toast(err.message, "error");
      }
    })));
}

function slackSwitches() {
  const set = (name) => async (value) => {
    try {
      state.toggles = await put("toggles", { ...state.toggles, [name]: value });
      changed();
    } catch (err) {
      toast(err.message, "error");
    }
  };
  const one = (name, label, note) => toggle(name, label, state.toggles[name], set(name), note);
  return section(t("setSlack"), t("setSlackText"),
    one("twice", t("tgTwice"), t("tgTwiceText")),
    numberField("late_seconds", t("tgLate"), state.toggles.late_seconds, set("late_seconds"), "60"),
    one("lose_events", t("tgLoseEvents"), t("tgLoseEventsText")),
    one("drop_answers", t("tgDrop"), t("tgDropText")),
    one("rate_limited", t("tgRate"), t("tgRateText")),
    one("lose_answers", t("tgLose"), t("tgLoseText")),
    one("enforce_rates", t("tgPace"), t("tgPaceText")));
}

/** openSettings shows the panel as a dialog. */
export async function openSettings() {
  if (document.querySelector("dialog.settings")) return;
  const body = h("div.modal-body", {}, h("p.loading", {}, "…"));
  const leave = () => {
    document.activeElement?.blur(); // a field that saves itself does so now
    dialog.close();
  };
  const dialog = h("dialog.modal.settings", { "aria-labelledby": "settings-title" },
    h("header", {}, h("div.settings-head", {}, h("h2", { id: "settings-title" }, t("setTitle")),
      h("p", {}, t("setText"))), h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave },
      icon("close"))),
    body);
  const opener = document.activeElement?.dataset.focus;
  dialog.addEventListener("close", () => {
    dialog.remove();
    document.querySelector(`#header [data-focus="${opener}"]`)?.focus();
  });
  onEscape(dialog, leave);
  dialog.addEventListener("click", (e) => { if (e.target === dialog) leave(); });
  document.body.append(dialog);
  dialog.showModal();
  const tools = state.has.tools && (await get("tools").catch((err) => ({ error: err.message })));
  body.replaceChildren(...[
    state.admin && consoleLink(),
    tools && (tools.error ? h("p.field-error", {}, icon("warn"), tools.error) : toolSwitches(tools)),
    slackSwitches(),
  ].filter(Boolean));
}
