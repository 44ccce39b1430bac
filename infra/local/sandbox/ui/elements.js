// Buttons, selects and fields of Block Kit, made of the browser's own controls.

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { plain } from "./mrkdwn.js";
import { nameOf } from "./people.js";
import { state, ui } from "./store.js";

const safeLink = (url) => (/^https?:\/\//i.test(url || "") ? url : "");

/** button draws a Block Kit button; a link opens in a new tab besides its act. */
export function button(e, on) {
  const props = {
    type: "button", "aria-label": e.accessibility_label, "aria-busy": on.busy?.(e) ? "true" : null, "aria-disabled": on.busy?.(e) ? "true" : null,
    dataset: { focus: e.action_id || "", action: e.action_id || "" },
    onclick: () => {
      if (safeLink(e.url)) window.open(e.url, "_blank", "noopener");
      on.act(e);
    },
  };
  return h(`button.btn${e.style ? "." + e.style : ""}`, props, plain(e.text.text));
}

const allOptions = (e) => [...(e.options || []), ...(e.option_groups || []).flatMap((g) => g.options)];

function people() {
  return [...state.users.values()].map((u) => ({ text: { text: nameOf(u.id) }, value: u.id }));
}

function channels() {
  return state.channels.filter((c) => !c.im).map((c) => ({ text: { text: "#" + c.name }, value: c.id }));
}

function select(e, options, chosen, multiple, p) {
  const el = h("select", { id: p.id, name: p.name, multiple, "aria-label": p.label, "aria-describedby": p.describedby });
  if (!multiple) el.append(h("option", { value: "" }, plain(e.placeholder?.text) || t("choose")));
  for (const o of options) el.append(h("option", { value: o.value, selected: chosen.includes(o.value) }, plain(o.text.text)));
  el.read = () => (multiple ? [...el.selectedOptions].map((o) => o.value) : el.value);
  return el;
}

// boxes are radio buttons or checkboxes.
function boxes(e, kind, chosen, p) {
  const el = h("div.boxes", { id: p.id, role: kind === "radio" ? "radiogroup" : "group", "aria-label": p.label });
  for (const o of e.options) {
    el.append(h("label.box", {},
      h("input", { type: kind, name: p.name, value: o.value, checked: chosen.includes(o.value) }),
      h("span", {}, plain(o.text.text), o.description && h("small", {}, plain(o.description.text)))));
  }
  el.read = () => {
    const on = [...el.querySelectorAll("input:checked")].map((i) => i.value);
    return kind === "radio" ? on[0] || "" : on;
  };
  return el;
}

function field(e, type, p) {
  const props = {
    id: p.id, name: p.name, "aria-label": p.id ? null : p.label, "aria-describedby": p.describedby, placeholder: plain(e.placeholder?.text),
    minlength: e.min_length ? String(e.min_length) : null, autofocus: e.focus_on_load,
  };
  const el = e.multiline ? h("textarea", { ...props, rows: "5" }) : h("input", { ...props, type });
  el.value = e.initial_value ?? e.initial_date ?? e.initial_time ?? "";
  el.read = () => el.value;
  return el;
}

const values = (one, many) => (many || []).map((o) => o.value ?? o).concat(one ? [one.value ?? one] : []);

// here is the channel in which the person is, for a menu that begins there; of direct messages it has none.
const here = (e) => (e.default_to_current_conversation && state.channels.find((c) => c.id === ui.channel && !c.im)?.id) || undefined;

/**
 * control draws any element that holds a value. Its read() gives that value:
 * a string, or a list of strings. onchoose is called when the person changes it.
 */
export function control(e, p) {
  let el;
  switch (e.type) {
    case "static_select": case "overflow": el = select(e, allOptions(e), values(e.initial_option), false, p); break;
    case "multi_static_select": el = select(e, allOptions(e), values(null, e.initial_options), true, p); break;
    case "users_select": el = select(e, people(), values(e.initial_user), false, p); break;
    case "multi_users_select": el = select(e, people(), values(null, e.initial_users), true, p); break;
    case "channels_select": case "conversations_select": el = select(e, channels(), values(e.initial_channel || e.initial_conversation || here(e)), false, p); break;
    case "radio_buttons": el = boxes(e, "radio", values(e.initial_option), p); break;
    case "checkboxes": el = boxes(e, "checkbox", values(null, e.initial_options), p); break;
    case "datepicker": el = field(e, "date", p); break;
    case "timepicker": el = field(e, "time", p); break;
    case "number_input": el = field(e, "number", p); break;
    case "email_text_input": el = field(e, "email", p); break;
    case "url_text_input": el = field(e, "url", p); break;
    default: el = field(e, "text", p);
  }
  if (p.onchoose) el.addEventListener("change", () => p.onchoose(el.read()));
  return el;
}
