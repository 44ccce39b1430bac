// What the app writes as DOM nodes, of which nothing becomes HTML: Slack's mrkdwn, and Block Kit with one function per
// block type that the app sends and its elements, made of the browser's own controls.

import { h, icon } from "./dom.js";
import { slackDate, t } from "./i18n.js";
import { nameOf, placeName } from "./people.js";
import { here, state } from "./store.js";

const entities = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** plain is a text without its escapes. */
export const plain = (s) => (s || "").replace(/&(?:lt|gt|amp);/g, (e) => entities[e]);

const rules = [
  { find: /```\n?([\s\S]+?)\n?```\n?/, make: (m) => h("pre.code", {}, plain(m[1])) },
  { find: /`([^`\n]+)`/, make: (m) => h("code", {}, plain(m[1])) },
  { find: /<([^<>\n]+)>/, make: (m) => reference(m[1]) },
  { auto: true,
    find: /https?:\/\/[^\s<>|"'\u3000-\u30ff]+[^\s<>|"'.,:;!?)\u3000-\u30ff]/, make: (m) => reference(m[0]) },
  ...[["\\*", "strong"], ["_", "em"], ["~", "s"]].map(([mark, tag]) => {
    const aside = `[\\p{L}\\p{N}${mark}]`;
    const inside = `(?=\\S)([^${mark}\\n]*[^${mark}\\s])`;
    return { find: new RegExp(`(?<!${aside})${mark}${inside}${mark}(?!${aside})`, "u"),
      make: (m, verbatim) => h(tag, {}, inline(m[1], verbatim)) };
  }),
];

// inline finds the leftmost construct, and goes on with what follows it. In a verbatim text an address that stands by
// itself is no link.
function inline(s, verbatim) {
  let first = null;
  for (const rule of rules) {
    const m = !(verbatim && rule.auto) && rule.find.exec(s);
    if (m && (!first || m.index < first.m.index)) first = { m, rule };
  }
  if (!first) return [plain(s)];
  return [plain(s.slice(0, first.m.index)), first.rule.make(first.m, verbatim),
    ...inline(s.slice(first.m.index + first.m[0].length), verbatim)];
}

// led is where a link leads: vendors' pages are stood in for, too.
function led(address) {
  const [from, to] = state.links.find(([begins]) => address.startsWith(begins)) || ["", ""];
  return to + address.slice(from.length);
}

/** link leads to an address of the web or of mail; any other stays a text. */
export const link = (address, label) => (/^(https?:|mailto:)/i.test(address)
  ? h("a", { href: led(address), target: "_blank", rel: "noopener noreferrer" }, label || address) : label || address);

// reference is what stands in <…>: a person, a channel, a date or a link.
function reference(body) {
  const [, target, label = ""] = /^([^|]*)\|?(.*)$/s.exec(body);
  const id = target.slice(1);
  if (target.startsWith("@")) return h(`span.mention${id === state.me ? ".me" : ""}`, {},
    "@" + (state.users.has(id) ? nameOf(id) : label || id));
  if (target.startsWith("#")) {
    const channel = state.channels.find((c) => c.id === id);
    return h("span.mention", {}, channel ? placeName(channel) : "#" + (label || id));
  }
  if (target.startsWith("!date^")) {
    const [, seconds, format] = target.split("^");
    return h("time", { title: label }, Number.isFinite(+seconds) && format ? slackDate(+seconds, format) : label);
  }
  if (target.startsWith("!subteam^")) return h("span.mention", {}, "@" + (state.groups[target.slice(9)] || "group"));
  if (target.startsWith("!")) return h("span.mention.all", {}, "@" + (label || id));
  const shown = link(plain(target), plain(label || target.replace(/^mailto:/, "")));
  return typeof shown === "string" ? "<" + plain(body) + ">" : shown;
}

/** mrkdwn renders a text; lines that begin with > are quotes. verbatim leaves addresses as they are. */
export function mrkdwn(source, verbatim = false) {
  const out = document.createDocumentFragment();
  for (const [part] of (source || "").matchAll(/(?:^(?:&gt;|>).*(?:\n|$))+|(?:^(?!&gt;|>).*(?:\n|$))+/gm)) {
    if (!part) continue;
    const quoted = /^(&gt;|>)/.test(part);
    const body = inline(part.replace(/\n$/, "").replace(quoted ? /^(?:&gt;|>) ?/gm : /^$/, ""), verbatim);
    out.append(h(quoted ? "blockquote" : "span.text", {}, body));
  }
  return out;
}

// button is a Block Kit button; a link opens in a new tab besides its act.
function button(e, on) {
  const busy = on.busy?.(e) ? "true" : null;
  return h(`button.btn${e.style ? "." + e.style : ""}`, {
    type: "button", "aria-label": e.accessibility_label, "aria-busy": busy, "aria-disabled": busy,
    dataset: { focus: e.action_id || "", action: e.action_id || "" },
    onclick: () => {
      if (/^https?:\/\//i.test(e.url || "")) open(e.url, "_blank", "noopener");
      on.act(e);
    },
  }, plain(e.text.text));
}

function select(e, options, chosen, p) {
  const el = h("select", p, h("option", { value: "" }, plain(e.placeholder?.text) || t("choose")),
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  el.read = () => el.value;
  return el;
}

// boxes are radio buttons or checkboxes.
function boxes(e, type, chosen, p) {
  const el = h("div.boxes", { ...p, role: type === "radio" ? "radiogroup" : "group" }, e.options.map((o) =>
    h("label.box", {}, h("input", { type, name: p.id, value: o.value, checked: chosen.includes(o.value) }),
      h("span", {}, plain(o.text.text), o.description && h("small", {}, plain(o.description.text))))));
  el.read = () => {
    const on = [...el.querySelectorAll("input:checked")].map((i) => i.value);
    return type === "radio" ? on[0] || "" : on;
  };
  return el;
}

// control is an element that holds a value, which its read() gives: a string, or a list of strings or files.
function control(e, p) {
  const values = (list) => (list || []).map((o) => o?.value);
  switch (e.type) {
    case "static_select":
      return select(e, e.options.map((o) => [o.value, plain(o.text.text)]), e.initial_option?.value, p);
    case "conversations_select": {
      const own = e.default_to_current_conversation && !here().im && here().id;
      return select(e, state.channels.filter((c) => !c.im).map((c) => [c.id, placeName(c)]),
        e.initial_conversation || own, p);
    }
    case "radio_buttons": return boxes(e, "radio", values([e.initial_option]), p);
    case "checkboxes": return boxes(e, "checkbox", values(e.initial_options), p);
    case "file_input": {
      const el = h("input", { ...p, type: "file", multiple: (e.max_files || 10) > 1,
        accept: (e.filetypes || []).map((type) => `.${type}`).join(",") });
      el.read = () => [...el.files];
      return el;
    }
  }
  const el = h(e.multiline ? "textarea" : "input", { ...p, placeholder: plain(e.placeholder?.text), rows: "5" });
  el.value = e.initial_value ?? "";
  el.read = () => el.value;
  return el;
}

/** textOf renders a text object. */
export const textOf = (o) => (o?.type === "mrkdwn" ? mrkdwn(o.text, o.verbatim) : plain(o?.text));

// leaf is an element of rich text; its text is shown as it is.
function leaf(e) {
  if (e.user_id || e.channel_id) return reference(e.user_id ? "@" + e.user_id : "#" + e.channel_id);
  let node = e.type === "link" ? link(e.url, e.text) : e.text || "";
  for (const [style, tag] of [["code", "code"], ["strike", "s"], ["italic", "em"], ["bold", "strong"]]) {
    if (e.style?.[style]) node = h(tag, {}, node);
  }
  return node;
}

// part is a container of rich text.
const part = (p) => (p.type === "rich_text_list" ? h(p.style === "ordered" ? "ol" : "ul", {},
  p.elements.map((x) => h("li", {}, x.elements.map(leaf)))) : h("div", {}, (p.elements || []).map(leaf)));

const makers = {
  header: (b) => h("h2.b-header", {}, plain(b.text.text)),
  divider: () => h("hr.b-divider"),
  section: (b, on) => h("div.b-section", {},
    h("div.b-body", {}, b.text && h("div.b-text", {}, textOf(b.text)),
      b.fields && h("div.b-fields", {}, b.fields.map((f) => h("div.b-field", {}, textOf(f))))),
    b.accessory && button(b.accessory, on)),
  context: (b) => h("div.b-context", {}, b.elements.map((e) => h("span", {}, textOf(e)))),
  actions: (b, on) => h("div.b-actions", {}, b.elements.map((e) => button(e, on))),
  markdown: (b) => h("div.b-text", {}, mrkdwn(b.text.replace(/\*\*([^*\n]+)\*\*|^#{1,6} +(.+)$/gm, "*$1$2*")
    .replace(/\[([^\]\n]+)\]\((https?:[^)\s]+)\)/g, "<$2|$1>"))),
  rich_text: (b) => h("div.b-text.b-rich", {}, (b.elements || []).map(part)),
  input: (b) => {
    const id = `in-${b.block_id}`;
    const field = control(b.element, { id, "aria-label": plain(b.label.text), "aria-describedby": `${id}-note` });
    field.classList.add("b-control");
    return h("div.b-input", { dataset: { block: b.block_id } },
      h("label", { for: id }, plain(b.label.text), b.optional && h("span.note", {}, ` (${t("optional")})`)), field,
      h("p.error", { id: `${id}-note`, role: "alert", hidden: true }), b.hint && h("p.hint", {}, plain(b.hint.text)));
  },
};

/** blocks renders a list of blocks; on.act(element) is a person's act. */
export const blocks = (list, on) => (list || []).map((b) => {
  const el = makers[b.type] ? makers[b.type](b, on) : h("p.b-unknown", {}, icon("warn"), ` ${b.type}`);
  el.dataset.blockId = b.block_id || "";
  return el;
});

/** attachments renders cards: blocks beside a bar in the card's color. */
export const attachments = (list, on) => (list || []).map((a) =>
  h("div.card", { style: { "--bar": /^[0-9a-f]{3,8}$/i.test(a.color || "") ? "#" + a.color : "var(--line-strong)" } },
    h("div.card-body", {}, blocks(a.blocks, on))));
