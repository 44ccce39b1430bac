// What this browser keeps between reloads: drafts, folded threads, what was read. It belongs to one start of the
// sandbox; when that is another, its messages are gone, and what was kept about them goes too.

const read = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key)) || {};
  } catch {
    return {};
  }
};

const drafts = new Map(Object.entries(read("drafts")));

/** draft is what a person has typed and not sent; its key is <person>/<channel>, with /<thread> in one. */
export const draft = (key) => drafts.get(key) || "";

export function keepDraft(key, text) {
  const all = read("drafts"); // other windows write too
  if (text) all[key] = text;
  else delete all[key];
  text ? drafts.set(key, text) : drafts.delete(key);
  localStorage.setItem("drafts", JSON.stringify(all));
}

const folds = new Map(Object.entries(read("folds")));

/** folded is whether the person folded a thread or opened it; undefined if they did neither. */
export const folded = (root) => folds.get(root);

export function keepFolds(roots, yes) {
  const all = read("folds");
  for (const root of roots) {
    all[root] = yes;
    folds.set(root, yes);
  }
  localStorage.setItem("folds", JSON.stringify(all));
}

/** thisWindow names this window: a modal opens where the person clicked. A reload keeps the name, a copy of the window gets its own. */
export let thisWindow = sessionStorage.getItem("window") || "";

/** nameWindow settles the name before anything is asked for. */
export async function nameWindow() {
  const fresh = () => {
    thisWindow = Math.random().toString(36).slice(2, 12);
    sessionStorage.setItem("window", thisWindow);
  };
  if (!thisWindow) fresh();
  // The lock is held as long as the window lives. Pages that are not at this machine's address have no locks.
  const hold = () => new Promise((held) => {
    navigator.locks.request("window-" + thisWindow, { ifAvailable: true }, (lock) => {
      held(!!lock);
      return lock ? new Promise(() => {}) : undefined;
    });
  });
  if (!navigator.locks || (await hold())) return;
  fresh();
  await hold();
}

/**
 * began compares the sandbox's start with the one this browser knew. It returns the start that the person should
 * hear of, because there was something before; "" if there is none.
 */
export function began(started) {
  const before = localStorage.getItem("started");
  if (before !== started) {
    localStorage.setItem("started", started);
    if (before) localStorage.setItem("restarted", started);
    for (const key of ["folds", "drafts"]) {
      const kept = key === "drafts" ? Object.entries(read(key)).filter(([k]) => k.split("/").length === 2) : []; // what was to be a new message still can be one
      localStorage.setItem(key, JSON.stringify(Object.fromEntries(kept)));
    }
    folds.clear();
    for (const key of [...drafts.keys()].filter((k) => k.split("/").length > 2)) drafts.delete(key);
    Object.keys(localStorage).filter((k) => k.startsWith("read:")).forEach((k) => localStorage.removeItem(k));
  }
  return localStorage.getItem("restarted") === started ? started : "";
}

export const heardOfStart = () => localStorage.removeItem("restarted");
