package sandbox_test

import (
	"testing"
	"time"

	"ringi/infra/local/sandbox"
	"ringi/shared/runtime/expect"
)

// The values are the example in Slack's documentation.
func TestSignIsSlacks(t *testing.T) {
	body := "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	h := sandbox.Sign("8f742231b10e8888abcd99yyyzzz85a5", time.Unix(1531420618, 0), []byte(body))
	got, want := h.Get("X-Slack-Signature"), "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
	expect.That(t, got == want, "signature %s, want %s", got, want)
	expect.Is(t, h.Get("X-Slack-Request-Timestamp"), "1531420618", "timestamp")
}
