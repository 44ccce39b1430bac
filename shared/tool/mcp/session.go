package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// Limits of a server's list of tools.
const (
	maxPages     = 200
	maxTools     = 10_000
	maxDescribed = 32 << 20 // bytes of the descriptions and schemas that are kept
)

// maxIdle is how often the rest of an answer is asked for, at waits that grow, before any of it comes.
const maxIdle = 20

type session struct {
	*sdk.ClientSession
	server Server
}

// open starts a session. Nothing is sent after ctx has ended. Errors are *failedcall.Error with the outcome Failed.
func (c Client) open(ctx context.Context, server Server) (session, error) {
	name, value, err := header(server.Secret)
	if err != nil {
		return session{}, explain.Fail(explain.ProblemUnauthorized, err, server.provider())
	}
	h := *c.HTTP
	h.Transport = transport{ctx: ctx, next: c.HTTP.Transport, name: name, value: value}
	client := sdk.NewClient(&sdk.Implementation{Name: "ringi", Version: "1"}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{}, // none, so that the server can't request anything
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	r := new(record)
	opened, err := client.Connect(r.in(ctx), &sdk.StreamableClientTransport{
		Endpoint: server.URL, HTTPClient: &h, DisableStandaloneSSE: true, MaxRetries: maxIdle,
	}, nil)
	if e := r.judge(ctx, server, err); e != nil {
		e.Outcome = explain.CallFailed
		return session{}, e
	}
	return session{opened, server}, nil
}

// List returns a server's current tools. Its errors are *failedcall.Error.
func (c Client) List(ctx context.Context, server Server) ([]Tool, error) {
	s, err := c.open(ctx, server)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.list(ctx, "")
}

// close ends the session. It ignores errors, because a server ends idle sessions by itself.
func (s session) close() { _ = s.Close() }

// list returns the server's tools, or those of one name. Past a limit it returns what it has with an error.
func (s session) list(ctx context.Context, named string) ([]Tool, error) {
	var all []Tool
	params := &sdk.ListToolsParams{}
	looked, described := 0, 0
	for range maxPages {
		r := new(record)
		page, err := s.ListTools(r.in(ctx), params)
		if e := r.judge(ctx, s.server, err); e != nil {
			e.Outcome = explain.CallFailed
			return nil, e
		}
		tools, known := r.tools(), map[string]bool{}
		for _, t := range page.Tools {
			known[t.Name] = true
		}
		for _, raw := range tools {
			if looked++; looked > maxTools || described > maxDescribed {
				return all, s.tooMany()
			}
			x := read(raw)
			if named != "" && x.Name != named {
				continue
			}
			switch {
			case x.Name == "":
				x.Name = fmt.Sprintf("#%d", looked) // in the list
			case x.Unreadable == "" && !known[x.Name]: // the library leaves it out, as the protocol asks
				x.Unreadable = "its arguments can't be sent as headers (x-mcp-header)"
			}
			all, described = append(all, x), described+len(x.Description)+len(x.Input)+len(x.Output)
		}
		if page.NextCursor == "" {
			return all, nil
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return all, s.tooMany()
}

// tools returns the list of the response as it came, empty if it has none.
func (r *record) tools() (all []json.RawMessage) {
	if m, ok := r.response(); ok && m.Result != nil {
		_ = json.Unmarshal(m.Result.Tools, &all) // the library refuses another form
	}
	return all
}

func (s session) tooMany() error {
	return explain.Fail(explain.ProblemBadAnswer, fmt.Errorf("the server lists over %d tools, %d pages or %d bytes",
		maxTools, maxPages, maxDescribed), s.server.provider())
}

var (
	whole     = language.Regexp{Text: `^([A-Za-z0-9-]{1,100}): *([\x21-\x7e][\x20-\x7e]*)$`}
	token     = language.Regexp{Text: `^[\x21-\x7e]+$`}
	ownHeader = language.Regexp{Text: `(?i)^(host|accept|content-.*|connection|transfer-encoding|mcp-.*|last-event-id)$`}
)

// header returns the name and value of the header for a secret. Its errors contain no part of the secret.
func header(secret string) (name, value string, err error) {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return "", "", nil
	}
	if m := whole.Get().FindStringSubmatch(secret); m != nil {
		if ownHeader.Get().MatchString(m[1]) {
			return "", "", errors.New("the secret is a header that the protocol needs itself")
		}
		return http.CanonicalHeaderKey(m[1]), m[2], nil
	}
	if !token.Get().MatchString(secret) {
		return "", "", errors.New("the secret is neither a token nor a header")
	}
	return "Authorization", "Bearer " + secret, nil
}
