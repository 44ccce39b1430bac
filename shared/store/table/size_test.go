package table

import (
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestARowIsAtMostWhatDynamoDBTakes(t *testing.T) {
	type row struct {
		Text string `json:"text"`
	}
	packed := func(n int) (Item, error) { return Pack("message", "MESSAGES#t#s", "m", row{strings.Repeat("a", n)}) }
	room := maxItem - SizeOf(expect.Value(packed(0))(t))
	if it, err := packed(room); err != nil || SizeOf(it) != 400*1024 {
		t.Errorf("%d bytes: %v", SizeOf(it), err)
	}
	_, err := packed(room + 1)
	large, ok := errors.AsType[aggregate.ErrTooLarge](err)
	expect.That(t, ok && large.Row == "message" && large.Bytes == 400*1024+1, "one byte more: %v", err)
}
