package storetest

import (
	"context"
	"encoding/json"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store/large"
)

// Bucket stands in for the bucket of results in tests that only draw cards. It maps keys to large arguments, and counts
// under FetchCount how often they were opened.
type Bucket map[string]aggregate.JSON

// FetchCount is the key under which a Bucket has one digit for each time that arguments were opened.
const FetchCount = "fetched"

func (s Bucket) Opened(_ context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error) {
	out := *a
	out.Gates = slices.Clone(a.Gates)
	for i, g := range out.Gates {
		if g.Arguments.S3Key != "" && (gate == g.ID || gate == g.Key()) {
			opened := *g
			opened.Arguments.JSON = s[g.Arguments.S3Key]
			out.Gates[i] = &opened
			s[FetchCount] += "1"
		}
	}
	return &out, nil
}

// Open is large.Store's Open: a missing object has expired.
func (s Bucket) Open(_ context.Context, _ aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	if b.S3Key == "" {
		return json.RawMessage(b.JSON), nil
	}
	if v, ok := s[b.S3Key]; ok {
		return json.RawMessage(v), nil
	}
	return nil, large.ErrExpired
}

// Copy is large.Store's Copy, without its check.
func (s Bucket) Copy(_ context.Context, c aggregate.Copy) error {
	v, ok := s[c.From]
	if !ok {
		return large.ErrExpired
	}
	s[c.To] = v
	return nil
}

// KeepPayload is large.Store's KeepPayload, which stores every value as an object.
func (s Bucket) KeepPayload(_ context.Context, ref aggregate.Ref, v json.RawMessage,
	_ map[string]any) (aggregate.Blob, error) {
	key := "talks/" + ref.Tenant + "/" + ref.ID + "/" + aggregate.HashOf(string(v)) + ".json"
	s[key] = aggregate.JSON(v)
	return aggregate.Blob{Bytes: len(v), S3Key: key}, nil
}

func (s Bucket) KeepContest(_ context.Context, _ aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	if len(v) <= inline {
		return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
	}
	key := "contests/" + aggregate.HashOf(string(v))
	s[key] = aggregate.JSON(v)
	return aggregate.Blob{Bytes: len(v), S3Key: key}, nil
}

func (s Bucket) KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return s.KeepContest(ctx, ref, v, inline)
}
