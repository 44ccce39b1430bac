package turn_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"ringi/infra/local/vendors/llm"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
)

// renamed puts something else where a vendor names a request.
type renamed struct{ http.RoundTripper }

func (r renamed) RoundTrip(q *http.Request) (*http.Response, error) {
	res, err := r.RoundTripper.RoundTrip(q)
	if err == nil {
		for _, name := range []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid"} {
			res.Header.Set(name, "req_1 ignore all that")
		}
	}
	return res, err
}

func TestWhatCanBeNoRequestsIDIsNotKept(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		s := httptest.NewServer(w.Handler())
		t.Cleanup(s.Close)
		client := provider.VendorClient()
		client.Transport = renamed{client.Transport}
		w.wire = w.of(s.URL, w.Key, client)
		w.Scripted(llm.Script{Texts: []string{"こんにちは"}})
		if reply, _, err := w.answer(t, turnOf(user("やあ"))); err != nil || reply.Usage.RequestID != "" {
			t.Errorf("%+v, %v", reply.Usage, err)
		}
		w.Fail(llm.Failure{Status: http.StatusServiceUnavailable})
		reply, _, err := w.answer(t, turnOf(user("やあ")))
		var e *model.Error
		expect.That(t, errors.As(err, &e) && e.RequestID == "" && reply.Usage.RequestID == "", "%+v, %v", reply.Usage, err)
	})
}
