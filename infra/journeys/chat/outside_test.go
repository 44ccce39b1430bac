package chat

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/driver"
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
	_, secret, err := rows.CreateKey(t.Context(), tenancy.Key{TenantID: aggregate.TenantID(team), Team: team, Name: "夜間バッチ",
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
