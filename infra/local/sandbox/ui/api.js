// The page's calls to the sandbox, and the stream of what happens.

/** Refused is an answer that is not ok; fields and trouble say more if known. */
export class Refused extends Error {
  constructor(status, body) {
    super(body.error || `HTTP ${status}`);
    this.status = status;
    this.fields = body.fields;
    this.trouble = body.trouble;
  }
}

async function call(method, path, body) {
  const init = { method, headers: {} };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const res = await fetch("/sandbox/" + path, init);
  const text = await res.text();
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = { error: text.trim() };
  }
  if (!res.ok) throw new Refused(res.status, answer);
  return answer;
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);
export const put = (path, body) => call("PUT", path, body);

/**
 * watch streams changes for one person. onHello is called at each connection:
 * load everything then. It returns a function that ends the stream.
 */
export function watch(user, { onHello, onChange, onLost }) {
  const source = new EventSource("/sandbox/stream?user=" + encodeURIComponent(user));
  source.addEventListener("hello", onHello);
  source.onmessage = (e) => onChange(JSON.parse(e.data));
  source.onerror = onLost;
  return () => source.close();
}
