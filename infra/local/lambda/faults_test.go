package lambda_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/lambda"
)

// doom kills at one kind of moment, once.
type doom struct {
	kind string
	fate lambda.Fate

	mu   sync.Mutex
	seen []string
	died int
}

func (d *doom) Meet(c lambda.Call) lambda.Fate {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, c.Function+" "+c.Kind+" "+string(c.Event))
	if c.Kind != d.kind || d.died > 0 {
		return lambda.Fate{}
	}
	return d.fate
}

func (d *doom) Dying(lambda.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.died++
}

func TestAProcessDiesWhereItShould(t *testing.T) {
	const call, event = "POST /things/*", `{"Do":"call","Text":"x"}`
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	tests := []struct {
		name   string
		kind   string
		fate   lambda.Fate
		calls  int32  // that reached the service
		failed bool   // the invocation
		text   string // its answer
	}{
		{"it lives", "nothing", lambda.Fate{}, 1, false, "200 OK"},
		{"at its start nothing was called", lambda.KindStart, lambda.Fate{Kill: lambda.Before}, 0, true, ""},
		{"before a call that never leaves", call, lambda.Fate{Kill: lambda.Before}, 0, true, ""},
		{"after a call that was done", call, lambda.Fate{Kill: lambda.After}, 1, true, ""},
		{"before its answer everything was called", lambda.KindAnswer, lambda.Fate{Kill: lambda.Before}, 1, true, ""},
		{"a call is answered in the service's place", call, lambda.Fate{Instead: refuse}, 0, false, "429 Too Many Requests"},
	}
	built, err := build()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
			defer service.Close()
			d := &doom{kind: tt.kind, fate: tt.fate}
			s := lambda.New(lambda.Options{Region: "us-east-1", Account: "123456789012", Faults: d, Functions: []lambda.Function{{
				Name: "Probe", Binary: built.Binaries["probe"], Timeout: 10 * time.Second, Environment: map[string]string{"SERVICE_URL": service.URL},
			}}})
			defer s.Close()
			a, r := invoke(t, s, event)
			if r.Failed != tt.failed || a.Text != tt.text || calls.Load() != tt.calls {
				t.Errorf("failed %v, answer %q, %d calls", r.Failed, a.Text, calls.Load())
			}
			if tt.failed && a.ErrorType != "Runtime.ExitError" {
				t.Errorf("error type %s", a.ErrorType)
			}
			if tt.kind == "nothing" {
				want := []string{"Probe start " + event, "Probe " + call + " " + event, "Probe answer " + event}
				if diff := cmp.Diff(want, d.seen); diff != "" {
					t.Error(diff)
				}
			}
			if a, r := invoke(t, s, `{"Text":"next"}`); r.Failed || a.Text != "next" {
				t.Errorf("the next invocation: %s", r.Payload)
			}
		})
	}
}
