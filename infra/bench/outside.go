package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

// Outside is what an outside agent costs that calls tools through the door, and how long it waits for it.
type Outside struct {
	Pipeline        // of a write, from the first request to the end that a repeat is told
	Asked    Spread // a write's answer, that people are asked
	Read     Spread // a read through the door
	Direct   Spread // what of that the vendor takes
}

// vendorTakes is the time by which the vendor answers later than in memory, as one on the internet does.
const vendorTakes = 100 * time.Millisecond

// measureOutside measures n writes one after another with their cost, and times as many writes and reads without.
func measureOutside(ctx context.Context, n, times int) (*Outside, error) {
	out := &Outside{}
	var err error
	nth := 0
	if out.Pipeline, err = repeated(ctx, n, func(t driver.T, s *stack.Stack) {
		nth++
		written(t, s, fmt.Sprint("Closed: ", nth))
	}); err != nil {
		return nil, fmt.Errorf("writes: %w", err)
	}
	v := newSlowVendor()
	defer v.Close()
	o := driver.Options()
	o.Variables, o.Allow = map[string]string{"FREEE_API_URL": v.URL + "/freee/hr"}, []string{v.Listener.Addr().String()}
	s, err := driver.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	vendors, err := url.Parse(s.VendorsURL)
	if err != nil {
		return nil, err
	}
	v.to.Store(vendors)
	var asked, read, direct []time.Duration
	err = driver.Try(ctx, func(t driver.T) {
		a := comes(t, s)
		for i := range times + 1 {
			began := time.Now()
			a.calls(t, "send_slack_dm", message(fmt.Sprint("Time: ", i)))
			took := time.Since(began)
			v.took.Store(0)
			began = time.Now()
			a.calls(t, "list_employees", map[string]any{"department": nil, "status": "all"})
			if i > 0 { // the first started the processes
				asked, read = append(asked, took), append(read, time.Since(began))
				direct = append(direct, time.Duration(v.took.Load()))
			}
			if i%10 == 9 { // a key has so many calls open at most
				a = comes(t, s)
			}
		}
	})
	out.Asked, out.Read, out.Direct = spread(asked), spread(read), spread(direct)
	return out, err
}

// slowVendor passes calls on to the vendors, and adds up how long they took.
type slowVendor struct {
	*httptest.Server
	to   atomic.Pointer[url.URL]
	took atomic.Int64
}

func newSlowVendor() *slowVendor {
	v := &slowVendor{}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(v.to.Load()) }}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		time.Sleep(vendorTakes)
		pass.ServeHTTP(w, r)
		v.took.Add(int64(time.Since(began)))
	}))
	return v
}

// visitor is an outside agent with a key of its own.
type visitor struct{ *mcp.ClientSession }

type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func comes(t driver.T, s *stack.Stack) visitor {
	team := s.Sandbox.TeamID()
	_, secret, err := store.OpenAll(s.AWS, boot.Table{TableName: s.TableName}).CreateKey(t.Context(),
		tenancy.Key{TenantID: aggregate.TenantID(team), Team: team, Name: "bench", Answers: webapi.Sato,
			Tools: []string{"send_slack_dm", "list_employees"}, Channel: webapi.HR, QuotaDay: 1000,
			ExpiresAt: time.Now().AddDate(0, 1, 0)}, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now())
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearing(secret)}}, nil)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return visitor{session}
}

// calls calls a tool and returns its answer's text.
func (v visitor) calls(t driver.T, tool string, arguments map[string]any) string {
	out, err := v.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || out.IsError {
		t.Fatalf("call %s: %v %+v", tool, err, out)
	}
	return out.Content[0].(*mcp.TextContent).Text
}

func message(text string) map[string]any {
	return map[string]any{"recipient": webapi.Tanaka, "text": text, "details": []any{}}
}

// written has an agent ask for a message, a person stamp it, and the agent learn that it was sent.
func written(t driver.T, s *stack.Stack, text string) {
	a := comes(t, s)
	a.calls(t, "send_slack_dm", message(text))
	d := &driver.Dialogue{T: t, S: s, User: webapi.Sato, Channel: webapi.HR, Timeout: patience}
	d.Press(webapi.Suzuki, d.Shows(text), "approve_call")
	d.Eventually("the message is sent", func() bool {
		return strings.Contains(fmt.Sprint(s.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), "")), text)
	})
	d.Eventually("the agent learns the end", func() bool {
		var is struct{ Status string }
		return json.Unmarshal([]byte(a.calls(t, "send_slack_dm", message(text))), &is) == nil && is.Status == "succeeded"
	})
}
