// Block Kit: one function per block type that the sandbox can draw, and its elements, made of the browser's own
// controls.

import { h, icon } from "./dom.js";
import { t } from "./i18n.js";
import { led, mrkdwn, plain, reference } from "./mrkdwn.js";
import { nameOf, placeName } from "./people.js";
import { state, ui } from "./store.js";

const safeLink = (url) => (/^https?:\/\//i.test(url || "") ? url : "");

/** button draws a Block Kit button; a link opens in a new tab besides its act. */
export function button(e, on) {
  const props = {
    type: "button", "aria-label": e.accessibility_label, "aria-busy": on.busy?.(e) ? "true" : null,
      "aria-disabled": on.busy?.(e) ? "true" : null,
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
  return state.channels.filter((c) => !c.im).map((c) => ({ text: { text: placeName(c) }, value: c.id }));
}

function select(e, options, chosen, multiple, p) {
  const el = h("select", { id: p.id, name: p.name, multiple, "aria-label": p.label,
    "aria-describedby": p.describedby });
  if (!multiple) el.append(h("option", { value: "" }, plain(e.placeholder?.text) || t("choose")));
  for (const o of options) el.append(h("option", { value: o.value, selected: chosen.includes(o.value) },
    plain(o.text.text)));
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
    id: p.id, name: p.name, "aria-label": p.id ? null : p.label, "aria-describedby": p.describedby,
      placeholder: plain(e.placeholder?.text),
    minlength: e.min_length ? String(e.min_length) : null, autofocus: e.focus_on_load,
  };
  const el = e.multiline ? h("textarea", { ...props, rows: "5" }) : h("input", { ...props, type });
  el.value = e.initial_value ?? e.initial_date ?? e.initial_time ?? "";
  el.read = () => el.value;
  return el;
}

const values = (one, many) => (many || []).map((o) => o.value ?? o).concat(one ? [one.value ?? one] : []);

// here is the channel in which the person is, for a menu that begins there; of direct messages it has none.
const here = (e) => (e.default_to_current_conversation &&
  state.channels.find((c) => c.id === ui.channel && !c.im)?.id) || undefined;

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
    case "channels_select": case "conversations_select": el = select(e, channels(),
      values(e.initial_channel || e.initial_conversation || here(e)), false, p); break;
    case "radio_buttons": el = boxes(e, "radio", values(e.initial_option), p); break;
    case "checkboxes": el = boxes(e, "checkbox", values(null, e.initial_options), p); break;
    case "datepicker": el = field(e, "date", p); break;
    case "timepicker": el = field(e, "time", p); break;
    case "number_input": el = field(e, "number", p); break;
    case "email_text_input": el = field(e, "email", p); break;
    case "file_input":
      el = h("input", { type: "file", name: p.name, "aria-label": p.label, multiple: (e.max_files || 10) > 1,
        accept: (e.filetypes || []).map((t) => `.${t}`).join(",") });
      el.read = () => [...el.files];
      break;
    case "url_text_input": el = field(e, "url", p); break;
    default: el = field(e, "text", p);
  }
  if (p.onchoose) el.addEventListener("change", () => p.onchoose(el.read()));
  return el;
}

/** textOf renders a text object. */
export const textOf = (o) => (o?.type === "mrkdwn" ? mrkdwn(o.text, o.verbatim)
  : document.createTextNode(plain(o?.text)));

// safe lets pictures come from https alone.
const safe = (url) => (/^https:\/\//i.test(url || "") ? url : "");

const image = (e, size) => h(`img.${size}`, { src: safe(e.image_url), alt: e.alt_text || "", loading: "lazy" });

// element is anything that stands in a section's accessory or an actions block.
function element(e, on) {
  if (e.type === "button") return button(e, on);
  if (e.type === "image") return image(e, "thumb");
  return control(e, { name: e.action_id, label: e.placeholder?.text || e.action_id,
    onchoose: (value) => on.act(e, value) });
}

// leaf is an element of rich text; its text is shown as it is.
function leaf(e) {
  const pointed = { user: `@${e.user_id}`, channel: `#${e.channel_id}`, usergroup: `!subteam^${e.usergroup_id}`,
    broadcast: `!${e.range}` }[e.type];
  let node = document.createTextNode(e.text || e.fallback || e.value || "");
  if (pointed) node = reference(pointed);
  else if (e.type === "emoji") node = document.createTextNode(e.unicode
    ? String.fromCodePoint(...e.unicode.split("-").map((x) => parseInt(x, 16))) : `:${e.name}:`);
  else if (e.type === "link" && /^(https?:|mailto:)/i.test(e.url)) node = h("a",
    { href: led(e.url), target: "_blank", rel: "noopener noreferrer" }, e.text || e.url);
  for (const [style, tag] of [["code", "code"], ["strike", "s"], ["italic", "em"],
    ["bold", "strong"]]) if (e.style?.[style]) node = h(tag, {}, node);
  return node;
}

const leaves = (part) => (part.elements || []).map(leaf);

// part is a container of rich text. A list's items are numbered on from its offset, as letters within another.
function part(p) {
  if (p.type === "rich_text_quote") return h("blockquote", {}, leaves(p));
  if (p.type === "rich_text_preformatted") return h("pre.code", {}, leaves(p));
  if (p.type !== "rich_text_list") return h("div", {}, leaves(p));
  const level = p.indent || 0;
  const kinds = p.style === "ordered" ? ["decimal", "lower-alpha", "lower-roman"] : ["disc", "circle", "square"];
  return h(p.style === "ordered" ? "ol" : "ul",
    { start: (p.offset || 0) + 1, style: { "list-style-type": kinds[level % 3], "margin-left": `${level * 22}px` } },
    p.elements.map((item) => h("li", {}, leaves(item))));
}

const makers = {
  header: (b) => h("h2.b-header", {}, plain(b.text.text)),
  divider: () => h("hr.b-divider"),
  section: (b, on) =>
    h("div.b-section", {},
      h("div.b-body", {},
        b.text && h("div.b-text", {}, textOf(b.text)),
        b.fields && h("div.b-fields", {}, b.fields.map((f) => h("div.b-field", {}, textOf(f))))),
      b.accessory && h("div.b-accessory", {}, element(b.accessory, on))),
  context: (b) => h("div.b-context", {}, b.elements.map((e) => (e.type === "image" ? image(e, "tiny")
    : h("span", {}, textOf(e))))),
  actions: (b, on) => h("div.b-actions", {}, b.elements.map((e) => element(e, on))),
  image: (b) => h("figure.b-image", {}, b.title && h("figcaption", {}, plain(b.title.text)), image(b, "wide")),
  markdown: (b) => h("div.b-text", {}, mrkdwn(b.text.replace(/\*\*([^*\n]+)\*\*|^#{1,6} +(.+)$/gm, "*$1$2*")
    .replace(/\[([^\]\n]+)\]\((https?:[^)\s]+)\)/g, "<$2|$1>"))),
  rich_text: (b) => h("div.b-text.b-rich", {}, (b.elements || []).map(part)),
  context_actions: (b, on) =>
    h("div.b-actions", {}, b.elements.flatMap((e) => (e.type === "feedback_buttons"
      ? [e.positive_button, e.negative_button] : [e]).map((x) =>
      h("button.btn", { type: "button", onclick: () => on.act(e, x.value) }, plain(x.text.text))))),
  input: (b, on) => {
    const id = `in-${b.block_id}`;
    const field = control(b.element, { id, name: b.block_id, label: b.label.text, describedby: `${id}-note` });
    field.classList.add("b-control");
    return h("div.b-input", { dataset: { block: b.block_id } },
      h("label", { for: id }, plain(b.label.text), b.optional && h("span.note", {}, ` (${t("optional")})`)),
      field,
      h("p.error", { id: `${id}-note`, role: "alert", hidden: true }),
      b.hint && h("p.hint", {}, plain(b.hint.text)),
      on?.after?.(b));
  },
};

/** blocks renders a list of blocks; on.act(element, value) is a person's act. */
export function blocks(list, on) {
  return (list || []).map((b) => {
    const make = makers[b.type];
    const el = make ? make(b, on) : h("p.b-unknown", {}, icon("warn"), ` ${b.type}`);
    el.dataset.blockId = b.block_id || "";
    return el;
  });
}

/** attachments renders cards: blocks beside a bar in the card's color. */
export function attachments(list, on) {
  return (list || []).map((a) =>
    h("div.card", { style: { "--bar": /^[0-9a-f]{3,8}$/i.test(a.color || "") ? "#" + a.color : "var(--line-strong)" } },
      h("div.card-body", {},
        a.pretext && h("p", {}, mrkdwn(a.pretext)),
        a.title && h("h2.b-header", {}, plain(a.title)),
        a.text && h("div.b-text", {}, mrkdwn(a.text)),
        blocks(a.blocks, on))));
}
