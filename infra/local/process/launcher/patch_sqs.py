"""What moto's SQS lacks under concurrency.

- Calls are serialised; moto loses a message that is sent while another is deleted.
- Messages that come back keep their order within the group.
- A waiting receive sees that a group has become free, and is woken by what changes its
  queue. moto looks once, when the wait begins, and spins while it waits.
- A FIFO queue remembers deduplication ids for five minutes, as SQS does, and
  per group if its attributes say so; moto, while the message is there.
"""

import threading
import time

import client
import moto.sqs.models as models

DEDUPLICATION_SECONDS = 300
LOOK_EVERY = 0.1  # seconds, while a receive waits: for what becomes visible by itself

lock = client.Turn()
news = threading.Condition(lock)


def apply():
    for name in (
        "send_message",
        "send_message_batch",
        "delete_message",
        "delete_message_batch",
        "change_message_visibility",
        "change_message_visibility_batch",
        "purge_queue",
        "create_queue",
        "set_queue_attributes",
    ):
        serialise(name)
    wait_by_looking()
    remember_deduplication_ids()
    models.Queue.messages = property(visible_messages)


def serialise(name):
    call = getattr(models.SQSBackend, name)

    def locked(self, *args, **kwargs):
        with news:
            try:
                return call(self, *args, **kwargs)
            finally:
                news.notify_all()

    setattr(models.SQSBackend, name, locked)


def wait_by_looking():
    receive = models.SQSBackend.receive_message

    def receive_message(self, queue_name, count, wait_seconds_timeout, *args, **kwargs):
        end = time.monotonic() + (wait_seconds_timeout or 0)
        while True:
            with news:
                if client.gone():
                    return []  # or a message would be handed to nobody, and be away for a while
                # moto does this one by one while it looks, and so hands out
                # the last of a group's returned messages first.
                queue = self.get_queue(queue_name)
                for message in [m for m in queue.pending_messages if m.visible]:
                    queue.pending_messages.discard(message)
                messages = receive(self, queue_name, count, 0, *args, **kwargs)
                left = end - time.monotonic()
                if messages or left <= 0:
                    return messages
                news.wait(min(left, LOOK_EVERY))

    models.SQSBackend.receive_message = receive_message


def remember_deduplication_ids():
    add = models.Queue.add_message

    def add_message(self, message):
        if self.fifo_queue and message.deduplication_id:
            per_group = self.deduplication_scope == "messageGroup"
            key = (message.group_id if per_group else None, message.deduplication_id)
            seen, now = self.__dict__.setdefault("deduplicated", {}), time.monotonic()
            while seen and now - seen[next(iter(seen))] > DEDUPLICATION_SECONDS:
                del seen[next(iter(seen))]  # the oldest
            if key in seen:
                return
            seen[key] = now
            # moto would look at the messages that are there, of all groups.
            taken, message.deduplication_id = message.deduplication_id, None
            add(self, message)
            message.deduplication_id = taken
            return
        add(self, message)

    models.Queue.add_message = add_message


def visible_messages(queue):
    now = time.time() * 1000
    return [m for m in queue._messages if m.visible_at < now and m.delayed_until <= now]
