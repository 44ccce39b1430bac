package driver

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/records"
	"ringi/shared/store/table"
)

// Desk is a person at the console. The web session was created directly, without signing in.
type Desk struct {
	T            T
	S            *stack.Stack
	cookie, form string
}

func SitDown(t T, s *stack.Stack, user string) Desk {
	t.Helper()
	return sitDown(t, s, user, false)
}

func Administrator(t T, s *stack.Stack, user string) Desk {
	t.Helper()
	return sitDown(t, s, user, true)
}

func sitDown(t T, s *stack.Stack, user string, admin bool) Desk {
	t.Helper()
	team := s.Sandbox.TeamID()
	x := records.NewSession(aggregate.TenantID(team), team, user, user, admin, time.Now().UTC())
	d := Desk{T: t, S: s, cookie: records.NewSecret(), form: x.Form}
	expect.NoError(t, records.SessionsOf(table.New(dynamodb.NewFromConfig(s.AWS),
		s.TableName)).BeginSession(context.Background(), d.cookie, x))
	return d
}

func (d Desk) Get(path string) (status int, page string) {
	d.T.Helper()
	return d.do(http.MethodGet, path, "")
}

// Act decides on the current action of a conversation, as the form of its page does.
func (d Desk) Act(of *Dialogue, act, reason string) (status int, page string) {
	d.T.Helper()
	return d.Ready(of, act, reason)()
}

// Ready fills in the form of Act. The function that it returns sends the form.
func (d Desk) Ready(of *Dialogue, act, reason string) func() (status int, page string) {
	d.T.Helper()
	form := url.Values{"act": {act}, "reason": {reason}}
	if x := of.Load().Current(); x != nil {
		form.Set("id", x.ActionID)
		form.Set("hash", x.Payload.Hash())
	}
	path := of.Page() + "/act"
	return func() (int, string) { return d.Post(path, form) }
}

func (d Desk) Post(path string, form url.Values) (status int, page string) {
	d.T.Helper()
	form.Set("form", d.form)
	return d.do(http.MethodPost, path, form.Encode())
}

// do sends a request, up to five times while the answer is 503.
func (d Desk) do(method, path, form string) (status int, page string) {
	d.T.Helper()
	for range 5 {
		if status, page = d.once(method, path, form); status != http.StatusServiceUnavailable {
			break
		}
		d.T.Logf("%s %s was not done in time", method, path)
	}
	return status, page
}

func (d Desk) once(method, path, form string) (status int, page string) {
	d.T.Helper()
	r := expect.Value(http.NewRequestWithContext(d.T.Context(), method, d.S.URL+path, strings.NewReader(form)))(d.T)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", d.S.URL)
	}
	r.AddCookie(&http.Cookie{Name: "ringi", Value: d.cookie})
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := expect.Value(client.Do(r))(d.T)
	defer res.Body.Close()
	return res.StatusCode, string(expect.Value(io.ReadAll(res.Body))(d.T))
}
