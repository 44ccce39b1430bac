package large

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"ringi/shared/runtime/outbound"
	"time"
)

// Form is a form by which anybody can store one object, once or again.
type UploadForm struct {
	URL    string
	Fields map[string]string // the file follows them, in a field of its own
}

// Form returns a form that stores an object of one to most bytes, for some time.
func (b *Bucket) Form(ctx context.Context, key string, most int64, during time.Duration) (UploadForm, error) {
	now := time.Now().UTC()
	keys, err := b.s3.Keys(ctx, now)
	if err != nil {
		return UploadForm{}, err
	}
	at := now.Format("20060102T150405Z")
	fields := map[string]string{
		"X-Amz-Algorithm": outbound.SigningAlgorithm, "X-Amz-Credential": keys.Credential, "X-Amz-Date": at, "key": key,
	}
	is := func(field, value string) any { return map[string]string{field: value} }
	conditions := []any{
		is("X-Amz-Algorithm", outbound.SigningAlgorithm), is("bucket", b.name), is("X-Amz-Credential", keys.Credential),
		is("X-Amz-Date", at),
	}
	if keys.Token != "" {
		fields["X-Amz-Security-Token"] = keys.Token
		conditions = append(conditions, is("X-Amz-Security-Token", keys.Token))
	}
	conditions = append(conditions, []any{"content-length-range", 1, most}, is("key", key))
	policy, err := json.Marshal(map[string]any{
		"conditions": conditions, "expiration": now.Add(during).Format(time.RFC3339),
	})
	if err != nil {
		return UploadForm{}, err
	}
	text := base64.StdEncoding.EncodeToString(policy)
	maps.Copy(fields, map[string]string{"policy": text, "X-Amz-Signature": keys.Sign(text)})
	return UploadForm{URL: b.s3.URL(b.root), Fields: fields}, nil
}
