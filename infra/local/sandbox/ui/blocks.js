// Block Kit: one function per block type that the sandbox can draw.

import { h, icon } from "./dom.js";
import { t } from "./i18n.js";
import { button, control } from "./elements.js";
import { led, mrkdwn, plain, reference } from "./mrkdwn.js";

/** textOf renders a text object. */
export const textOf = (o) => (o?.type === "mrkdwn" ? mrkdwn(o.text, o.verbatim) : document.createTextNode(plain(o?.text)));

// safe lets pictures come from https alone.
const safe = (url) => (/^https:\/\//i.test(url || "") ? url : "");

const image = (e, size) => h(`img.${size}`, { src: safe(e.image_url), alt: e.alt_text || "", loading: "lazy" });

// element is anything that stands in a section's accessory or an actions block.
function element(e, on) {
  if (e.type === "button") return button(e, on);
  if (e.type === "image") return image(e, "thumb");
  return control(e, { name: e.action_id, label: e.placeholder?.text || e.action_id, onchoose: (value) => on.act(e, value) });
}

// leaf is an element of rich text; its text is shown as it is.
function leaf(e) {
  const pointed = { user: `@${e.user_id}`, channel: `#${e.channel_id}`, usergroup: `!subteam^${e.usergroup_id}`, broadcast: `!${e.range}` }[e.type];
  let node = document.createTextNode(e.text || e.fallback || e.value || "");
  if (pointed) node = reference(pointed);
  else if (e.type === "emoji") node = document.createTextNode(e.unicode ? String.fromCodePoint(...e.unicode.split("-").map((x) => parseInt(x, 16))) : `:${e.name}:`);
  else if (e.type === "link" && /^(https?:|mailto:)/i.test(e.url)) node = h("a", { href: led(e.url), target: "_blank", rel: "noopener noreferrer" }, e.text || e.url);
  for (const [style, tag] of [["code", "code"], ["strike", "s"], ["italic", "em"], ["bold", "strong"]]) if (e.style?.[style]) node = h(tag, {}, node);
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
  return h(p.style === "ordered" ? "ol" : "ul", { start: (p.offset || 0) + 1, style: { "list-style-type": kinds[level % 3], "margin-left": `${level * 22}px` } }, p.elements.map((item) => h("li", {}, leaves(item))));
}

const makers = {
  header: (b) => h("h3.b-header", {}, plain(b.text.text)),
  divider: () => h("hr.b-divider"),
  section: (b, on) =>
    h("div.b-section", {},
      h("div.b-body", {},
        b.text && h("div.b-text", {}, textOf(b.text)),
        b.fields && h("div.b-fields", {}, b.fields.map((f) => h("div.b-field", {}, textOf(f))))),
      b.accessory && h("div.b-accessory", {}, element(b.accessory, on))),
  context: (b) => h("div.b-context", {}, b.elements.map((e) => (e.type === "image" ? image(e, "tiny") : h("span", {}, textOf(e))))),
  actions: (b, on) => h("div.b-actions", {}, b.elements.map((e) => element(e, on))),
  image: (b) => h("figure.b-image", {}, b.title && h("figcaption", {}, plain(b.title.text)), image(b, "wide")),
  table: (b) => {
    const cells = (row, tag) => h("tr", {}, row.map((c, i) =>
      h(tag, { style: { "text-align": b.column_settings?.[i]?.align || "left" } }, c?.text ?? (c?.elements || []).flatMap((s) => (s.elements || []).map((e) => e.text || "")).join(""))));
    return h("div.b-table", { tabindex: "0" },
      h("table", {}, h("thead", {}, cells(b.rows[0], "th")), h("tbody", {}, b.rows.slice(1).map((r) => cells(r, "td")))));
  },
  markdown: (b) => h("div.b-text", {}, mrkdwn(b.text)),
  rich_text: (b) => h("div.b-text.b-rich", {}, (b.elements || []).map(part)),
  context_actions: (b, on) =>
    h("div.b-actions", {}, b.elements.flatMap((e) => (e.type === "feedback_buttons" ? [e.positive_button, e.negative_button] : [e]).map((x) =>
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
        a.title && h("h3.b-header", {}, plain(a.title)),
        a.text && h("div.b-text", {}, mrkdwn(a.text)),
        blocks(a.blocks, on))));
}
