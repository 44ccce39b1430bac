package main

import (
	"context"
	"encoding/json"

	"ringi/shared/domain/aggregate"
)

// maxRemembered limits the results that an invocation remembers, in bytes.
const maxRemembered = 16 << 20

// remembering are Results of which an invocation reads none from the bucket twice, nor any that it kept there, as far
// as maxRemembered allows. An object's name is the hash of its content.
type remembering struct {
	Results
	of    map[string]json.RawMessage // by key
	bytes int
}

func (r *remembering) Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	b, err := r.Results.Keep(ctx, ref, v)
	if err == nil {
		r.remember(b.S3Key, v)
	}
	return b, err
}

func (r *remembering) Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	if v, ok := r.of[b.S3Key]; ok {
		return v, nil
	}
	v, err := r.Results.Open(ctx, ref, b)
	if err == nil {
		r.remember(b.S3Key, v)
	}
	return v, err
}

func (r *remembering) remember(key string, v json.RawMessage) {
	if key == "" || r.bytes+len(v) > maxRemembered {
		return
	}
	if _, ok := r.of[key]; !ok {
		r.bytes += len(v)
		r.of[key] = v
	}
}
