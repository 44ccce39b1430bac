// The panel beside the conversation: the run behind a task.

import { fill, h, icon, reconcile } from "./dom.js";
import { clockTime, describeState, dollars, language, t } from "./i18n.js";
import { changed, get, newestTask, onLoad, remember, state, ui } from "./store.js";

// How often a run is looked at besides each load, in ms: while it works, and while it waits for a person.
const pace = { working: 700, waiting: 2500 };

let run = { id: "" };
let timer = 0;

const task = () => ui.task || newestTask(ui.channel);

// look asks for the run after some time, and forgets an earlier wish.
function look(ms) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const id = task();
    if (!id || ui.panel !== "run") return;
    try {
      run = { ...(await get("run?task=" + encodeURIComponent(id))), id };
    } catch { /* the page says that the stack is gone */ }
    const last = run.executions?.at(-1);
    if (last?.status === "RUNNING") look(last.waiting ? pace.waiting : pace.working);
    changed();
  }, ms);
}

onLoad(() => look(250));

function stateItem(s, i, execution) {
  const now = execution.status === "RUNNING" && i === execution.states.length - 1;
  const bad = /fail|error|timed|abort/i.test(s.outcome || "") || /Fail(ed)?$/.test(s.name);
  const mood = now ? (execution.waiting ? "waiting" : "working") : bad ? "bad" : "done";
  return {
    key: `${execution.name}/${i}`, sig: JSON.stringify([s, mood, language()]),
    render: () => h(`li.step.${mood}`, {}, h("span.bead"), h("strong", {}, s.name),
      h("span", {}, describeState(s.name)), s.outcome && h("code", {}, s.outcome)),
  };
}

const rowItem = (r) => ({
  key: r.key, sig: JSON.stringify(r),
  render: () => h("li.row", {}, h("p", {}, h("code", {}, r.key), r.rev ? ` rev ${r.rev}` : ""),
    h("p.row-detail", {}, r.summary)),
});

// now is what happens with the task at the moment.
function now(execution) {
  const last = execution.states.at(-1);
  const since = execution.waiting && ` · ${t("since", { t: clockTime(Date.parse(execution.waiting.since)) })}`;
  return [h("span.bead"), h("strong", {}, last ? describeState(last.name) || last.name : ""), since];
}

const parts = { states: h("ol.steps"), rows: h("ul.rows"), now: h("summary.now"), usage: h("p.usage"),
  id: h("p.task-id"), details: h("details.run") };

function drawRun() {
  const id = task();
  if (id && run.id !== id) { // nothing is known of it yet
    look(0);
    fill(body, "asked", () => []);
    return;
  }
  if (!id || !run.executions.length) {
    fill(body, "no run" + language(), () => [h("section.blank", {}, icon("run"), h("h3", {}, t("noRun")),
      h("p", {}, t("noRunText")))]);
    return;
  }
  const execution = run.executions.at(-1), u = run.usage;
  fill(body, "run", () => [parts.id, parts.details]);
  fill(parts.details, language(), () => [parts.now, parts.usage, h("h3.panel-title", {}, t("states")), parts.states,
    h("h3.panel-title", {}, t("rows")), parts.rows]);
  fill(parts.id, id + ui.task + language(), () => [h("span", {}, t("task")), h("code", {}, id), ui.task &&
    h("button.link", { type: "button", onclick: () => { ui.task = ""; changed(); } },
      t("newestTask"))].filter(Boolean));
  parts.now.dataset.status = execution.waiting ? "waiting" : execution.status;
  fill(parts.now, JSON.stringify([execution, language()]), () => now(execution).filter(Boolean));
  parts.usage.textContent = t("usage", { calls: u.calls, cost: dollars(u.cost_micro_usd),
    n: u.input_tokens + u.cached_tokens + u.output_tokens });
  reconcile(parts.states, run.executions.flatMap((e) => e.states.map((s, i) => stateItem(s, i, e))));
  reconcile(parts.rows, run.rows.map(rowItem));
}

const body = h("div.panel-body", { tabindex: "0", id: "panel-body" });

/** drawPanel renders the panel, or hides it. */
export function drawPanel(root) {
  const hidden = !state.runs || ui.panel !== "run";
  if (root.hidden && !hidden) look(0);
  root.hidden = hidden;
  if (hidden) return;
  root.setAttribute("aria-label", t("run"));
  fill(root, language(), () => [h("header.panel-head", {}, h("h2", {}, t("run")),
    h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: () => remember("panel", "") },
      icon("close"))), body]);
  drawRun();
}
