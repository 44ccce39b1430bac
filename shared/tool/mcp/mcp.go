// Package mcp calls the tools of MCP servers over streamable HTTP, and lists them for an administrator. A server's
// description of itself is not trusted: names, descriptions, schemas and results are bounded, and a tool is called only
// while its description and schemas are exactly those that were allowed.
package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool/wire"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Client calls MCP servers.
type Client struct {
	HTTP *http.Client // must connect through the outbound dialer
	// ReadOnly allows only calls of tools that the server declares as read-only at that moment. It is for callers
	// without an administrator who decides what a tool does.
	ReadOnly bool
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
	if err == nil && c.ReadOnly && !tool.ReadOnly {
		err = changed(call.Server, call.Tool, errors.New("the server no longer says that it only reads"))
	}
	if err != nil {
		return nil, err
	}
	r := new(record)
	answer, err := s.CallTool(r.in(ctx), &sdk.CallToolParams{Name: call.Tool, Arguments: call.Arguments})
	if e := r.judge(ctx, call.Server, err); e != nil {
		return nil, e
	}
	return result(call.Server.provider(), answer, r, tool.Output != "")
}

// find returns the allowed tool if the server still has it, however many others it has.
func (s session) find(ctx context.Context, name, hash string) (Tool, error) {
	found, err := s.list(ctx, name)
	if err != nil && (len(found) != 1 || found[0].Hash() != hash) {
		return Tool{}, err
	}
	if len(found) != 1 || found[0].Hash() != hash {
		return Tool{}, changed(s.server, name, fmt.Errorf("the server has %d such tools, none as allowed", len(found)))
	}
	return found[0], nil
}

func changed(s Server, tool string, err error) error {
	return explain.Fail(explain.ProblemChanged, err, s.provider(), tool)
}

// result returns the result of a call. It reads the structured content from the answer's bytes, because the library's
// decoded copy has lost digits of large numbers.
func result(p explain.Provider, answer *sdk.CallToolResult, r *record, declares bool) (any, error) {
	said := textOf(answer.Content)
	structured := r.structured()
	declares = declares && bytes.HasPrefix(structured, []byte("{"))
	if structured != nil && (!declares || answer.IsError) && !repeated(answer.Content, structured) {
		said = strings.TrimPrefix(said+"\n"+string(legible.JSON(structured)), "\n")
	}
	if answer.NeedsInput() {
		return nil, explain.Fail(explain.ProblemRejected, errors.New("the tool asks for more input"), p,
			"input_required "+wire.Short(said))
	}
	if answer.IsError {
		return nil, explain.Fail(explain.ProblemRejected, errors.New("the tool reports an error"), p,
			wire.Short(said))
	}
	if declares {
		return beside(structured, answer.Content)
	}
	return map[string]string{"text": said}, nil
}

// The members of a declared result for what came beside it: words and links that it doesn't have, and what is not
// shown, such as images and files.
const alsoSaid, notShown = "also_said", "not_shown"

// beside adds those members, before all others, whose digits stay as they are. Those that a result has it keeps.
func beside(structured json.RawMessage, parts []sdk.Content) (any, error) {
	if len(parts) == 0 {
		return structured, nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(structured, &members) != nil {
		return structured, nil
	}
	has, more := held(structured), map[string][]string{}
	for _, part := range parts {
		as := alsoSaid
		switch x := part.(type) {
		case *sdk.TextContent:
			if strings.TrimSpace(x.Text) == "" || has(x.Text) {
				continue
			}
		case *sdk.ResourceLink:
			if has(x.URI) {
				continue
			}
		case *sdk.EmbeddedResource:
			if x.Resource == nil || x.Resource.Text == "" {
				as = notShown
			} else if has(x.Resource.Text) {
				continue
			}
		default:
			as = notShown
		}
		if said := textOf([]sdk.Content{part}); !slices.Contains(more[as], said) {
			more[as] = append(more[as], said)
		}
	}
	if maps.DeleteFunc(more, func(name string, _ []string) bool { return members[name] != nil }); len(more) == 0 {
		return structured, nil
	}
	added, err := json.Marshal(more)
	if err != nil {
		return nil, fmt.Errorf("say what came beside a result: %w", err)
	}
	rest := bytes.TrimLeft(structured[1:], " \t\r\n")
	if len(members) > 0 {
		rest = append([]byte(","), rest...)
	}
	return json.RawMessage(slices.Concat(added[:len(added)-1], rest)), nil
}

// structured returns the structured content of the response, nil if it has none: any value (protocol 2026-07-28).
func (r *record) structured() json.RawMessage {
	m, ok := r.response()
	if !ok || m.Result == nil || string(m.Result.StructuredContent) == "null" {
		return nil
	}
	return m.Result.StructuredContent
}

// textOf joins the texts of a result. Any other content is replaced by what it is.
func textOf(parts []sdk.Content) string {
	var said []string
	for _, part := range parts {
		switch part := part.(type) {
		case *sdk.TextContent:
			said = append(said, part.Text)
		case *sdk.ResourceLink:
			said = append(said, strings.TrimSpace(cmp.Or(part.Title, part.Name)+" "+part.URI))
		case *sdk.EmbeddedResource:
			switch x := part.Resource; {
			case x == nil:
				said = append(said, "[resource without content]")
			case x.Text == "":
				said = append(said, x.URI, binary("resource", x.MIMEType, len(x.Blob)))
			default:
				said = append(said, x.URI, x.Text)
			}
		case *sdk.ImageContent:
			said = append(said, binary("image", part.MIMEType, len(part.Data)))
		case *sdk.AudioContent:
			said = append(said, binary("audio", part.MIMEType, len(part.Data)))
		default:
			kind, _ := json.Marshal(fmt.Sprintf("%T", part))
			said = append(said, string(kind))
		}
	}
	return strings.Join(said, "\n")
}

func binary(kind, mime string, bytes int) string {
	return fmt.Sprintf("[%s %s, %d bytes, not shown]", kind, cmp.Or(mime, "of no type"), bytes)
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

// maxIdle is how often the rest of an answer is asked for, at waits that grow, before any of it comes.
const maxIdle = 20

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
		Endpoint: server.URL, HTTPClient: &h, DisableStandaloneSSE: true, MaxRetries: maxIdle,
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
				x.Unreadable = "tool_headers"
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
