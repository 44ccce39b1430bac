// The row above the conversation: search, folding, and how much waits for the person.

import { h, icon } from "./dom.js";
import { language, t } from "./i18n.js";
import { channelName } from "./sidebar.js";
import { remember, state, ui } from "./store.js";
import { find, fold, isFolded, search } from "./threads.js";

const root = () => document.getElementById("tools");

let drawn = "";
let parts = null;

function frame(name) {
  const input = h("input", {
    type: "search", id: "search", placeholder: t("searchIn", { name }), "aria-label": t("searchIn", { name }), autocomplete: "off", spellcheck: "false", value: ui.found?.query || "",
    oninput: (e) => find(e.target.value),
    onkeydown: (e) => {
      if (e.key !== "Escape" || e.isComposing) return;
      e.preventDefault();
      input.value = "";
      find("");
    },
  });
  parts = {
    input,
    count: h("span.found", { role: "status" }),
    folding: h("button.tool-btn", { type: "button", id: "fold-all", onclick: () => parts.act() }),
    waits: h("button.tool-btn.waits-btn", { type: "button", id: "open-waits", onclick: () => remember("panel", ui.panel === "waits" ? "" : "waits") }),
  };
  root().replaceChildren(h("label.search", {}, icon("search"), input), parts.count, parts.folding, parts.waits);
}

/** drawTools renders the row for what the channel has; an empty one needs none. */
export function drawTools(top, threads) {
  const c = state.channels.find((x) => x.id === ui.channel);
  const long = top.filter((m) => threads.has(m.ts)).map((m) => m.ts);
  const waits = ui.waits.length;
  root().hidden = !top.length && !waits;
  const key = [language(), state.me, c.id].join();
  if (drawn !== key) {
    if (drawn && ui.found) ui.found = null; // another channel is another search
    drawn = key;
    frame(c.im ? channelName(c) : "#" + channelName(c));
  }
  parts.count.textContent = ui.found ? t("found", { n: search(top, threads).length }) : "";
  const open = long.filter((ts) => !isFolded(ts, top, threads));
  parts.folding.hidden = long.length < 2 || !!ui.found;
  parts.folding.textContent = open.length ? t("foldAll") : t("openAll");
  parts.act = () => fold(long, open.length > 0);
  parts.waits.setAttribute("aria-pressed", String(ui.panel === "waits"));
  const label = JSON.stringify([waits, language()]);
  if (parts.waits.dataset.sig !== label) {
    parts.waits.dataset.sig = label;
    parts.waits.ariaLabel = `${t("waits")} ${waits}`; // a phone shows the number alone
    parts.waits.replaceChildren(icon("stamp"), h("span", {}, t("waits")), " ", h(`b.count${waits ? ".some" : ""}`, {}, String(waits)));
  }
}
