// The box that messages are written in, with @mentions, and with files that are chosen, dropped on it or pasted.

import { h, icon, toast } from "./dom.js";
import { sizeText, t } from "./i18n.js";
import { draft, keepDraft, state } from "./store.js";
import { avatar, nameOf } from "./people.js";

function candidates(query) {
  const q = query.toLowerCase();
  return [...state.users.values()].filter((u) => [u.name, nameOf(u.id)].some((n) => n.toLowerCase().includes(q)) ||
    u.handle.startsWith(q)).sort((a, b) => Number(!!b.bot) - Number(!!a.bot)).slice(0, 6);
}

// mentions is the list that appears after an @; it takes the keys it needs.
function mentions(area, changed) {
  const list = h("ul.mentions", { role: "listbox", hidden: true });
  let found = [];
  let at = 0;
  const query = () => /(?:^|\s)@([^\s@]*)$/.exec(area.value.slice(0, area.selectionStart))?.[1];
  const pick = (user) => {
    const start = area.selectionStart - query().length;
    area.setRangeText(`${nameOf(user.id)} `, start, area.selectionStart, "end");
    list.hidden = true;
    area.focus();
    changed();
  };
  const draw = () => list.replaceChildren(...found.map((u, i) =>
    h("li", { role: "option", "aria-selected": String(i === at),
      onpointerdown: (e) => { e.preventDefault(); pick(u); } }, avatar(u.id, "tiny"), h("span", {}, nameOf(u.id)),
      h("small", {}, "@" + u.handle))));
  return {
    list,
    look: () => {
      const q = query();
      found = q === undefined ? [] : candidates(q);
      at = 0;
      list.hidden = !found.length;
      draw();
    },
    key: (e) => {
      if (list.hidden) return false;
      if (e.key === "ArrowDown" || e.key === "ArrowUp") at = (at + (e.key === "ArrowDown" ? 1
        : -1) + found.length) % found.length;
      else if (e.key === "Enter" || e.key === "Tab") pick(found[at]);
      else if (e.key === "Escape") list.hidden = true;
      else return false;
      draw();
      return true;
    },
  };
}

/**
 * composer makes a box; options are {key, placeholder, send, verb, cancel, focus, hint, id, optional, bare}. The text
 * of one that is optional may be empty; one that is bare takes no files.
 */
export function composer(options) {
  const area = h("textarea", { rows: "1", placeholder: options.placeholder, "aria-label": options.placeholder,
    id: options.id, enterkeyhint: "send", dataset: { focus: "area" } });
  area.value = draft(options.key);
  const sendButton = h("button.send", { type: "button", "aria-label": options.verb || t("send"), title: options.verb ||
    t("send"), onclick: () => submit() }, icon("send"));
  const fit = () => {
    keepDraft(options.key, area.value);
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 200)}px`;
    sendButton.disabled = !options.optional && !area.value.trim() && !files.list().length;
  };
  const files = chosen(options.key, () => fit());
  const menu = mentions(area, fit);
  const submit = async () => {
    const text = area.value.trim();
    const list = files.list();
    if (!text && !list.length && !options.optional) return;
    area.value = "";
    files.replace([]);
    try {
      await options.send(text, list);
    } catch (err) {
      area.value = text;
      files.replace(list);
      fit();
      toast(t("notSent", { e: err.message }), "error");
    }
    area.focus();
  };
  area.addEventListener("input", () => {
    fit();
    menu.look();
  });
  area.addEventListener("blur", () => { menu.list.hidden = true; });
  area.addEventListener("keydown", (e) => {
    // Enter that ends the choice of characters (kana to kanji) sends nothing.
    if (e.isComposing || e.keyCode === 229) return;
    if (menu.key(e)) e.preventDefault();
    else if (e.key === "Enter" && !e.shiftKey) {
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
  const box = h("div.composer", {}, menu.list, area, files.row,
    h("div.composer-row", {}, at, !options.bare && files.button, options.hint &&
    h("p.composer-hint", {}, rich(options.hint)), options.hint && h("p.composer-keys", {}, t("keys")), sendButton));
  if (!options.bare) files.takeFrom(box);
  queueMicrotask(() => {
    fit();
    if (options.focus) area.focus();
  });
  return box;
}

// rich makes the one emphasis that the page's own words have.
function rich(s) {
  return s.split(/<\/?b>/).map((part, i) => (i % 2 ? h("b", {}, part) : part));
}

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
      h("button", { type: "button", "aria-label": t("fileOff", { name: f.name }),
        title: t("fileOff", { name: f.name }), onclick: () => replace(list().toSpliced(i, 1)) }, icon("close")))));
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
  const input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1",
    onchange: () => { add(input.files); input.value = ""; } });
  const button = h("button.at.clip", { type: "button", "aria-label": t("attach"), title: t("attach"),
    onclick: () => input.click() }, icon("clip"));
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
