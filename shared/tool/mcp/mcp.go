// Package mcp calls the tools of MCP servers over streamable HTTP, and lists them for an administrator. A server's
// description of itself is not trusted: names, descriptions, schemas and results are bounded, and a tool is called only
// while its description and schemas are exactly those that were allowed.
package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool"
	"ringi/shared/tool/wire"
	"ringi/shared/words/language"
)

// Client calls MCP servers.
type Client struct {
	HTTP *http.Client // must connect through the outbound dialer
}

// Server is a server and its secret.
type Server struct {
	tenancy.MCPServer
	// Secret is sent with every request if not empty: a token for Authorization, or a whole header as `Name: value`.
	Secret string
}

func (s Server) provider() explain.Provider { return explain.Provider(s.Provider()) }

// Call is one call of a tool.
type Call struct {
	Server    Server
	Tool      string // the server's name for it
	Hash      string // hash of the tool that was allowed
	Arguments json.RawMessage
}

// Call makes the call if the server still has the tool that was allowed. The result is the structured content if the
// tool declares an output schema and there is an object, else {"text": …} with all that came. Errors are
// *explain.CallError, with the outcome Failed if the call was not made or was refused, else Unknown.
func (c Client) Call(ctx context.Context, call Call) (any, error) {
	s, err := c.open(ctx, call.Server)
	if err != nil {
		return nil, err
	}
	defer s.close()
	tool, err := s.find(ctx, call.Tool, call.Hash)
	if err != nil {
		return nil, err
	}
	r := new(record)
	_, err = s.CallTool(r.in(ctx), &sdk.CallToolParams{Name: call.Tool, Arguments: call.Arguments})
	if m, answered := r.response(); answered && done(m.Result) { // the library takes no odd part of a result
		return result(call.Server.provider(), m.Result, tool.Output != "")
	}
	e := r.judge(ctx, call.Server, cmp.Or(err, errNoAnswer))
	if errors.Is(e.Err, outbound.ErrTooLarge) {
		e.Problem, e.Args = explain.ProblemTooLarge, []any{call.Server.Name + "." + call.Tool, maxSaid}
	}
	return nil, e
}

// done reports whether a response says that the call ended, and how.
func done(of map[string]json.RawMessage) bool {
	told := slices.Contains([]string{"", `null`, `true`, `"true"`, `false`, `"false"`}, string(of["isError"]))
	return of != nil && told && (of["inputRequests"] == nil || string(of["resultType"]) == asksForInput)
}

// asksForInput is the type of a result that is none yet.
const asksForInput = `"input_required"`

// errNoAnswer means an answer that the library reads and that is none of the operation's.
var errNoAnswer = errors.New("the answer is not the operation's")

// find returns the allowed tool if the server still has it, however many others it has.
func (s session) find(ctx context.Context, name, hash string) (Tool, error) {
	found, err := s.list(ctx, name)
	if err != nil && (len(found) != 1 || found[0].Hash() != hash) {
		return Tool{}, err
	}
	if len(found) != 1 || found[0].Hash() != hash {
		return Tool{}, explain.Fail(explain.ProblemChanged,
			fmt.Errorf("the server has %d such tools, none as allowed", len(found)), s.server.provider(), name)
	}
	return found[0], nil
}

// result returns the result of a call. It reads the answer's own bytes: the library's decoded copy has lost digits of
// large numbers.
func result(p explain.Provider, of map[string]json.RawMessage, declares bool) (any, error) {
	parts, structured := partsOf(of["content"]), of["structuredContent"]
	if string(structured) == "null" {
		structured = nil
	}
	repeated := slices.ContainsFunc(parts, func(x string) bool {
		return tool.Canonical(json.RawMessage(x)) == tool.Canonical(structured)
	})
	said := strings.Join(parts, "\n")
	failed := slices.Contains([]string{`true`, `"true"`}, string(of["isError"]))
	declares = declares && bytes.HasPrefix(structured, []byte("{"))
	if structured != nil && (!declares || failed) && !repeated {
		said = strings.TrimPrefix(said+"\n"+string(language.VisibleJSON(structured)), "\n")
	}
	switch {
	case string(of["resultType"]) == asksForInput:
		return nil, explain.Fail(explain.ProblemRejected, errors.New("the tool asks for more input"), p,
			"input_required "+wire.Short(said))
	case failed:
		return nil, explain.Fail(explain.ProblemRejected, errors.New("the tool reports an error"), p, wire.Short(said))
	case declares:
		return structured, nil
	}
	return map[string]string{"text": said}, nil
}

// CallAllowed calls a tenant's tool <server>.<tool> at the address and in the form that was allowed. It calls a server
// that was never connected without credentials, because the server may need none. Its errors are those of Call.
func (c Client) CallAllowed(ctx context.Context, of Credentials, tenant, name string, pin tenancy.Pin,
	arguments json.RawMessage) (any, error) {
	server, tool, _ := tenancy.ServerTool(name)
	s := Server{MCPServer: tenancy.MCPServer{Name: server, URL: pin.URL}}
	var err error
	s.Secret, err = of.ServerToken(ctx, tenant, s.MCPServer)
	if ended := (tenancy.ErrNotConnected{}); errors.As(err, &ended) || err != nil &&
		!errors.Is(err, aggregate.ErrNotFound) {
		return nil, explain.NoToken(s.provider(), err)
	}
	return c.Call(ctx, Call{Server: s, Tool: tool, Hash: pin.Hash, Arguments: arguments})
}

// Limits of a server's list of tools.
const (
	maxPages     = 200
	maxTools     = 10_000
	maxDescribed = 32 << 20 // bytes of the descriptions and schemas that are kept
)

type session struct {
	*sdk.ClientSession
	server Server
}

// open starts a session. Nothing is sent after ctx has ended. Errors are *explain.CallError with the outcome Failed.
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
		Endpoint: server.URL, HTTPClient: &h, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	if e := r.judge(ctx, server, err); e != nil {
		e.Outcome = explain.CallFailed
		return session{}, e
	}
	return session{opened, server}, nil
}

// List returns a server's current tools. Its errors are *explain.CallError.
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
		m, _ := r.response()
		var tools []json.RawMessage
		if bad := json.Unmarshal(m.Result["tools"], &tools); err != nil && bad != nil {
			e := r.judge(ctx, s.server, err)
			e.Outcome = explain.CallFailed
			return nil, e
		}
		known := map[string]bool{}
		if err == nil { // else the library takes none, for one that is odd
			for _, t := range page.Tools {
				known[t.Name] = true
			}
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
			// The library leaves out what has a bad header, as the protocol asks. Of a list that it doesn't read nobody knows.
			case x.Unreadable == "" && (err == nil && !known[x.Name] ||
				err != nil && strings.Contains(x.Input, "x-mcp-header")):
				x.Unreadable = "tool_headers"
			}
			all, described = append(all, x), described+len(x.Description)+len(x.Input)+len(x.Output)
		}
		var next string
		if _ = json.Unmarshal(m.Result["nextCursor"], &next); next == "" {
			return all, nil
		}
		params = &sdk.ListToolsParams{Cursor: next}
	}
	return all, s.tooMany()
}

func (s session) tooMany() error {
	return explain.Fail(explain.ProblemBadAnswer, fmt.Errorf("the server lists over %d tools, %d pages or %d bytes",
		maxTools, maxPages, maxDescribed), s.server.provider())
}

var (
	whole     = language.Regexp{Text: `^([A-Za-z0-9-]{1,100}): *([\x21-\x7e][\x20-\x7e]*)$`}
	token     = language.Regexp{Text: `^(?:(?i:bearer) +)?([\x21-\x7e]+)$`}
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
	m := token.Get().FindStringSubmatch(secret)
	if m == nil {
		return "", "", errors.New("the secret is neither a token nor a header")
	}
	return "Authorization", "Bearer " + m[1], nil
}

// partsOf returns what the parts of a result say. The call may have had its effect, so a part that can't be read is
// said as it came.
func partsOf(content json.RawMessage) (parts []string) {
	var all []json.RawMessage
	if json.Unmarshal(content, &all) != nil && len(content) > 0 { // one part, or a text
		all = []json.RawMessage{content}
	}
	for _, raw := range all {
		parts = append(parts, partOf(raw))
	}
	return parts
}

func partOf(raw json.RawMessage) string {
	var words string
	if json.Unmarshal(raw, &words) == nil {
		return words
	}
	var x struct {
		Type, Text, Data, MimeType, URI, Name string
		Title                                 any
		Resource                              struct{ URI, MimeType, Text, Blob string }
	}
	err := json.Unmarshal(raw, &x)
	title, _ := x.Title.(string)
	switch {
	case err == nil && x.Type == "text":
		return x.Text
	case err == nil && x.Type == "resource_link":
		return strings.TrimSpace(cmp.Or(title, x.Name) + " " + x.URI)
	case err == nil && x.Type == "resource":
		text := cmp.Or(x.Resource.Text, binary("resource", x.Resource.MimeType, x.Resource.Blob))
		return strings.TrimPrefix(x.Resource.URI+"\n"+text, "\n")
	case err == nil && x.Data != "":
		return binary(x.Type, x.MimeType, x.Data)
	}
	return string(raw)
}

func binary(kind, mime, data string) string {
	bytes := len(data)
	if b, err := base64.StdEncoding.DecodeString(data); err == nil {
		bytes = len(b)
	}
	return fmt.Sprintf("[%s %s, %d bytes, not shown]", kind, cmp.Or(mime, "of no type"), bytes)
}
