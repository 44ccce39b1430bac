"""The witness's app on python-slack-sdk: see package witness for what it does."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from slack_sdk import WebClient
from slack_sdk.models.blocks import ActionsBlock, ButtonElement, InputBlock, PlainTextInputElement, SectionBlock
from slack_sdk.models.views import View
from slack_sdk.signature import SignatureVerifier
from slack_sdk.webhook import WebhookClient

client = WebClient(token=os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"])
verifier = SignatureVerifier(os.environ["SLACK_SIGNING_SECRET"])


def button(action, text, value):
    return ButtonElement(action_id=action, text=text, value=value)


def face(text, *buttons):
    blocks = [SectionBlock(text=text)]
    if buttons:
        blocks.append(ActionsBlock(block_id="choices", elements=list(buttons)))
    return blocks


def mentioned(event):
    ts = event["ts"]
    client.chat_postMessage(
        channel=event["channel"], thread_ts=ts, text="heard",
        blocks=face(f"heard <@{event['user']}>", button("open_form", "Write a note", ts), button("finish", "Finish", ts)),
        metadata={"event_type": "witness", "event_payload": {"event_ts": event["event_ts"]}},
    )


def open_form(body):
    opened = client.views_open(
        trigger_id=body["trigger_id"],
        view=View(
            type="modal", callback_id="note_form", title="A note", submit="Send",
            private_metadata=json.dumps({"channel": body["channel"]["id"], "ts": body["message"]["ts"]}),
            blocks=[InputBlock(block_id="note_block", label="Note", element=PlainTextInputElement(action_id="note", multiline=True))],
        ),
    )
    # What Slack answers is itself a view.
    assert View(**opened["view"]).callback_id == "note_form"


def submitted(body):
    view = View(**body["view"])
    note = view.state.values["note_block"]["note"].value or ""
    if len(note) < 3:
        return {"response_action": "errors", "errors": {"note_block": "at least three characters"}}
    place = json.loads(view.private_metadata)
    client.chat_update(**place, text="noted", blocks=face(f"noted: {note}", button("finish", "Finish", place["ts"])))


def finish(body):
    channel, message = body["channel"]["id"], body["message"]
    thread = message["thread_ts"]
    replies = client.conversations_replies(channel=channel, ts=thread, include_all_metadata=True)["messages"]
    ours = [m for m in replies if m.get("metadata", {}).get("event_type") == "witness"]
    client.chat_update(channel=channel, ts=message["ts"], text="finished", blocks=face(f"finished, {len(ours)} of {len(replies)} messages are ours"))
    client.chat_postEphemeral(channel=channel, thread_ts=thread, user=body["user"]["id"], text="for you alone")
    answer = WebhookClient(body["response_url"]).send(response_type="ephemeral", replace_original=False, text="by response_url")
    assert answer.status_code == 200, answer.body


def cancelled(body):
    client.chat_postMessage(channel=body["channel"]["id"], thread_ts=body["message"]["ts"], text=f"cancelled by <@{body['user']['id']}>")


def interaction(body):
    kind = body["type"]
    if kind == "block_actions":
        {"open_form": open_form, "finish": finish}[body["actions"][0]["action_id"]](body)
    elif kind == "view_submission" and body["view"]["callback_id"] == "note_form":
        return submitted(body)
    elif kind == "message_action" and body["callback_id"] == "cancel_task":
        cancelled(body)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if not verifier.is_valid_request(raw, dict(self.headers)):
            return self.answer(401, None)
        try:
            if self.headers["Content-Type"].startswith("application/json"):
                body = json.loads(raw)
                if body["type"] == "event_callback" and body["event"]["type"] == "app_mention":
                    mentioned(body["event"])
                said = {"challenge": body["challenge"]} if body["type"] == "url_verification" else None
            else:
                said = interaction(json.loads(parse_qs(raw.decode())["payload"][0]))
        except Exception as e:  # the test shows what the app did not understand
            print(f"{type(e).__name__}: {e}", file=sys.stderr, flush=True)
            return self.answer(500, None)
        self.answer(200, said)

    def answer(self, status, said):
        body = b"" if said is None else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port}), flush=True)
sys.stdin.read()  # the test's end of this pipe closes when the test does, however it ends
