// What the page knows and asks of the sandbox, and who wants to hear when that changes.

import { language } from "./i18n.js";

/** state is what the sandbox says; ui is what this browser chose. */
export const state = {
  loaded: false, online: true, started: "", anew: "", me: "", bot: "", users: new Map(), groups: {}, channels: [],
  messages: new Map(), ephemerals: new Map(), views: [], marks: new Map(), prompts: {}, sessions: new Map(),
  toggles: {}, shortcuts: [], globals: [], home: null, banner: {}, links: [], has: {}, admin: "",
};

export const ui = {
  channel: localStorage.getItem("channel") || "", person: localStorage.getItem("person") || "U0SANDSATO",
  panel: innerWidth > 1080 ? localStorage.getItem("panel") ?? "run" : "", task: "", home: false, drawer: false,
  replying: "", editing: "", followed: "", flash: "", pending: new Set(), drafts: new Map(), folds: new Map(),
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

const watchers = [];

/** onChange calls f with each single change from the stream, and with none when everything was loaded. */
export const onChange = (f) => watchers.push(f);

let source = null;

// meanwhile are the changes that came while everything is loaded: the answer may be older than they are.
let meanwhile = null;

/** become makes the page another person's. */
export function become(person) {
  source?.close();
  meanwhile = null;
  if (person !== ui.person) ui.replying = ui.editing = "";
  remember("person", person);
  source = new EventSource("/sandbox/stream?user=" + encodeURIComponent(person));
  source.addEventListener("hello", () => loadAll(person));
  source.onmessage = (e) => (meanwhile ? meanwhile.push(JSON.parse(e.data)) : hear(JSON.parse(e.data)));
  source.onerror = () => {
    state.online = false;
    changed();
  };
}

// loadAll asks for everything, and repeats on top of it what was heard while the answer was under way.
async function loadAll(person) {
  const heard = [];
  meanwhile = heard;
  state.online = true;
  try {
    await speak(person);
    const all = await get("state?user=" + encodeURIComponent(person));
    if (meanwhile !== heard) return; // a later connection loads
    load(all);
    watchers.forEach((f) => f());
    meanwhile = null;
    heard.forEach(hear);
  } catch (err) {
    if (meanwhile !== heard) return;
    meanwhile = null;
    if (err.status === 409 && person !== "U0SANDSATO") become("U0SANDSATO"); // somebody whom this sandbox does not know
    else {
      state.online = false; // the stream stands: it will not say hello again
      setTimeout(() => ui.person === person && !meanwhile && !state.online && loadAll(person), 1000);
    }
  }
  changed();
}

/** speak tells Slack's side the page's language. */
export const speak = (person) => put("language", { user: person, language: language() });

function hear(c) {
  apply(c);
  watchers.forEach((f) => f(c));
  changed();
}

function load(all) {
  const anew = state.started && state.started !== all.started; // what was there before is gone
  Object.assign(state, all, {
    loaded: true, anew: anew ? all.started : state.anew, links: Object.entries(all.links || {}),
    shortcuts: all.shortcuts || [], globals: all.globals || [],
    users: new Map(all.users.map((u) => [u.id, u])),
    messages: new Map(Object.entries(all.messages).map(([c, list]) => [c,
      new Map((list || []).map((m) => [m.ts, m]))])),
    ephemerals: new Map(all.ephemerals.map((e) => [e.message.ts, e])),
    marks: new Map(all.marks.map((a) => [a.channel + a.ts, a])),
    sessions: new Map(all.sessions.map((s) => [s.channel + s.thread_ts, s])),
  });
  if (anew) ui.task = "";
  if (!state.channels.some((c) => c.id === ui.channel)) ui.channel = state.channels[0]?.id || "";
}

function apply(c) {
  const messages = state.messages.get(c.channel);
  switch (c.kind) {
    case "message": case "thread": messages?.set(c.ts, c.message); break;
    case "deleted": messages?.delete(c.ts); break;
    case "ephemeral": state.ephemerals.set(c.ts, { channel: c.channel, message: c.message }); break;
    case "dismissed": state.ephemerals.delete(c.ts); break;
    case "home": case "views": case "toggles": state[c.kind] = c.data; break;
    case "prompts": state.prompts[c.channel] = c.data; break;
    case "session": state.sessions.set(c.channel + c.ts, c.data); break;
    case "channel": become(ui.person); break;
    case "attempt":
      if (c.data.reason) state.marks.set(c.channel + c.ts, c.data);
      else state.marks.delete(c.channel + c.ts);
  }
}

/** here is the channel that is shown. */
export const here = () => state.channels.find((c) => c.id === ui.channel);

/** all are a channel's messages, the oldest first. */
export const all = (channel) => [...(state.messages.get(channel)?.values() || [])].sort((a, b) => (a.ts < b.ts ? -1
  : 1));

const ulid = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** blocksOf are a message's blocks, and those of its cards. */
export const blocksOf = (m) => [...(m.blocks || []), ...(m.attachments || []).flatMap((a) => a.blocks || [])];

/** taskOf is the task that a card belongs to, or "": a conversation with an agent has no run. */
export function taskOf(m) {
  const ids = blocksOf(m).filter((b) => b.type === "actions").map((b) => (b.block_id || "").split("/")[0]);
  return [m.metadata?.event_payload?.task || "", ...ids].find((id) => ulid.test(id)) || "";
}

/** newestTask is the task that a channel's newest card belongs to. */
export const newestTask = (channel) => all(channel).map(taskOf).filter(Boolean).at(-1) || "";

const reads = new Map();

/** seen notes that a person has read a channel up to now. */
export const seen = (channel) => reads.set(state.me + channel, all(channel).at(-1)?.ts || "");

/** unread is whether others wrote in a channel since the person read it. */
export const unread = (channel) => all(channel).some((m) => m.user !== state.me &&
  m.ts > (reads.get(state.me + channel) || ""));
