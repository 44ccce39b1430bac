package model_test

import (
	"net/http"
	"testing"
	"time"

	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

func TestHowLongAVendorAsksToWait(t *testing.T) {
	in := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for _, tt := range []struct {
		name, value string
		least, most time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second, 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		{"Retry-After", in, 85 * time.Second, 90 * time.Second},
		{"Retry-After", "soon", 0, 0},
		{"Retry-After", "NaN", 0, 0},
		{"Retry-After", "-3", 0, 0},
		{"Retry-After", "1e300", 24 * time.Hour, 24 * time.Hour},
		{"Retry-After-Ms", "250", 250 * time.Millisecond, 250 * time.Millisecond},
	} {
		e := model.FromStatus("openai", http.StatusTooManyRequests, http.Header{tt.name: {tt.value}}, "rate_limit_exceeded")
		expect.That(t, e.RetryAfter >= tt.least && e.RetryAfter <= tt.most, "%s: %s: %s", tt.name, tt.value, e.RetryAfter)
	}
}

// A vendor's code gets into logs; a text that quotes the request does not.
func TestAVendorsSentenceIsNoCode(t *testing.T) {
	for _, code := range []string{"himitsu no irai", "秘密", "a/b", string(make([]byte, 100))} {
		e := model.FromStatus("openai", http.StatusBadRequest, nil, code)
		expect.That(t, e.Err == nil, "%q is kept as %v", code, e.Err)
	}
}
