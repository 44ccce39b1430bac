package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveMCP is the door as an MCP server that Claude Code asks about its tools.
func (d *door) serveMCP(w http.ResponseWriter, r *http.Request, way string) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(content))
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return d.server(way) },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	_, broken, _ := strings.Cut(way, "/")
	f := faults[strings.TrimPrefix(broken, "ask-")]
	if f == nil || !bytes.Contains(content, []byte(`"tools/call"`)) {
		h.ServeHTTP(w, r)
		return
	}
	right := httptest.NewRecorder()
	h.ServeHTTP(right, r)
	f(d, w, right.Body.String())
}

func (d *door) server(way string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "ringi", Version: "1"},
		&sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	s.AddTool(&sdk.Tool{Name: "permission", Description: "Asks people.", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, in *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			text := &sdk.TextContent{Text: d.permit(way, in.Params.Arguments)}
			return &sdk.CallToolResult{Content: []sdk.Content{text}}, nil
		})
	return s
}

// permit answers Claude Code about a call that it makes itself.
func (d *door) permit(way string, arguments json.RawMessage) string {
	var in struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		Use   string          `json:"tool_use_id"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return err.Error()
	}
	x := d.ask(way, []byte(written(map[string]any{"tool": in.Tool, "arguments": in.Input})))
	if taken := d.take(x.id, []byte(written(map[string]any{"tool_use_id": in.Use}))); taken != nil {
		return written(map[string]any{"behavior": "allow", "updatedInput": in.Input})
	}
	return written(map[string]any{"behavior": "deny", "message": d.sentence(x)})
}

// sentence is what the door says of a call for a model.
func (d *door) sentence(x *asked) string {
	var says struct{ Say string }
	if err := json.Unmarshal([]byte(d.says(x)), &says); err != nil {
		panic(err)
	}
	return says.Say
}
