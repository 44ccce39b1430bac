package slackapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/runtime/outbound"
)

// Doer makes a client's calls.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Heeding wraps the HTTP client of a slack-go client, which reads only whole seconds: a 429 with another wait would
// be an error of unknown outcome. It also refuses all messages of an answer for one of a form that it doesn't know, so
// it is given only what says whose message it is.
func Heeding(calls Doer) Doer { return heeding{calls} }

type heeding struct{ calls Doer }

func (h heeding) Do(r *http.Request) (*http.Response, error) {
	answer, err := h.calls.Do(r)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(listing, path.Base(r.URL.Path)):
		whole, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return nil, err
		}
		answer.Body = io.NopCloser(bytes.NewReader(bare(whole)))
	}
	if answer.StatusCode != http.StatusTooManyRequests {
		return answer, nil
	}
	answer.Body.Close()
	return nil, &slack.RateLimitedError{RetryAfter: cmp.Or(outbound.RetryAfter(answer.Header, time.Now()), defaultRetry)}
}

// listing are the methods that answer with the messages of people and of other apps.
var listing = []string{"conversations.history", "conversations.replies"}

// bare returns an answer whose messages have only what slack-go is to read of them. A member of another form is left
// out, as is what isn't a message.
func bare(answer []byte) []byte {
	var whole map[string]json.RawMessage
	var messages []json.RawMessage
	if json.Unmarshal(answer, &whole) != nil || json.Unmarshal(whole["messages"], &messages) != nil {
		return answer // slack-go says what is wrong
	}
	type message struct {
		Type     string `json:"type"`
		Subtype  string `json:"subtype,omitempty"`
		User     string `json:"user,omitempty"`
		BotID    string `json:"bot_id,omitempty"`
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts,omitempty"`
		Metadata struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		} `json:"metadata"`
	}
	all := []message{}
	for _, text := range messages {
		var m message
		_ = json.Unmarshal(text, &m) // it goes on after a member of another form
		if m.TS != "" {
			all = append(all, m)
		}
	}
	whole["messages"], _ = json.Marshal(all) // they were read from JSON
	answer, _ = json.Marshal(whole)
	return answer
}
