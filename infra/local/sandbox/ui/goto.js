// Going to one message, wherever it is.

import { keepFolds } from "./kept.js";
import { changed, ui } from "./store.js";

let timer = 0;

/** show goes to a message, opens its thread and lights it up for a while. */
export function show(channel, ts, root) {
  ui.channel = channel;
  localStorage.setItem("channel", channel);
  ui.found = null;
  const search = document.getElementById("search");
  if (search) search.value = "";
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
