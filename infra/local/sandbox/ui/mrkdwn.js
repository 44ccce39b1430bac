// Slack's mrkdwn as DOM nodes. Nothing that an app writes becomes HTML.

import { h } from "./dom.js";
import emojiNames from "./emoji.json" with { type: "json" };
import { slackDate } from "./i18n.js";
import { nameOf, placeName } from "./people.js";
import { state } from "./store.js";

const shortcodes = new Map(Object.entries(emojiNames).flatMap(([of, names]) =>
  names.split(" ").map((name) => [name, of])));

const entities = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const decode = (s) => s.replace(/&(?:lt|gt|amp);/g, (e) => entities[e]);
const toned = (of, tone) => (tone ? of.replace("\u{FE0F}", "") + String.fromCodePoint(0x1f3f9 + Number(tone)) : of);
const emoji = (s) => s.replace(/:([a-z0-9_+-]+):(?::skin-tone-([2-6]):)?/g,
  (whole, name, tone) => (shortcodes.has(name) ? toned(shortcodes.get(name), tone) : whole));
const text = (s) => document.createTextNode(emoji(decode(s)));

/** plain is a plain_text object's text, which may hold shortcodes. */
export const plain = (s) => emoji(decode(s || ""));

/** literal is the text of a message whose author switched formatting off. */
export const literal = (s) => document.createTextNode(decode(s || ""));

const rules = [
  { find: /```\n?([\s\S]+?)\n?```/, make: (m) => h("pre.code", {}, decode(m[1])) },
  { find: /`([^`\n]+)`/, make: (m) => h("code", {}, decode(m[1])) },
  { find: /<([^<>\n]+)>/, make: (m) => reference(m[1]) },
  { auto: true,
    find: /https?:\/\/[^\s<>|"'\u3000-\u30ff]+[^\s<>|"'.,:;!?)\u3000-\u30ff]/, make: (m) => reference(m[0]) },
  { find: /(?<![\p{L}\p{N}*])\*(?=\S)([^*\n]*[^*\s])\*(?![\p{L}\p{N}*])/u,
    make: (m, verbatim) => h("strong", {}, inline(m[1], verbatim)) },
  { find: /(?<![\p{L}\p{N}_])_(?=\S)([^_\n]*[^_\s])_(?![\p{L}\p{N}_])/u,
    make: (m, verbatim) => h("em", {}, inline(m[1], verbatim)) },
  { find: /(?<![\p{L}\p{N}~])~(?=\S)([^~\n]*[^~\s])~(?![\p{L}\p{N}~])/u,
    make: (m, verbatim) => h("s", {}, inline(m[1], verbatim)) },
];

// inline finds the leftmost construct, and goes on with what follows it. In a verbatim
// text an address that stands by itself is no link.
function inline(s, verbatim) {
  const nodes = [];
  while (s) {
    let first = null;
    for (const rule of rules) {
      if (verbatim && rule.auto) continue;
      const m = rule.find.exec(s);
      if (m && (!first || m.index < first.m.index)) first = { m, rule };
    }
    if (!first) {
      nodes.push(text(s));
      break;
    }
    if (first.m.index > 0) nodes.push(text(s.slice(0, first.m.index)));
    nodes.push(first.rule.make(first.m, verbatim));
    s = s.slice(first.m.index + first.m[0].length);
  }
  return nodes;
}

/** led is where a link leads: vendors' pages are stood in for, too. */
export function led(address) {
  const [from, to] = state.links.find(([begins]) => address.startsWith(begins)) || ["", ""];
  return to + address.slice(from.length);
}

/** reference is what stands in <…>: a person, a channel, a date or a link. */
export function reference(body) {
  const [target, label] = split(body, "|");
  if (target.startsWith("@")) {
    const user = state.users.get(target.slice(1));
    return h(target.slice(1) === state.me ? "span.mention.me" : "span.mention", {},
      "@" + (user ? nameOf(user.id) : label || target.slice(1)));
  }
  if (target.startsWith("#")) {
    const channel = state.channels.find((c) => c.id === target.slice(1));
    return h("span.mention", {}, channel ? placeName(channel) : "#" + (label || target.slice(1)));
  }
  if (target.startsWith("!date^")) {
    const [, seconds, format] = target.split("^");
    const shown = Number.isFinite(+seconds) && format ? slackDate(+seconds, format) : label;
    return h("time", { title: label || "" }, shown || label || "");
  }
  if (target.startsWith("!subteam^")) return h("span.mention", {}, label ||
    "@" + (state.groups[target.slice(9)] || "group"));
  if (target.startsWith("!")) return h("span.mention.all", {}, "@" + (label || target.slice(1)));
  if (/^(https?:|mailto:)/i.test(target)) {
    return h("a", { href: led(decode(target)), target: "_blank", rel: "noopener noreferrer" },
      decode(label || target.replace(/^mailto:/, "")));
  }
  return document.createTextNode("<" + decode(body) + ">");
}

/** typed is a message's text as its author typed it. */
export const typed = (s) => s.split(/<([^<>\n]+)>/).map((part, i) => (i % 2 ? reference(part).textContent
  : decode(part))).join("");

function split(s, at) {
  const i = s.indexOf(at);
  return i < 0 ? [s, ""] : [s.slice(0, i), s.slice(i + 1)];
}

/** mrkdwn renders a text; lines that begin with > are quotes. verbatim leaves addresses as they are. */
export function mrkdwn(source, verbatim = false) {
  const out = document.createDocumentFragment();
  let lines = [];
  let quoted = false;
  const flush = () => {
    if (!lines.length) return;
    const body = inline(lines.join("\n"), verbatim);
    out.append(quoted ? h("blockquote", {}, body) : h("span.text", {}, body));
    lines = [];
  };
  let fenced = false;
  for (const line of (source || "").split("\n")) {
    const quote = !fenced && /^(&gt;|>) ?/.exec(line);
    if (!!quote !== quoted) {
      flush();
      quoted = !!quote;
    }
    lines.push(quote ? line.slice(quote[0].length) : line);
    if ((line.match(/```/g) || []).length % 2) fenced = !fenced;
  }
  flush();
  return out;
}
