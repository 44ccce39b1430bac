package inbound

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"
)

const (
	HeaderTimestamp = "X-Slack-Request-Timestamp"
	HeaderSignature = "X-Slack-Signature"
)

// Tolerance is how far a request's timestamp may differ from now. Slack recommends this value against replays.
const Tolerance = 5 * time.Minute

// The reasons for which a request is refused.
var (
	ErrUnsigned  = errors.New("a signature header is missing or no signature")
	ErrStale     = errors.New("the timestamp is not within five minutes")
	ErrSignature = errors.New("the signature does not match")
	ErrNoSecret  = errors.New("no signing secret is configured")
)

// Verify returns nil if Slack signed body with secret at about now. It compares in constant time. An empty secret
// verifies nothing.
func Verify(header http.Header, body []byte, secret string, now time.Time) error {
	if secret == "" {
		return ErrNoSecret
	}
	stamp, signature := header.Get(HeaderTimestamp), header.Get(HeaderSignature)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || signature == "" {
		return ErrUnsigned
	}
	// Compared in seconds, since a Duration would overflow on a hostile timestamp.
	if limit := int64(Tolerance / time.Second); seconds < now.Unix()-limit || seconds > now.Unix()+limit {
		return ErrStale
	}
	if !hmac.Equal([]byte(signature), []byte(Sign(stamp, body, secret))) {
		return ErrSignature
	}
	return nil
}

// Sign computes Slack's signature of a body sent at stamp, in Unix seconds.
func Sign(stamp string, body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}
