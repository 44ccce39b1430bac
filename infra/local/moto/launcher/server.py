"""A server with a thread for each connection, and no more threads than it has connections for."""

import contextlib
import os
import resource
import threading
import time

import client
from werkzeug.serving import ThreadedWSGIServer

MOST = int(os.environ.get("STACK_CONNECTIONS") or 2000)  # the stack itself keeps 512 open


class Server(ThreadedWSGIServer):
    """Lets a connection wait while all threads are taken, and tells it so when that takes too long."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *args, **kwargs):
        self.free, self.full_since = threading.BoundedSemaphore(MOST), None
        super().__init__(*args, **kwargs)

    def process_request(self, request, client_address):
        if not self.place():
            self.refuse(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self.free.release()
            raise

    def process_request_thread(self, request, client_address):
        client.answered.connection = request
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def place(self):
        """Whether a thread is free, or becomes free within the patience since all were taken."""
        if self.free.acquire(blocking=False):
            self.full_since = None
            return True
        now = time.monotonic()
        self.full_since = self.full_since or now
        if self.free.acquire(timeout=max(0, self.full_since + client.PATIENCE - now)):
            self.full_since = None
            return True
        return False

    def refuse(self, request):
        error = client.Busy()
        content = error.get_body().encode()
        head = ("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/x-amz-json-1.0\r\n"
                f"Connection: close\r\nContent-Length: {len(content)}\r\n\r\n")
        with contextlib.suppress(OSError):
            request.settimeout(1)
            request.recv(1 << 20)  # what is left unread would take the answer away from its client
            request.sendall(head.encode() + content)
        self.shutdown_request(request)


def allow_connections():
    """A shell often allows fewer open files than there may be connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + 500
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
