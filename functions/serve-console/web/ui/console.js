// What a page gains with a script; each works without one.
"use strict";

// busy reports whether somebody works inside an element, which must then stay as it is: it is not enough that they
// unfolded
// something or stand on a link, when the same is on the next page.
function busy(el, stand) {
  const at = document.activeElement;
  return el.contains(at) && !stand && at.matches("input, select, textarea, button, summary, a") ||
    String(getSelection()) !== "";
}

// counterpart is the fold or the link of the next page that somebody stands on, or points at, in an element now.
function counterpart(at, el, next) {
  const fold = at.closest("summary")?.closest("details[id]");
  if (fold) return next.querySelector(`#${CSS.escape(fold.id)} > summary`);
  if (!at.matches("a[href]")) return null;
  const links = (of) => [...of.querySelectorAll(`a[href="${CSS.escape(at.getAttribute("href"))}"]`)];
  return links(next)[links(el).indexOf(at)];
}

// still makes a change on the page, and keeps what the pointer rests on where it is. The change returns what took its
// place.
function still(change) {
  const at = document.querySelector("main :is(form, a[href], summary):hover"), top = at?.getBoundingClientRect().top;
  const now = change() ?? at;
  if (!now?.isConnected) return;
  const moved = () => now.getBoundingClientRect().top - top;
  const pad = (el, side, by) => { el.style[side] = `${parseFloat(getComputedStyle(el)[side]) + by}px`; };
  scrollBy({ top: moved(), behavior: "instant" });
  if (moved() < 0) pad(document.querySelector("main"), "paddingTop", -moved()); // it stood at the page's top
  if (moved() > 0) { // at its end, which may be above that of the window
    pad(document.body, "paddingBottom", moved() + Math.max(0, innerHeight - document.body.offsetHeight));
    scrollBy({ top: moved(), behavior: "instant" });
  }
}

// decisions are an element's forms, each with what it sends: all but the key of the session.
function decisions(el) {
  const sent = (form) => [...form.querySelectorAll('input[type="hidden"]:not([name="form"])')].map((x) =>
    `${x.name}=${x.value}`);
  return [...el.querySelectorAll('form[method="post"]')].map((form) =>
    ({ form, sends: [form.getAttribute("action"), ...sent(form)].join("\n") }));
}

// close ends a form of a decision that is over, or opens it again: nothing in it goes, so that the keyboard stays where
// it is.
function close(form, over) {
  if (over === Boolean(form.dataset.over)) return;
  if (over) form.dataset.over = "1";
  else delete form.dataset.over;
  for (const field of form.elements) {
    field.readOnly = over;
    if (!field.matches("button")) continue;
    field.ariaDisabled = over ? "true" : null;
    const about = over ? "since" : field.dataset.about;
    if (over) field.dataset.about = field.getAttribute("aria-describedby") ?? "";
    if (about) field.setAttribute("aria-describedby", about);
    else field.removeAttribute("aria-describedby");
  }
}

// aside keeps a line, which stands where it is seen, from what the pointer rests on: it then stands at the window's
// upper edge.
function aside(line) {
  line.classList.remove("above");
  const at = document.querySelector("main :is(form, a[href], summary):hover")?.getBoundingClientRect(),
    over = line.getBoundingClientRect();
  line.classList.toggle("above", Boolean(at) && at.bottom > over.top && at.top < over.bottom);
}

// settle is for an element in which something can be decided: that stands there as it was read. No form takes the place
// of
// another or comes by itself. One whose decision is over is closed, until that very decision can be made again. As long
// as one
// is closed, or another is offered, a line says who decided, and leads to what waits now.
function settle(el, next) {
  const shown = decisions(el), now = decisions(next);
  const among = (all) => (x) => all.some((y) => y.sends === x.sends);
  const line = el.querySelector(".since"), said = document.createElement("p");
  for (const x of shown) close(x.form, !among(now)(x));
  if (!next.dataset.live) delete el.dataset.live;
  if (!shown.every(among(now)) || !now.every(among(shown))) {
    said.append(document.importNode(next.querySelector("template").content, true));
  }
  if (said.innerHTML === line.innerHTML) return;
  const stood = line.contains(document.activeElement);
  line.replaceChildren(...said.childNodes);
  aside(line);
  if (stood) line.querySelector("a")?.focus({ preventScroll: true });
}

// untimed is an element's content without its times, whose distance from now changes though nothing else does.
function untimed(el) {
  const copy = el.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.textContent = "";
  return copy.innerHTML;
}

// An element with data-live="<address>" is replaced by the one with its id on that page, every five seconds while the
// page
// is seen. What was unfolded stays so, and a link that somebody points at stays under the pointer. One with
// data-for="<id>"
// is what is decided on in the element with that id: it stays as it was read while either page can decide there.
function refresh(el, page) {
  const next = page.getElementById(el.id), forms = (of) =>
    decisions(of.getElementById(el.dataset.for) ?? of.createElement("p"));
  if (!next) return;
  const stays = el.dataset.for && forms(document).length + forms(page).length > 0;
  if (stays && !next.dataset.live) delete el.dataset.live;
  if (stays) return;
  if (decisions(el).length + decisions(next).length > 0) return settle(el, next);
  const focus = document.activeElement, stand = el.contains(focus) ? counterpart(focus, el, next) : null;
  const over = el.querySelector("a[href]:hover, details[id] > summary:hover"), same = over &&
    counterpart(over, el, next);
  if (busy(el, stand) || over && !same) return;
  for (const fold of el.querySelectorAll("details[id]")) {
    const nextFold = next.querySelector(`#${CSS.escape(fold.id)}`);
    if (nextFold) nextFold.open = fold.open;
  }
  if (next.innerHTML === el.innerHTML && next.dataset.live === el.dataset.live) return;
  still(() => {
    if (untimed(next) === untimed(el) && next.dataset.live === el.dataset.live) {
      // what somebody points at stays itself
      const times = next.querySelectorAll("time");
      el.querySelectorAll("time").forEach((time, i) => { time.textContent = times[i].textContent; });
      return null;
    }
    el.replaceWith(document.adoptNode(next));
    stand?.focus({ preventScroll: true });
    return same;
  });
}

let asked = 0; // how often refreshAll did
const shows = new Map(); // which of these times an element's content is of, by its id

// refreshAll asks once for each address, and says what waits for a decision on this page: the answer has what became of
// it.
// One that comes after the answer to a later question changes nothing.
async function refreshAll(elements) {
  const time = ++asked;
  const asks = document.querySelector("[data-asks]")?.dataset.asks || "1", pages = new Map();
  for (const el of elements) {
    const address = el.dataset.live;
    if (!pages.has(address)) {
      const answer = await fetch(address, { headers: { "X-Live": asks }, redirect: "error" });
      if (!answer.ok) throw new Error(String(answer.status));
      pages.set(address, new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
    if (time < (shows.get(el.id) ?? 0)) continue;
    shows.set(el.id, time);
    refresh(el, pages.get(address));
  }
}

function watch() {
  let failures = 0;
  // What a page does not have yet, data-now says, is fetched at once; without it there is a link.
  refreshAll(document.querySelectorAll("[data-live][data-now][id]")).catch(() => {});
  setInterval(async () => {
    if (document.hidden) return;
    try {
      await refreshAll(document.querySelectorAll("[data-live][id]"));
      failures = 0;
    } catch {
      failures++;
    }
    still(() => stale(failures >= 3));
  }, 5000);
}

// stale says that what stands there may be old.
function stale(is) {
  const said = document.querySelector(".stale");
  if (!is) return said?.remove();
  if (said) return;
  const note = document.createElement("p");
  note.className = "notice stale problem";
  note.role = "status";
  note.textContent = document.body.dataset.stale;
  document.querySelector("main").prepend(note);
}

// A form with data-confirm asks before it is sent; none is sent twice, or when its decision is over.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  if (form.dataset.over || form.dataset.sent || question && !confirm(question)) return event.preventDefault();
  if (form.method !== "post") return;
  form.dataset.sent = "1";
});
// A page that comes back from the browser's memory can be sent again.
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) =>
  delete form.dataset.sent));

// A form with data-try="<id>" shows at once, in the element with that id, what its button of the act "try" would show
// there.
let tries = 0;
document.addEventListener("change", async (event) => {
  const form = event.target.closest("form[data-try]"), time = ++tries;
  if (!form) return;
  const sends = new URLSearchParams(new FormData(form));
  sends.set("act", "try");
  try {
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: sends, redirect: "error" });
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(form.dataset.try);
    const now = document.getElementById(form.dataset.try), fold = next?.querySelector("details");
    if (fold) fold.open = now.querySelector("details")?.open;
    if (next && time === tries) now.replaceChildren(...next.childNodes);
  } catch { /* the button stays */ }
});

// A button with data-copy copies that text, and says so.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = button.dataset.copied;
});

// On a list of what waits, j and k go from row to row, and Enter opens the row's link. On a page that asks, a goes to
// the
// button that approves and r to the reason for rejecting: neither decides anything yet.
const steps = { j: 1, k: -1 };
const places = { a: '[name="act"][value="approve"]', r: '[name="act"]:is([value="reject"], [value="deny"])' };
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  if (typing || event.altKey || event.ctrlKey || event.metaKey || event.isComposing ||
    document.querySelector("dialog[open]")) return;
  const rows = [...document.querySelectorAll("[data-row]")], step = steps[event.key];
  let to = document.querySelector(places[event.key])?.form?.querySelector("textarea, button");
  if (step && rows.length) {
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    to = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))].querySelector("a");
  }
  if (!to) return;
  event.preventDefault();
  const fold = to.closest("details");
  if (fold) fold.open = true;
  to.focus();
});

// Whoever opens the reason for rejecting can write it.
document.addEventListener("click", (event) => {
  const fold = event.target.closest(".ways summary")?.parentElement;
  if (fold && !fold.open) setTimeout(() => fold.querySelector("textarea")?.focus()); // it opens after the click
});

watch();
