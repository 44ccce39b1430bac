import { randomUUID } from 'node:crypto';

const nothing = 'Nothing was run. Repeat exactly this call later.';
const another = `Ringi's answer is for another call. ${nothing}`;

// Asks Ringi whether a call may run. null: exactly this call may run now, once. Anything else is what to tell the
// model: it may not run. It waits for people for some seconds, and answers within 5 more, whatever happens. reason is
// shown to people as the agent's words; again is the id of the same call, which has ended and is meant once more.
export async function ask(tool, args, { wait = 25, reason, again } = {}) {
  const call = { tool, arguments: args ?? null };
  const signal = AbortSignal.timeout((wait + 5) * 1000);
  try {
    const [a, no] = await post(`/calls?wait=${wait}`, { ...call, reason, again }, signal);
    if (no) return no;
    if (a.status !== 'approved') return typeof a.say === 'string' && a.say || nothing;
    if (a.tool !== tool || typeof a.id !== 'string' || !/^[\w.-]+$/.test(a.id) || !/^[0-9a-f]{64}$/.test(a.sha256)) {
      return another;
    }
    // Of exactly what runs now, whatever the answer was for.
    const [t, not] = await post(`/calls/${a.id}/take`, { tool_use_id: randomUUID(), ...call }, signal);
    if (not) return not;
    return t.status === 'granted' && t.id === a.id && t.sha256 === a.sha256 ? null : another;
  } catch (e) {
    return `Ringi can't be asked (${e?.name}). ${nothing}`;
  }
}

// Returns the answer, or nothing and why not. What broke off is sent once more: that asks and takes the same.
async function post(path, body, signal) {
  for (let last = false; ; last = true) {
    try {
      const r = await fetch(process.env.RINGI_URL.replace(/\/+$/, '') + path, {
        method: 'POST', body: JSON.stringify(body), redirect: 'error', signal,
        headers: { authorization: `Bearer ${process.env.RINGI_KEY}`, 'content-type': 'application/json' },
      });
      const answer = await r.json();
      if (r.status >= 400 && r.status < 500) { // the gateway before it says message
        return [null, `Ringi refused this: ${answer.error ?? answer.message}. ${r.status === 429 ? nothing : 'Nothing was run.'}`];
      }
      if (r.status !== 200) throw new Error(`HTTP ${r.status}`);
      return [answer, null];
    } catch (e) {
      if (last || signal.aborted) throw e;
    }
  }
}
