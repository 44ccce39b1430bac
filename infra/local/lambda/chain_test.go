package lambda_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/lambda"
	"ringi/shared/runtime/expect"
)

// A chain of invocations is ended as AWS ends it: https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
func TestALoopIsEnded(t *testing.T) {
	s := start(t, nil, nil)
	trace, n := "", 0
	for ; n < 40; n++ {
		r, err := s.Invoke(lambda.Traced(t.Context(), trace), "Probe", []byte(`{"Do":"environment"}`))
		if err != nil {
			expect.That(t, errors.Is(err, lambda.ErrLoop), "%v", err)
			break
		}
		var a probeAnswer
		expect.NoError(t, json.Unmarshal(r.Payload, &a))
		trace = strings.ReplaceAll(a.Variables["_X_AMZN_TRACE_ID"], "|", "%7C") // what its SDK sends
	}
	expect.Is(t, n, 16, "invocations")
	expect.Is(t, s.LongestChain("Probe"), 16, "the longest chain")
	_, err := s.Invoke(t.Context(), "Probe", []byte(`{}`))
	expect.NoError(t, err) // another event begins a chain of its own
}

func TestAFunctionThatInvokesGoesOnWithItsChain(t *testing.T) {
	s := start(t, nil, nil)
	api := httptest.NewServer(s.Handler())
	t.Cleanup(api.Close)
	for _, tt := range []struct {
		trace string
		want  int
	}{{"", http.StatusOK}, {"Root=1-6a000000-000000000000000000000000;Sampled=0;Lineage=16:0000abcd:16", http.StatusBadRequest}} {
		r := expect.Value(http.NewRequest(http.MethodPost, api.URL+lambda.Path+"Probe/invocations", strings.NewReader(`{}`)))(t)
		r.Header.Set("X-Amzn-Trace-Id", tt.trace)
		resp := expect.Value(http.DefaultClient.Do(r))(t)
		resp.Body.Close()
		expect.That(t, resp.StatusCode == tt.want && (tt.want == http.StatusOK) == (resp.Header.Get("X-Amzn-ErrorType") == ""),
			"%d %s", resp.StatusCode, resp.Header.Get("X-Amzn-ErrorType"))
	}
}
