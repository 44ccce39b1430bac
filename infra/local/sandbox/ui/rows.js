// The rows of the table in words: what each is, how it stands, and what is worth knowing of it.

import { rowDetails } from "./details.js";
import { h } from "./dom.js";
import { clockTime, dollars, language, statusWord, t } from "./i18n.js";
import { nameOf } from "./people.js";

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
    case "LISTING": return t("rowListing");
    case "PROMPT": return t("rowPrompt", { n });
    case "PROCESS": return t("rowProcess", { n });
    case "AGAIN": return t("rowAgain", { n });
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
    case "HANDOVER": return t("rowHandover");
    case "OFFERED": return t("rowOffered", { n });
    case "TYPED": return t("rowTyped");
    case "CONTEST": return t("rowContest");
    case "SUMMARY": case "EXECUTION_SUMMARY": return t("rowSummary");
    case "TEAM": return t("rowTeam");
    case "ROUND": case "ROUND_HISTORY": return t("rowRound", { n });
    case "BOARD": case "LEADER_BOARD": return t("rowBoard", { n });
    case "STREAM": return t("rowStream");
  }
  return key;
}

// inside is a value of a map as the summary writes it: {as: completed, at: …}.
const inside = (text, name) => new RegExp(`[{ ]${name}: ([^,}]*)`).exec(text || "")?.[1] || "";

// standing is the row's status, "" if it has none.
function standing(r, a) {
  if (r.type === "card" || r.type === "copy") return a.get("state") || "";
  if (r.type === "action" && a.get("status") === "pending") return "pending_approval"; // an execution that is pending waits for nobody
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
  const tokens = ["input_tokens", "cached_tokens", "output_tokens"].reduce((sum, name) => sum + Number(a.get(name) || 0), 0);
  const cost = a.has("unpriced_calls") ? "" : dollars(Number(a.get("cost_micro_usd") || 0));
  return [subject(a.get("made") || ""), t("rowTokens", { n: tokens }), cost].filter(Boolean).join(" · ");
}

function detail(r, a) {
  const by = a.get("approved_by") || a.get("rejected_by");
  switch (r.type) {
    case "request": return [a.has("user") ? nameOf(a.get("user")) : "", t("rowSaid", { text: a.get("text") || "" })].filter(Boolean).join(" ");
    case "task": return a.get("title") || "";
    case "prompt": case "process": case "again": case "gate":
      return by ? nameOf(by) : a.get("status") === "approved" ? t("rowAuto") : "";
    case "step": return (a.get("tool") || "") + again(r.key);
    case "head": return t("rowRevision", { n: r.rev, run: a.get("run") || 1 });
    case "wait": return t("rowWaitFor", { of: subject(r.key.slice("WAIT#".length)) });
    case "usage": return usage(a);
    case "lease": return a.has("lease_until") ? t("rowLeaseUntil", { at: clockTime(Date.parse(a.get("lease_until")), true) }) : "";
  }
  return "";
}

const moods = {
  approved: "good", completed: "good", answered: "good", pending_approval: "wait", parked: "bad", rejected: "bad", failed: "bad", unknown: "bad", unreachable: "bad",
  expired: "off", cancelled: "off", running: "now", executing: "now", succeeded: "good", open: "now", generating: "now", posting: "now",
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
