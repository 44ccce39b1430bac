// A small menu at a button, for mouse and keyboard.

import { h, icon } from "./dom.js";

let close = () => {};

/** openMenu shows entries {label, icon|app, first, run} at a button. */
export function openMenu(anchor, entries) {
  close();
  const menu = h("div.menu", { role: "menu" }, entries.map((e) => [
    e.first && h("hr", { role: "separator" }),
    h("button", { type: "button", role: "menuitem", tabindex: "-1", dataset: { id: e.id || "" }, onclick: () => { close(); back(); e.run(); } },
      e.app ? h("img", { src: "/icon.svg", alt: "" }) : icon(e.icon), h("span", {}, e.label), e.app && h("small", {}, "Ringi")),
  ]));
  document.body.append(menu);
  place(menu, anchor);
  anchor.setAttribute("aria-expanded", "true");
  // A message may be drawn anew while its menu is open: the focus goes back to its new button.
  const ts = anchor.closest("[data-ts]")?.dataset.ts;
  const back = () => (anchor.isConnected || !ts ? anchor : document.querySelector(`[data-ts="${ts}"] [data-focus="${anchor.dataset.focus}"]`))?.focus();
  const items = [...menu.querySelectorAll("[role=menuitem]")];
  items[0].focus();
  const outside = (e) => { if (!menu.contains(e.target) && !anchor.contains(e.target)) close(); };
  close = () => {
    menu.remove();
    anchor.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside);
    close = () => {};
  };
  document.addEventListener("pointerdown", outside);
  menu.addEventListener("keydown", (e) => {
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[e.key];
    if (to !== undefined) items[(to + items.length) % items.length].focus();
    else if (e.key === "Escape" || e.key === "Tab") { close(); back(); }
    else return;
    e.preventDefault();
  });
}

// place keeps the menu inside of the window.
function place(menu, anchor) {
  const a = anchor.getBoundingClientRect();
  const left = Math.max(8, Math.min(a.right - menu.offsetWidth, innerWidth - menu.offsetWidth - 8));
  const last = innerHeight - menu.offsetHeight - 8;
  menu.style.left = `${left}px`;
  menu.style.top = `${Math.max(8, Math.min(a.bottom + 4 < last ? a.bottom + 4 : a.top - menu.offsetHeight - 4, last))}px`;
}
