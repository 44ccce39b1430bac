// The page: what is drawn when, and where.

import { composer } from "./composer.js";
import { drawChat, follow, say } from "./chat.js";
import { toast } from "./dom.js";
import { drawHeader } from "./header.js";
import { drawModal } from "./modal.js";
import { drawPanel } from "./run.js";
import { channelName, drawSidebar } from "./sidebar.js";
import { language, setLanguage, t } from "./i18n.js";
import { become, changed, listen, state, ui, unread } from "./store.js";

const $ = (id) => document.getElementById(id);

let composerFor = "";

function drawComposer() {
  const c = state.channels.find((x) => x.id === ui.channel);
  const key = c ? [state.me, c.id, language()].join() : "";
  if (key === composerFor) return;
  composerFor = key;
  const name = c.im ? channelName(c) : "#" + channelName(c);
  $("composer").replaceChildren(composer({
    key: `${state.me}/${c.id}`, id: "composer-main", placeholder: t("messageTo", { name }), send: (text) => say(text),
    hint: c.im ? t("hintDM") : t("hint"), focus: matchMedia("(hover: hover)").matches && !document.querySelector("dialog[open]"),
  }));
}

function drawBanner() {
  const text = state.banner[language()] || "";
  $("banner").hidden = !text;
  if ($("banner").textContent !== text) $("banner").textContent = text;
}

let warned = false;

function drawConnection() {
  document.body.classList.toggle("offline", !state.online);
  if (!state.online && !warned) toast(t("offline"), "error");
  warned = !state.online;
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
  const parts = [() => drawSidebar($("sidebar")), () => drawHeader($("header")), drawBanner, () => drawPanel($("panel")), () => drawChat($("scroll"), $("log")), drawComposer, drawModal];
  parts.forEach(apart);
  const others = state.channels.some((c) => c.id !== ui.channel && unread(c.id));
  document.title = `${others ? "● " : ""}Ringi Sandbox`;
}

// A link to a message, /archives/<channel>/p<ts without the point>, shows it.
function followLink() {
  const m = /^\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})$/.exec(location.pathname);
  if (!m) return;
  ui.channel = m[1];
  ui.flash = `${m[2]}.${m[3]}`;
  history.replaceState(null, "", "/");
  setTimeout(() => {
    ui.flash = "";
    changed();
  }, 3000);
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

setLanguage(language());
follow($("scroll"));
followLink();
listen(draw);
become(ui.person);
