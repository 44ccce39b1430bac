// What a page gains with a script; each works without one.
"use strict";

// busy reports whether somebody works inside an element, which must then stay as it is: it is not enough that they unfolded
// something or stand on a link, when the same is on the next page.
function busy(el, stand) {
  const at = document.activeElement;
  return el.contains(at) && !stand && at.matches("input, select, textarea, button, summary, a") || String(getSelection()) !== "";
}

// standing is the fold or the link of the next page that somebody stands on now.
function standing(at, next) {
  const fold = at.closest("summary")?.closest("details[id]");
  if (fold) return next.querySelector(`#${CSS.escape(fold.id)} > summary`);
  return at.matches("a[href]") ? next.querySelector(`a[href="${CSS.escape(at.getAttribute("href"))}"]`) : null;
}

// An element with data-live="<address>" is replaced by the one with its id on that page, every five seconds while the page
// is seen. What was unfolded stays so.
async function refresh(el) {
  const answer = await fetch(el.dataset.live, { headers: { "X-Live": "1" }, redirect: "error" });
  if (!answer.ok) throw new Error(String(answer.status));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById(el.id);
  const at = document.activeElement, stand = next && el.contains(at) ? standing(at, next) : null;
  if (!next || busy(el, stand)) return;
  for (const fold of el.querySelectorAll("details[id]")) {
    const nextFold = next.querySelector(`#${CSS.escape(fold.id)}`);
    if (nextFold) nextFold.open = fold.open;
  }
  for (const field of el.querySelectorAll("textarea[id]")) { // what was typed stays; where its field is gone, all does
    if (field.value === field.defaultValue) continue;
    const nextField = next.querySelector(`#${CSS.escape(field.id)}`);
    if (!nextField) return;
    nextField.value = field.value;
  }
  if (next.innerHTML === el.innerHTML) return;
  el.replaceWith(document.adoptNode(next));
  stand?.focus({ preventScroll: true });
}

function watch() {
  let failures = 0;
  // What a page does not have yet, data-now says, is fetched at once; without it there is a link.
  for (const el of document.querySelectorAll("[data-live][data-now][id]")) refresh(el).catch(() => {});
  setInterval(async () => {
    if (document.hidden) return;
    try {
      for (const el of document.querySelectorAll("[data-live][id]")) await refresh(el);
      failures = 0;
    } catch {
      failures++;
    }
    stale(failures >= 3);
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

// A form with data-confirm asks before it is sent; none is sent twice.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  if (form.dataset.sent || question && !confirm(question)) return event.preventDefault();
  if (form.method === "post") form.dataset.sent = "1";
});
// A page that comes back from the browser's memory can be sent again.
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent));

watch();
