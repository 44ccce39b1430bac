// What the page knows and asks of the sandbox, and who wants to hear when that changes.

import { language } from "./i18n.js";

/** state is what the sandbox says; ui is what this browser chose. */
export const state = {
  loaded: false, online: true, me: "", bot: "", users: new Map(), groups: {}, channels: [],
  messages: {}, ephemerals: [], views: [], marks: {}, prompts: {}, sessions: {},
  toggles: {}, shortcuts: [], globals: [], home: null, banner: {}, links: [],
};

// first is whom somebody acts as who is new to the page.
const first = "U0SANDSATO";

export const ui = {
  channel: localStorage.getItem("channel") || "", person: localStorage.getItem("person") || first,
  home: false, drawer: false, replying: "", followed: "", flash: "", pending: new Set(), drafts: new Map(), folds: new Map(),
};

/** Refused is an answer that is not ok; trouble says more if known. */
class Refused extends Error {
  constructor(status, body) {
    super(body.error || `HTTP ${status}`);
    this.status = status;
    this.trouble = body.trouble;
  }
}

async function call(method, path, body) {
  const init = body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const res = await fetch("/sandbox/" + path, { method, ...init });
  const text = await res.text();
  let answer = { error: text.trim() };
  try {
    answer = JSON.parse(text);
  } catch { /* some errors are plain text */ }
  if (!res.ok) throw new Refused(res.status, answer);
  return answer;
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);
export const put = (path, body) => call("PUT", path, body);

let draw = () => {};
let queued = false;

/** listen calls f after changes, once for many. */
export const listen = (f) => { draw = f; };

export function changed() {
  if (queued) return;
  queued = true;
  queueMicrotask(() => {
    queued = false;
    draw();
  });
}

/** remember keeps a choice of this browser. */
export function remember(key, value) {
  ui[key] = value;
  localStorage.setItem(key, value);
  changed();
}

/** begin loads everything, and again whenever the stream says that something changed. */
export function begin() {
  const source = new EventSource("/sandbox/stream");
  source.addEventListener("hello", () => become(ui.person));
  source.onmessage = load;
  source.onerror = () => {
    state.online = false;
    changed();
  };
}

/** become makes the page another person's. */
export async function become(person) {
  if (person !== ui.person) ui.replying = "";
  remember("person", person);
  await speak().catch(() => {}); // load says what is wrong
  load();
}

/** speak tells Slack's side the page's language. */
export const speak = () => put("language", { user: ui.person, language: language() });

let loading = false;
let stale = false; // something changed since the load that is under way began

async function load() {
  stale = true;
  if (loading) return;
  loading = true;
  while (stale) {
    stale = false;
    const person = ui.person;
    try {
      const all = await get("state?user=" + encodeURIComponent(person));
      state.online = true;
      if (person === ui.person) take(all);
    } catch (err) {
      if (err.status === 409 && person !== first) become(first); // somebody whom this sandbox does not know
      else {
        state.online = false;
        setTimeout(load, 1000);
      }
    }
    changed();
  }
  loading = false;
}

function take(all) {
  Object.assign(state, all, {
    loaded: true, links: Object.entries(all.links || {}),
    shortcuts: all.shortcuts || [], globals: all.globals || [],
    users: new Map(all.users.map((u) => [u.id, u])),
  });
  if (!here()) ui.channel = state.channels[0]?.id || "";
}

/** here is the channel that is shown. */
export const here = () => state.channels.find((c) => c.id === ui.channel);

/** all are a channel's messages, the oldest first. */
export const all = (channel) => state.messages[channel] || [];

/** blocksOf are a message's blocks, and those of its cards. */
export const blocksOf = (m) => [...(m.blocks || []), ...(m.attachments || []).flatMap((a) => a.blocks || [])];

const reads = new Map();

/** seen notes that a person has read a channel up to now. */
export const seen = (channel) => reads.set(state.me + channel, all(channel).at(-1)?.ts || "");

/** unread is whether others wrote in a channel since the person read it. */
export const unread = (channel) => all(channel).some((m) => m.user !== state.me &&
  m.ts > (reads.get(state.me + channel) || ""));
