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
// *failedcall.Error, with the outcome Failed if the call was not made or was refused, else Unknown.
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
