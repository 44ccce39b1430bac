"""Serves moto on a free port of 127.0.0.1 and says so on standard output.

The process ends when its standard input does: whoever started it holds the
other end, so that it cannot outlive its owner, however that one ends.
"""

import functools
import gc
import http.client
import json
import os
import re
import resource
import sys
import threading
import traceback

from botocore.loaders import Loader
from werkzeug.serving import ThreadedWSGIServer

import calls
import client
import patch_dynamodb
import patch_kms
import patch_sqs
import patch_streams
from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)


# Names of this machine. No page under a name that leads here has an address as its Host.
OWN = re.compile(r"(localhost|[1-9][0-9.]*|\[[0-9a-f:]+\])(:\d+)?")
REFUSAL = b"web pages are not answered\n"


class Handler(MotoRequestHandler):
    """Answers programs and no web pages, by the rules of Guard of infra/local/lambda.

    moto has nothing that is opened in a browser; for a file that a signed link leads to, the listener before it has
    judged. The connections of calls to tables and queues stay open, which halves the time of a small call: werkzeug's
    own handler closes each one, and makes a thread for the next.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def foreign(self):
        host = self.headers.get("host", "")
        return (not OWN.fullmatch(host) or self.headers.get("origin") not in (None, "http://" + host)
            or self.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"))

    def run_wsgi(self):
        call = calls.Call.of(self.command, self.path, self.headers)
        if self.foreign():
            self.close_connection = True
            self.rfile.read(min(int(self.headers.get("content-length") or 0), 1 << 16))  # or it never sees the answer
            self.say(403, {"Content-Type": "text/plain", "Connection": "close"}, REFUSAL)
        elif call is not None:
            self.run_call(call)
        elif client.gone():
            self.close_connection = True
        else:
            super().run_wsgi()

    def run_call(self, call):
        """Answers a call that needs nothing of a web framework."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if client.gone():
            self.close_connection = True
            return
        try:
            self.say(*call.answer(body))
        except client.Gone:
            self.close_connection = True
        except Exception:
            traceback.print_exc()
            self.say(500, {}, b"")

    def say(self, status, headers, content):
        head = [f"HTTP/1.1 {status} {self.responses.get(status, ('',))[0]}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        head.append(f"Content-Length: {len(content)}\r\n\r\n")
        self.wfile.write("\r\n".join(head).encode("latin-1") + content)
        self.wfile.flush()

    def log_request(self, *_):
        pass


class StateMachines:
    """Loads the interpreter, which takes most of a start's time, only when asked for."""

    def __init__(self, app):
        self.app = app
        self.loaded = False
        self.lock = threading.Lock()

    def load(self):
        with self.lock:
            if self.loaded:
                return
            import patch_stepfunctions

            patch_stepfunctions.apply()
            self.loaded = True
            threading.Thread(target=patch_stepfunctions.warm, daemon=True).start()

    def __call__(self, environ, start_response):
        if environ.get("HTTP_X_AMZ_TARGET", "").startswith("AWSStepFunctions"):
            self.load()
        return self.app(environ, start_response)


class Server(ThreadedWSGIServer):
    """Has a thread for each connection, which knows its client."""

    daemon_threads = True
    block_on_close = False

    def process_request_thread(self, request, client_address):
        client.answered.connection = request
        super().process_request_thread(request, client_address)


def read_headers(lines, _class=http.client.HTTPMessage):
    """The headers of a request. Python's own reader takes them for a mail's, which is a tenth of the server's time."""
    message = _class()
    while (line := lines.readline(65537)) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        message[name] = value.strip()
    return message


def allow_connections():
    """A shell often allows fewer open files than there are connections: the stack itself keeps 512 open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2500 if hard == resource.RLIM_INFINITY else min(2500, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def end_with_owner():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


def main():
    for patch in (patch_dynamodb, patch_streams, patch_sqs, patch_kms):
        patch.apply()
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    threading.Thread(target=end_with_owner, daemon=True).start()

    http.client.parse_headers = read_headers
    # botocore opens each folder of four hundred services before it reads the description of one.
    Loader.list_available_services = lambda loader, type_name: sorted(
        {name for path in loader._potential_locations() for name in os.listdir(path)})
    # moto lists its folders and tries two hundred patterns for each call that isn't answered in calls.py.
    DomainDispatcherApplication.get_backend_for_host = functools.cache(DomainDispatcherApplication.get_backend_for_host)
    app = StateMachines(DomainDispatcherApplication(create_backend_app))
    allow_connections()
    # Tables and runs stay, so that to look for garbage often finds little; and a call mostly ends within one turn.
    # With Python's own settings infra/stories takes a seventh more of the server's time.
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    sys.setswitchinterval(0.02)
    front = Server("127.0.0.1", 0, app, Handler)
    if "MOTO_PORT" in os.environ:
        # Somebody answers the tasks of state machines, so there will be some.
        threading.Thread(target=app.load, daemon=True).start()
    # The state machine interpreter calls its tasks at this port of localhost.
    os.environ.setdefault("MOTO_PORT", str(front.port))
    print(json.dumps({"port": front.port}), flush=True)
    front.serve_forever()


if __name__ == "__main__":
    main()
