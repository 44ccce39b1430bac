package mapping

import (
	"context"
	"encoding/json"
	"time"
)

// giveUp sends the failure destination the position in the stream of changes that the
// function could not handle, without their content, as Lambda does.
func (r *streamRun) giveUp(ctx context.Context, changes []change, condition string, invoked int, requestID string) {
	first, last := changes[0], changes[len(changes)-1]
	r.Log.Error("changes given up", "function", r.Function, "records", len(changes), "condition", condition, "from",
		first.sequence, "to", last.sequence)
	if r.OnFailure == nil {
		return
	}
	body, err := json.Marshal(map[string]any{
		"version":   "1.0",
		"timestamp": r.Now().UTC().Format(time.RFC3339Nano),
		"requestContext": map[string]any{
			"requestId": requestID, "functionArn": r.Function, "condition": condition, "approximateInvokeCount": invoked,
		},
		"DDBStreamBatchInfo": map[string]any{
			"shardId": r.shard, "startSequenceNumber": first.sequence, "endSequenceNumber": last.sequence, "batchSize": len(changes), "streamArn": r.Mapping.Source,
			"approximateArrivalOfFirstRecord": first.at.UTC().Format(time.RFC3339), "approximateArrivalOfLastRecord": last.at.UTC().Format(time.RFC3339),
		},
	})
	if err == nil {
		err = r.OnFailure(ctx, string(body))
	}
	if err != nil {
		r.Log.Error("tell the failure destination", "function", r.Function, "err", err)
	}
}
