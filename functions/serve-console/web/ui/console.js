// What a page gains with a script; each works without one.
"use strict";

// decisions are an element's forms, each with what it sends.
function decisions(el) {
  const sent = (form) => [...form.querySelectorAll('input[type="hidden"]')].map((x) => `${x.name}=${x.value}`);
  return [...el.querySelectorAll('form[method="post"]')].map((form) =>
    ({ form, sends: [form.getAttribute("action"), ...sent(form)].join("\n") }));
}

// close ends a form of a decision that is over, or opens it again. Nothing in it goes: the keyboard stays where it is.
function close(form, over) {
  if (over) form.dataset.over = "1";
  else delete form.dataset.over;
  for (const field of form.elements) {
    field.readOnly = over;
    if (field.matches("button")) field.ariaDisabled = over ? "true" : null;
  }
}

// settle is for an element in which something can be decided: it stays as it was read. No form takes the place of
// another or comes by itself. One whose decision is over is closed. While one is, or another is offered, a line leads
// to what waits now.
function settle(el, next) {
  const shown = decisions(el), now = decisions(next), line = el.querySelector(".since");
  const among = (all) => (x) => all.some((y) => y.sends === x.sends);
  for (const x of shown) close(x.form, !among(now)(x));
  const news = document.createElement("p");
  if (!shown.every(among(now)) || !now.every(among(shown))) {
    news.append(document.importNode(next.querySelector("template").content, true));
  }
  if (news.innerHTML !== line.innerHTML) line.replaceChildren(...news.childNodes);
}

// standing is the fold or the link of the next content on which the keyboard stands in an element now.
function standing(el, next) {
  const at = document.activeElement, fold = at.closest("summary")?.closest("details[id]");
  if (!el.contains(at)) return null;
  if (fold) return next.querySelector(`#${CSS.escape(fold.id)} > summary`);
  return at.matches("a[href]") ? next.querySelector(`a[href="${CSS.escape(at.getAttribute("href"))}"]`) : null;
}

// An element with data-live="<address>" is replaced by the one with its id on that page, every two seconds while the
// page is seen, but not while somebody works in it. What was unfolded stays so. One with data-for="<id>" is what is
// decided on in the element with that id: it stays as it was read while either page can decide there.
function refresh(el, page) {
  const next = page.getElementById(el.id), asks = el.dataset.for ?? el.id;
  if (!next) return;
  const decides = [document, page].some((of) => decisions(of.getElementById(asks) ?? of.createElement("p")).length);
  if (decides && !next.dataset.live) delete el.dataset.live;
  if (decides && asks === el.id) settle(el, next);
  if (decides || next.innerHTML === el.innerHTML && next.dataset.live === el.dataset.live) return;
  const at = standing(el, next);
  if (!at && el.contains(document.activeElement) || String(getSelection())) return;
  for (const fold of el.querySelectorAll("details[id]")) {
    const same = next.querySelector(`#${CSS.escape(fold.id)}`);
    if (same) same.open = fold.open;
  }
  el.replaceWith(document.adoptNode(next));
  at?.focus({ preventScroll: true });
}

async function refreshAll() {
  const pages = new Map();
  for (const el of document.querySelectorAll("[data-live][id]")) {
    const address = el.dataset.live;
    if (!pages.has(address)) {
      const answer = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(15000) });
      if (!answer.ok) throw new Error(String(answer.status));
      pages.set(address, new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
    refresh(el, pages.get(address));
  }
}

// After three failures the page says that what stands there may be old.
let failures = 0, asks = false;
async function keepUp() {
  if (document.hidden || asks) return;
  asks = true;
  failures = await refreshAll().then(() => 0, () => failures + 1);
  asks = false;
  document.querySelector(".stale")?.toggleAttribute("hidden", failures < 3);
}
setInterval(keepUp, 2000);
document.addEventListener("visibilitychange", keepUp); // whoever comes back from Slack sees what they did there

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

// A button with data-copy copies that text, and says so.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = button.dataset.copied;
});

// Whoever opens the reason for rejecting can write it, after a double click, too.
document.addEventListener("click", (event) => {
  const fold = event.target.closest(".ways summary")?.parentElement;
  if (fold && event.detail > 1) event.preventDefault();
  else if (fold && !fold.open) setTimeout(() => fold.querySelector("textarea")?.focus()); // it opens after the click
});

// A form with an output for changes says how many of its fields differ from what was loaded.
function changed(field) {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.matches("select")) return [...field.options].some((x) => x.selected !== x.defaultSelected);
  return field.matches("input, textarea") && field.value !== field.defaultValue;
}
function count() {
  const said = document.querySelector("output[data-changes]");
  const n = new Set([...said?.form.elements ?? []].filter(changed).map((x) => x.name)).size;
  const text = n ? said.dataset.changes.replace("{n}", n) : "";
  if (said && said.textContent !== text) said.textContent = text;
  for (const row of document.querySelectorAll("#settings .setting")) {
    row.classList.toggle("unsaved", [...row.querySelectorAll("input, select, textarea")].some(changed));
  }
}
for (const event of ["input", "pageshow"]) addEventListener(event, count);
