package inbound

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/metric"
	"ringi/shared/runtime/metric/metrictest"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi/slacktest"
)

// A version that fails at every call returns no error to Lambda: the canary's alarms go by this count.
func TestWhatIsNotAnsweredIsCounted(t *testing.T) {
	ok := func(context.Context, []byte) (Response, error) { return OK(), nil }
	for name, tt := range map[string]struct {
		keys    Keys
		answer  func(context.Context, []byte) (Response, error)
		counted metric.Name
	}{
		"answered":                      {slacktest.Keys{Secret: "s"}, ok, ""},
		"a panic":                       {slacktest.Keys{Secret: "s"}, func(context.Context, []byte) (Response, error) { panic("a bad version") }, metric.NotAnswered},
		"an error":                      {slacktest.Keys{Secret: "s"}, func(context.Context, []byte) (Response, error) { return Response{}, errors.New("no") }, metric.NotAnswered},
		"to be sent again":              {slacktest.Keys{Secret: "s"}, func(context.Context, []byte) (Response, error) { return Response{}, Unavailable("again") }, metric.NotAnswered},
		"a request that makes no sense": {slacktest.Keys{Secret: "s"}, func(context.Context, []byte) (Response, error) { return Response{}, Bad("no") }, ""},
		"no token for the answer":       {slacktest.Keys{Secret: "s"}, func(context.Context, []byte) (Response, error) { return Response{}, secret.ErrMissing }, metric.NotAnswered},
		"the secret is not pasted":      {&replaced{err: secret.ErrMissing}, ok, metric.SecretMissing},
		"the secret can't be read":      {&replaced{err: errors.New("AccessDenied")}, ok, metric.NotAnswered},
		"another secret":                {slacktest.Keys{Secret: "other"}, ok, metric.SignatureRefused},
	} {
		t.Run(name, func(t *testing.T) {
			e := edge()
			e.Keys = tt.keys
			out := metrictest.Printed(t, func() { e.Serve(t.Context(), signed("{}"), tt.answer) })
			for _, name := range metric.Names() {
				expect.That(t, strings.Contains(out, `"`+string(name)+`":1`) == (name == tt.counted),
					"%q is wanted, and counted is %s", tt.counted, out)
			}
		})
	}
}

// TestAnAnswerEndsBeforeSlackGivesUp, unless a longer time is set.
func TestAnAnswerEndsBeforeSlackGivesUp(t *testing.T) {
	for within, most := range map[time.Duration]time.Duration{0: 2800 * time.Millisecond, time.Hour: time.Hour} {
		e := edge()
		e.Within = within
		began := time.Now()
		e.Serve(t.Context(), signed("{}"), func(ctx context.Context, _ []byte) (Response, error) {
			if ends, ok := ctx.Deadline(); !ok || ends.Before(began.Add(within)) || ends.After(time.Now().Add(most)) {
				t.Errorf("within %s: ends at %s, and %s when it began", within, ends, began)
			}
			return OK(), nil
		})
	}
}

func TestAnotherAppsCallsAreCounted(t *testing.T) {
	e := edge()
	e.Keys = slacktest.Keys{Secret: "s", App: "A1"}
	out := metrictest.Printed(t, func() {
		expect.That(t, e.FromOurs("A2") != nil, "another app is believed")
	})
	expect.That(t, strings.Contains(out, `"SignatureRefused":1`), "counted is %q", out)
}
