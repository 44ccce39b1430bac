"""Serves moto on a free port of 127.0.0.1 and says so on standard output.

The process ends when its standard input does: whoever started it holds the
other end, so that it cannot outlive its owner, however that one ends.
"""

import json
import os
import sys
import threading

from werkzeug.serving import make_server

import guard
import patch_answers
import patch_dynamodb
import patch_sqs
import patch_streams
from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)


class Handler(MotoRequestHandler):
    """Keeps connections open, which halves the time of a small call."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

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


def end_with_owner():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


def main():
    for patch in (patch_dynamodb, patch_streams, patch_answers, patch_sqs):
        patch.apply()
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    threading.Thread(target=end_with_owner, daemon=True).start()

    app = StateMachines(DomainDispatcherApplication(create_backend_app))
    hosts = os.environ.get("STACK_HOSTS", "").split()
    server = make_server("127.0.0.1", 0, guard.Guard(app, hosts), threaded=True, request_handler=Handler)
    server.daemon_threads = True
    server.block_on_close = False
    if "MOTO_PORT" in os.environ:
        # Somebody answers the tasks of state machines, so there will be some.
        threading.Thread(target=app.load, daemon=True).start()
    # The state machine interpreter calls its tasks at this port of localhost.
    os.environ.setdefault("MOTO_PORT", str(server.port))
    print(json.dumps({"port": server.port}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
