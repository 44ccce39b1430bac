"""Reads {"name", "content"} per line, a message or a modal, and holds it against
the block models of python-slack-sdk. Prints {"name", "problems", "blocks"} per line."""

import json
import sys

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View


def lost(want, got, at):
    """Where the models, which drop what they don't know, say something else than we do."""
    if isinstance(want, dict) and isinstance(got, dict):
        for name in want:
            if name not in got:
                yield f"{at}/{name} is unknown"
            else:
                yield from lost(want[name], got[name], f"{at}/{name}")
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f"{at} has {len(want)} items, {len(got)} are known"
        for i, (w, g) in enumerate(zip(want, got)):
            yield from lost(w, g, f"{at}/{i}")
    elif want != got:
        yield f"{at} is {want!r}, read as {got!r}"


def block(b, at):
    try:
        known = Block.parse(b)
        if known is None:
            yield f"{at}: no block has type {b.get('type')!r}"
            return
        yield from lost(b, known.to_dict(), at)
    except SlackObjectFormationError as e:
        yield f"{at}: {e}"


def problems(content):
    if content.get("type") == "modal":
        try:
            yield from lost(content, View(**content).to_dict(), "")
        except SlackObjectFormationError as e:
            yield f"the view: {e}"
        lists = [("/blocks", content.get("blocks", []))]
    else:
        lists = [("/blocks", content.get("blocks", []))]
        lists += [(f"/attachments/{i}/blocks", a.get("blocks", [])) for i, a in enumerate(content.get("attachments", []))]
    for at, blocks in lists:
        for i, b in enumerate(blocks):
            yield from block(b, f"{at}/{i}")


def count(content):
    return len(content.get("blocks", [])) + sum(len(a.get("blocks", [])) for a in content.get("attachments", []))


for line in sys.stdin:
    given = json.loads(line)
    print(json.dumps({"name": given["name"], "problems": list(problems(given["content"])), "blocks": count(given["content"])}))
