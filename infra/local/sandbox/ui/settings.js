// The gear's panel: the way to the console's settings, failing tools, Slack's bad days.

import { get, post, put } from "./api.js";
import { h, icon, toast } from "./dom.js";
import { language, t } from "./i18n.js";
import { onEscape } from "./modal.js";
import { nameOf } from "./people.js";
import { changed, state } from "./store.js";

// toggle is a switch with a label; change hears the new value.
function toggle(name, label, on, change, note) {
  return h("label.switch", { dataset: { field: name } },
    h("span.switch-text", {}, h("span", {}, label), note && h("small", {}, note)),
    h("input", { type: "checkbox", role: "switch", name, checked: on, onchange: (e) => change(e.target.checked, e.target) }),
    h("span.track", { "aria-hidden": "true" }));
}

function numberField(name, label, value, change, max) {
  return h("label.number", { dataset: { field: name } }, h("span", {}, label),
    h("input", { type: "number", name, value: String(value), min: "0", max, inputmode: "numeric", onchange: (e) => change(Number(e.target.value)) }));
}

const section = (title, text, ...children) => h("section.set", {}, h("h3", {}, title), text && h("p.set-note", {}, text), children);

// consoleLink leads to where an administrator changes what holds, in the page's language: the console asks who signs in, and goes on
// to its settings.
const consoleLink = () => section(t("setConsole"), t("setConsoleText", { name: nameOf(state.admin) }),
  h("p.set-link", {}, h("a", { id: "console-settings", href: `/console/language/${language()}?next=/console/settings`, target: "_blank", rel: "noopener" }, icon("link"), h("span", {}, t("setConsoleOpen")))));

// cardsLanguage is a choice that holds for everybody at once.
function cardsLanguage() {
  const row = h("div.segmented", { role: "group", "aria-label": t("setCards"), id: "cards-language" });
  const draw = () => row.replaceChildren(...[["ja", "日本語"], ["en", "English"]].map(([code, label]) =>
    h("button", { type: "button", lang: code, "aria-pressed": String(state.cards === code), onclick: () => choose(code) }, label)));
  const choose = async (code) => {
    try {
      state.cards = (await put("cards", { language: code })).language;
    } catch (err) {
      toast(err.message, "error");
    }
    draw();
    row.querySelector('[aria-pressed="true"]')?.focus();
  };
  draw();
  return section(t("setCards"), t("setCardsText"), row);
}

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

// channelIDs gives a channel another id, as Slack does when it becomes shared with another organization.
function channelIDs() {
  const row = (c) => {
    const id = h("code", {}, c.id);
    const change = async () => {
      try {
        id.textContent = (await post("channel-id", { channel: id.textContent })).id;
      } catch (err) {
        toast(err.message, "error");
      }
    };
    return h("div.number", { dataset: { field: `channel-${c.id}` } }, h("span", {}, `#${c.name} `, id), h("button.btn", { type: "button", "aria-label": t("setIDOf", { name: c.name }), onclick: change }, t("setID")));
  };
  return section(t("setIDs"), t("setIDsText"), state.channels.filter((c) => !c.im).map(row));
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
    h("header", {}, h("div.settings-head", {}, h("h2", { id: "settings-title" }, t("setTitle")), h("p", {}, t("setText"))), h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave }, icon("close"))),
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
    state.has.cards && cardsLanguage(),
    state.admin && consoleLink(),
    tools && (tools.error ? h("p.field-error", {}, icon("warn"), tools.error) : toolSwitches(tools)),
    slackSwitches(),
    channelIDs(),
  ].filter(Boolean));
}
