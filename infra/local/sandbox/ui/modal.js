// Modals that the app opens, and the question before a button with "confirm".

import { post } from "./api.js";
import { blocks, textOf } from "./blocks.js";
import { bodies } from "./composer.js";
import { h, icon, toast } from "./dom.js";
import { language, t } from "./i18n.js";
import { plain } from "./mrkdwn.js";
import { state } from "./store.js";

/** confirmDialog asks and resolves to whether the person said yes. The focus is on yes, as in Slack,
  unless no is the safe answer. */
export function confirmDialog(c, style, safe = "yes") {
  return new Promise((resolve) => {
    const danger = (c.style || style) === "danger";
    const dialog = h("dialog.modal.confirm", { "aria-labelledby": "confirm-title" },
      h("h2", { id: "confirm-title" }, plain(c.title.text)),
      h("div.modal-body", {}, textOf(c.text)),
      h("footer", {},
        h("button.btn", { type: "button", autofocus: safe === "no", onclick: () => dialog.close("no") },
          plain(c.deny.text)),
        h(`button.btn.${danger ? "danger" : "primary"}`,
          { type: "button", autofocus: safe === "yes", onclick: () => dialog.close("yes") }, plain(c.confirm.text))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

// open is the modal that is in the dialog, and its form.
let open = null;
let dialog = null;
let back = null; // what the focus returns to

const keyOf = (view) => [view.id, view.hash, language()].join();

/** drawModal shows the person's modal, if there is one. What was typed stays where the app changes it. */
export function drawModal() {
  const [view] = state.views;
  if (!view) {
    if (open) dialog.close();
    open = null;
    return;
  }
  const known = open?.view.id === view.id && open.me === state.me ? open : null;
  if (known?.key === keyOf(view)) return;
  const form = build(view);
  if (known) takeOver(form, known.form);
  open = { key: keyOf(view), view, form, me: state.me };
  if (!dialog) raise();
  dialog.replaceChildren(form);
  dialog.dataset.view = view.id;
  dialog.dataset.callback = view.callback_id || "";
  (dialog.querySelector(".modal-body input, .modal-body textarea, .modal-body select") ||
    dialog.querySelector("button"))?.focus();
}

// raise opens the dialog that the form stands in.
function raise() {
  // The button that opened it may be drawn anew meanwhile: its place is kept by name.
  const from = document.activeElement;
  back = from?.closest(".msg") &&
    `.msg[data-ts="${from.closest(".msg").dataset.ts}"] [data-focus="${CSS.escape(from.dataset.focus || "")}"]`;
  dialog = h("dialog.modal", { "aria-labelledby": "modal-title" });
  const raised = dialog;
  onEscape(raised, leave);
  raised.addEventListener("close", () => {
    raised.remove();
    if (dialog === raised) dialog = null;
    if (back) document.querySelector(back)?.focus({ preventScroll: true });
  });
  document.body.append(raised);
  raised.showModal();
}

/** onEscape calls f when Escape is pressed while a dialog is the topmost. Escape that ends the choice of characters is
   none. */
export function onEscape(el, f) {
  el.setAttribute("closedby", "none");
  el.addEventListener("cancel", (e) => {
    if (e.target === el) e.preventDefault();
  });
  const key = (e) => {
    if (e.key !== "Escape" || e.defaultPrevented ||
      [...document.querySelectorAll("dialog[open]")].at(-1) !== el) return;
    e.preventDefault();
    if (!e.isComposing && e.keyCode !== 229) f();
  };
  document.addEventListener("keydown", key);
  el.addEventListener("close", () => document.removeEventListener("keydown", key));
}

const controls = (form) => [...form.querySelectorAll(".b-control")];
const value = (control) => JSON.stringify(control.read());

// takeOver fills a form that the app has changed with what was typed into fields that are still there.
function takeOver(form, old) {
  for (const was of controls(old).filter((c) => value(c) !== c.dataset.first)) {
    const now = controls(form).find((c) => c.id === was.id && c.tagName === was.tagName);
    if (now && "value" in now) now.value = was.value;
  }
}

// typed is whether a form has what would be lost.
const typed = (form) => controls(form).some((c) => value(c) !== c.dataset.first);

// discard asks before something typed is lost.
const discard = () => confirmDialog({
  title: { text: t("discardTitle") }, text: { type: "plain_text", text: t("discardText") },
    confirm: { text: t("discardYes") }, deny: { text: t("discardNo") }, style: "danger",
}, "danger", "no");

// leave closes the modal, as the person wants.
async function leave() {
  const left = open;
  if (!left || (typed(left.form) && !(await discard()))) return;
  post("close", { user: state.me, view_id: left.view.id }).catch((err) => toast(err.message, "error"));
}

addEventListener("beforeunload", (e) => {
  if (open && typed(open.form)) e.preventDefault();
});

function build(view) {
  const trouble = h("p.trouble", { role: "alert", hidden: true }, icon("warn"), h("span", {}, t("trouble")));
  const on = {
    act: async (e, value) => {
      try {
        await post("act", { user: state.me, view_id: view.id, action_id: e.action_id, value });
      } catch {
        trouble.hidden = false;
      }
    },
  };
  const submit = view.submit && h("button.btn.primary", { type: "submit" }, plain(view.submit.text));
  const form = h("form", { novalidate: true,
    onsubmit: (e) => { e.preventDefault(); send(view, form, submit, trouble); } },
    h("header", {},
      h("img", { src: "/icon.svg", alt: "" }),
      h("h2", { id: "modal-title" }, plain(view.title?.text)),
      h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave }, icon("close"))),
    h("div.modal-body", {}, trouble, blocks(view.blocks, on)),
    h("footer", {},
      h("button.btn", { type: "button", onclick: leave }, plain(view.close?.text) || t("close")),
      submit));
  form.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.metaKey || e.ctrlKey) && submit) form.requestSubmit();
  });
  form.addEventListener("input", (e) => note(e.target.closest("[data-block]"), ""));
  for (const c of controls(form)) c.dataset.first = value(c);
  return form;
}

// note shows what is wrong with an input, or clears it.
function note(input, text) {
  if (!input) return;
  const p = input.querySelector(".error");
  p.hidden = !text;
  p.replaceChildren(...(text ? [icon("warn"), text] : []));
  input.classList.toggle("wrong", !!text);
  input.querySelector(".b-control").setAttribute("aria-invalid", String(!!text));
}

// unfit is what Slack's own client refuses before it asks the app.
function unfit(b, value) {
  if (!b.optional && !value?.length) return t("required");
  if (b.element.min_length && value.length < b.element.min_length) return t("tooShort", { n: b.element.min_length });
  if (b.element.max_length && value.length > b.element.max_length) return t("tooLong", { n: b.element.max_length });
  return "";
}

async function send(view, form, submit, trouble) {
  const values = {};
  let first = null;
  for (const b of view.blocks.filter((x) => x.type === "input")) {
    const input = form.querySelector(`[data-block="${CSS.escape(b.block_id)}"]`);
    values[b.block_id] = input.querySelector(".b-control").read();
    const wrong = unfit(b, values[b.block_id]);
    note(input, wrong);
    if (wrong) first ||= input;
  }
  if (first) {
    first.querySelector("input, textarea, select")?.focus();
    return;
  }
  trouble.hidden = true;
  submit.disabled = true;
  submit.setAttribute("aria-busy", "true");
  try {
    for (const b of view.blocks.filter((x) => x.element?.type === "file_input")) {
      values[b.block_id] = await bodies(values[b.block_id]);
    }
    const { errors } = await post("submit", { user: state.me, view_id: view.id, values });
    for (const [block, text] of Object.entries(errors || {})) {
      const input = form.querySelector(`[data-block="${CSS.escape(block)}"]`);
      note(input, text);
      input.querySelector("input, textarea, select")?.focus();
    }
  } catch {
    trouble.hidden = false;
  } finally {
    submit.disabled = false;
    submit.removeAttribute("aria-busy");
  }
}
