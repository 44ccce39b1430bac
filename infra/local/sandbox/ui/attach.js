// Files that a person attaches to a message: chosen, dropped on the message box, or pasted.

import { h, icon, toast } from "./dom.js";
import { sizeText, t } from "./i18n.js";

// The limits of the sandbox, which says them too.
const mostFiles = 10;
const mostMB = 32;

const all = new Map(); // by the message box's key, as drafts are

// refusal says why a file can't be attached to these; "" if it can.
function refusal(file, list) {
  if (list.length >= mostFiles) return t("filesMany", { n: mostFiles });
  if (!file.size) return t("fileEmpty", { name: file.name });
  const bytes = list.reduce((n, f) => n + f.size, file.size);
  return bytes > mostMB * 2 ** 20 ? t("filesLarge", { name: file.name, n: mostMB }) : "";
}

/** chosen is the files of a message box: its button, the row that shows them, and what they are. */
export function chosen(key, changed) {
  const row = h("ul.chosen-files", { hidden: true });
  const list = () => all.get(key) || [];
  const draw = () => {
    row.hidden = !list().length;
    row.replaceChildren(...list().map((f, i) => h("li", {}, h("span", {}, f.name), h("small", {}, sizeText(f.size)),
      h("button", { type: "button", "aria-label": t("fileOff", { name: f.name }), title: t("fileOff", { name: f.name }), onclick: () => replace(list().toSpliced(i, 1)) }, icon("close")))));
  };
  const replace = (next) => {
    next.length ? all.set(key, next) : all.delete(key);
    draw();
    changed();
  };
  const add = (files) => {
    const next = [...list()];
    for (const f of files) {
      const why = refusal(f, next);
      if (why) {
        toast(why, "error");
        if (next.length >= mostFiles) break;
      } else next.push(f);
    }
    replace(next);
  };
  const input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", onchange: () => { add(input.files); input.value = ""; } });
  const button = h("button.at.clip", { type: "button", "aria-label": t("attach"), title: t("attach"), onclick: () => input.click() }, icon("clip"));
  draw();
  return {
    row, button: [button, input], list, replace,
    takeFrom: (box) => {
      const take = (e, data) => {
        if (!data?.files.length) return;
        e.preventDefault();
        add(data.files);
      };
      box.addEventListener("dragover", (e) => { if (e.dataTransfer.types.includes("Files")) e.preventDefault(); });
      box.addEventListener("drop", (e) => take(e, e.dataTransfer));
      box.addEventListener("paste", (e) => take(e, e.clipboardData));
    },
  };
}

const base64 = (file) => new Promise((done, failed) => {
  const r = new FileReader();
  r.onload = () => done(r.result.slice(r.result.indexOf(",") + 1));
  r.onerror = () => failed(new Error(t("fileUnread", { name: file.name }))); // a folder, or gone since it was chosen
  r.readAsDataURL(file);
});

/** bodies are files as the sandbox takes them. */
export const bodies = (files) => Promise.all(files.map(async (f) => ({ name: f.name, body: await base64(f) })));
