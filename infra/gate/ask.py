"""Asks Ringi whether a call may run. `python3 -I ask.py` is a PreToolUse hook for Claude Code."""
import http.client, json, os, re, sys, threading, time, urllib.error, urllib.request, uuid

NOTHING = "Nothing was run. Repeat exactly this call later."
ANOTHER = "Ringi's answer is for another call. " + NOTHING
OTHER_BYTES = "This call isn't text in UTF-8: people would read another one than runs. Nothing was run."


def ask(tool, arguments, wait=25, reason=None, again=None):
    """Returns None if exactly this call may run now, once. Anything else is what to tell the model: it may not run.

    It waits for people for `wait` seconds, and answers within `wait` + 5, whatever happens. `reason` is shown to people
    as the agent's words; `again` is the id of the same call, which has ended and is meant to run once more.
    """
    said, wanted = [], {"tool": tool, "arguments": arguments, "reason": reason, "again": again}
    thread = threading.Thread(target=lambda: said.append(_ask(wanted, wait)), daemon=True)
    thread.start()
    thread.join(wait + 5)
    return said[0] if said else "Ringi did not answer in time. " + NOTHING


def _ask(wanted, wait):
    until = time.monotonic() + wait + 5
    try:
        try:
            json.dumps(wanted, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half a character, or bytes that Python couldn't read
            return OTHER_BYTES
        a, no = _post("/calls?wait=%d" % wait, {k: v for k, v in wanted.items() if v is not None}, until)
        if no:
            return no
        if a["status"] != "approved":
            return a["say"] if isinstance(a.get("say"), str) and a["say"] else NOTHING
        if not (a["tool"] == wanted["tool"] and re.fullmatch(r"[\w.-]+", a["id"]) and
                re.fullmatch("[0-9a-f]{64}", a["sha256"])):
            return ANOTHER
        t, no = _post("/calls/%s/take" % a["id"], {  # of exactly what runs now, whatever the answer was for
            "tool_use_id": str(uuid.uuid4()), "tool": wanted["tool"], "arguments": wanted["arguments"]}, until)
        if no:
            return no
        return None if (t["status"], t["id"], t["sha256"]) == ("granted", a["id"], a["sha256"]) else ANOTHER
    except BaseException as e:
        return "Ringi can't be asked (%s). %s" % (type(e).__name__, NOTHING)


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):  # it would take the key along
        return None


def _post(path, body, until):
    """Returns the answer, or None and why not. What broke off is sent once more: that asks and takes the same."""
    text = json.dumps(body, ensure_ascii=False).encode()  # escaped, Japanese would be twice as long
    url, key = (os.environ.get(x, "").strip() for x in ("RINGI_URL", "RINGI_KEY"))
    if not url or not key:
        return None, "Ringi can't be asked: set RINGI_URL and RINGI_KEY. " + NOTHING
    request = urllib.request.Request(url.rstrip("/") + path, text, {
        "Authorization": "Bearer " + key, "Content-Type": "application/json"})
    for last in (False, True):
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            with urllib.request.build_opener(_Stay).open(request, timeout=left) as r:
                answer = json.loads(r.read(1 << 20).decode())
            if r.status != 200:
                raise ValueError("HTTP %d" % r.status)
            return answer, None
        except (OSError, ValueError, http.client.HTTPException) as e:
            code = getattr(e, "code", 500)
            if code < 500:
                no = json.loads(e.read(1 << 20).decode())  # the gateway before it says message
                return None, "Ringi refused this: %s. %s" % (
                    no.get("error") or no["message"], NOTHING if code == 429 else "Nothing was run.")
            if last:
                raise


def _hook():
    """Ends with code 0 for a yes. For a no, 2 alone stops the tool.

    Clients speak UTF-8. Python's own streams would take the machine's encoding, on a Japanese Windows cp932.
    """
    try:
        call = json.loads(sys.stdin.buffer.read().decode("utf-8-sig"))
        here = {"cwd": call["cwd"]} if "cwd" in call else {}
        if "cwd" in call["tool_input"]:
            no = "Ringi's hook takes no argument cwd: people would read it as the folder. Nothing was run."
        else:
            no = ask(call["tool_name"], {**here, **call["tool_input"]}, wait=20)
        if no is None:
            _say(sys.stdout, '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}')
    except UnicodeDecodeError:
        no = OTHER_BYTES
    except BaseException as e:
        no = "Ringi's hook failed (%s). %s" % (type(e).__name__, NOTHING)
    try:
        if no is not None:
            _say(sys.stderr, no)
    finally:  # any other code lets the tool run
        os._exit(0 if no is None else 2)


def _say(stream, text):
    stream.buffer.write(text.encode(errors="backslashreplace") + b"\n")
    stream.buffer.flush()


if __name__ == "__main__":
    _hook()
