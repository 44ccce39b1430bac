// Small helpers over the DOM, and the small menu at a button. Text always goes in as text, never as HTML.

/** h makes an element: h("button.primary", {onclick}, "text", child, …). */
export function h(spec, props, ...children) {
  const [tag, ...classes] = spec.split(".");
  const el = document.createElement(tag || "div");
  if (classes.length) el.className = classes.join(" ");
  for (const [k, v] of Object.entries(props || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) el.addEventListener(k.slice(2), v);
    else if (k === "style") for (const [name, value] of Object.entries(v)) el.style.setProperty(name, value);
    else if (k === "dataset") Object.assign(el.dataset, v);
    else if (k in el && typeof v !== "string") el[k] = v;
    else el.setAttribute(k, v === true ? "" : v);
  }
  el.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

const paths = {
  hash: "M9.5 3 7.5 21M16.5 3l-2 18M4 8.5h17M3 15.5h17",
  send: "M4 12 20.5 4.5 15 20l-3.2-6.3L4 12zM11.8 13.7 20.5 4.5",
  gear: "M10.2 5.3L10.4 2.8L13.6 2.8L13.8 5.3L15.4 6.0L17.4 4.4L19.6 6.6L18.0 8.6L18.7 10.2L21.2 10.4L21.2 " +
    "13.6L18.7 13.8L18.0 15.4L19.6 17.4L17.4 19.6L15.4 18.0L13.8 18.7L13.6 21.2L10.4 21.2L10.2 18.7L8.6 18.0L6.6 " +
    "19.6L4.4 17.4L6.0 15.4L5.3 13.8L2.8 13.6L2.8 10.4L5.3 10.2L6.0 8.6L4.4 6.6L6.6 4.4L8.6 6.0zM12 9a3 3 0 1 0 0 6 " +
    "3 3 0 0 0 0-6z",
  dots: "M5.5 12h.01M12 12h.01M18.5 12h.01",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 " +
    "0 0-5.6z",
  warn: "M12 4 2.8 20h18.4L12 4zM12 10v4.5M12 17.3h.01",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  chevron: "M9 6l6 6-6 6",
  clip: "M20 11.5l-8.2 8.2a5 5 0 0 1-7-7l8.500-8.500a3.300 3.300 0 0 1 4.700 4.700l-8.200 8.200a1.600 1.600 0 0 " +
    "1-2.300-2.300l7.500-7.500",
  reply: "M10 8 5 12.5 10 17M5.5 12.5H14c3 0 5 1.8 5 5",
  bolt: "M13 3 5 13.5h6L10.5 21 19 10h-6.2L13 3z",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1-1",
};

/** icon draws one of the page's line icons; it is never read aloud. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

/**
 * reconcile makes parent's children match items, keeping the nodes of those
 * whose key and signature stayed the same, so that focus and typed text survive.
 */
export function reconcile(parent, items) {
  const old = new Map([...parent.children].map((el) => [el.dataset.key, el]));
  let at = parent.firstElementChild;
  for (const item of items) {
    let el = old.get(item.key);
    old.delete(item.key);
    if (!el || el.dataset.sig !== item.sig) {
      const focus = el && el.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
      const fresh = item.render();
      fresh.dataset.key = item.key;
      fresh.dataset.sig = item.sig;
      if (el) {
        if (at === el) at = el.nextElementSibling;
        el.remove();
      }
      el = fresh;
      parent.insertBefore(el, at);
      // A button that is gone leaves its focus to the next thing in its place.
      if (focus) (el.querySelector(`[data-focus="${CSS.escape(focus)}"]`) ||
        el.querySelector("[data-focus]"))?.focus({ preventScroll: true });
      continue;
    }
    if (el === at) at = at.nextElementSibling;
    else parent.insertBefore(el, at);
  }
  for (const el of old.values()) el.remove();
}

/** fill gives parent the children that make returns, unless it has those of this key already. */
export function fill(parent, key, make) {
  if (parent.dataset.filled === key) return;
  parent.dataset.filled = key;
  parent.replaceChildren(...make());
}

/** toast shows a sentence for a while. */
export function toast(text, kind = "info") {
  const el = h("div.toast", { dataset: { kind } }, text);
  document.getElementById("toasts").append(el);
  setTimeout(() => el.remove(), 6000);
}

/** onEscape calls f when Escape is pressed while a dialog is the topmost. Escape that ends the choice of characters is
   none. */
export function onEscape(el, f) {
  el.setAttribute("closedby", "none");
  el.addEventListener("cancel", (e) => { if (e.target === el) e.preventDefault(); });
  const key = (e) => {
    if (e.key !== "Escape" || e.defaultPrevented ||
      [...document.querySelectorAll("dialog[open]")].at(-1) !== el) return;
    e.preventDefault();
    if (!e.isComposing && e.keyCode !== 229) f();
  };
  document.addEventListener("keydown", key);
  el.addEventListener("close", () => document.removeEventListener("keydown", key));
}

let close = () => {};

/** openMenu shows entries {label, icon|app, first, run} at a button. */
export function openMenu(anchor, entries) {
  close();
  const menu = h("div.menu", { role: "menu" }, entries.map((e) => [
    e.first && h("hr", { role: "separator" }),
    h("button", { type: "button", role: "menuitem", tabindex: "-1", dataset: { id: e.id || "" },
      onclick: () => { close(); back(); e.run(); } },
      e.app ? h("img", { src: "/icon.svg", alt: "" }) : icon(e.icon), h("span", {}, e.label), e.app &&
        h("small", {}, "Ringi")),
  ]));
  document.body.append(menu);
  place(menu, anchor);
  anchor.setAttribute("aria-expanded", "true");
  // A message may be drawn anew while its menu is open: the focus goes back to its new button.
  const ts = anchor.closest("[data-ts]")?.dataset.ts;
  const back = () => (anchor.isConnected || !ts ? anchor
    : document.querySelector(`[data-ts="${ts}"] [data-focus="${anchor.dataset.focus}"]`))?.focus();
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
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, }[e.key];
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
  const top = a.bottom + 4 < last ? a.bottom + 4 : a.top - menu.offsetHeight - 4;
  menu.style.top = `${Math.max(8, Math.min(top, last))}px`;
}
