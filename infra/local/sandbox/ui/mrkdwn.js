// Slack's mrkdwn as DOM nodes. Nothing that an app writes becomes HTML.

import { h } from "./dom.js";
import { slackDate } from "./i18n.js";
import { nameOf, placeName } from "./people.js";
import { state } from "./store.js";

const entities = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** plain is a text without its escapes. */
export const plain = (s) => (s || "").replace(/&(?:lt|gt|amp);/g, (e) => entities[e]);

const rules = [
  { find: /```\n?([\s\S]+?)\n?```/, make: (m) => h("pre.code", {}, plain(m[1])) },
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
