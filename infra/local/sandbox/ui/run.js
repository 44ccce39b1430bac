// The run behind a task: which task, the states it passed, the rows it wrote in words, and what its models took. And
// what
// stands behind a line of the panel, asked for when a person opens it: whole rows, prompts as they were sent, payloads.

import { get } from "./api.js";
import { fill, h, icon, reconcile } from "./dom.js";
import { clockTime, describeState, dollars, language, statusWord, t } from "./i18n.js";
import { nameOf } from "./people.js";
import { changed, newestTask, onChange, pin, state, taskOf, ui } from "./store.js";

// tasks are those of the channel by their newest card, the newest first, and the one that was chosen elsewhere.
function tasks() {
  const messages = state.messages.get(ui.channel) || new Map();
  const found = new Map();
  for (const m of [...messages.values()].sort((a, b) => (a.ts < b.ts ? 1 : -1))) {
    const id = taskOf(m);
    if (id && !found.has(id)) found.set(id, messages.get(m.thread_ts || m.ts)?.text || "");
  }
  if (ui.task && !found.has(ui.task)) found.set(ui.task, "");
  return found;
}

const said = (text) => text.replace(/<@([A-Z0-9]+)>/g, (_, id) => `@${nameOf(id)}`).split("\n")[0].slice(0, 60);

/** taskPick chooses what the panel shows, for reconcile: one task for as long as the person wants,
  or always the newest. */
export function taskPick() {
  const choices = [["", t("newestTask")], ...[...tasks()].map(([id, text]) => [id,
    `${said(text)} · …${id.slice(-6)}`])];
  return {
    key: "pick",
    sig: JSON.stringify([choices, ui.task, language()]),
    render: () => h("label.task-pick", {}, h("span", {}, t("whichTask")),
      h("select", { id: "which-task", dataset: { focus: "which-task" }, onchange: (e) => pin(e.target.value) },
        choices.map(([id, label]) => h("option", { value: id, selected: id === ui.task }, label)))),
  };
}

// attributes takes a summary, "status approved · version 1 · …", apart.
function attributes(summary) {
  const found = new Map();
  for (const part of (summary || "").split(/ · (?=[a-z_]+ )/)) {
    const [, name, value] = /^([a-z_]+) (.*)$/s.exec(part) || [];
    if (name && !found.has(name)) found.set(name, value);
  }
  return found;
}

/** subject names what a key stands for: PROMPT#0002 is "Policy v2". */
export function subject(key) {
  const [, of, user] = /^CARD#(.*)@([^/]*)/.exec(key) || []; // somebody's copy of a card
  if (user) return t("rowCopy", { of: subject(of), who: nameOf(user) });
  const [kind, ...numbers] = key.split("#");
  const n = Number(numbers.at(-1)) || 0;
  switch (kind.toUpperCase()) {
    case "REQUEST": return t("rowRequest");
    case "ANSWER": return t("rowAnswer");
    case "CHOICE": return t("rowChoice");
    case "CORRECTION": return t("rowCorrection");
    case "FILES": return t("rowFiles");
    case "TASK": return t("rowTask");
    case "PROMPT": return t("rowPrompt", { n });
    case "PROCESS": return t("rowProcess", { n });
    case "GATE": return t("rowGate", { n });
    case "STEP": return t("rowStep", { n });
    case "EXECUTION": return n ? t("rowAttempt", { n }) : t("rowExecution");
    case "CARD": return t("rowCard", { of: subject(numbers.join("#")) });
    case "OUTCOME": return t("rowOutcome");
    case "WAIT": return t("rowWait");
    case "USAGE": return t("rowUsage");
    case "LEASE": return t("rowLease", { of: subject(numbers.join("#")) });
    case "HEAD": return t("rowHead");
    case "SESSION": return t("rowSession");
    case "MESSAGE": return t("rowMessage");
    case "INBOX": return t("rowInbox");
    case "ACTION": return t("rowAction", { n });
    case "CALL": return t("rowCall");
    case "OFFERED": return t("rowOffered", { n });
    case "TYPED": return t("rowTyped");
    case "CONTEST": return t("rowContest");
    case "SUMMARY": case "EXECUTION_SUMMARY": return t("rowSummary");
    case "TEAM": return t("rowTeam");
    case "ROUND": case "ROUND_HISTORY": return t("rowRound", { n });
    case "BOARD": case "LEADER_BOARD": return t("rowBoard", { n });
  }
  return key;
}

// inside is a value of a map as the summary writes it: {as: completed, at: …}.
const inside = (text, name) => new RegExp(`[{ ]${name}: ([^,}]*)`).exec(text || "")?.[1] || "";

// standing is the row's status, "" if it has none.
function standing(r, a) {
  if (r.type === "card" || r.type === "copy") return a.get("state") || "";
  if (r.type === "action" && a.get("status") === "pending") return "pending_approval";
    // an execution that is pending waits for nobody
  if (r.type !== "head") return a.get("status") || "";
  if (a.has("ended")) return inside(a.get("ended"), "as");
  return a.has("parked") ? "parked" : "running";
}

// again says which attempt a step's call belongs to, from the second on.
function again(key) {
  const n = Number(key.split("#")[2]);
  return n > 1 ? ` · ${t("rowAttempt", { n })}` : "";
}

// usage is what a generation's calls made, how many tokens they took, and what they cost if all their prices are known.
function usage(a) {
  const tokens = ["input_tokens", "cached_tokens",
    "output_tokens"].reduce((sum, name) => sum + Number(a.get(name) || 0), 0);
  const cost = a.has("unpriced_calls") ? "" : dollars(Number(a.get("cost_micro_usd") || 0));
  return [subject(a.get("made") || ""), t("rowTokens", { n: tokens }), cost].filter(Boolean).join(" · ");
}

function detail(r, a) {
  const by = a.get("approved_by") || a.get("rejected_by");
  switch (r.type) {
    case "request": return [a.has("user") ? nameOf(a.get("user")) : "",
      t("rowSaid", { text: a.get("text") || "" })].filter(Boolean).join(" ");
    case "task": return a.get("title") || "";
    case "prompt": case "process": case "again": case "gate":
      return by ? nameOf(by) : a.get("status") === "approved" ? t("rowAuto") : "";
    case "step": return (a.get("tool") || "") + again(r.key);
    case "head": return t("rowRevision", { n: r.rev, run: a.get("run") || 1 });
    case "wait": return t("rowWaitFor", { of: subject(r.key.slice("WAIT#".length)) });
    case "usage": return usage(a);
    case "lease": return a.has("lease_until")
      ? t("rowLeaseUntil", { at: clockTime(Date.parse(a.get("lease_until")), true) }) : "";
  }
  return "";
}

const moods = {
  approved: "good", completed: "good", answered: "good", pending_approval: "wait", parked: "bad", rejected: "bad",
    failed: "bad", unknown: "bad", unreachable: "bad",
  expired: "off", cancelled: "off", running: "now", executing: "now", succeeded: "good", open: "now",
    generating: "now", posting: "now",
};

/** rowItem is one row of a task for reconcile; opened, it shows its attributes. */
export function rowItem(r, task) {
  const a = attributes(r.summary);
  const status = standing(r, a);
  const more = detail(r, a);
  return {
    key: r.key,
    sig: JSON.stringify([task, r, language()]),
    render: () =>
      h("li.row.touched", {},
        h("details", {},
          h("summary", { dataset: { focus: "row" } },
            h("span.row-head", {},
              h("strong", {}, subject(r.key)),
              status && h("span.chip", { dataset: { mood: moods[status] || "off" } }, statusWord(status)),
              h("time", {}, r.at ? clockTime(Date.parse(r.at), true) : "")),
            more && h("span.row-detail", {}, more)),
          h("p.row-raw", {}, h("code", {}, r.key), r.rev ? ` · rev ${r.rev}` : "", h("br"), r.summary),
          rowDetails(task, r.key))),
  };
}

// How often a run is looked at besides the stream, in ms: while it works, while
// it waits for a person, and once more after its end, when the last card is drawn.
const pace = { working: 700, waiting: 2500, after: 1500 };

let run = null;
let asked = "";
let timer = 0;
let chosen = "";
let ended = "";

const task = () => ui.task || newestTask(ui.channel);

async function refresh() {
  clearTimeout(timer);
  const id = task();
  asked = ui.panel === "run" && state.has.run ? id : "";
  if (!asked) return;
  try {
    const answer = await get("run?task=" + encodeURIComponent(id));
    if (asked !== id) return;
    run = { id, ...answer };
  } catch (err) {
    if (asked === id) run = { id, error: err.message };
  }
  changed();
  const open = run.executions?.filter((e) => e.status === "RUNNING") || [];
  if (open.length) later(open.every((e) => e.waiting) ? pace.waiting : pace.working);
  else if (ended !== run.executions?.at(-1)?.name) {
    ended = run.executions?.at(-1)?.name;
    later(pace.after);
  }
}

function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(refresh, ms);
}

onChange((c) => {
  if (c.kind === "message" || c.kind === "thread") later(250);
});

const at = (s) => (s ? Date.parse(s) : NaN);

function duration(from, to) {
  const ms = at(to) - at(from);
  if (!Number.isFinite(ms)) return "";
  if (ms < 1000) return `${ms} ms`;
  return ms < 60000 ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}

const mood = (s, open) => {
  if (!s.exited && open) return "now";
  if (/fail|error|timed|abort/i.test(s.outcome || "") || /Failed$|^Fail$/.test(s.name)) return "bad";
  return "done";
};

function stateItem(s, i, execution) {
  const last = i === execution.states.length - 1;
  const kind = mood(s, execution.status === "RUNNING" && last);
  const waiting = kind === "now" && execution.waiting;
  const quiet = s.name === "Route";
  return {
    key: `${execution.name}/${i}`,
    sig: JSON.stringify([s, kind, waiting, language()]),
    render: () =>
      h(`li.step.${waiting ? "waiting" : kind}${quiet ? ".quiet" : ""}`, {},
        h("span.bead", {}, kind === "done" && !quiet ? icon("check") : kind === "bad" ? icon("close") : waiting
          ? icon("clock") : null),
        h("div.step-text", {},
          h("div.step-head", {}, h("strong", {}, s.name),
            h("span.step-time", {}, s.exited ? duration(s.entered, s.exited) : clockTime(at(s.entered), true))),
          !quiet && h("p", {}, describeState(s.name), s.outcome &&
            h("code", { title: s.outcome }, statusWord(s.outcome))),
          !quiet && (s.input || s.output) && h("details.io", {},
            h("summary", { dataset: { focus: "io" } }, t("payloads")), detailed(t("input"), s.input),
            detailed(t("output"), s.output)),
          waiting && h("p.waiting-note", {}, h("strong", {},
            t(s.name === "AwaitContest" ? "waitingForContest" : "waitingFor")),
            ` ${subject(waiting.gate)} · ${t("since", { t: clockTime(at(waiting.since), true) })}`))),
  };
}

function usageItem(u) {
  return {
    key: "usage",
    sig: JSON.stringify([u, language()]),
    render: () => h("div.usage", {}, h("strong", {},
      t("usage", { calls: u.calls, n: u.input_tokens + u.cached_tokens + u.output_tokens,
      cost: dollars(u.cost_micro_usd) })),
      h("p", {}, t("usageTokens", { in: u.input_tokens + u.cached_tokens, cached: u.cached_tokens,
        out: u.output_tokens })),
      u.unpriced_calls > 0 && h("p", {}, t("unpriced", { n: u.unpriced_calls }))),
  };
}

const parts = {};

function frame() {
  parts.language = language();
  parts.picker = h("div.picker");
  parts.head = h("div.run-head");
  parts.states = h("ol.steps");
  parts.rows = h("ul.rows");
  const title = (text) => h("h2.panel-title", {}, text), note = h("p.panel-note", {}, t("rowsText"));
  const states = [title(t("states")), parts.states], rows = [title(t("rows")), note, parts.rows];
  parts.run = h("div.run", {}, parts.picker, parts.head, ...states, ...rows);
}

/** blank is a panel with nothing to show. */
export function blank(title, text, sign = "run") {
  return h("section.blank", {}, icon(sign), h("h2", {}, title), h("p", {}, text));
}

function picks(executions, execution) {
  return {
    key: "picks",
    sig: JSON.stringify([run.id, executions.map((e) => [e.name, e.status]), execution?.name, language()]),
    render: () => h("div", {},
      h("p.task-id", {}, h("span", {}, t("task")), h("code", {}, run.id)),
      h("div.run-picks", {}, executions.map((e, i) =>
        h("button.run-pick", { type: "button", "aria-pressed": String(e === execution),
          dataset: { status: e.status, focus: e.name }, title: `${e.name} ${e.status}`,
          onclick: () => { chosen = e.name; changed(); } },
          h("span.light"), t("executions", { n: e.name.match(/-(\d+)$/)?.[1] ?? i + 1 }),
            h("small", {}, statusWord(e.status)))))),
  };
}

/** drawRun renders the task that was chosen, or the channel's newest. */
export function drawRun(body) {
  if (task() && task() !== asked) refresh();
  if (parts.language !== language()) frame();
  const other = !task() || !run || run.id !== task() || !run.error && !run.executions?.length;
  if (other || run.error) {
    reconcile(parts.picker, ui.task ? [taskPick()] : []);
    const text = other ? t("noRunText") : run.error;
    fill(body, `no run ${text}`, () => [parts.picker, blank(t("noRun"), text)]);
    return;
  }
  const executions = run.executions || [];
  const execution = executions.find((e) => e.name === chosen) || executions.at(-1);
  reconcile(parts.picker, [taskPick()]);
  reconcile(parts.head, [picks(executions, execution), ...(run.usage?.calls ? [usageItem(run.usage)] : [])]);
  reconcile(parts.states, execution ? execution.states.map((s, i) => stateItem(s, i, execution)) : []);
  reconcile(parts.rows, (run.rows || []).map((r) => rowItem(r, run.id)));
  fill(body, "run" + language(), () => {
    parts.run.prepend(parts.picker);
    return [parts.run];
  });
}

// readable is JSON with its lines apart; text that is none stays as it is.
function readable(value) {
  let v = value;
  if (typeof v === "string") {
    try {
      v = JSON.parse(v);
    } catch {
      return value;
    }
  }
  return typeof v === "string" ? v : JSON.stringify(v, null, 2).replaceAll("\\n", "\n");
}

/** detailed is a label with JSON beneath; nothing without a value. */
export function detailed(label, value) {
  if (value === undefined || value === null || value === "") return null;
  return [h("p.json-label", {}, label), h("pre.json", { tabindex: "0", "aria-label": label }, readable(value))];
}

// onDemand is a button that gives way to what it fetches.
function onDemand(label, focus, load) {
  const button = h("button.more-btn", {
    type: "button", dataset: { more: focus, focus },
    onclick: async () => {
      button.setAttribute("aria-busy", "true");
      const box = h("div", {}, h("p.json-label", {}, t("loading")));
      button.after(box);
      try {
        const parts = await load();
        box.replaceChildren(...[parts].flat(Infinity).filter(Boolean));
        button.remove();
        box.querySelector("pre")?.focus({ preventScroll: true });
      } catch (err) {
        box.replaceChildren(h("p.field-error", { role: "alert" }, err.message));
        button.removeAttribute("aria-busy");
      }
    },
  }, label);
  return button;
}

// objects are the keys in the bucket that a row names.
function objects(row) {
  const found = new Set();
  const walk = (x) => {
    if (!x || typeof x !== "object") return;
    for (const [k, v] of Object.entries(x)) {
      if (k === "s3_key" && typeof v === "string" && v) found.add(v);
      else walk(v);
    }
  };
  walk(row);
  return [...found];
}

/** rowDetails offers all of a row, and from there what the row keeps in the bucket. */
export function rowDetails(task, key) {
  const query = (of) => `task=${encodeURIComponent(task)}&key=${encodeURIComponent(of)}`;
  return h("div.row-more", {}, onDemand(t("see", { what: t("whole") }), "whole", async () => {
    const row = await get("row?" + query(key));
    return [detailed(key, row), objects(row).map((o) => {
      const word = o.startsWith("prompts/") ? "sentPrompt" : "object";
      return onDemand(t("see", { what: t(word) }), "object",
        async () => detailed(t(word), await get("object?" + query(o))));
    })];
  }));
}

/** payloadOf offers what was sent in a delivery, and what the app answered. */
export function payloadOf(n) {
  return onDemand(t("see", { what: t("payload") }), "payload", async () => {
    const a = await get("attempts/" + n);
    return [detailed(t("payload"), a.payload), detailed(t("answer"), a.answer || t("emptyAnswer"))];
  });
}
