// Which task the run panel shows.

import { h } from "./dom.js";
import { language, t } from "./i18n.js";
import { nameOf } from "./people.js";
import { pin, state, taskOf, ui } from "./store.js";

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

/** taskPick chooses what the panel shows, for reconcile: one task for as long as the person wants, or always the newest. */
export function taskPick() {
  const choices = [["", t("newestTask")], ...[...tasks()].map(([id, text]) => [id, `${said(text)} · …${id.slice(-6)}`])];
  return {
    key: "pick",
    sig: JSON.stringify([choices, ui.task, language()]),
    render: () => h("label.task-pick", {}, h("span", {}, t("whichTask")),
      h("select", { id: "which-task", dataset: { focus: "which-task" }, onchange: (e) => pin(e.target.value) },
        choices.map(([id, label]) => h("option", { value: id, selected: id === ui.task }, label)))),
  };
}
