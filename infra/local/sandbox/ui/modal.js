// Modals that the app opens, and the question before a button with "confirm".

import { post } from "./api.js";
import { blocks, textOf } from "./blocks.js";
import { h, icon } from "./dom.js";
import { language, t } from "./i18n.js";
import { plain } from "./mrkdwn.js";
import { state } from "./store.js";

/** confirmDialog asks and resolves to whether the person said yes. */
export function confirmDialog(c, style) {
  return new Promise((resolve) => {
    const danger = (c.style || style) === "danger";
    const dialog = h("dialog.modal.confirm", { "aria-labelledby": "confirm-title" },
      h("h2", { id: "confirm-title" }, plain(c.title.text)),
      h("div.modal-body", {}, textOf(c.text)),
      h("footer", {},
        h("button.btn", { type: "button", onclick: () => dialog.close("no") }, plain(c.deny.text)),
        h(`button.btn.${danger ? "danger" : "primary"}`, { type: "button", autofocus: true, onclick: () => dialog.close("yes") }, plain(c.confirm.text))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

let shown = null;

/** drawModal shows the topmost modal of the person, if there is one. */
export function drawModal() {
  const view = state.views.at(-1);
  const key = view ? [state.me, view.id, view.hash, language()].join() : "";
  if (shown && shown.key === key) return;
  if (shown) {
    shown.done = true;
    shown.dialog.close();
    shown.dialog.remove();
    shown = null;
  }
  if (!view) return;
  const dialog = build(view);
  shown = { key, dialog, done: false };
  const mine = shown;
  dialog.addEventListener("close", () => {
    // The person closed it, not a change from the app: the app may want to know.
    if (!mine.done) post("close", { user: state.me, view_id: view.id }).catch(() => {});
  });
  // The button that opened it may be drawn anew meanwhile: its place is kept by name.
  const from = document.activeElement;
  const place = from?.closest(".msg") && `.msg[data-ts="${from.closest(".msg").dataset.ts}"] [data-focus="${CSS.escape(from.dataset.focus || "")}"]`;
  if (place) dialog.addEventListener("close", () => document.querySelector(place)?.focus({ preventScroll: true }));
  document.body.append(dialog);
  dialog.showModal();
  (dialog.querySelector(".modal-body input, .modal-body textarea, .modal-body select") || dialog.querySelector("button"))?.focus();
}

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
  const form = h("form", { novalidate: true, onsubmit: (e) => { e.preventDefault(); send(view, form, submit, trouble); } },
    h("header", {},
      h("img", { src: "/icon.svg", alt: "" }),
      h("h2", { id: "modal-title" }, plain(view.title?.text)),
      h("button.icon-btn", { type: "button", "aria-label": t("close"), onclick: () => form.closest("dialog").close() }, icon("close"))),
    h("div.modal-body", {}, trouble, blocks(view.blocks, on)),
    h("footer", {},
      h("button.btn", { type: "button", onclick: () => form.closest("dialog").close() }, plain(view.close?.text) || t("close")),
      submit));
  form.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.metaKey || e.ctrlKey) && submit) form.requestSubmit();
  });
  form.addEventListener("input", (e) => note(e.target.closest("[data-block]"), ""));
  return h("dialog.modal", { "aria-labelledby": "modal-title", dataset: { view: view.id, callback: view.callback_id } }, form);
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
