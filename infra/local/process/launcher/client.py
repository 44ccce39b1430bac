"""The client whose call a thread answers, and the turn that its call waits for.

On a machine that stands still for a while, clients give up and come again. What the first of them asked would be
computed for nobody, and each of them would keep a thread that waits, until there are thousands.
"""

import socket
import threading

LOOK_EVERY = 1  # seconds, whether a client that waits is still there; the AWS SDKs' clients here give up after 8

PEEK = int(socket.MSG_PEEK | socket.MSG_DONTWAIT)

answered = threading.local()


class Gone(Exception):
    """Nobody waits for the answer."""


def gone():
    """Whether the client of this thread's call has closed its connection; not if the thread answers nobody."""
    connection = getattr(answered, "connection", None)
    if connection is None:
        return False
    try:
        return not connection.recv(1, PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True


class Turn:
    """A reentrant lock that nobody gets who is gone. A Condition may be made of it."""

    def __init__(self):
        self.lock = threading.RLock()
        self.release, self._is_owned = self.lock.release, self.lock._is_owned
        self._release_save, self._acquire_restore = self.lock._release_save, self.lock._acquire_restore

    def acquire(self):
        if self.lock.acquire(blocking=False):
            return True
        while not self.lock.acquire(timeout=LOOK_EVERY):
            if gone():
                raise Gone()
        if gone():
            self.lock.release()
            raise Gone()
        return True

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_):
        self.lock.release()
