package freee_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/shared/explain/failedcall"
	"ringi/shared/tool/freee"
	"ringi/shared/tool/wire"
)

type tokens struct{}

func (tokens) Token(context.Context) (string, error)         { return "token", nil }
func (tokens) Renew(context.Context, string) (string, error) { return "", errors.New("no other") }
func (tokens) Refused(context.Context, string)               {}

// A part of the people must not look like all of them.
func TestAListThatDoesNotEnd(t *testing.T) {
	pages := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := `{"companies":[{"id":1,"role":"company_admin"}]}`
		if strings.HasSuffix(r.URL.Path, "/employees") {
			pages++
			body = "[" + strings.TrimSuffix(strings.Repeat(`{"id":7},`, 100), ",") + "]"
		}
		_, _ = w.Write([]byte(body))
	}))
	defer s.Close()
	nobody := func(context.Context) (string, error) { return "", nil }
	_, err := freee.New(s.URL, tokens{}, nobody, wire.NewHTTP(), time.Now).ListEmployees(t.Context(), true, "")
	var e *failedcall.Error
	if !errors.As(err, &e) || e.Problem != failedcall.ProblemTooLarge || e.Outcome != failedcall.Failed || pages != 200 {
		t.Errorf("%v after %d pages", err, pages)
	}
}
