package freee_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/freee"
	"ringi/shared/tool/wire"
)

type tokens struct{}

func (tokens) Token(context.Context) (string, error)         { return "token", nil }
func (tokens) Renew(context.Context, string) (string, error) { return "", errors.New("no other") }
func (tokens) Refused(context.Context, string)               {}

// An incomplete list must not look complete.
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
	_, err := freee.New(s.URL, tokens{}, nobody, wire.NewHTTP(), time.Now).ListEmployees(t.Context(), true, "", "")
	var e *explain.CallError
	if !errors.As(err, &e) || e.Problem != explain.ProblemTooLarge || e.Outcome != explain.CallFailed || pages != 200 {
		t.Errorf("%v after %d pages", err, pages)
	}
}

// renewableTokens has a second token for when the first one is refused, and keeps it as the runner does.
type renewableTokens struct{ renewed, ended int }

func (p *renewableTokens) Token(context.Context) (string, error) {
	if p.renewed > 0 {
		return "new", nil
	}
	return "old", nil
}
func (p *renewableTokens) Renew(context.Context, string) (string, error) {
	p.renewed++
	return "new", nil
}
func (p *renewableTokens) Refused(context.Context, string) { p.ended++ }

// The bodies follow freee's schema. Codes that its example lacks are from freee's page about 4xx errors.
func TestWhatFreeesRefusalsMean(t *testing.T) {
	api := expect.Value(vendors.Published("freee"))(t)
	flat := func(code string) map[string]any {
		return api.Example("accessDeniedError", map[string]any{"code": code})
	}
	for name, test := range map[string]struct {
		status  int
		body    map[string]any
		forever bool // the second token is refused, too
		problem explain.Problem
		renewed int
		ended   int
		said    string
	}{
		"403 as published: the token expired": {403, api.Example("accessDeniedError", nil), false, "", 1, 0, ""},
		"401 with the same body":              {401, api.Example("accessDeniedError", nil), false, "", 1, 0, ""},
		"401 as published":                    {401, api.Example("unauthorizedError", nil), false, "", 1, 0, ""},
		"403, and the new token too": {403, api.Example("accessDeniedError", nil), true,
			explain.ProblemUnauthorized, 1, 1, ""},
		"the app asks for more": {401, flat("re_authorization_required"), true, explain.ProblemUnauthorized, 1,
			1, ""},
		"a person without permission": {401, flat("user_do_not_have_permission"), true, explain.ProblemDenied, 0, 0,
			"アクセスする権限がありません"},
		"a plan without the API": {403, flat("freee_plan_limit"), true, explain.ProblemDenied, 0, 0,
			"アクセスする権限がありません"},
		"403 that tells nothing": {403, api.Example("forbiddenError", nil), true, explain.ProblemForbidden, 0,
			0, ""},
		"bad arguments": {400, api.Example("error", nil), true, explain.ProblemRejected, 0, 0,
			"リクエストの形式が不正です。"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if test.forever || r.Header.Get("Authorization") == "Bearer old" {
					w.WriteHeader(test.status)
					_ = json.NewEncoder(w).Encode(test.body) // it fails only if the client is gone
					return
				}
				body := `{"companies":[{"id":1,"role":"company_admin"}]}`
				if strings.HasSuffix(r.URL.Path, "/employees") {
					body = "[]"
				}
				_, _ = w.Write([]byte(body))
			}))
			defer s.Close()
			p := &renewableTokens{}
			_, err := freee.New(s.URL, p, func(context.Context) (string, error) { return "", nil }, wire.NewHTTP(),
				time.Now).ListEmployees(t.Context(), true, "", "")
			var e *explain.CallError
			if (test.problem == "") != (err == nil) || err != nil &&
				(!errors.As(err, &e) || e.Problem != test.problem || e.Outcome != explain.CallFailed) {
				t.Fatalf("%v", err)
			}
			expect.That(t, p.renewed == test.renewed && p.ended == test.ended,
				"renewed %d times, ended %d times", p.renewed, p.ended)
			expect.That(t, test.said == "" || strings.Contains(explain.FailedCall("ja", e.Problem, e.Args...), test.said),
				"%v", err)
		})
	}
}
