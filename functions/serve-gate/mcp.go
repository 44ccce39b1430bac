package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/decide/calls"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// The arguments that are no part of the call.
const (
	argumentReason = "ringi_reason"
	argumentAgain  = "ringi_again"
)

// mostName is how long a tool's name may be, beside which clients put the name of the server. Vendors take 64.
const mostName = 48

// plainName is a tool's name as all clients take it.
func plainName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, name)
	if out == name && len(name) <= mostName {
		return name
	}
	const digits = 8 // so that no two tools have one name
	return out[:min(len(out), mostName-digits-1)] + "_" + aggregate.HashOf(name)[:digits]
}

// options of each server. Tools never change within one request, so no client is told to listen for that.
var options = &mcp.ServerOptions{
	Instructions: "Writes wait for people's approval. A pending answer is no end: repeat exactly the same call later.",
	Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	Logger:       slog.New(slog.DiscardHandler), PageSize: 1000,
	// the key's
	SetCacheable:              func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	SupportedProtocolVersions: []string{"2025-06-18", "2025-11-25", "2026-07-28"},
}

// mcp serves one message of MCP, with just the tools that it is about.
func (d *door) mcp(w http.ResponseWriter, r request) {
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	err := cmp.Or(misnamed(r.body, message), json.Unmarshal(r.body, &message))
	if err != nil || message.Method == "subscriptions/listen" {
		no(http.StatusBadRequest, "body must be one message of MCP that needs no stream").write(w)
		return
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "ringi", Version: "1"}, options)
	switch message.Method {
	case "tools/list":
		r.addOwn(server)
		err = r.addTools(server, "")
	case "tools/call":
		r.addOwn(server)
		if i := slices.IndexFunc(r.key.Tools, func(n string) bool { return plainName(n) == message.Params.Name }); i >= 0 {
			err = r.addTools(server, r.key.Tools[i])
		}
	}
	if err != nil {
		d.faultOf(r.Context(), err).write(w)
		return
	}
	r.Request.Body = io.NopCloser(strings.NewReader(string(r.body)))
	mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, Logger: options.Logger,
	}).ServeHTTP(w, r.Request)
}

// addTools adds the tools of Ringi's that the key may ask for, or only one.
func (r request) addTools(s *mcp.Server, only string) error {
	o, err := r.door.Offers(r.Context(), r.key, only)
	if err != nil {
		return err
	}
	for _, spec := range o.Specs {
		reads, yes := spec.Access == aggregate.Read, true
		schema := json.RawMessage(language.VisibleJSON([]byte(spec.InputSchema)))
		t := &mcp.Tool{Name: plainName(spec.Name), Title: language.Visible(spec.Title(language.English)),
			Description: language.Visible(cmp.Or(spec.Description, spec.Title(language.English))),
			InputSchema: schema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: true, OpenWorldHint: &yes}}
		if !reads {
			writes(t)
		}
		if !reads || o.Settings.RulesRev > 0 { // a rule may have people asked about a read
			t.InputSchema = offered(schema)
		}
		s.AddTool(t, func(ctx context.Context, in *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return r.called(ctx, o, in.Params.Arguments), nil
		})
	}
	return nil
}

// writes says of a tool what holds of every write.
func writes(t *mcp.Tool) {
	yes := true
	t.Meta, t.Annotations.DestructiveHint = mcp.Meta{"anthropic/alwaysLoad": true}, &yes
	t.Description += "\n\nPeople have to approve each call, so the answer may be that it waits. Then nothing has been " +
		"done: repeat exactly the same call later to learn its end. It stays one request and is made once."
}

// offered is a tool's schema with Ringi's own arguments beside the tool's.
func offered(input json.RawMessage) any {
	var schema, properties map[string]json.RawMessage
	if json.Unmarshal(input, &schema) != nil ||
		json.Unmarshal([]byte(cmp.Or(string(schema["properties"]), "{}")), &properties) != nil {
		return input
	}
	for name, about := range map[string]string{
		argumentReason: "Why this is wanted, in a sentence: people read it before they approve.",
		argumentAgain: "Only to do the same once more after it has ended: the id of the earlier call. " +
			"Leave it out when you repeat a call.",
	} {
		if _, taken := properties[name]; !taken {
			properties[name], _ = json.Marshal(map[string]string{"type": "string", "description": about})
		}
	}
	schema["properties"], _ = json.Marshal(properties)
	return schema
}

// takeOwn takes one of Ringi's own arguments from the tool's, unless the tool has one of that name.
func takeOwn(spec tool.Spec, arguments map[string]json.RawMessage, name string) (value string, err error) {
	var schema struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal([]byte(spec.InputSchema), &schema)
	text, given := arguments[name]
	if _, taken := schema.Properties[name]; taken || !given {
		return "", aggregate.Misnamed(arguments, map[string]bool{name: true})
	}
	delete(arguments, name)
	if json.Unmarshal(text, &value) != nil {
		err = aggregate.Problem{Field: name, Code: "must be a text"}
	}
	return value, err
}

// called makes a call of the tool that o offers if it only reads. Else people are asked, or it tells what became of it.
func (r request) called(ctx context.Context, o calls.Offers, arguments json.RawMessage) *mcp.CallToolResult {
	spec := o.Specs[0]
	members := map[string]json.RawMessage{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &members) != nil {
		return r.failed(ctx, aggregate.Problem{Field: "arguments", Code: "must be one JSON object"})
	}
	reason, bad := takeOwn(spec, members, argumentReason)
	again, wrong := takeOwn(spec, members, argumentAgain)
	text, err := aggregate.Written(members)
	if err = cmp.Or(bad, wrong, err); err != nil {
		return r.failed(ctx, err)
	}
	if spec.Access == aggregate.Read {
		c, end, err := r.door.Read(ctx, r.key, o, text)
		if err == nil {
			defer end()
		}
		if !errors.Is(err, calls.ErrAsked) {
			return r.read(ctx, o, c, err)
		}
	}
	return r.asked(ctx, calls.Request{Tool: spec.Name, Arguments: text, Reason: reason, Again: again})
}

// asked asks for a call that Ringi makes. While it makes it, the end is waited for.
func (r request) asked(ctx context.Context, w calls.Request) *mcp.CallToolResult {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	a, err := r.door.Ask(ctx, r.key, w)
	if err == nil && (a.Call.Status == conversation.ActionApproved || a.Call.Status == conversation.ActionExecuting) {
		a, err = r.door.Wait(ctx, r.key, a.Call.CallID, endWithin)
	}
	return r.result(ctx, a, err)
}

// result is the answer of a tool about a call.
func (r request) result(ctx context.Context, a *call.Aggregate, err error) *mcp.CallToolResult {
	if err != nil {
		return r.failed(ctx, err)
	}
	out := r.answerOf(ctx, a)
	text, err := aggregate.Written(out)
	if err != nil {
		return r.failed(ctx, err)
	}
	return said(string(text), out.failed())
}

func (r request) failed(ctx context.Context, err error) *mcp.CallToolResult {
	return said(r.door.faultOf(ctx, err).text, true)
}

func said(text string, failed bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: failed}
}

// read makes a call that only reads, unless it may not be made.
func (r request) read(ctx context.Context, o calls.Offers, c tool.Call, err error) *mcp.CallToolResult {
	if err != nil {
		return r.failed(ctx, err)
	}
	tools, err := r.door.Tools()
	if err != nil {
		return r.failed(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, min(cmp.Or(o.Specs[0].Timeout, tool.MaxPinned), mostWait*time.Second))
	defer cancel()
	value, err := tools.Run(ctx, c)
	log := slog.With("key_id", r.key.ID, "tool", c.Tool)
	if e, is := errors.AsType[*explain.CallError](err); is {
		log.WarnContext(ctx, "a read of a key failed", "problem", e.Problem)
		tool.NoteChanged(ctx, r.door.Keys, o.Permissions[c.Tool], r.door.Now(), e)
		return said(language.Visible(e.Detail), true)
	}
	if err != nil {
		return r.failed(ctx, err)
	}
	log.InfoContext(ctx, "a key read")
	given, err := tool.Given(value)
	if err != nil {
		return r.failed(ctx, err)
	}
	return shown(given)
}

// shown is what a read returned, and how much of it is left out.
func shown(given conversation.CallResult) *mcp.CallToolResult {
	out := said(string(language.VisibleJSON(given.Value)), false)
	if left := given.LeftOut(language.English); left != "" {
		out.Content = append(out.Content, &mcp.TextContent{Text: left})
	}
	return out
}

// addOwn adds the tools of the door itself.
func (r request) addOwn(s *mcp.Server) {
	id := map[string]any{"type": "string", "description": "The id of the call."}
	yes, no := true, false
	add := func(name, about string, properties map[string]any, required []string, a *mcp.ToolAnnotations,
		run func(ctx context.Context, arguments json.RawMessage) *mcp.CallToolResult) {
		s.AddTool(&mcp.Tool{Name: name, Description: about, Annotations: a, Meta: mcp.Meta{"anthropic/alwaysLoad": true},
			InputSchema: map[string]any{"type": "object", "properties": properties, "required": required}},
			func(ctx context.Context, in *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return run(ctx, in.Params.Arguments), nil
			})
	}
	add("ringi_wait", "Waits for the end of a call that waits for people's approval, and tells it.",
		map[string]any{"id": id, "seconds": map[string]any{"type": "integer", "minimum": 0, "maximum": mostWait,
			"description": "How long to wait."}}, []string{"id"}, &mcp.ToolAnnotations{ReadOnlyHint: true,
			IdempotentHint: true, OpenWorldHint: &no}, r.byID(
			func(ctx context.Context, in waiting) (*call.Aggregate, error) {
				wait, err := seconds("seconds", in.Seconds, nil)
				if err != nil {
					return nil, err
				}
				return r.door.Wait(ctx, r.key, in.ID, wait)
			}))
	add("ringi_cancel", "Cancels a call that is not wanted any more and has not begun.", map[string]any{"id": id},
		[]string{"id"}, &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
		r.byID(func(ctx context.Context, in waiting) (*call.Aggregate, error) {
			return r.door.Cancel(ctx, r.key, in.ID)
		}))
	add("permission", "For Claude Code's --permission-prompt-tool; not for models. It has people approve a call of a "+
		"tool that runs where the agent runs.", map[string]any{"tool_name": map[string]any{"type": "string"},
		"input": map[string]any{"type": "object"}, "tool_use_id": map[string]any{"type": "string"}},
		[]string{"tool_name", "input", "tool_use_id"},
		&mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}, r.permission)
}

// waiting is what is asked of a call by its id.
type waiting struct {
	ID      string  `json:"id"`
	Seconds float64 `json:"seconds"` // 5.0 is an integer, too
}

// byID does something with a call that is named by its id.
func (r request) byID(do func(ctx context.Context, in waiting) (*call.Aggregate, error)) func(context.Context,
	json.RawMessage) *mcp.CallToolResult {
	return func(ctx context.Context, arguments json.RawMessage) *mcp.CallToolResult {
		in := waiting{Seconds: usualWait}
		if err := strictly(arguments, &in); err != nil {
			return r.failed(ctx, err)
		}
		a, err := do(ctx, in)
		return r.result(ctx, a, err)
	}
}
