// The modal that the app opens, and the question before a button with "confirm".

import { blocks, plain, textOf } from "./blocks.js";
import { bodies } from "./composer.js";
import { h, icon, onEscape } from "./dom.js";
import { language, t } from "./i18n.js";
import { post, state } from "./store.js";

/** confirmDialog asks and resolves to whether the person said yes. The focus is on yes, as in Slack. */
export function confirmDialog(c, style) {
  return new Promise((resolve) => {
    const verb = (c.style || style) === "danger" ? "danger" : "primary";
    const dialog = h("dialog.modal.confirm", { "aria-labelledby": "confirm-title" },
      h("h2", { id: "confirm-title" }, plain(c.title.text)),
      h("div.modal-body", {}, textOf(c.text)),
      h("footer", {},
        h("button.btn", { type: "button", onclick: () => dialog.close("no") }, plain(c.deny.text)),
        h(`button.btn.${verb}`, { type: "button", autofocus: true, onclick: () => dialog.close("yes") },
          plain(c.confirm.text))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

let open = null; // {key, view, form, me}: what is in the dialog
let dialog = null;

/** drawModal shows the person's modal, if there is one. What was typed stays where the app changes it. */
export function drawModal() {
  const [view] = state.views;
  if (!view) {
    if (open) dialog.close();
    open = null;
    return;
  }
  const key = [view.id, view.hash, language(), state.me].join();
  if (open?.key === key) return;
  const form = build(view);
  if (open?.view.id === view.id && open.me === state.me) takeOver(form, open.form);
  open = { key, view, form, me: state.me };
  if (!dialog) raise();
  dialog.replaceChildren(form);
  (dialog.querySelector(".modal-body input, .modal-body textarea, .modal-body select") ||
    dialog.querySelector("button"))?.focus();
}

// raise opens the dialog that the form stands in.
function raise() {
  // The button that opened it may be drawn anew meanwhile: its place is kept by name.
  const from = document.activeElement;
  const back = from?.closest(".msg") &&
    `.msg[data-ts="${from.closest(".msg").dataset.ts}"] [data-focus="${CSS.escape(from.dataset.focus || "")}"]`;
  dialog = h("dialog.modal", { "aria-labelledby": "modal-title" });
  onEscape(dialog, leave);
  dialog.addEventListener("close", () => {
    dialog.remove();
    dialog = null;
    if (back) document.querySelector(back)?.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
}

const controls = (form) => [...form.querySelectorAll(".b-control")];

// takeOver fills a form that the app has changed with what was typed into fields that are still there.
function takeOver(form, old) {
  for (const was of controls(old).filter((c) => "value" in c && c.value !== c.dataset.first)) {
    const now = controls(form).find((c) => c.id === was.id && c.tagName === was.tagName);
    if (now) now.value = was.value;
  }
}

// leave closes the modal, as the person wants.
const leave = () => post("close", { user: state.me, view_id: open.view.id }).catch(() => {});

function build(view) {
  const trouble = h("p.trouble", { role: "alert", hidden: true }, icon("warn"), h("span", {}, t("trouble")));
  const on = { act: (e) => post("act", { user: state.me, view_id: view.id, action_id: e.action_id, value: e.value || "" })
    .catch(() => { trouble.hidden = false; }) };
  const submit = view.submit && h("button.btn.primary", { type: "submit" }, plain(view.submit.text));
  const form = h("form", { novalidate: true,
    onsubmit: (e) => { e.preventDefault(); send(view, form, submit, trouble); } },
    h("header", {},
      h("img", { src: "/icon.svg", alt: "" }),
      h("h2", { id: "modal-title" }, plain(view.title?.text)),
      h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: leave }, icon("close"))),
    h("div.modal-body", {}, trouble, blocks(view.blocks, on)),
    h("footer", {}, h("button.btn", { type: "button", onclick: leave }, plain(view.close?.text) || t("close")),
      submit));
  form.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.metaKey || e.ctrlKey) && submit) form.requestSubmit();
  });
  form.addEventListener("input", (e) => note(e.target.closest("[data-block]"), ""));
  for (const c of controls(form)) c.dataset.first = c.value;
  return form;
}

// note shows what is wrong with an input, or clears it.
function note(input, text) {
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

// refuse shows what is wrong with each block, and goes to the first.
function refuse(form, errors) {
  const wrong = Object.entries(errors).filter(([, text]) => text).map(([block, text]) => {
    const input = form.querySelector(`[data-block="${CSS.escape(block)}"]`);
    note(input, text);
    return input;
  });
  wrong[0]?.querySelector("input, textarea, select")?.focus();
  return wrong.length > 0;
}

async function send(view, form, submit, trouble) {
  const inputs = view.blocks.filter((x) => x.type === "input");
  const values = Object.fromEntries(inputs.map((b) => [b.block_id,
    form.querySelector(`[data-block="${CSS.escape(b.block_id)}"] .b-control`).read()]));
  if (refuse(form, Object.fromEntries(inputs.map((b) => [b.block_id, unfit(b, values[b.block_id])])))) return;
  trouble.hidden = true;
  submit.disabled = true;
  submit.setAttribute("aria-busy", "true");
  try {
    for (const b of inputs.filter((x) => x.element.type === "file_input")) {
      values[b.block_id] = await bodies(values[b.block_id]);
    }
    const { errors } = await post("submit", { user: state.me, view_id: view.id, values });
    refuse(form, errors || {});
  } catch {
    trouble.hidden = false;
  } finally {
    submit.disabled = false;
    submit.removeAttribute("aria-busy");
  }
}
