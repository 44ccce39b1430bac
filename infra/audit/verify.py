#!/usr/bin/env python3
"""Checks receipts of an audit log: that they hold together, and were signed.

    verify.py [--key FINGERPRINT] receipt.json
    verify.py --lines < receipts        one a line; findings as JSON, one a line
    verify.py --walks < gates           one a line; what stands of each as JSON, one a line

It needs Python 3.9 and nothing else, and shares no code with what made the
receipts. README.md says what a receipt proves. Exit codes: 0 it holds, 1 it
does not, 2 it can't be checked.
"""

import base64
import decimal
import functools
import hashlib
import json
import re
import sys
from datetime import datetime, timedelta, timezone

UNSEALED = timedelta(minutes=1)
DRIFT = timedelta(minutes=2)
UNKEPT = timedelta(minutes=3)

# ---- ECDSA with P-256 over SHA-256 (FIPS 186-5, SEC 1) ----

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
# An elliptic curve's public key of P-256, before the point (RFC 5480).
SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200" + "04")


def double(p):
    x, y, z = p
    if not y or not z:
        return 0, 1, 0
    yy = y * y % P
    s = 4 * x * yy % P
    zz = z * z % P
    m = 3 * (x - zz) * (x + zz) % P
    nx = (m * m - 2 * s) % P
    return nx, (m * (s - nx) - 8 * yy * yy) % P, 2 * y * z % P


def add(p, q):
    if not p[2]:
        return q
    if not q[2]:
        return p
    pz, qz = p[2] * p[2] % P, q[2] * q[2] % P
    u, v = p[0] * qz % P, q[0] * pz % P
    s, t = p[1] * qz * q[2] % P, q[1] * pz * p[2] % P
    h, r = (v - u) % P, (t - s) % P
    if not h:
        return (0, 1, 0) if r else double(p)
    hh = h * h % P
    hhh = h * hh % P
    x = (r * r - hhh - 2 * u * hh) % P
    return x, (r * (u * hh - x) - s * hhh) % P, h * p[2] * q[2] % P


def public_key(der):
    if len(der) != len(SPKI) + 64 or not der.startswith(SPKI):
        raise ValueError("public_key is not of P-256")
    x, y = (int.from_bytes(der[i : i + 32], "big") for i in (len(SPKI), len(SPKI) + 32))
    if x >= P or y >= P or (y * y - x * x * x + 3 * x - B) % P:
        raise ValueError("public_key is no point of P-256")
    return x, y


def integers(der):
    """The two of a signature, None if it is malformed."""
    out = []
    if len(der) < 8 or der[0] != 0x30 or der[1] != len(der) - 2 or der[1] > 127:
        return None
    at = 2
    while at + 2 <= len(der):
        size = der[at + 1]
        part = der[at + 2 : at + 2 + size]
        if der[at] != 2 or not size or len(part) != size or part[0] > 127 or size > 1 and not part[0] and part[1] < 128:
            return None
        out.append(int.from_bytes(part, "big"))
        at += 2 + size
    return out if len(out) == 2 and at == len(der) else None


@functools.lru_cache(maxsize=1 << 16)
def signed(key, text, signature):
    pair = integers(signature)
    if not pair or not all(0 < n < N for n in pair):
        return False
    r, s = pair
    e = int.from_bytes(hashlib.sha256(text).digest(), "big")
    w = pow(s, -1, N)
    u, v = e * w % N, r * w % N
    g, q = (*G, 1), (*key, 1)
    both = add(g, q)
    at = (0, 1, 0)
    for bit in range(255, -1, -1):
        at = double(at)
        a, b = u >> bit & 1, v >> bit & 1
        if a or b:
            at = add(at, both if a and b else g if a else q)
    if not at[2]:
        return False
    return at[0] * pow(at[2] * at[2], -1, P) % P % N == r


# ---- the chain ----


def when(text):
    m = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z", text)
    if not m:
        raise ValueError("%r is no time in UTC" % text)
    micro = int((m[2] or "").ljust(6, "0")[:6])
    return datetime.strptime(m[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc, microsecond=micro)


def moment(at):
    t = when(at) if isinstance(at, str) else at
    return t.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (t.microsecond // 1000)


def link_text(link):
    lines = [
        "ringi-chain 1",
        "tenant " + link["tenant_id"],
        "seq %d" % link["seq"],
        "previous " + link["previous"],
        "salt " + link["salt"],
        "at " + moment(link["at"]),
        "late" if link.get("late") else "in time",
    ]
    for e in link["entries"] or []:
        lines.append("row %s %s%s" % (e["key"], e["hash"], " " + e["note"] if e.get("note") else ""))
    return ("\n".join(lines) + "\n").encode()


def formed(link):
    """Whether each member is one word of its own line, so that the signed text can be read in one way only."""
    digest = re.compile("[0-9a-f]{64}")
    return all(digest.fullmatch(d) for d in [link["salt"], link["previous"] or "0" * 64]) and all(
        re.fullmatch(r"[^ \n\r]+", e["key"]) and digest.fullmatch(e["hash"])
            and e.get("note", "") in ("", "misdated", "modified", "deleted")
        for e in link["entries"] or []
    )


def head_text(head):
    return ("ringi-head 1\ntenant %s\nseq %d\nlink %s\nat %s\n" % (head["tenant_id"], head["seq"], head["link"],
        moment(head["at"]))).encode()


def signature(of):
    return base64.b64decode(of.get("signature") or "")


def hash_of(salt, row):
    if not re.fullmatch(r"[0-9a-fA-F]{64}", salt):
        return None
    text = row["key"].encode() + b"\0" + row["content"].encode("utf-8", "surrogatepass")
    return hashlib.sha256(bytes.fromhex(salt) + text).hexdigest()


class Chain:
    """What holds of a receipt's rows."""

    def __init__(self, receipt):
        self.part = any(receipt.get(what) is not None for what in ("execution", "action"))
        self.tenant, self.head = receipt["tenant_id"], receipt.get("head")
        self.key = public_key(base64.b64decode(receipt["public_key"]))
        self.found, self.touched, self.entries = [], [], {}
        self.sealed, self.late, self.waiting, self.behind, self.kept = 0, [], [], [], 0
        now = when(receipt["made_at"])
        links = sorted(receipt["links"] or [], key=lambda l: l["seq"])
        self.check_links(links)
        self.check_head(links, now)
        self.check_rows(receipt["rows"] or [], now)
        self.found.sort(key=lambda f: (f[1], f[0]))

    def check_links(self, links):
        seq, previous = (links[0]["seq"], links[0]["previous"]) if self.part and links else (1, "")
        self.ids = set()
        for i, link in enumerate(links):
            where, text = "link %d" % link["seq"], link_text(link)
            if link["tenant_id"] != self.tenant or not formed(link) or not signed(self.key, text, signature(link)):
                self.found.append(("forged", where))
            if link["seq"] != seq + i or link["previous"] != previous:
                self.found.append(("broken", where))
            previous = hashlib.sha256(text).hexdigest()
            self.ids.add((link["seq"], previous))
            for e in link["entries"] or []:
                note = e.get("note", "")
                if note in ("modified", "deleted"):
                    self.touched.append(("touched", e["key"]))
                    continue
                if note == "misdated":
                    self.touched.append(("dated", e["key"]))
                self.entries.setdefault(e["key"],
                    []).append((e["hash"], link["salt"], bool(link.get("late")), link["seq"]))

    def check_head(self, links, now):
        head = self.head
        if head is None:
            if self.part:
                self.found.append(("cut", "head"))
        elif head["tenant_id"] != self.tenant or not signed(self.key, head_text(head), signature(head)):
            self.found.append(("forged", "head"))
        else:
            self.kept = head["seq"]
            if (head["seq"], head["link"]) not in self.ids:
                self.found.append(("cut", "head"))
        for link in links:
            if not self.part and link["seq"] > self.kept and when(link["at"]) < now - UNKEPT:
                self.found.append(("loose", "link %d" % link["seq"]))

    def check_rows(self, rows, now):
        there = set()
        for row in rows:
            key = row["key"]
            seals = self.entries.get(key, [])
            if key in there:
                self.found.append(("inserted", key))
            elif not seals and not self.part and when(row["at"]) > now + DRIFT:
                self.found.append(("dated", key))
            elif not seals and not self.part and when(row["at"]) >= now - UNSEALED:
                self.waiting.append(key)
            elif not seals:
                self.found.append(("inserted", key))
            elif all(hash_of(salt, row) == h for h, salt, _, _ in seals):
                self.sealed += 1
                if all(late for _, _, late, _ in seals):
                    self.late.append(key)
                if all(seq > self.kept for _, _, _, seq in seals):
                    self.behind.append(key)
            else:
                self.found.append(("changed", key))
            there.add(key)
        if not self.part:
            self.found += [("removed", key) for key in self.entries if key not in there]
        self.found += [f for f in self.touched if not self.part or f[1] in there]


# ---- an execution ----


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def exact(text):
    """JSON with its numbers by their exact values, and apart from true and false."""
    number = lambda n: ("number", decimal.Decimal(n))
    return json.loads(text, parse_float=number, parse_int=number)


class Expired(Exception):
    pass


def resolve(value, result):
    if isinstance(value, dict):
        if "$ref" in value:
            step, _, *keys = value["$ref"].split(".")
            at = result(step)
            for key in keys:
                at = at[int(key)] if isinstance(at, list) else at[key]
            return at
        return {k: resolve(v, result) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve(v, result) for v in value]
    return value


class Claims:
    """What is claimed, held against the entries of one task or conversation."""

    def __init__(self, about, rows):
        self.about, self.found, self.said, self.lacks = about, [], [], []
        self.entries = [json.loads(row["content"]) for row in rows]
        for e in self.entries:
            d = e.get("details")
            e["details"] = (json.loads(d) if isinstance(d, str) and d else d) or {}

    def of(self, action, resource):
        """The entries of an action on a resource, the oldest first."""
        found = [e for e in self.entries
            if (e.get("action"), e.get("resource_id"), e.get("task_id")) == (action, resource, self.about)]
        return sorted(found, key=lambda e: e["timestamp"])

    def numbered(self, entries):
        """Says which number the decision got."""
        for number in dict.fromkeys(e["details"].get("number") for e in entries):
            if number:
                self.said.append("decision number " + number)

    def walk(self, name, claim, of, resource, step, want):
        """Checks the gate of a resource, of one step if that is not empty, if a rule chose its route.

        want is what its stamps have to be on; None may be anything.
        """
        entries = [e for ending in ON_ROUTE for e in self.of(of + "." + ending, resource)
            if (e["details"].get("step") or "") == step]
        entries.sort(key=lambda e: e["timestamp"])
        if not claim:
            if any(e["action"] == of + ".routed" or e["details"].get("asked") or e["details"].get("route_hash")
                for e in entries):
                self.found.append("%s: people were asked under a rule, and the route is left out" % name)
            return
        if not entries or entries[0]["action"] != of + ".routed":
            self.found.append("%s: no entry says that people were asked under a rule" % name)
            return
        before = len(self.found)
        try:
            gate, rule = self.opened(name, claim, entries[0]["details"], want)
            if len(self.found) == before:
                gate["acts"] = self.acted(name, claim["acts"] or [], of, entries, gate["asked"])
            if len(self.found) == before:
                self.stands(name, gate, rule, entries[0]["details"], entries[-1]["details"],
                    entries[-1]["action"] == of + ".approved")
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
            self.found.append("%s: its route can't be read: %r" % (name, e))

    def opened(self, name, claim, sealed, want):
        """Compares the beginning of a walk with its entry, and with what had to be asked."""
        (what, rule, route), gate = json.loads(claim["asked"]), json.loads(claim["opened"])
        if sha256(claim["asked"]) != sealed.get("asked") or gate["asked"] != sealed["asked"]:
            self.found.append("%s: what is said to be stamped is not what was" % name)
        if sha256(claim["opened"]) != sealed.get("route_hash"):
            self.found.append("%s: the route is not the one that was opened" % name)
        if route != gate["route"]:
            self.found.append("%s: another route was stamped than the one that was walked" % name)
        if rule != gate["rule"]:
            self.found.append("%s: it opened by another rule than was stamped" % name)
        if rule != sealed.get("rule"):
            self.found.append("%s: the rule is said to be %s, its entry says %s" % (name, rule, sealed.get("rule")))
        if len(what) != len(want) or any(w is not None and w != is_ for w, is_ in zip(want, what)):
            self.found.append("%s: something else was stamped: %s" % (name, what))
        if gate.get("acts"):
            self.found.append("%s: its gate is said to open with acts" % name)
        self.said.append("  %s: under the rule %s (%s), revision %s" % (name, rule["name"], rule["id"],
            rule["revision"]))
        self.said.append("    asked since %s for %s hours a stage, good for %s days once it is settled"
                         % (moment(gate["asked_at"]), gate["hours"], gate["days"]))
        self.said.append("    stamped is sha256 %s, the route is sha256 %s" % (sha256(claim["asked"]),
            sha256(claim["opened"])))
        self.said += ["    asked for by " + named(p) for p in gate["askers"]]
        for number, stage in enumerate(route["stages"], 1):
            if stage["mode"] == "channel":
                self.said.append("    stage %d, %s: one stamp of the channel" % (number, stage["name"]))
            else:
                people = stage.get("people") or []
                self.said.append("    stage %d, %s: stamps of %s of these %d people"
                                 % (number, stage["name"], stage["need"], len(people)))
                self.said += ["      " + named(p) for p in people]
        if route.get("tells"):
            self.said.append("    told at the end: " + route["tells"])
        return gate, rule

    def acted(self, name, texts, of, entries, asked):
        """Compares each act with its own entry: there is one for each, in this order, and no other."""
        if len(entries) != len(texts) + 1:
            self.found.append("%s: %d acts are said to be done on its route, %d entries say so" % (name, len(texts),
                len(entries) - 1))
        acts = [json.loads(text) for text in texts]
        for number, (act, e) in enumerate(zip(acts, entries[1:]), 1):
            d, ending = e["details"], e["action"].removeprefix(of + ".")
            fits = ending == ACTS.get(act["kind"], [""])[0] or ending == "approved" and act["kind"] == "stamp"
            claimed = (act["hand"]["user"], moment(act["at"]), act["stage"], asked)
            if not fits or claimed != (e.get("actor_id"), e["timestamp"], d.get("stage"), d.get("asked")):
                self.found.append("%s: act %d is said to be a %s of %s, its entry says otherwise" % (name, number,
                    act["kind"], claimed[0]))
            if sha256("[" + ",".join(texts[:number]) + "]") != d.get("acts_hash"):
                self.found.append("%s: act %d, or one before it, is not what was done" % (name, number))
        return acts

    def stands(self, name, gate, rule, first, last, approved):
        """Walks the acts along the route, and compares what stands with the entry of the settlement."""
        walk = Walk(gate)
        if walk.refused:
            self.found.append("%s: act %d could not be done: %s" % (name, walk.refused["act"], walk.refused["why"]))
            return
        stamps = len(walk.stamps())
        if walk.settled() != approved:
            self.found.append("%s: what was done settles its route: %s, its last entry says otherwise" % (name,
                walk.settled()))
        sealed = (last.get("route_hash"), last.get("rule"), last.get("stamps"))
        if approved and sealed != (first["route_hash"], rule, stamps):
            self.found.append("%s: the entry of its settlement names another rule, route or number of stamps" % name)
        self.said += ["    " + done(act) for act in gate["acts"]]
        if walk.settled():
            self.said.append("    settled by %d stamps" % stamps)


# Of each kind of act: how the entry that records it ends, what its hand did, and whether it ends the gate, also for
# good. The entry of the one that settled the gate ends with "approved", that of how it opened with "routed".
ACTS = {
    "stamp": ("stamped", "stamped by", False, False),
    "send_back": ("rejected", "sent back by", True, False),
    "deny": ("denied", "denied by", True, True),
}
ENDS = [kind for kind, act in ACTS.items() if act[2]]
FINAL = [kind for kind, act in ACTS.items() if act[3]]
ON_ROUTE = ("routed", "approved", *(act[0] for act in ACTS.values()))


def named_gate(gate, walked):
    """Whether an end's entry names the gate that is shown."""
    acts = sha256("[" + ",".join(walked.get("acts") or []) + "]")
    return (gate.get("route_hash"), gate.get("acts_hash")) == (sha256(walked.get("opened") or ""), acts)


def named(person):
    more = ", ".join(person[k] for k in ("person", "via") if person.get(k))
    return person["user"] + (" (%s)" % more if more else "")


def done(act):
    found = act.get("found") or {}
    text = "%s, stage %d: %s %s" % (moment(act["at"]), act["stage"], ACTS[act["kind"]][1], named(act["hand"]))
    if act["principal"]["user"] != act["hand"]["user"]:
        text += " for " + named(act["principal"])
    row = found.get("delegation")
    if row:
        text += ", by the row %s of the delegation, revision %s" % (row["key"], row["rev"])
    if found.get("channel"):
        text += ", as a member of " + found["channel"]
    return text + (": " + act["text"] if act.get("text") else "")


class Execution(Claims):
    """What holds of what is claimed of an execution."""

    def __init__(self, claim, rows):
        super().__init__(claim["task_id"], rows)
        self.claim = claim
        self.said.append("execution %s of task %s, attempt %d: %s" % (claim["id"], claim["task_id"], claim["attempt"],
            claim["status"]))
        self.enclosed = claim.get("enclosed") or ""
        self.stamp("policy", "prompt.approved", claim["policy"])
        self.stamp("steps", "process.approved", claim["steps"])
        self.files()
        policy, steps, request = claim["policy"]["text"], claim["steps"], (claim.get("offered") or {}).get("text")
        want = ["steps", claim["task_id"], str(steps["version"]), policy, sha256(steps["text"]), request,
            self.enclosed or None]
        self.walk("the steps", steps.get("gate"), "process", steps["id"], "", want)
        ended = [e for a in ("completed", "failed", "cancelled") for e in self.of("execution." + a, claim["id"])]
        for e in ended:
            status, attempt = e["action"].removeprefix("execution."), e["details"].get("attempt")
            if status != claim["status"]:
                self.found.append("the execution is said to be %s, its entry says %s" % (claim["status"], status))
            if attempt != claim["attempt"]:
                self.found.append("the execution is said to be attempt %s, its entry says %s" % (claim["attempt"],
                    attempt))
        if not ended:
            self.found.append("no sealed entry says how the execution ended: what it wrote can't be proved until a "
                "minute after its end")
        self.end = ended[0]["details"] if ended else {}
        self.sealed = self.end.get("writes") or {}
        self.steps = json.loads(claim["steps"]["text"])
        writes, reused = claim["writes"] or [], claim.get("reused") or []
        for write in writes:
            self.write(write)
        self.numbered(self.of("execution.started", claim["id"]) + ended)
        self.gates(claim.get("gates") or [], {w["step"] for w in writes})
        self.sealed_gates(writes, claim.get("gates") or [])
        self.reused(reused)
        self.listed([w["step"] for w in writes], reused)
        self.offered(claim.get("offered"))

    def gates(self, claimed, shown):
        """Checks the gates of steps that made no write: of each step that an entry names, its gate has to be shown."""
        execution = self.claim["id"]
        for g in claimed:
            step = g["step"]
            if step in shown:
                self.found.append("%s: its gate is shown twice" % step)
            shown.add(step)
            self.said.append("step %s made no write, and people were asked about it" % step)
            hashes = [e["details"].get("arguments_hash") for e in self.of("step.routed", execution)
                if e["details"].get("step") == step]
            want = ["step", self.about, str(self.claim["steps"]["version"]), str(self.claim["attempt"]), step,
                hashes[-1] if hashes else None]
            self.walk(step, g.get("gate"), "step", execution, step, want)
        for e in self.entries:
            about, step = (e.get("resource_id"), e.get("task_id")), e["details"].get("step") or ""
            if e.get("action", "").startswith("step.") and about == (execution, self.about) and step not in shown:
                shown.add(step)
                self.walk(step, None, "step", execution, step, [])
                for stamp in self.of("step.approved", execution):
                    if stamp["details"].get("step") == step:
                        self.said.append("step %s made no write, and was %s" % (step, by(stamp)))

    def sealed_gates(self, writes, gates):
        """Compares the gates that are shown with those that the entry of the end names: no other entry need be
        there."""
        shown, version, order = {}, self.claim["steps"]["version"], {s["stepId"]: s.get("order") or 0
            for s in self.steps}
        if self.claim["steps"].get("gate"):
            shown["PROCESS#%04d" % version] = self.claim["steps"]["gate"]
        for g in [w for w in writes if w["gated"]] + gates:
            if g["step"] in order:
                shown["GATE#%04d#%03d#%02d" % (version, self.claim["attempt"], order[g["step"]])] = g.get("gate")
        for key, gate in sorted((self.end.get("gates") or {}).items()):
            step, walked = gate.get("step") or "", shown.get(key)
            name = step or "the gate " + key
            if step and not gate.get("route_hash"):
                if not any(e["details"].get("step") == step for e in self.entries
                    if e.get("action", "").startswith("step.")
                           and (e.get("resource_id"), e.get("task_id")) == (self.claim["id"], self.about)):
                    self.found.append("%s: a person decided about it, and the entry of that is left out" % name)
                if walked:
                    self.found.append("%s: a route is shown, and the entry of the end names none" % name)
            elif not walked:
                self.found.append("%s: people were asked under a rule, and the route is left out" % name)
                continue
            elif not named_gate(gate, walked):
                self.found.append("%s: the entry of the end names another route, or other acts on it" % name)
            shown.pop(key, None)
        for key in sorted(shown):
            self.found.append("people are said to have been asked at the gate %s, and the entry of the end names none"
                % key)

    def reused(self, claimed):
        for step in claimed:
            self.said.append("write %s: an earlier attempt made it, and this one did not" % step)
        if sorted(claimed) != sorted(self.end.get("reused") or []):
            self.found.append("the writes of earlier attempts are said to be %s, the entry says %s" % (claimed,
                self.end.get("reused") or []))

    def listed(self, writes, reused):
        for step in sorted(self.sealed.keys() - set(writes)):
            self.found.append("%s was called, and what it was called with is missing" % step)
        for step in sorted(set(writes + reused)):
            times = (writes + reused).count(step)
            if times > 1:
                self.found.append("%s is said to be called %d times: an attempt makes a write once, or takes it over"
                    % (step, times))

    def offered(self, h):
        of = (self.end.get("offered") or {}).get("session_id") or ""
        if not h:
            if of:
                self.found.append("an agent offered the request in the conversation %s, and that is left out" % of)
            return
        if of != h["session_id"]:
            self.found.append("the request is said to be offered in the conversation %s, the entry of the end says %r"
                % (h["session_id"], of))
        digest = sha256(h["text"])
        self.said += ["the request was offered in the conversation %s and made by %s" % (h["session_id"], h["user"]),
            "  request " + h["text"], "  sha256 " + digest]
        entries = [
            e for e in self.entries
            if (e.get("action"), e.get("resource_id"), e.get("task_id")) == ("session.request_made", h["session_id"],
                h["session_id"])
            and e["details"].get("task") == self.about
        ]
        if not entries:
            self.found.append("no entry session.request_made of the conversation %s names the task" % h["session_id"])
            return
        d = entries[0]["details"]
        if d.get("asked_by") != h["user"]:
            self.found.append("the request is said to be made by %s, its entry says %s" % (h["user"],
                d.get("asked_by")))
        elif d.get("hash") != digest:
            self.found.append("the request has other words than the agent's")
        else:
            self.said.append("  these very words: %s at %s" % (entries[0].get("actor_id"), entries[0]["timestamp"]))

    def stamp(self, what, action, stamped):
        entries = self.of(action, stamped["id"])
        if not entries:
            self.found.append("no entry %s is of the %s %s" % (action, what, stamped["id"]))
            return
        d = entries[0]["details"]
        if d.get("hash") != sha256(stamped["text"]):
            self.found.append("the %s is not what was stamped" % what)
        if d.get("version") != stamped["version"]:
            self.found.append("the %s is said to be version %s, its entry says %s" % (what, stamped["version"],
                d.get("version")))
        if (d.get("enclosed") or "") != (sha256(self.enclosed) if self.enclosed else ""):
            self.found.append("the %s was stamped with other files than is said" % what)
        self.said.append("%s version %s, sha256 %s: %s" % (what, stamped["version"], sha256(stamped["text"]),
            by(entries[0])))
        for text, sealed in (("the draft of team %s of a contest", "team"), ("picked by %s", "picked_by"),
            ("edited by %s, who asked for it", "edited_by")):
            if d.get(sealed):
                self.said.append("  " + text % d[sealed])
        if what == "steps" and not d.get("policy"):
            self.lacks.append("the entry %s names no policy: by which the steps were made is not proved" % action)
        elif what == "steps" and (d["policy"], d.get("policy_hash")) != (self.claim["policy"]["id"],
            sha256(self.claim["policy"]["text"])):
            self.found.append("the steps were made by the policy %s, sha256 %s" % (d["policy"], d.get("policy_hash")))

    def files(self):
        """Names the request's files, whose hashes are in what was stamped."""
        for f in json.loads(self.enclosed or "{}").get("files") or []:
            name, digest = f.get("name") or "", f.get("sha256")
            if not digest:
                self.said.append("  the file %s could not be had" % name)
                continue
            left = ", which is not attached: " + f["left"] if f.get("left") else ""
            self.said.append("  %s the file %s of %s bytes, sha256 %s%s" % ("and" if left else "with", name,
                f.get("bytes") or 0, digest, left))

    def write(self, w):
        step, digest = w["step"], sha256(w["arguments"])
        self.said += ["write %s %s: %s" % (step, w["tool"], w["status"]), "  arguments " + w["arguments"],
            "  sha256 " + digest]
        planned = [s for s in self.steps if (s["stepId"], s["tool"]) == (step, w["tool"])]
        if not planned:
            self.found.append("the stamped steps have no %s that calls %s" % (step, w["tool"]))
            return
        stamps = [e for e in self.of("step.approved", self.claim["id"]) if e["details"].get("step") == step]
        if w["gated"]:
            if not stamps:
                self.found.append("no entry step.approved is of %s" % step)
            elif stamps[0]["details"].get("arguments_hash") != digest:
                self.found.append("%s: other arguments were stamped" % step)
            else:
                self.said.append("  these very arguments: " + by(stamps[0]))
        elif planned[0].get("requiresHumanCheck"):
            self.found.append("%s: the stamped steps want a person to see its arguments first, and nobody is said "
                "to have" % step)
        elif stamps:
            self.found.append("%s: a person was shown its arguments, and nobody is said to have been" % step)
        else:
            self.follows(w, planned[0])
        want = ["step", self.about, str(self.claim["steps"]["version"]), str(self.claim["attempt"]), step, digest]
        self.walk(step, w.get("gate"), "step", self.claim["id"], step, want)
        self.called(w, digest)

    def called(self, w, digest):
        step = w["step"]
        if step not in self.sealed:
            self.found.append("%s was not called: the entry of the end lists every write that was, and not this one"
                % step)
            return
        if self.sealed[step] != digest:
            self.found.append("%s was called with other arguments" % step)
        ends = [status for status, steps in (self.end.get("ends") or {}).items() if step in steps]
        ends += [e["details"].get("status") for e in self.of("execution.late", self.claim["id"])
            if e["details"].get("step") == step]
        if ends[-1:] != [w["status"]]:
            found = ends[-1] if ends else ""
            self.found.append("%s is said to be %s, it is sealed as %s: what comes late is sealed within a minute"
                % (step, w["status"], found))

    def follows(self, w, planned):
        def result(step):
            if step in (w.get("expired") or []):
                raise Expired(step)
            return exact(w["results"][step])

        try:
            raw = planned["toolInput"]
            # The steps' own numbers, as they are written in the stamped text.
            inputs = [s["toolInput"] for s in exact(self.claim["steps"]["text"]) if s["stepId"] == w["step"]]
            if resolve(exact(raw) if isinstance(raw, str) else inputs[0], result) != exact(w["arguments"]):
                self.found.append("%s: its arguments don't follow from the stamped steps" % w["step"])
            else:
                self.said.append("  no stamp of its own: they follow from the stamped steps and %d earlier results"
                    % len(w.get("results") or {}))
        except Expired as e:
            self.lacks.append("%s: the result of %s is past its retention, so its arguments can't be resolved again"
                % (w["step"], e))
        except (KeyError, IndexError, TypeError, ValueError) as e:
            self.found.append("%s: its arguments can't be resolved: %s" % (w["step"], e))


class Action(Claims):
    """What holds of what is claimed of an agent's action."""

    ENDS = {"completed": "succeeded", "failed": "failed", "cancelled": "cancelled", "expired": "cancelled",
            "granted": "granted", "refused": "refused", **{ACTS[kind][0]: "cancelled" for kind in ENDS}}

    def __init__(self, claim, rows):
        super().__init__(claim["session_id"], rows)
        self.claim, self.id, digest = claim, claim["id"], sha256(claim["payload"])
        self.said.append("action %s of the conversation %s, %s: %s" % (self.id, claim["session_id"], claim["type"],
            claim["status"]))
        self.said += ["  payload " + claim["payload"], "  sha256 " + digest]
        # Type and payload are in each of the action's entries, also in that of its end, which has to be there.
        self.own = [
            e for e in self.entries
            if e.get("action", "").startswith("action.")
                and (e.get("resource_id"), e.get("task_id")) == (self.id, self.about)
        ]
        for e in self.own:
            if e["details"].get("hash") != digest:
                self.found.append("the payload is not that of %s" % e["action"])
            if e["details"].get("type") != claim["type"]:
                self.found.append("the action is said to be %s, its entry %s says %s" % (claim["type"], e["action"],
                    e["details"].get("type")))
        self.approved(digest)
        self.sealed_gate(claim.get("gate"))
        self.walk("the action", claim.get("gate"), "action", self.id, "", ["action", self.about, None, digest])
        self.started()
        self.numbered(self.of("action.started", self.id) + self.of("action.granted", self.id))
        self.ended()

    def reached(self, *was):
        """Whether the entries of its end say that the action had come so far, whoever leaves those of its approval and
        its start out."""
        return any(
            e["action"] in ("action.completed", "action.failed", "action.late")
            or e["action"] == "action.granted" and "approved" in was
            or e["action"] == "action.cancelled" and e["details"].get("was") in was
            for e in self.own
        )

    def approved(self, digest):
        entries, claimed = self.of("action.approved", self.id), self.claim.get("approved_by") or ""
        if not entries:
            if claimed:
                self.found.append("the action is said to be approved by %s, and no entry says so" % claimed)
            elif self.reached("approved", "executing"):
                self.found.append("the action was approved, and the entry of that is left out")
            else:
                self.said.append("  nobody approved it")
            return
        d = entries[0]["details"]
        unasked = isinstance(d.get("rule"), str) and d["rule"]  # the rule of a route is an object
        if claimed != ("auto" if unasked else "user"):
            self.found.append("the action is said to be approved by %r, its entry says otherwise" % claimed)
        elif d.get("hash") != digest:
            pass  # it was found
        elif unasked:
            self.said.append("  this very payload: approved at %s by the rule %s" % (entries[0]["timestamp"],
                d["rule"]))
        else:
            self.said.append("  this very payload: " + by(entries[0]))

    def sealed_gate(self, walked):
        """Compares the gate with the entry of an end that no act on it brought about."""
        for e in self.of("action.cancelled", self.id) + self.of("action.expired", self.id):
            gate = e["details"].get("gate") or {}
            if not gate.get("route_hash"):
                if walked:
                    self.found.append("people are said to have been asked under a rule, and %s names no gate"
                        % e["action"])
            elif not walked:
                self.found.append("people were asked under a rule, and the route is left out")
            elif not named_gate(gate, walked):
                self.found.append("%s names another route, or other acts on it" % e["action"])

    def started(self):
        entries, base = self.of("action.started", self.id), self.claim.get("base_version") or ""
        if not entries:
            if base or self.claim["status"] == "executing" or self.reached("executing"):
                self.found.append("no entry says that the action was started")
            return
        if not self.of("action.approved", self.id):
            self.found.append("the action was started, and nobody approved it")
        sealed = entries[-1]["details"].get("base_version")
        if sealed != base:
            self.found.append("the action is said to begin with the files %r, its entry says %r" % (base, sealed))
        else:
            self.said.append("  started at %s, with the files %r" % (entries[-1]["timestamp"], base))
            self.stamped(base)

    def stamped(self, began):
        """Compares the files that the action began with to those that its payload names, on which people decided."""
        try:
            named = json.loads(self.claim["payload"]).get("base")
        except (AttributeError, ValueError):
            named = None
        if named != began:
            self.found.append("the payload is stamped for the files %r, the action began with %r" % (named, began))

    def ended(self):
        ends = [(as_, e) for action, as_ in self.ENDS.items() for e in self.of("action." + action, self.id)]
        late = [(e["details"].get("status"), e) for e in self.of("action.late", self.id)]
        status, end = ends[-1] if ends else ("", None)
        if late and status != "cancelled":
            status, end = late[-1]
        if not end:
            self.found.append("no sealed entry says how the action ended: it can't be proved until a minute after "
                "its end")
            return
        if status != self.claim["status"]:
            self.found.append("the action is said to be %s, it is sealed as %s: what comes late is sealed within a "
                "minute" % (self.claim["status"], status))
        if (end["details"].get("version") or "") != (self.claim.get("version") or ""):
            self.found.append("the action is said to leave other files than its entry says")
        self.said.append("  ended at %s, files %r" % (end["timestamp"], self.claim.get("version") or ""))


def by(entry):
    if not entry.get("actor_id"):
        return "approved at %s without a person, as the settings said" % entry["timestamp"]
    return "stamped by %s at %s" % (entry["actor_id"], entry["timestamp"])


# ---- a gate ----

FORM = 1
MOST_TEXT, MOST_STAMPS, MOST_TIME = 1000, 50, timedelta(days=300)


class Refused(Exception):
    pass


class Walk:
    """What stands of a gate after its acts: each must be one that could be made then.

    If one could not, or the route's form is unknown, refused says which act (0: the route) and why, and nothing
    stands.
    """

    def __init__(self, gate):
        self.gate, self.stages, self.end, self.refused, number = gate, [], None, None, 0
        try:
            self.open()
            for number, act in enumerate(gate.get("acts") or [], 1):
                self.take(act)
        except Refused as e:
            self.refused = {"act": number, "why": str(e)}

    def open(self):
        gate, route = self.gate, self.gate.get("route") or {}
        stages, ruled, since = route.get("stages") or [], gate.get("rule") is not None, when(gate["asked_at"])
        sound = len(stages) > 0 if ruled else len(stages) <= 1
        if route.get("form") != FORM or not sound or not gate.get("asked") or gate.get("hours",
            0) < 1 or since.year == 1:
            raise Refused("unknown")
        askers = [p["user"] for p in gate.get("askers") or []]
        for s in stages:
            named, need = [p["user"] for p in s.get("people") or []], s.get("need", 0)
            # One that names people needs stamps of theirs, any other one stamp of somebody whom it doesn't name.
            if s["mode"] == "people":
                fits = ruled and need > 0
            else:
                fits = s["mode"] == ("channel" if ruled else "settings") and need == 1 and not named
            if not fits:
                raise Refused("unknown")
            people = [user for user in dict.fromkeys(named) if user and user not in askers]
            self.stages.append({"mode": s["mode"], "people": people, "need": need, "stamps": [], "opened": None})
        need = sum(s["need"] for s in self.stages)
        if need > MOST_STAMPS or stages and not need or self.missing():
            raise Refused("unknown")
        self.enter(since)

    def owed(self, s):
        return s["need"] - len(s["stamps"])

    def present(self):
        """The number of the stage that is asked, 0 if none is."""
        if self.ended():
            return 0
        return next((number for number, s in enumerate(self.stages, 1) if self.owed(s)), 0)

    def current(self):
        return self.stages[self.present() - 1] if self.present() else None

    def settled(self):
        return not self.refused and not any(self.owed(s) for s in self.stages)

    def ended(self):
        return self.end["kind"] if self.end and self.end["kind"] in ENDS else ""

    def stamps(self):
        return [act for s in self.stages for act in s["stamps"]]

    def stamped(self):
        """Who stands in a stamp, as hand or principal."""
        return {act[who]["user"] for act in self.stamps() for who in ("hand", "principal")}

    def enter(self, at):
        if self.present() and self.current()["opened"] is None:
            self.current()["opened"] = at

    def until(self, s):
        until = s["opened"] + timedelta(hours=self.gate["hours"])
        return until if self.gate.get("rule") is None else min(until, when(self.gate["asked_at"]) + MOST_TIME)

    # -- one act --

    def take(self, act):
        why = self.why(act)
        if why:
            raise Refused(why)
        if act["kind"] in ENDS:
            self.end = act
            return
        self.current()["stamps"].append(act)
        if self.missing():
            raise Refused("hands")
        self.enter(when(act["at"]))
        if self.settled():
            self.end = act

    def why(self, act):
        """Why an act could not be made, whatever is left after it."""
        hand, principal = act["hand"].get("user"), act["principal"].get("user")
        if not self.stages:  # it asks nobody
            return "settled"
        known = act.get("form") == FORM and act["kind"] in ACTS and hand and principal
        if not known or not 1 <= act["stage"] <= len(self.stages):
            return "unknown"
        if act["hash"] != self.gate["asked"]:
            return "hash"
        if self.again(act):
            return "again"
        if self.ended() or self.settled():
            return "ended" if self.ended() else "settled"
        if len(act.get("text") or "") > MOST_TEXT or act["kind"] in ENDS and not act.get("text"):
            return "text"
        s = self.current()
        askers = [p["user"] for p in self.gate.get("askers") or []]
        if (hand in askers or principal in askers) and not self.lets_askers(s, act):
            return "self"
        if s["mode"] == "settings" and act["kind"] in FINAL:
            return "unknown"
        if act["stage"] != self.present():
            return "stage"
        if s["mode"] == "people" and principal not in s["people"]:
            return "turn" if any(principal in other["people"] for other in self.stages) else "not_on_route"
        if not self.found(s, act, hand, principal):
            return "found"
        return "twice" if {hand, principal} & self.stamped() else None

    def again(self, act):
        def same(a):
            return all(a[what] == act[what] for what in ("kind", "stage")) and all(
                a[who]["user"] == act[who]["user"] for who in ("hand", "principal"))

        return any(same(a) for a in self.stages[act["stage"] - 1]["stamps"] + [self.end] * bool(self.ended()))

    def lets_askers(self, s, act):
        """Whether a stage lets an asker act: by the settings they may send back, and stamp if these let them."""
        allowed = (act.get("found") or {}).get("allowed") or {}
        return s["mode"] == "settings" and (act["kind"] == "send_back" or bool(allowed.get("self")))

    def found(self, s, act, hand, principal):
        """Whether what lets the hand act was looked up."""
        found = act.get("found") or {}
        if s["mode"] == "settings":
            return hand == principal and bool((found.get("allowed") or {}).get("as"))
        if s["mode"] == "channel":
            return hand == principal and bool(found.get("channel"))
        by = found.get("delegation") or {}
        return hand == principal or by.get("rev", 0) > 0 and by["key"].startswith("%s#%s#" % (hand, principal))

    def missing(self):
        """How many stamps could never be given if from now on everybody stamped in their own name."""
        stamped = self.stamped()
        seats = [set(s["people"]) - stamped for s in self.stages if s["mode"] == "people" for _ in range(self.owed(s))]
        taken = {}  # who has a seat, by seat

        def seated(seat, tried):
            for who in seats[seat]:
                if who in tried:
                    continue
                tried.add(who)
                other = next((i for i, by in taken.items() if by == who), None)
                if other is None or seated(other, tried):
                    taken[seat] = who
                    return True
            return False

        return len(seats) - sum(seated(seat, set()) for seat in range(len(seats)))

    def spares(self, user):
        """Whether enough people are left for the other stamps after somebody's own at the present stage."""
        stamps = self.current()["stamps"]
        stamps.append({"hand": {"user": user}, "principal": {"user": user}})
        enough = not self.missing()
        stamps.pop()
        return enough

    # -- what stands --

    def stands(self):
        if self.refused:
            return {"refused": self.refused}
        s, stamped = self.current(), self.stamped()
        out = {
            "present": self.present(),
            "owed": self.owed(s) if s else 0,
            "owes": [user for user in s["people"] if user not in stamped and self.spares(user)] if s else [],
            "times": [[moment(t["opened"]), moment(self.until(t))] if t["opened"] else None for t in self.stages],
            "stamps": [[a["stage"], a["hand"]["user"], a["principal"]["user"]] for a in self.stamps()],
        }
        if self.end:
            out["as"] = self.ended() or "settled"
            out["by"], out["at"] = self.end["hand"]["user"], moment(self.end["at"])
        return out


# ---- the command line ----


def check(receipt):
    if receipt.get("form") != "ringi-receipt 1":
        raise ValueError("form %r is not 'ringi-receipt 1'" % receipt.get("form"))
    chain, rows = Chain(receipt), receipt["rows"] or []
    if receipt.get("action") is not None:
        return chain, Action(receipt["action"], rows)
    return chain, Execution(receipt["execution"], rows) if chain.part else None


def spell(line):
    """Prints one line: whatever a receipt claims neither hides it nor makes another."""
    print("".join(c if c.isprintable() else "<U+%04X>" % ord(c) for c in line))


def report(receipt, key):
    chain, claims = check(receipt)
    fingerprint = hashlib.sha256(base64.b64decode(receipt["public_key"])).hexdigest()
    found = ["%s %s" % f for f in chain.found] + (claims.found if claims else [])
    if key and fingerprint != key.lower():
        found.append("the key is another than the one that was asked for")
    spell("%d findings:" % len(found) if found else "it holds")
    for line in found:
        spell("  " + line)
    spell("tenant %s: %d rows are as they were sealed" % (chain.tenant, chain.sealed))
    spell("signed by the key with the fingerprint " + fingerprint)
    if not key:
        spell("whose key that is, the receipt does not prove: compare the fingerprint with the auditor's, or give "
            "it as --key")
    for keys, what in ((chain.late, "sealed late"), (chain.waiting, "not sealed yet"),
        (chain.behind, "behind the head")):
        if keys:
            spell("%d rows are %s: %s%s" % (len(keys), what, ", ".join(keys[:20]), " ..." if len(keys) > 20 else ""))
    for line in claims.said + claims.lacks if claims else []:
        spell(line)
    return 1 if found else 0


def main(args):
    """Runs the command and returns its exit code."""
    try:
        return run(args)
    except (OSError, ValueError, KeyError, TypeError) as e:
        print("it can't be checked: %r" % e, file=sys.stderr)
        return 2


def run(args):
    if args == ["--lines"]:
        for line in sys.stdin:
            chain, claims = check(json.loads(line))
            print(json.dumps({"chain": chain.found, "claims": claims.found if claims else []}))
        return 0
    if args == ["--walks"]:
        for line in sys.stdin:
            print(json.dumps(Walk(json.loads(line)).stands()))
        return 0
    key = args.pop(1) if len(args) == 3 and args[0] == "--key" else None
    if key is not None:
        args.pop(0)
    wrong = key is not None and not re.fullmatch("[0-9a-fA-F]{64}", key)
    if wrong or len(args) != 1 or args[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(args[0], encoding="utf-8") as file:
        return report(json.load(file), key)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # a console may lack characters that a receipt has
    sys.exit(main(sys.argv[1:]))
