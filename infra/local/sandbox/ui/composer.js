// The box that messages are written in, with files.

import { h, icon, toast } from "./dom.js";
import { sizeText, t } from "./i18n.js";
import { nameOf } from "./people.js";
import { state, ui } from "./store.js";

/**
 * composer makes a box; options are {key, placeholder, send, cancel, focus, hint, id}. What is typed and not sent is
 * kept under the key, <person>/<channel>, with /<thread> in one.
 */
export function composer(options) {
  const area = h("textarea", { rows: "1", placeholder: options.placeholder, "aria-label": options.placeholder,
    id: options.id, enterkeyhint: "send", dataset: { focus: "area" } });
  area.value = ui.drafts.get(options.key) || "";
  const sendButton = h("button.send", { type: "button", "aria-label": t("send"), title: t("send"), onclick: () => submit() },
    icon("send"));
  const fit = () => {
    ui.drafts.set(options.key, area.value);
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 200)}px`;
    sendButton.disabled = !area.value.trim() && !files.list.length;
  };
  const files = chosen(fit);
  const submit = async () => {
    const [text, list] = [area.value.trim(), files.list];
    if (sendButton.disabled) return;
    area.value = "";
    files.replace([]);
    try {
      await options.send(text, list);
    } catch (err) {
      area.value = text;
      files.replace(list);
      toast(t("notSent", { e: err.message }), "error");
    }
    area.focus();
  };
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (e) => {
    // Enter that ends the choice of characters (kana to kanji) sends nothing.
    if (e.isComposing || e.keyCode === 229) return;
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      submit();
    } else if (e.key === "Escape" && options.cancel) options.cancel();
  });
  const at = h("button.at", {
    type: "button", "aria-label": t("mention"), title: t("mention"),
    onclick: () => {
      area.setRangeText(`@${nameOf(state.bot)} `, area.selectionStart, area.selectionEnd, "end");
      area.focus();
      fit();
    },
  }, "@");
  queueMicrotask(() => {
    fit();
    if (options.focus) area.focus();
  });
  return h("div.composer", {}, area, files.row, h("div.composer-row", {}, at,
    files.button, options.hint && h("p.composer-hint", {}, options.hint), sendButton));
}

// chosen is the files of a message box: its button, the row that shows them, and what they are.
function chosen(changed) {
  const row = h("ul.chosen-files", { hidden: true });
  const input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1",
    onchange: () => { self.replace([...self.list, ...input.files]); input.value = ""; } });
  const self = {
    row, list: [],
    button: [h("button.at.clip", { type: "button", "aria-label": t("attach"), title: t("attach"),
      onclick: () => input.click() }, icon("clip")), input],
    replace: (list) => {
      self.list = list;
      row.hidden = !list.length;
      row.replaceChildren(...list.map((f, i) => h("li", {}, h("span", {}, f.name), h("small", {}, sizeText(f.size)),
        h("button", { type: "button", "aria-label": t("fileOff", { name: f.name }),
          onclick: () => self.replace(list.toSpliced(i, 1)) }, icon("close")))));
      changed();
    },
  };
  return self;
}

const base64 = (file) => new Promise((done, failed) => {
  const r = new FileReader();
  r.onload = () => done(r.result.slice(r.result.indexOf(",") + 1));
  r.onerror = () => failed(new Error(t("fileUnread", { name: file.name }))); // a folder, or gone since it was chosen
  r.readAsDataURL(file);
});

/** bodies are files as the sandbox takes them. */
export const bodies = (files) => Promise.all(files.map(async (f) => ({ name: f.name, body: await base64(f) })));
