// The settings panel: the tenant's settings, failing tools, Slack's bad days.

import { get, put } from "./api.js";
import { h, icon, toast } from "./dom.js";
import { language, t } from "./i18n.js";
import { discard, onEscape } from "./modal.js";
import { avatar, badge, nameOf } from "./people.js";
import { changed, state } from "./store.js";
import { askAgain } from "./waits.js";

// toggle is a switch with a label; change hears the new value.
function toggle(name, label, on, change, note) {
  return h("label.switch", { dataset: { field: name } },
    h("span.switch-text", {}, h("span", {}, label), note && h("small", {}, note)),
    h("input", { type: "checkbox", role: "switch", name, checked: on, onchange: (e) => change(e.target.checked, e.target) }),
    h("span.track", { "aria-hidden": "true" }));
}

function numberField(name, label, value, change, limits = {}) {
  return h("label.number", { dataset: { field: name } }, h("span", {}, label),
    h("input", { type: "number", name, value: String(value ?? ""), min: limits.min, max: limits.max, step: limits.step, inputmode: limits.step ? "decimal" : "numeric", onchange: (e) => change(e.target.value === "" ? null : Number(e.target.value)) }));
}

// selectField is a choice of [code, label] pairs.
function selectField(name, label, value, choices, change) {
  return h("label.number", { dataset: { field: name } }, h("span", {}, label),
    h("select", { name, onchange: (e) => change(e.target.value) }, choices.map(([code, text]) => h("option", { value: code, selected: value === code }, text))));
}

const section = (title, text, ...children) => h("section.set", {}, h("h3", {}, title), text && h("p.set-note", {}, text), children);

// approvers edits who may approve: everybody in the channel, or a list.
function approvers(s, touched) {
  const value = { users: [], ...s.approvers };
  const set = (next) => {
    Object.assign(value, next);
    s.approvers = value;
    touched();
    draw();
  };
  const box = h("fieldset.approvers", { dataset: { field: "approvers" } });
  const draw = () => {
    const mode = (code, label) => h("label.box", {}, h("input", { type: "radio", name: "approvers-mode", value: code, checked: (value.mode || "channel") === code, onchange: () => set({ mode: code, users: value.users || [] }) }), h("span", {}, label));
    const people = [...state.users.values()].filter((u) => !u.bot);
    const listed = value.mode === "list";
    box.replaceChildren(
      h("legend", {}, t("approvers")), mode("channel", t("approversChannel")), mode("list", t("approversList")),
      ...(listed ? [h("div.people-picks", {}, people.map((u) => {
        const on = (value.users || []).includes(u.id);
        return h("label.pick", {}, h("input", { type: "checkbox", name: "approver-" + u.handle, checked: on, onchange: () => set({ users: on ? value.users.filter((x) => x !== u.id) : [...(value.users || []), u.id] }) }), avatar(u.id, "tiny"), h("span", {}, nameOf(u.id)), badge(u));
      })), !(value.users || []).length && !(value.usergroups || []).length && h("p.set-note.warn", {}, t("approversNobody"))].filter(Boolean) : []));
  };
  draw();
  return box;
}

function tenantForm(loaded) {
  const s = structuredClone(loaded);
  const save = h("button.btn.primary", { type: "submit", disabled: true }, t("save"));
  const status = h("span.set-status", { role: "status" });
  const touched = () => {
    form.dataset.unsaved = "yes";
    save.disabled = false;
    status.textContent = t("unsaved");
  };
  const field = (name) => (v) => {
    s[name] = v;
    touched();
  };
  const form = h("form.tenant", {
    novalidate: true,
    oninput: () => touched(),
    onsubmit: async (e) => {
      e.preventDefault();
      save.disabled = true;
      form.querySelectorAll(".field-error").forEach((x) => x.remove());
      try {
        const fresh = await put("settings", { user: state.me, settings: s });
        form.replaceWith(tenantForm(fresh));
        toast(t("saved"));
      } catch (err) {
        save.disabled = false;
        status.textContent = err.fields ? "" : err.message;
        for (const [name, text] of Object.entries(err.fields || {})) {
          const at = form.querySelector(`[data-field="${CSS.escape(name)}"]`);
          const line = h("p.field-error", { role: "alert" }, icon("warn"), at ? text : `${name}: ${text}`);
          at ? at.after(line) : save.before(line);
        }
        form.querySelector(".field-error")?.scrollIntoView({ block: "center" });
      }
    },
  },
    section(t("setApproval"), t("setApprovalText"),
      toggle("prompt_approval_required", t("promptApproval"), s.prompt_approval_required, field("prompt_approval_required")),
      toggle("process_approval_required", t("processApproval"), s.process_approval_required, field("process_approval_required")),
      toggle("auto_approve_tools", t("autoTools"), s.auto_approve_tools, field("auto_approve_tools")),
      toggle("allow_self_approval", t("selfApproval"), s.allow_self_approval, field("allow_self_approval")),
      approvers(s, touched)),
    section(t("setLimits"), "",
      selectField("locale", t("locale"), s.locale || "ja", [["ja", "日本語"], ["en", "English"]], field("locale")),
      numberField("approval_timeout_hours", t("timeoutHours"), s.approval_timeout_hours, field("approval_timeout_hours")),
      numberField("max_versions", t("maxVersions"), s.max_versions, field("max_versions")),
      numberField("retain_results_days", t("retainResults"), s.retain_results_days, field("retain_results_days")),
      numberField("l4_timeout_seconds", t("l4Timeout"), s.l4_timeout_seconds, field("l4_timeout_seconds")),
      numberField("max_cost_usd", t("maxCost"), s.max_cost_usd, (v) => field("max_cost_usd")(v ?? 0), { min: "0", step: "any" }),
      ...["max_open_tasks", "max_tasks_per_hour"].flatMap((name) => ["person", "tenant"].map((whose) =>
        numberField(`${name}.${whose}`, t(`${name}.${whose}`), s[name]?.[whose] ?? 0, (v) => { (s[name] ??= {})[whose] = v ?? 0; touched(); }, { min: "0" }))),
      selectField("executor", t("executor"), s.executor || "steps", [["steps", t("executorSteps")], ["managed", t("executorManaged")]], field("executor"))),
    h("div.set-save", {}, status, save));
  return form;
}

function toolSwitches(list) {
  return section(t("setTools"), t("setToolsText"), (list || []).map((f) =>
    toggle("tool-" + f.tool, f.tool, f.failing, async (on, input) => {
      try {
        await put("tools", { tool: f.tool, failing: on });
      } catch (err) {
        input.checked = !on;
        toast(err.message, "error");
      }
    })));
}

// toolRule edits whether tasks may call a tool, and within which constraints. Each change is saved at once.
function toolRule(p) {
  const rule = { allowed: p.allowed, constraints: { ...p.constraints } };
  const box = h("div.rule", { dataset: { field: "rule-" + p.tool } });
  const save = async () => {
    box.querySelectorAll(".field-error").forEach((x) => x.remove());
    try {
      await put("permissions", { user: state.me, tool: p.tool, ...rule });
      toast(t("saved"));
      return true;
    } catch (err) {
      for (const [name, text] of Object.entries(err.fields || { "": err.message })) {
        const at = box.querySelector(`[data-field="${CSS.escape(name.replace(/\[\d+\]$/, ""))}"]`);
        (at || box.lastElementChild).after(h("p.field-error", { role: "alert" }, icon("warn"), text));
      }
      return false;
    }
  };
  const constraint = (name) => {
    const number = name === "max_rows";
    const value = rule.constraints[name];
    const change = (text) => {
      const list = text.split(/[,、\n]/).map((s) => s.trim()).filter(Boolean);
      if (number ? text === "" : !list.length) delete rule.constraints[name];
      else rule.constraints[name] = number ? Number(text) : list;
      save();
    };
    return h("label.number.rule-field", { dataset: { field: "constraints." + name } }, h("span.switch-text", {}, h("span", {}, t("rule_" + name)), h("small", {}, h("code", {}, name))),
      h("input", { type: number ? "number" : "text", name: `${p.tool}.${name}`, value: number ? String(value ?? "") : (value || []).join(", "), min: "1", placeholder: t("ruleAny"), autocomplete: "off", spellcheck: "false", onchange: (e) => change(e.target.value) }));
  };
  box.append(
    toggle("rule-" + p.tool, language() === "en" ? p.title_en : p.title, p.allowed, async (on, input) => {
      rule.allowed = on;
      if (!(await save())) input.checked = rule.allowed = !on;
    }, h("code", {}, p.tool)),
    ...p.knows.map(constraint));
  return box;
}

const toolRules = (list) => section(t("setRules"), t("setRulesText"), (list || []).map(toolRule));

// serverTools lets tasks call tools of MCP servers; what an administrator saw is what is allowed.
function serverTools(list) {
  const box = section(t("setServers"), t("setServersText"), (list || []).map((f) => {
    const choose = h("select", {
      name: "server-" + f.tool, "aria-label": f.tool, disabled: f.state === "unfit",
      onchange: async (e) => {
        try {
          box.replaceWith(serverTools(await put("servers", { user: state.me, tool: f.tool, hash: f.hash, effect: e.target.value })));
          toast(t("saved"));
        } catch (err) {
          toast(err.message, "error");
          box.replaceWith(serverTools(await get("servers").catch(() => list)));
        }
      },
    }, [["", t("srvOff")], ["read", t("srvRead")], ["write", t("srvWrite")]].map(([code, label]) => h("option", { value: code, selected: (f.state === "on" ? f.effect : "") === code, disabled: !!code && !f.hash }, label)));
    const note = f.problem || { changed: t("srvChanged"), gone: t("srvGone") }[f.state] || f.description;
    return h("label.number.server-tool", { dataset: { field: "server-" + f.tool, state: f.state } },
      h("span.switch-text", {}, h("span", {}, f.title ? `${f.title} — ${f.tool}` : f.tool), note && h(f.problem || f.state === "changed" || f.state === "gone" ? "small.warn" : "small", {}, note)), choose);
  }));
  return box;
}

function slackSwitches() {
  const set = (name) => async (value) => {
    try {
      state.toggles = await put("toggles", { ...state.toggles, [name]: value ?? 0 });
      changed();
    } catch (err) {
      toast(err.message, "error");
    }
  };
  const one = (name, label, note) => toggle(name, label, state.toggles[name], set(name), note);
  return section(t("setSlack"), t("setSlackText"),
    one("twice", t("tgTwice"), t("tgTwiceText")),
    numberField("late_seconds", t("tgLate"), state.toggles.late_seconds, set("late_seconds"), { min: "0", max: "60" }),
    one("drop_answers", t("tgDrop"), t("tgDropText")),
    one("rate_limited", t("tgRate"), t("tgRateText")),
    one("lose_answers", t("tgLose"), t("tgLoseText")),
    one("enforce_rates", t("tgPace"), t("tgPaceText")));
}

/** openSettings shows the panel as a dialog. */
export async function openSettings() {
  if (document.querySelector("dialog.settings")) return;
  const body = h("div.modal-body", {}, h("p.loading", {}, "…"));
  const unsaved = () => body.querySelector("[data-unsaved]");
  const leave = async () => {
    document.activeElement?.blur(); // a field that saves itself does so now
    if (!unsaved() || (await discard("unsaved"))) dialog.close();
  };
  const reloaded = (e) => { if (unsaved()) e.preventDefault(); };
  addEventListener("beforeunload", reloaded);
  const dialog = h("dialog.modal.settings", { "aria-labelledby": "settings-title" },
    h("header", {}, h("div.settings-head", {}, h("h2", { id: "settings-title" }, t("setTitle")), h("p", {}, t("setText"))), h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave }, icon("close"))),
    body);
  const opener = document.activeElement?.dataset.focus;
  dialog.addEventListener("close", () => {
    removeEventListener("beforeunload", reloaded);
    dialog.remove();
    askAgain();
    document.querySelector(`#header [data-focus="${opener}"]`)?.focus();
  });
  onEscape(dialog, leave);
  dialog.addEventListener("click", (e) => { if (e.target === dialog) leave(); });
  document.body.append(dialog);
  dialog.showModal();
  const load = (path) => get(path).catch((err) => ({ error: err.message }));
  const [tenant, rules, servers, tools] = await Promise.all(["settings", "permissions", "servers", "tools"].map((path) => (state.has[path] ? load(path) : null)));
  const problem = (x) => x?.error && h("p.field-error", {}, icon("warn"), x.error);
  body.replaceChildren(...[
    tenant && (problem(tenant) || tenantForm(tenant)),
    state.has.permissions && (problem(rules) || toolRules(rules)),
    state.has.servers && (problem(servers) || (servers.length > 0 && serverTools(servers))),
    state.has.tools && (problem(tools) || toolSwitches(tools)),
    slackSwitches(),
  ].filter(Boolean));
}
