// The page: what is drawn when, and where.

import { composer } from "./composer.js";
import { drawChat, say } from "./chat.js";
import { h, icon } from "./dom.js";
import { follow, show } from "./scroll.js";
import { drawHeader } from "./header.js";
import { become, changed, heardOfStart, listen, state, ui, unread } from "./store.js";
import { drawModal } from "./modal.js";
import { drawPanel } from "./panel.js";
import { placeName } from "./people.js";
import { drawSidebar } from "./sidebar.js";
import { clockTime, language, t } from "./i18n.js";

const $ = (id) => document.getElementById(id);

let composerFor = "";

function drawComposer() {
  const c = state.channels.find((x) => x.id === ui.channel);
  const key = c ? [state.me, c.id, language()].join() : "";
  if (key === composerFor) return;
  composerFor = key;
  const name = placeName(c);
  $("composer").replaceChildren(composer({
    key: `${state.me}/${c.id}`, id: "composer-main", placeholder: t("messageTo", { name }),
      send: (text, files) => say(text, "", files),
    hint: c.im ? t("hintDM") : t("hint"), focus: matchMedia("(hover: hover)").matches &&
      !document.querySelector("dialog[open]"),
  }));
}

function drawBanner() {
  const text = state.banner[language()] || "";
  $("banner").hidden = !text;
  if ($("banner").textContent !== text) $("banner").textContent = text;
}

// drawConnection says when the stack can't be reached, and what to do about that.
function drawConnection() {
  document.body.classList.toggle("offline", !state.online);
  const box = $("gone");
  box.hidden = state.online;
  const key = state.online ? "" : language();
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...(state.online ? []
    : [icon("warn"), h("span", {}, h("strong", {}, t("gone")), " ", t("goneText")),
    h("button.btn", { type: "button", id: "retry", onclick: () => become(ui.person) }, t("goneRetry"))]));
}

// drawAnew says what a new start of the stack took away, until the person has read it.
function drawAnew() {
  const box = $("anew");
  box.hidden = !state.anew;
  const key = state.anew + language();
  if (box.hidden || box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(icon("warn"), h("span", {}, t("anew", { t: clockTime(Date.parse(state.anew)) })),
    h("button.icon-btn", { type: "button", "aria-label": t("dismiss"), title: t("dismiss"),
      onclick: () => { heardOfStart(); state.anew = ""; changed(); } }, icon("close")));
}

// apart draws one part of the page; if that fails the others still are drawn.
function apart(part) {
  try {
    part();
  } catch (err) {
    reportError(err);
  }
}

function draw() {
  drawConnection();
  if (!state.loaded || !state.channels.length) return;
  $("app").classList.toggle("drawer-open", ui.drawer);
  $("app").classList.toggle("with-panel", !!ui.panel);
  $("shade").hidden = !ui.drawer;
  $("skip").textContent = t("skip");
  const parts = [() => drawSidebar($("sidebar")), () => drawHeader($("header")), drawBanner, drawAnew,
    () => drawPanel($("panel")), () => drawChat($("scroll"), $("log")), drawComposer, drawModal];
  parts.forEach(apart);
  const others = state.channels.some((c) => c.id !== ui.channel && unread(c.id));
  document.title = `${others ? "● " : ""}Ringi Sandbox`;
}

// A link to a message, /archives/<channel>/p<ts without the point>, shows it.
function followLink() {
  const m = /^\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})$/.exec(location.pathname);
  if (!m) return;
  history.replaceState(null, "", "/");
  show(m[1], `${m[2]}.${m[3]}`);
}

document.addEventListener("keydown", (e) => {
  if (e.key === "Escape" && ui.drawer) {
    ui.drawer = false;
    changed();
  }
});
$("shade").addEventListener("click", () => {
  ui.drawer = false;
  changed();
});

follow($("scroll"), $("log"));
followLink();
listen(draw);
become(ui.person);
