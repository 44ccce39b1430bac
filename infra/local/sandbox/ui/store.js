// What the page knows, and who wants to hear when that changes; and what this browser keeps of it between reloads:
// drafts,
// folded threads, what was read. That belongs to one start of the sandbox; when it is another, its messages are gone,
// and
// what was kept about them goes too.

import { get, put, watch } from "./api.js";
import { language } from "./i18n.js";

/** state is what the sandbox says; ui is what this browser chose. */
export const state = {
  loaded: false, online: true, me: "", bot: "", team: {}, users: new Map(), groups: {}, channels: [],
    messages: new Map(), ephemerals: new Map(), views: [],
  marks: new Map(), prompts: {}, sessions: new Map(), toggles: {}, shortcuts: [], globals: [], home: null, banner: {},
    links: [], has: {}, admin: "", cards: "", attempts: [], anew: "",
};

export const ui = {
  channel: localStorage.getItem("channel") || "", person: localStorage.getItem("person") || "U0SANDSATO",
    task: sessionStorage.getItem("task") || "", waits: [], waitsTrouble: "",
  panel: window.innerWidth > 1080 ? localStorage.getItem("panel") ?? "run" : "", drawer: false, replying: "",
    editing: "", followed: "", pending: new Set(), flash: "",
};

const listeners = [];
let queued = false;

/** listen calls f after changes, once for many. */
export const listen = (f) => listeners.push(f);

export function changed() {
  if (queued) return;
  queued = true;
  queueMicrotask(() => {
    queued = false;
    listeners.forEach((f) => f());
  });
}

/** remember keeps a choice of this browser. */
export function remember(key, value) {
  ui[key] = value;
  localStorage.setItem(key, value);
  changed();
}

const watchers = [];

/** onChange calls f with each single change from the stream. */
export const onChange = (f) => watchers.push(f);

let stop = () => {};

const loaders = [];

/** onLoad calls f when everything was loaded: at the start, for another person, after a lost connection. */
export const onLoad = (f) => loaders.push(f);

/** pin keeps the run panel at a task; "" follows the newest. */
export function pin(task) {
  ui.task = task;
  sessionStorage.setItem("task", task);
  changed();
}

// meanwhile are the changes that came while everything is loaded: the answer may be older than they are.
let meanwhile = null;

/** become makes the page another person's. */
export function become(person) {
  stop();
  meanwhile = null;
  remember("person", person);
  stop = watch(person, {
    onHello: () => loadAll(person),
    onChange: (c) => (meanwhile ? meanwhile.push(c) : hear(c)),
    onLost: () => {
      state.online = false;
      changed();
    },
  });
}

// loadAll asks for everything, and repeats on top of it what was heard while the answer was under way.
async function loadAll(person) {
  const heard = [];
  meanwhile = heard;
  state.online = true;
  try {
    await speak(person);
    const [all, attempts] = await Promise.all([get("state?user=" + encodeURIComponent(person)), get("attempts")]);
    if (meanwhile !== heard) return; // a later connection loads
    load(all, attempts);
    loaders.forEach((f) => f());
    meanwhile = null;
    heard.forEach(hear);
  } catch (err) {
    if (meanwhile !== heard) return;
    meanwhile = null;
    if (err.status === 409 && person !== "U0SANDSATO") become("U0SANDSATO"); // somebody whom this sandbox does not know
    else {
      state.online = false;
      setTimeout(() => ui.person === person && !meanwhile && !state.online && loadAll(person), 1000);
        // the stream stands: it will not say hello again
    }
  }
  changed();
}

/** speak tells Slack's side the page's language: it becomes the person's, and at first the cards'. */
export async function speak(person) {
  state.cards = (await put("language", { user: person, language: language() })).cards || "";
}

function hear(c) {
  apply(c);
  watchers.forEach((f) => f(c));
  changed();
}

function load(all, attempts) {
  state.anew = began(all.started);
  if (state.anew && ui.task) pin("");
  Object.assign(state, {
    loaded: true, attempts, me: all.me, bot: all.bot, team: all.team, channels: all.channels, views: all.views,
      prompts: all.prompts, globals: all.globals || [], home: all.home, toggles: all.toggles,
    shortcuts: all.shortcuts || [], banner: all.banner, links: Object.entries(all.links || {}), has: all.has,
      admin: all.admin,
    users: new Map(all.users.map((u) => [u.id, u])), groups: all.groups,
    messages: new Map(Object.entries(all.messages).map(([c, list]) => [c,
      new Map((list || []).map((m) => [m.ts, m]))])),
    ephemerals: new Map(all.ephemerals.map((e) => [e.message.ts, e])),
    marks: new Map(all.marks.map((a) => [a.channel + a.ts, a])),
    sessions: new Map(all.sessions.map((s) => [s.channel + s.thread_ts, s])),
  });
  if (!state.channels.some((c) => c.id === ui.channel)) ui.channel = state.channels[0]?.id || "";
}

function apply(c) {
  const messages = state.messages.get(c.channel);
  switch (c.kind) {
    case "message": case "thread":
      messages?.set(c.ts, c.message);
      break;
    case "deleted":
      messages?.delete(c.ts);
      break;
    case "ephemeral":
      state.ephemerals.set(c.ts, { channel: c.channel, message: c.message });
      break;
    case "dismissed":
      state.ephemerals.delete(c.ts);
      break;
    case "home":
      state.home = c.data;
      break;
    case "views":
      state.views = c.data;
      break;
    case "prompts":
      state.prompts[c.channel] = c.data;
      break;
    case "session":
      state.sessions.set(c.channel + c.ts, c.data);
      break;
    case "toggles":
      state.toggles = c.data;
      break;
    case "channel":
      become(ui.person);
      break;
    case "attempt":
      state.attempts = [c.data, ...state.attempts.filter((a) => a.n !== c.data.n)].sort((a, b) => b.n - a.n).slice(0,
        100);
      if (!c.data.ts) break;
      if (c.data.reason) state.marks.set(c.data.channel + c.data.ts, c.data);
      else state.marks.delete(c.data.channel + c.data.ts);
  }
}

const ulid = /^[0-9A-HJKMNP-TV-Z]{26}$/;

const conversation = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** taskOf is the task that a card belongs to, or "": a conversation with an agent has no run. */
export function taskOf(m) {
  const named = m.metadata?.event_payload?.task;
  if (typeof named === "string" && named) return conversation.test(named) ? "" : named;
  const blocks = [...(m.blocks || []), ...(m.attachments || []).flatMap((a) => a.blocks || [])];
  const ids = blocks.filter((b) => b.type === "actions").map((b) => (b.block_id || "").split("/")[0]);
  return ids.find((id) => ulid.test(id)) || "";
}

/** newestTask is the task that a channel's newest card belongs to. */
export function newestTask(channel) {
  const all = [...(state.messages.get(channel)?.values() || [])].sort((a, b) => (a.ts < b.ts ? 1 : -1));
  for (const m of all) {
    const task = taskOf(m);
    if (task) return task;
  }
  return "";
}

const readKey = () => `read:${state.me}`;
const reads = () => JSON.parse(localStorage.getItem(readKey()) || "{}");

/** seen notes that a person has read a channel up to now. */
export function seen(channel) {
  const last = [...(state.messages.get(channel)?.keys() || [])].reduce((a, b) => (a > b ? a : b), "");
  const mine = reads();
  if ((mine[channel] || "") >= last) return;
  localStorage.setItem(readKey(), JSON.stringify({ ...mine, [channel]: last }));
}

/** unread is whether others wrote in a channel since the person read it. */
export function unread(channel) {
  const since = reads()[channel] || "";
  return [...(state.messages.get(channel)?.values() || [])].some((m) => m.ts > since && m.user !== state.me);
}

const read = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key)) || {};
  } catch {
    return {};
  }
};

const drafts = new Map(Object.entries(read("drafts")));

/** draft is what a person has typed and not sent; its key is <person>/<channel>, with /<thread> in one. */
export const draft = (key) => drafts.get(key) || "";

export function keepDraft(key, text) {
  const all = read("drafts"); // other windows write too
  if (text) all[key] = text;
  else delete all[key];
  text ? drafts.set(key, text) : drafts.delete(key);
  localStorage.setItem("drafts", JSON.stringify(all));
}

const folds = new Map(Object.entries(read("folds")));

/** folded is whether the person folded a thread or opened it; undefined if they did neither. */
export const folded = (root) => folds.get(root);

export function keepFolds(roots, yes) {
  const all = read("folds");
  for (const root of roots) {
    all[root] = yes;
    folds.set(root, yes);
  }
  localStorage.setItem("folds", JSON.stringify(all));
}

/**
 * began compares the sandbox's start with the one this browser knew. It returns the start that the person should
 * hear of, because there was something before; "" if there is none.
 */
export function began(started) {
  const before = localStorage.getItem("started");
  if (before !== started) {
    localStorage.setItem("started", started);
    if (before) localStorage.setItem("restarted", started);
    for (const key of ["folds", "drafts"]) {
      const kept = key === "drafts" ? Object.entries(read(key)).filter(([k]) => k.split("/").length === 2) : [];
        // what was to be a new message still can be one
      localStorage.setItem(key, JSON.stringify(Object.fromEntries(kept)));
    }
    folds.clear();
    for (const key of [...drafts.keys()].filter((k) => k.split("/").length > 2)) drafts.delete(key);
    Object.keys(localStorage).filter((k) => k.startsWith("read:")).forEach((k) => localStorage.removeItem(k));
  }
  return localStorage.getItem("restarted") === started ? started : "";
}

export const heardOfStart = () => localStorage.removeItem("restarted");
