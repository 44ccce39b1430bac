// The run behind a task: the states it passed, the rows it wrote, what its models took.

import { get } from "./api.js";
import { detailed } from "./details.js";
import { fill, h, icon, reconcile } from "./dom.js";
import { clockTime, describeState, dollars, language, statusWord, t } from "./i18n.js";
import { rowItem, subject } from "./rows.js";
import { changed, newestTask, onChange, state, ui } from "./store.js";
import { taskPick } from "./tasks.js";

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
  return ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
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
        h("span.bead", {}, kind === "done" && !quiet ? icon("check") : kind === "bad" ? icon("close") : waiting ? icon("clock") : null),
        h("div.step-text", {},
          h("div.step-head", {}, h("strong", {}, s.name), h("span.step-time", {}, s.exited ? duration(s.entered, s.exited) : clockTime(at(s.entered), true))),
          !quiet && h("p", {}, describeState(s.name), s.outcome && h("code", { title: s.outcome }, statusWord(s.outcome))),
          !quiet && (s.input || s.output) && h("details.io", {}, h("summary", { dataset: { focus: "io" } }, t("payloads")), detailed(t("input"), s.input), detailed(t("output"), s.output)),
          waiting && h("p.waiting-note", {}, h("strong", {}, t(s.name === "AwaitContest" ? "waitingForContest" : "waitingFor")), ` ${subject(waiting.gate)} · ${t("since", { t: clockTime(at(waiting.since), true) })}`))),
  };
}

function usageItem(u) {
  return {
    key: "usage",
    sig: JSON.stringify([u, language()]),
    render: () => h("div.usage", {}, h("strong", {}, t("usage", { calls: u.calls, n: u.input_tokens + u.cached_tokens + u.output_tokens, cost: dollars(u.cost_micro_usd) })),
      h("p", {}, t("usageTokens", { in: u.input_tokens + u.cached_tokens, cached: u.cached_tokens, out: u.output_tokens })),
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
  parts.run = h("div.run", {}, parts.picker, parts.head, h("h3.panel-title", {}, t("states")), parts.states, h("h3.panel-title", {}, t("rows")), h("p.panel-note", {}, t("rowsText")), parts.rows);
}

/** blank is a panel with nothing to show. */
export function blank(title, text, sign = "run") {
  return h("section.blank", {}, icon(sign), h("h3", {}, title), h("p", {}, text));
}

function picks(executions, execution) {
  return {
    key: "picks",
    sig: JSON.stringify([run.id, executions.map((e) => [e.name, e.status]), execution?.name, language()]),
    render: () => h("div", {},
      h("p.task-id", {}, h("span", {}, t("task")), h("code", {}, run.id)),
      h("div.run-picks", {}, executions.map((e, i) =>
        h("button.run-pick", { type: "button", "aria-pressed": String(e === execution), dataset: { status: e.status, focus: e.name }, title: `${e.name} ${e.status}`, onclick: () => { chosen = e.name; changed(); } },
          h("span.light"), t("executions", { n: e.name.match(/-(\d+)$/)?.[1] ?? i + 1 }), h("small", {}, statusWord(e.status)))))),
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
