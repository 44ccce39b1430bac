package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/driver"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// bearing sends a key with each request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// An outside agent reads at once. What it writes a person stamps, once the agent has gone, and it is made once: a
// repeat gets its end.
func TestAnOutsideAgentAsksByMCPAndAPersonStamps(t *testing.T) {
	driver.Leave(t, running)
	rows := store.OpenAll(running.AWS, boot.Table{TableName: running.TableName})
	team := running.Sandbox.TeamID()
	_, secret, err := rows.CreateKey(t.Context(), tenancy.Key{TenantID: aggregate.TenantID(team), Team: team,
		Name:    "夜間バッチ",
		Answers: webapi.Sato, Tools: []string{"send_slack_dm", "list_employees"}, Channel: webapi.HR, QuotaDay: 20,
		ExpiresAt: time.Now().AddDate(0, 1, 0)}, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now())
	expect.NoError(t, err)
	client := mcp.NewClient(&mcp.Implementation{Name: "journey", Version: "1"}, nil)
	agent := expect.Value(client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: running.URL + "/mcp",
		HTTPClient: &http.Client{Transport: bearing(secret)}}, nil))(t)
	calls := func(tool string, arguments map[string]any) (text string, got struct{ ID, Status, Page string }) {
		out := expect.Value(agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments}))(t)
		text = out.Content[0].(*mcp.TextContent).Text
		_ = json.Unmarshal([]byte(text), &got)
		return text, got
	}
	text, _ := calls("list_employees", map[string]any{"department": nil, "status": "all"})
	expect.Has(t, text, "entry_date")

	const said = "夜間バッチが終わりました。"
	message := map[string]any{"recipient": webapi.Tanaka, "text": said, "details": []any{}}
	text, asked := calls("send_slack_dm", message)
	expect.Must(t, asked.Status == "pending", "%s", text)
	d := &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: webapi.HR, Timeout: time.Minute}
	asks := d.Shows("外部エージェント", "夜間バッチ", said)
	told := func() (n int) {
		for _, m := range running.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), "") {
			if strings.Contains(m.Text+driver.Face(m), said) {
				n++
			}
		}
		return n
	}
	expect.Is(t, told(), 0)
	d.Press(webapi.Suzuki, asks, "approve_call")
	d.Eventually("the call is made", func() bool { return told() == 1 })
	var end struct{ ID, Status, Page string }
	d.Eventually("a repeat gets the end", func() bool {
		text, end = calls("send_slack_dm", message)
		return end.Status == "succeeded"
	})
	expect.That(t, end.ID == asked.ID && told() == 1, "%s, told %d times", text, told())
}

// hook is an agent's question before a command, by what infra/gate gives to strangers.
type hook struct {
	*exec.Cmd
	out, says bytes.Buffer
}

// asking starts the question. An agent that goes before the answer is a process that is killed.
func asking(t *testing.T, secret, command string) *hook {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no python3")
	}
	expect.NoError(t, err)
	root := expect.Value(process.ModuleRoot())(t)
	h := &hook{Cmd: exec.CommandContext(t.Context(), python, filepath.Join(root, "infra/gate/ask.py"), "--hook")}
	h.Env = append(os.Environ(), "RINGI_URL="+running.URL, "RINGI_KEY="+secret)
	h.Stdin = strings.NewReader(`{"tool_name":"Bash","cwd":"/srv","tool_input":{"command":"` + command + `"}}`)
	h.Stdout, h.Stderr = &h.out, &h.says
	expect.NoError(t, h.Start())
	return h
}

func (h *hook) ends(t *testing.T) (code int, says string) {
	t.Helper()
	var failed *exec.ExitError
	err := h.Wait()
	expect.Must(t, err == nil || errors.As(err, &failed), "%v", err)
	return h.ProcessState.ExitCode(), h.out.String() + h.says.String()
}

// An agent elsewhere is refused once and learns why, asks for less, and is gone when that is stamped. Its repeat runs,
// once.
func TestAnAgentElsewhereIsRefusedAndThenStampedWhenItHasGone(t *testing.T) {
	driver.Leave(t, running)
	team := running.Sandbox.TeamID()
	_, secret, err := store.OpenAll(running.AWS, boot.Table{TableName: running.TableName}).CreateKey(t.Context(),
		tenancy.Key{TenantID: aggregate.TenantID(team), Team: team, Name: "保守のエージェント", Answers: webapi.Sato,
			Tools: []string{"Bash"}, Channel: webapi.HR, QuotaDay: 20, ExpiresAt: time.Now().AddDate(0, 1, 0)},
		aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now())
	expect.NoError(t, err)
	d := &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: webapi.HR, Timeout: time.Minute}

	first := asking(t, secret, "rm -r /srv/reports")
	const why = "今月分は残してください"
	begins := d.Shows("保守のエージェント", "rm -r /srv/reports")
	d.Reject(webapi.Suzuki, begins, why)
	code, says := first.ends(t)
	for code == 2 && !strings.Contains(says, why) { // it didn't wait so long on this machine
		code, says = asking(t, secret, "rm -r /srv/reports").ends(t)
		expect.Must(t, t.Context().Err() == nil, "%s", says)
	}
	expect.Is(t, code, 2, says)

	d.Root = begins.TS // where the key's calls of the day stand
	second := asking(t, secret, "rm -r /srv/reports/2025")
	asks := d.Shows("保守のエージェント", "rm -r /srv/reports/2025")
	expect.NoError(t, second.Process.Kill())
	_ = second.Wait()
	d.Press(webapi.Suzuki, asks, "approve_call")
	d.Eventually("a repeat may run", func() bool {
		code, says = asking(t, secret, "rm -r /srv/reports/2025").ends(t)
		return code == 0
	})
	expect.Has(t, says, `"allow"`)
	code, says = asking(t, secret, "rm -r /srv/reports/2025").ends(t)
	expect.Is(t, code, 2, "it ran twice by one stamp: %s", says)
	expect.Has(t, says, "used, once")
}
