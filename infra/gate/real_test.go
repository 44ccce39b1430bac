package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// ringi is all of Ringi, with people who decide about what agents ask by the words in it.
type ringi struct {
	*stack.Stack
	all  *store.Store
	team string
	late sync.Map // names of keys of which people decide late, and now do
}

func newRingi(t *testing.T) *ringi {
	t.Helper()
	s := expect.Value(driver.Start(t.Context(), driver.Options()))(t)
	t.Cleanup(s.Close)
	r := &ringi{Stack: s, all: store.OpenAll(s.AWS, boot.Table{TableName: s.TableName}), team: s.Sandbox.TeamID()}
	ctx, end := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- driver.Try(ctx, func(try driver.T) {
			expect.Holds(ctx, time.Hour, 200*time.Millisecond, func() bool { r.decide(try); return ctx.Err() != nil })
		})
	}()
	t.Cleanup(func() {
		end()
		expect.NoError(t, <-over)
	})
	return r
}

func (r *ringi) newKey(t *testing.T, name string) string {
	t.Helper()
	_, secret, err := r.all.CreateKey(t.Context(), tenancy.Key{TenantID: aggregate.TenantID(r.team), Team: r.team,
		Name: name, Answers: webapi.Sato, Tools: []string{"Bash"}, Channel: webapi.HR, QuotaDay: 20,
		ExpiresAt: time.Now().AddDate(0, 1, 0)}, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now())
	expect.NoError(t, err)
	return secret
}

// asked are the calls that were asked for.
func (r *ringi) asked(ctx context.Context, keep func(call.Call) bool) ([]call.Call, error) {
	page, err := store.CallsOf(r.all).Listed(ctx, aggregate.TenantID(r.team), "", 100, 1000, keep)
	return page.Items, err
}

// decide has a person stamp or refuse what waits, but nothing that is asked for once more.
func (r *ringi) decide(t driver.T) {
	all, err := r.asked(t.Context(), func(x call.Call) bool {
		return x.Status == conversation.ActionPending && x.Again == ""
	})
	if t.Context().Err() != nil {
		return
	}
	expect.NoError(t, err)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: r.team, Member: true}
	for _, x := range all {
		kind, why := circulation.Stamp, ""
		switch about := string(x.Payload.JSON); {
		case strings.Contains(about, "refused"):
			kind, why = circulation.SendBack, "over the budget"
		case strings.Contains(about, "late"):
			if _, now := r.late.Load(x.KeyName); !now {
				continue
			}
		}
		expect.Value(store.CallsOf(r.all).Decide(context.Background(), call.RefOf(x.TenantID, x.CallID),
			func(a *call.Aggregate) (aggregate.Change, error) {
				return a.Act(x.CallID, a.Call.Gate.Acting(kind, by, why), by, aggregate.Policy{Team: r.team, AllowSelf: true},
					time.Now())
			}))(t)
	}
}

// Each agent at the door itself: what is stamped runs once, why something is refused reaches the model, and after a
// late stamp a repeat runs once, or gets the end of what Ringi made.
func TestRealAgentsAskRingiItself(t *testing.T) {
	kit := install(t)
	r := newRingi(t)
	dirs := t.TempDir()
	for name := range agents {
		if strings.HasSuffix(name, "killed") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit, short := kit, strings.NewReplacer(" ", "-", "'", "").Replace(name)
			kit.key = r.newKey(t, name)
			asks := func(of string, ran int, says string) {
				t.Helper()
				out, n := tried(t, kit, name, filepath.Join(dirs, short, of), r.URL)
				expect.That(t, n == ran && strings.Contains(out, says), "%s: it ran %d times, not %d: %s", of, n, ran, out)
			}
			asks("stamped", 1, "")
			asks("stamped", 1, "")
			asks("refused", 0, "over the budget")
			asks("late", 0, "epeat exactly")
			r.decidesLate(t, name)
			asks("late", 1, "")
			asks("late", 1, "")
		})
	}
}

// decidesLate has people decide what waits of a key, and waits for its end.
func (r *ringi) decidesLate(t *testing.T, key string) {
	t.Helper()
	r.late.Store(key, true)
	var now []call.Call
	expect.That(t, expect.Holds(t.Context(), time.Minute, 100*time.Millisecond, func() bool {
		now = expect.Value(r.asked(t.Context(), func(x call.Call) bool {
			return x.KeyName == key && x.Again == "" && !x.Answered()
		}))(t)
		return len(now) == 0
	}), "%s: it never ends: %+v", key, now)
}

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
