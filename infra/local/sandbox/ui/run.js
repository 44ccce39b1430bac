// The panel beside the conversation: the run behind a task, and the deliveries.

import { get } from "./api.js";
import { h, icon, reconcile } from "./dom.js";
import { clockTime, describeState, language, statusWord, t } from "./i18n.js";
import { reasonText } from "./message.js";
import { nameOf } from "./people.js";
import { rowItem, subject } from "./rows.js";
import { newestTask, onChange, remember, state, taskOf, ui, changed } from "./store.js";

// How often a run is looked at besides the stream, in ms: while it works, while
// it waits for a person, and once more after its end, when the last card is drawn.
const pace = { working: 700, waiting: 2500, after: 1500 };

let run = null;
let asked = "";
let timer = 0;
let chosen = "";
let ended = "";
const known = new Map();

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
  if (c.kind !== "message" && c.kind !== "thread") return;
  // A new task in the channel that is shown takes the panel over.
  if (c.message && c.channel === ui.channel && taskOf(c.message) && taskOf(c.message) !== ui.task && c.message.ts === c.ts && !known.has(taskOf(c.message))) ui.task = "";
  if (c.message && taskOf(c.message)) known.set(taskOf(c.message), true);
  later(250);
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
          waiting && h("p.waiting-note", {}, h("strong", {}, t("waitingFor")), ` ${subject(waiting.gate)} · ${t("since", { t: clockTime(at(waiting.since), true) })}`))),
  };
}

const parts = {};

function frame(root) {
  parts.tabs = h("div.tabs", { role: "tablist" });
  parts.body = h("div.panel-body");
  parts.picker = h("div.picker");
  parts.states = h("ol.steps");
  parts.rows = h("ul.rows");
  parts.run = h("div.run", {});
  parts.deliveries = h("ul.deliveries");
  root.replaceChildren(
    h("header.panel-head", {}, parts.tabs, h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: () => remember("panel", "") }, icon("close"))),
    parts.body);
}

function tabs() {
  const one = (name, label) => h("button", { type: "button", role: "tab", "aria-selected": String(ui.panel === name), dataset: { focus: name }, onclick: () => remember("panel", name) }, label);
  const focus = parts.tabs.contains(document.activeElement) ? document.activeElement.dataset.focus : "";
  parts.tabs.replaceChildren(...[state.has.run && one("run", t("tabRun")), one("deliveries", t("tabDeliveries"))].filter(Boolean));
  if (focus) parts.tabs.querySelector(`[data-focus="${focus}"]`)?.focus();
}

function blank(title, text) {
  return h("section.blank", {}, icon("run"), h("h3", {}, title), h("p", {}, text));
}

function drawRun() {
  if (task() && task() !== asked) refresh();
  if (!task() || !run || run.id !== task()) {
    parts.body.replaceChildren(blank(t("noRun"), t("noRunText")));
    return;
  }
  if (run.error) {
    parts.body.replaceChildren(blank(t("noRun"), run.error));
    return;
  }
  const executions = run.executions || [];
  const execution = executions.find((e) => e.name === chosen) || executions.at(-1);
  parts.picker.replaceChildren(
    h("p.task-id", {}, h("span", {}, t("task")), h("code", {}, run.id)),
    h("div.run-picks", {}, executions.map((e, i) =>
      h("button.run-pick", { type: "button", "aria-pressed": String(e === execution), dataset: { status: e.status }, title: `${e.name} ${e.status}`, onclick: () => { chosen = e.name; changed(); } },
        h("span.light"), t("executions", { n: e.name.match(/-(\d+)$/)?.[1] ?? i + 1 }), h("small", {}, statusWord(e.status))))));
  reconcile(parts.states, execution ? execution.states.map((s, i) => stateItem(s, i, execution)) : []);
  reconcile(parts.rows, (run.rows || []).map(rowItem));
  if (!parts.run.isConnected) {
    parts.run.replaceChildren(parts.picker, h("h3.panel-title", {}, t("states")), parts.states, h("h3.panel-title", {}, t("rows")), h("p.panel-note", {}, t("rowsText")), parts.rows);
    parts.body.replaceChildren(parts.run);
  }
}

function deliveryItem(a) {
  const ok = !a.reason;
  return {
    key: [a.at, a.id, a.kind, a.retry, a.ts].join(),
    sig: JSON.stringify([ok, language()]),
    render: () =>
      h(`li.delivery${ok ? "" : ".failed"}`, {},
        h("span.light", { title: ok ? "OK" : reasonText(a.reason) }),
        h("div.row-text", {}, h("code", {}, a.kind), h("p", {}, nameOf(a.user), a.retry > 0 && ` · ${t("retry", { n: a.retry })}`, !ok && ` · ${a.reason}`)),
        h("span.row-rev", {}, a.status ? String(a.status) : "—"),
        h("time", {}, `${a.millis} ms`)),
  };
}

function drawDeliveries() {
  if (!state.attempts.length) {
    parts.body.replaceChildren(blank(t("noDeliveries"), t("deliveriesText")));
    return;
  }
  reconcile(parts.deliveries, state.attempts.map(deliveryItem));
  if (!parts.deliveries.isConnected) parts.body.replaceChildren(h("p.panel-note", {}, t("deliveriesText")), parts.deliveries);
}

/** drawPanel renders the panel, or hides it. */
export function drawPanel(root) {
  if (ui.panel === "run" && !state.has.run) ui.panel = "deliveries";
  root.hidden = !ui.panel;
  root.setAttribute("aria-label", t("run"));
  if (root.hidden) return;
  if (root.dataset.lang !== language()) {
    root.dataset.lang = language();
    frame(root);
  }
  tabs();
  if (ui.panel === "run") drawRun();
  else drawDeliveries();
}
