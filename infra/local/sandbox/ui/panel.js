// The panel beside the conversation: the run behind a task, and what waits for the person.

import { headline, show } from "./chat.js";
import { fill, h, icon, reconcile } from "./dom.js";
import { clockTime, dayName, describeState, dollars, language, t } from "./i18n.js";
import { millis } from "./message.js";
import { mrkdwn } from "./mrkdwn.js";
import { nameOf, placeName } from "./people.js";
import { goHome } from "./sidebar.js";
import { changed, get, newestTask, onChange, remember, state, ui } from "./store.js";

// How often a run is looked at besides the stream, in ms: while it works, and while it waits for a person.
const pace = { working: 700, waiting: 2500 };

let run = { id: "" };
let looked = ""; // the panel that was drawn last
let waits = [];

const task = () => ui.task || newestTask(ui.channel);

// poll returns a function that asks again after some time, and forgets an earlier wish.
function poll(ask) {
  let timer = 0;
  return (ms) => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      await ask().catch(() => {}); // the page says that the stack is gone
      changed();
    }, ms);
  };
}

const lookRun = poll(async () => {
  const id = task();
  if (!id || ui.panel !== "run") return;
  run = { ...(await get("run?task=" + encodeURIComponent(id))), id };
  const last = run.executions.at(-1);
  if (last?.status === "RUNNING") lookRun(last.waiting ? pace.waiting : pace.working);
});

const lookWaits = poll(async () => {
  const me = ui.person;
  const found = await get("waits?user=" + encodeURIComponent(me));
  if (me === ui.person) waits = found;
});

onChange((c) => {
  if (c && !["message", "thread", "deleted"].includes(c.kind)) return;
  lookRun(250);
  if (state.has.waits) lookWaits(c ? 200 : 0);
});
addEventListener("focus", () => { if (state.has.waits) lookWaits(0); }); // the console may have changed who may stamp

function stateItem(s, i, execution) {
  const now = execution.status === "RUNNING" && i === execution.states.length - 1;
  const bad = /fail|error|timed|abort/i.test(s.outcome || "") || /Fail(ed)?$/.test(s.name);
  const mood = now ? (execution.waiting ? "waiting" : "now") : bad ? "bad" : "done";
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
  const last = execution?.states.at(-1);
  const since = execution?.waiting && ` · ${t("since", { t: clockTime(Date.parse(execution.waiting.since)) })}`;
  return [h("span.bead"), h("strong", {}, last ? describeState(last.name) || last.name : ""), since];
}

const parts = { states: h("ol.steps"), rows: h("ul.rows"), now: h("summary.now"), usage: h("p.usage"),
  id: h("p.task-id"), details: h("details.run"), waits: h("ul.waits") };

function drawRun(body) {
  const id = task();
  if (id && (run.id !== id || looked !== "run")) lookRun(0);
  if (!id || run.id !== id || !run.executions.length) {
    fill(body, "no run" + language(), () => [blank("run", t("noRun"), t("noRunText"))]);
    return;
  }
  const execution = run.executions.at(-1), u = run.usage;
  fill(body, "run", () => [parts.id, parts.details]);
  fill(parts.details, language(), () => [parts.now, parts.usage, h("h2.panel-title", {}, t("states")), parts.states,
    h("h2.panel-title", {}, t("rows")), parts.rows]);
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

// waitItem is a message that waits; one that the person doesn't see they may stamp on the app's Home tab.
function waitItem(w) {
  const c = state.channels.find((x) => x.id === w.channel);
  const m = state.messages.get(w.channel)?.get(w.ts);
  const root = state.messages.get(w.channel)?.get(w.root);
  const title = m && headline(m), said = root && root !== m ? root.text.split("\n")[0].slice(0, 120) : "";
  return {
    key: w.channel + w.ts, sig: JSON.stringify([title, said, w.instead, language()]),
    render: () => h("li", {}, h("button.wait", { type: "button", dataset: { wait: w.ts, focus: w.ts },
      onclick: () => (c ? show(w.channel, w.ts, w.root) : goHome()) },
      h("strong", {}, title || t("waits")), said && h("span.wait-said", {}, mrkdwn(said)),
      h("span.wait-meta", {}, [w.instead && t("instead", { name: nameOf(w.instead) }), root && !root.bot_id &&
        nameOf(root.user), c ? placeName(c) : t("homeTab"), `${dayName(millis(w.ts))} ${clockTime(millis(w.ts))}`]
        .filter(Boolean).join(" · ")))),
  };
}

function drawWaits(body) {
  if (waits.length) fill(body, "waits", () => [parts.waits]);
  else fill(body, "no waits" + language(), () => [blank("stamp", t("noWaits"), t("noWaitsText"))]);
  reconcile(parts.waits, waits.map(waitItem));
}

const blank = (sign, title, text) => h("section.blank", {}, icon(sign), h("h2", {}, title), h("p", {}, text));

const body = h("div.panel-body", { tabindex: "0", id: "panel-body" });

const tab = (name, text, count) => ({
  key: name, sig: JSON.stringify([ui.panel === name, text, count]),
  render: () => h("button", { type: "button", id: `tab-${name}`, "aria-pressed": String(ui.panel === name),
    dataset: { focus: name }, onclick: () => remember("panel", name) }, text, count > 0 &&
    h("b.count.some", {}, String(count))),
});

const tabs = h("div.tabs");
const close = h("button.icon-btn", { type: "button", onclick: () => remember("panel", "") }, icon("close"));
const waitsButton = h("button.tool-btn", { type: "button", id: "open-waits",
  onclick: () => remember("panel", ui.panel === "waits" ? "" : "waits") });

/** drawPanel renders the panel, or hides it, and the button above the conversation that opens what waits. */
export function drawPanel(root) {
  const names = [state.has.run && ["run", t("run"), 0], state.has.waits && ["waits", t("waits"), waits.length]];
  if (!waitsButton.isConnected) document.querySelector(".scroll-area").before(h("div.tools-row", {}, waitsButton));
  waitsButton.parentElement.hidden = !state.has.waits;
  waitsButton.ariaLabel = `${t("waits")} ${waits.length}`;
  waitsButton.ariaPressed = String(ui.panel === "waits");
  fill(waitsButton, waits.length + language(), () => [icon("stamp"), h("span", {}, t("waits")), " ",
    h(`b.count${waits.length ? ".some" : ""}`, {}, String(waits.length))]);
  root.hidden = !names.some((x) => x && x[0] === ui.panel);
  root.setAttribute("aria-label", t("panels"));
  if (root.hidden) {
    looked = "";
    return;
  }
  close.ariaLabel = t("close");
  fill(root, "panel", () => [h("header.panel-head", {}, tabs, close), body]);
  reconcile(tabs, names.filter(Boolean).map((x) => tab(...x)));
  ({ run: drawRun, waits: drawWaits })[ui.panel](body);
  looked = ui.panel;
}
