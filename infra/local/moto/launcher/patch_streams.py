"""What moto's table streams lack.

- There is one record per change: none for an update that changes nothing, one
  (moto: two) for an update that makes its row.
- Polling an idle stream makes no new iterator, of which moto forgets none.
"""

import moto.dynamodbstreams.models as models
from moto.dynamodb.models.table import StreamShard


def apply():
    record_changes_once()
    reuse_idle_iterators()


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
