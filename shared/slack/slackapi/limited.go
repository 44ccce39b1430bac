package slackapi

import (
	"cmp"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/runtime/outbound"
)

// Doer makes a client's calls.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Heeding wraps the HTTP client of a slack-go client, which reads only whole seconds: a 429 with another wait would
// be an error of unknown outcome.
func Heeding(calls Doer) Doer { return heeding{calls} }

type heeding struct{ calls Doer }

func (h heeding) Do(r *http.Request) (*http.Response, error) {
	answer, err := h.calls.Do(r)
	if err != nil || answer.StatusCode != http.StatusTooManyRequests {
		return answer, err
	}
	answer.Body.Close()
	return nil, &slack.RateLimitedError{RetryAfter: cmp.Or(outbound.RetryAfter(answer.Header, time.Now()), defaultRetry)}
}
