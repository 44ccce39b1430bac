package main

import (
	"errors"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestKeysOfWhoLeftAreRevoked(t *testing.T) {
	k := &kept{}
	h := handler(k)
	send := func(change string, is any) int {
		user := map[string]any{"id": "U0SATO", "deleted": false, "is_restricted": false, "profile": map[string]any{}}
		user[change] = is
		return post(t, h, signed(callback(t, map[string]any{"type": "user_change", "user": user, "text": nil, "ts": nil,
			"channel": nil, "team": nil}, nil))).StatusCode
	}
	expect.Is(t, send("profile", map[string]any{"status_text": "休暇中"}), 200)
	expect.Is(t, len(k.left), 0, "somebody who only changed their profile stays")
	expect.Is(t, send("deleted", true), 200)
	expect.Is(t, send("is_restricted", true), 200)
	expect.That(t, len(k.left) == 2 && strings.HasSuffix(k.left[0], " U0SATO"), "%v", k.left)
	expect.Is(t, send("deleted", "yes"), 400)
	k.err = errors.New("throttled")
	expect.Is(t, send("deleted", true), 503, "Slack sends it again")
}
