package journeys

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// The samples of Slack's requests have no signature; invoking them signs them.
func TestASampleRequestIsSignedWhenItIsInvoked(t *testing.T) {
	s := start(t)
	for sample, function := range map[string]string{
		"app_mention.json": "receive-event", "url_verification.json": "receive-event", "approve_prompt.json": "receive-interaction",
	} {
		event := expect.Value(os.ReadFile(filepath.Join("..", "events", sample)))(t)
		o := driver.Options()
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

// The stack accepts the signature that `go run ./infra/local event` prints.
func TestASampleRequestIsSignedToBeSentByHand(t *testing.T) {
	s := start(t)
	sample := expect.Value(os.ReadFile(filepath.Join("..", "events", "url_verification.json")))(t)
	event := expect.Value(stack.SignEvent(t.Context(), strings.TrimPrefix(s.AWSEndpoint, "http://"), sample))(t)
	var r struct {
		Headers map[string]string
		Body    string
	}
	expect.NoError(t, json.Unmarshal(event, &r))
	req := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/slack/events", strings.NewReader(r.Body)))(t)
	for _, name := range []string{"content-type", "x-slack-request-timestamp", "x-slack-signature"} {
		req.Header.Set(name, r.Headers[name])
	}
	resp := expect.Value(http.DefaultClient.Do(req))(t)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("answered %d", resp.StatusCode)
	}
	if _, err := stack.SignEvent(t.Context(), "127.0.0.1:1", sample); !errors.Is(err, stack.ErrNoStack) {
		t.Errorf("without a stack: %v", err)
	}
}
