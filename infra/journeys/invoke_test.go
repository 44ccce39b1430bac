package journeys

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/journeys/desk"
	"ringi/infra/local/stack"
)

// The samples of what Slack sends carry no signature; invoking them signs them.
func TestASampleRequestIsSignedWhenItIsInvoked(t *testing.T) {
	s := start(t)
	for sample, function := range map[string]string{
		"app_mention.json": "receive-event", "url_verification.json": "receive-event", "approve_prompt.json": "receive-interaction",
	} {
		event, err := os.ReadFile(filepath.Join("..", "events", sample))
		if err != nil {
			t.Fatal(err)
		}
		o := desk.Options()
		o.AWSAddr = strings.TrimPrefix(s.AWSEndpoint, "http://")
		result, err := stack.InvokeOnce(t.Context(), o, function, event, nil)
		if err != nil || result.Failed || !bytes.Contains(result.Payload, []byte(`"statusCode":200`)) {
			t.Errorf("%s: %s %v", sample, result.Payload, err)
		}
		if function != "receive-interaction" {
			continue
		}
		forged := bytes.Replace(event, []byte("v0=0"), []byte("v0=1"), 1)
		if result, err = stack.InvokeOnce(t.Context(), o, function, forged, nil); err != nil || !bytes.Contains(result.Payload, []byte(`"statusCode":401`)) {
			t.Errorf("%s with another signature: %s %v", sample, result.Payload, err)
		}
	}
}
