// Where the conversation is scrolled to. At its end it follows what comes; elsewhere it stays, and says what is new.
// And
// going to one message, wherever it is.

import { h, icon } from "./dom.js";
import { t } from "./i18n.js";
import { changed, keepFolds, state, ui } from "./store.js";

let scroll = null;
let button = null;
let stick = true;
let seenTo = "";
let last = 0;

const distance = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;

// newer counts what others wrote since the person was at the end.
const newer = () => [...(state.messages.get(ui.channel)?.values() || [])].filter((m) => m.ts > seenTo &&
  m.user !== state.me).length;

const newest = () => [...(state.messages.get(ui.channel)?.keys() || [])].reduce((a, b) => (a > b ? a : b), "");

/** toEnd shows the end, and stays there. */
export function toEnd() {
  stick = true;
  scroll.scrollTop = scroll.scrollHeight;
  drawNews();
}

export const atEnd = () => stick;

/** leaveEnd: the person went elsewhere by a link. */
export function leaveEnd() { stick = false; }

/** drawNews shows the way to the end while the person is elsewhere, with how much is new there. */
export function drawNews() {
  if (stick) seenTo = newest();
  const away = !stick && distance() > 160;
  const n = away ? newer() : 0;
  const text = n ? t("news", { n }) : t("toEnd");
  button.hidden = !away;
  button.classList.toggle("has-news", n > 0);
  if (button.dataset.text !== text) {
    button.dataset.text = text;
    button.replaceChildren(icon("down"), text);
  }
}

/** follow watches the area that scrolls: what changes its height is not the person leaving the end. */
export function follow(area, log) {
  scroll = area;
  button = h("button.to-end", { type: "button", id: "to-end", hidden: true, onclick: toEnd });
  scroll.after(button);
  scroll.addEventListener("scroll", () => {
    if (distance() < 24) stick = true;
    else if (scroll.scrollTop < last - 1) stick = false;
    last = scroll.scrollTop;
    drawNews();
  });
  const resized = new ResizeObserver(() => {
    if (stick) scroll.scrollTop = scroll.scrollHeight;
    last = scroll.scrollTop;
  });
  resized.observe(scroll);
  resized.observe(log);
}

let timer = 0;

/** show goes to a message, opens its thread and lights it up for a while. */
export function show(channel, ts, root) {
  ui.channel = channel;
  localStorage.setItem("channel", channel);
  if (root && root !== ts) keepFolds([root], false);
  if (innerWidth <= 1080) ui.panel = ""; // it lies over the conversation
  ui.flash = ts;
  changed();
  clearTimeout(timer);
  timer = setTimeout(() => {
    ui.flash = "";
    changed();
  }, 3000);
}
