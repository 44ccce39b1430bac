package journeys

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// Rows of a tab below the written table stay, and the finished card says so. tabOf returns the tab that the planned
// steps write to.
func tabOf(t *testing.T, d *driver.Request) string {
	t.Helper()
	var to struct {
		Tab string `json:"sheet"`
	}
	for _, step := range d.Load().Process().Steps {
		if step.Tool == "write_rows_to_google_sheet" {
			expect.NoError(t, json.Unmarshal([]byte(step.ToolInput), &to))
		}
	}
	return to.Tab
}

// All in the console: a tool is allowed and listed for contests, a member calls it, and the draft has the result.
func TestAMemberReadsByAToolThatAnAdministratorLists(t *testing.T) {
	s := start(t)
	desk := driver.SitDown(t, s, webapi.Suzuki)
	decide(t, desk, "allow", url.Values{"effect": {"read"}})
	defer decide(t, desk, "forbid", nil)
	decide(t, desk, "contests", nil)

	const said = "使った後はホワイトボードを消してください。"
	id, found := searched(t, s)
	expect.That(t, found.Status == contest.Success && strings.Contains(found.Content, said) &&
		found.ErrorMessage == nil, "%s, %q: %v", found.Status, found.Content, found.ErrorMessage)
	calls := 0
	for _, m := range found.AllMessages {
		for _, p := range m.Parts {
			if p.ToolName == "rooms_house_rules" {
				calls++
			}
		}
	}
	text := string(expect.Value(json.Marshal(found.AllMessages))(t))
	if calls != 2 || !strings.Contains(text, said) { // its call and result
		t.Errorf("%d parts are of the tool: %s", calls, text)
	}
	_, board := desk.Get("/console/contests?team=careful")
	says(t, "the board", board, []string{"/console/contests/" + id})
}

// decide sends one act about the tool from its server's page.
func decide(t *testing.T, desk driver.Desk, act string, form url.Values) {
	t.Helper()
	const path = "/console/tools/servers/" + vendors.RoomsServer
	_, page := desk.Get(path)
	hash := regexp.MustCompile(`name="tool" value="` + regexp.QuoteMeta(vendors.HouseRules) +
		`"><input type="hidden" name="hash" value="([0-9a-f]{64})"`).FindStringSubmatch(page)
	expect.Must(t, hash != nil, "the page doesn't show %s: %s", vendors.HouseRules, page)
	if form == nil {
		form = url.Values{}
	}
	form.Set("act", act)
	form.Set("tool", vendors.HouseRules)
	form.Set("hash", hash[1])
	status, page := desk.Post(path, form)
	expect.Must(t, status == http.StatusSeeOther, "%s is answered %d: %s", act, status, page)
}

// searched has teams draft a policy in one round, and returns what the searching member submitted.
func searched(t *testing.T, s *stack.Stack) (execution string, m contest.MemberSubmission) {
	t.Helper()
	driver.Settings(t, s, func(x *tenancy.Settings) { x.DraftContest.Enabled, x.DraftContest.MaxRounds = true, 2 })
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて demo: refuse swift demo: refuse solo")
	d.Card("CARD#prompt#0001", "approve_prompt")
	execution = d.Load().Prompt().Contest.ExecutionID
	rows := store.ContestsOf(store.OpenAll(s.AWS, boot.Table{TableName: s.TableName}),
		large.Open(s.AWS, boot.Results{ResultsBucket: s.BucketName}))
	record, _, err := rows.LoadRoundHistory(t.Context(), d.Ref.Tenant, execution, "careful", 1)
	expect.NoError(t, err)
	expect.Must(t, record != nil, "the team has no round: %+v", d.Load().Prompt().Contest)
	for _, m := range record.Submissions {
		if m.AgentType == contest.WebSearch {
			return execution, m
		}
	}
	t.Fatalf("nobody searched: %+v", record)
	return "", m
}
