// The page: what is drawn when, and where.

import { drawChat, say, show } from "./chat.js";
import { composer } from "./composer.js";
import { fill, h, icon } from "./dom.js";
import { language, t } from "./i18n.js";
import { drawModal } from "./modal.js";
import { placeName } from "./people.js";
import { drawHeader, drawSidebar } from "./frame.js";
import { begin, changed, here, listen, state, ui, unread } from "./store.js";

const $ = (id) => document.getElementById(id);

function drawComposer() {
  const c = here();
  fill($("composer"), c ? [state.me, c.id, language()].join() : "", () => [composer({
    key: `${state.me}/${c.id}`, id: "composer-main", placeholder: t("messageTo", { name: placeName(c) }),
    send: (text, files) => say(text, "", files), hint: c.im ? t("hintDM") : t("hint"),
    focus: matchMedia("(hover: hover)").matches && !document.querySelector("dialog[open]"),
  })]);
}

// drawBanners say that the stack can't be reached, and what to do about that; what it is.
function drawBanners() {
  document.body.classList.toggle("offline", !state.online);
  $("gone").hidden = state.online;
  fill($("gone"), state.online ? "" : language(), () => (state.online ? [] : [icon("warn"),
    h("span", {}, h("strong", {}, t("gone")), " ", t("goneText"))]));
  const text = state.banner[language()] || "";
  $("banner").hidden = !text;
  fill($("banner"), text, () => [text]);
}

function draw() {
  drawBanners();
  if (!state.loaded || !state.channels.length) return;
  $("app").classList.toggle("drawer-open", ui.drawer);
  $("shade").hidden = !ui.drawer;
  $("skip").textContent = t("skip");
  const parts = [() => drawSidebar($("sidebar")), () => drawHeader($("header")),
    () => drawChat($("scroll"), $("log")), drawComposer, drawModal];
  for (const part of parts) {
    try {
      part();
    } catch (err) {
      reportError(err); // the other parts still are drawn
    }
  }
  document.title = `${state.channels.some((c) => c.id !== ui.channel && unread(c.id)) ? "● " : ""}Ringi Sandbox`;
}

function closeDrawer() {
  ui.drawer = false;
  changed();
}

addEventListener("keydown", (e) => { if (e.key === "Escape" && ui.drawer) closeDrawer(); });
$("shade").addEventListener("click", closeDrawer);

// A link to a message, /archives/<channel>/p<ts without the point>, shows it.
const linked = /^\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})$/.exec(location.pathname);
if (linked) {
  history.replaceState(null, "", "/");
  show(linked[1], `${linked[2]}.${linked[3]}`);
}
listen(draw);
begin();
