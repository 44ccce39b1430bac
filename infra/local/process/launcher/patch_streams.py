"""What moto's table streams lack.

- There is one record per change: none for an update that changes nothing, one
  (moto: two) for an update that makes its row.
- Polling an idle stream makes no new iterator, of which moto forgets none.
- A reader may say in a header how long it waits for news, in milliseconds, so that
  it need not ask an idle stream again and again. DynamoDB always answers at once.
"""

import threading

import moto.dynamodbstreams.models as models
import moto.dynamodbstreams.responses as responses
import patch_dynamodb
from moto.dynamodb.models.table import StreamShard

WAIT = "X-Stack-Wait"
LONGEST = 5  # seconds

news = threading.Condition(patch_dynamodb.lock)


def apply():
    record_changes_once()
    reuse_idle_iterators()
    wait_for_news()


def record_changes_once():
    add = StreamShard.add

    def add_change(self, old, new):
        if old is not None and new is not None and old.attrs == new.attrs:
            return
        last = self.items[-1].record if self.items else None
        add(self, old, new)
        if old is not None or last is None or last["eventName"] != "INSERT":
            return
        record = self.items[-1].record
        if last["dynamodb"]["Keys"] == record["dynamodb"]["Keys"]:
            record["dynamodb"]["SequenceNumber"] = last["dynamodb"]["SequenceNumber"]
            del self.items[-2]

    StreamShard.add = add_change


def reuse_idle_iterators():
    get = models.ShardIterator.get

    def get_records(self, limit=1000):
        if not self.stream_shard.get(self.sequence_number, 1):
            return {"NextShardIterator": self.arn, "Records": []}
        return get(self, limit)

    models.ShardIterator.get = get_records


def wait_for_news():
    add, get_records = StreamShard.add, responses.DynamoDBStreamsHandler.get_records

    def add_and_tell(self, old, new):
        add(self, old, new)
        with news:
            news.notify_all()

    def waiting_get_records(self):
        wait = min(int(self.headers.get(WAIT) or 0) / 1000, LONGEST)
        iterator = self.backend.shard_iterators.get(self._get_param("ShardIterator"))
        if wait > 0 and iterator is not None:
            with news:
                news.wait_for(lambda: iterator.stream_shard.get(iterator.sequence_number, 1), wait)
        return get_records(self)

    StreamShard.add = add_and_tell
    responses.DynamoDBStreamsHandler.get_records = waiting_get_records
