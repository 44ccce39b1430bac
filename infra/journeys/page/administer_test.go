package page

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// TestAnAdministratorChangesWhatHolds: settings and a tool's limits are refused, mended and saved; vendors are
// disconnected
// and connected again on their own pages, and the work continues.
func TestAnAdministratorChangesWhatHolds(t *testing.T) {
	driver.Leave(t, running)
	t.Cleanup(func() { _ = driver.Connect(context.Background(), running, running.Sandbox.TeamID()) })
	driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して").Approve(webapi.Suzuki) // who signs in is known then
	a := administering{t, signIn(t, browser.Start(t), desk, webapi.Suzuki, "/console/settings")}
	a.changesSettings()
	a.limitsTools()
	a.connectsVendors()
	again := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	again.Approve(webapi.Suzuki)
	again.Card(driver.ExecutionCard, "実行完了")
}

// administering is an administrator at the console.
type administering struct {
	t   *testing.T
	tab *browser.Tab
}

// visit opens a page by its address, and waits until it has loaded.
func (a administering) visit(path string) {
	a.t.Helper()
	a.tab.Visit(running.URL + path)
	a.tab.Until(`document.querySelector("main h1")`)
}

// shows waits until an element has each of these texts.
func (a administering) shows(selector string, texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		a.tab.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%s))`, selector,
			browser.Quote(text)))
	}
}

// changesSettings types two invalid values and sees an error at each field, then two valid ones, and finds them in the
// log.
func (a administering) changesSettings() {
	const save = ".save .button-primary"
	a.tab.Until(`!!document.getElementById("s-max-versions")`)
	a.tab.Press("#settings summary") // of the first section
	a.tab.Type("#s-max-versions", "0")
	a.tab.Type("#s-approval-timeout-hours", "two")
	a.shows(".save", "未保存の変更 2 か所")
	a.tab.Press(save)
	a.tab.Until(`document.querySelectorAll("#problems li").length === 2`)
	for field, typed := range map[string]string{"s-max-versions": "0", "s-approval-timeout-hours": "two"} {
		a.tab.Until(fmt.Sprintf(`document.getElementById(%[1]q).matches("[aria-invalid=true]") && `+
			`document.getElementById(%[1]q).value === %[2]q && document.querySelector('#problems a[href$="#%[1]s"]')`, field,
			typed))
	}
	looks(a.t, a.tab, "settings-refused")
	a.tab.Press(`#problems a[href$="#s-approval-timeout-hours"]`)
	a.tab.Until(`location.hash === "#s-approval-timeout-hours"`)
	a.tab.Type("#s-max-versions", "4")
	a.tab.Type("#s-approval-timeout-hours", "30")
	a.tab.Press(save)
	a.shows(".notice", "保存しました。")
	a.tab.Until(`document.getElementById("s-max-versions").value === "4"`)
	a.tab.Press(`a[href="/console/audit?action=settings.updated"]`)
	a.tab.Until(`location.pathname === "/console/audit" && document.querySelector("table.audit details")`)
	a.tab.Press("table.audit tbody tr:nth-child(2) summary") // below the heading of its group
	a.shows("table.audit tbody tr:nth-child(2)", "鈴木", "→ 4", "→ 30")
}

// limitsTools forbids a tool that no running request needs, and limits another after trying an invalid limit.
func (a administering) limitsTools() {
	tool := `details[id="list_departments"] `
	a.visit("/console/tools")
	a.tab.Press(tool + "summary")
	a.tab.Press(tool + `input[name="allowed"][value="false"]`)
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(`location.hash === "#list_departments" && document.querySelector(".notice:not([hidden])")`)
	a.shows(tool+"summary", "許可しない")

	tool = `details[id="send_slack_dm"] `
	bound := `[id="b-send_slack_dm-recipients"]`
	a.tab.Press(tool + "summary")
	a.tab.Type(bound, "somebody")
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(fmt.Sprintf(`document.querySelector('%s[open] [role=alert]') && `+
		`document.querySelector('%s[aria-invalid=true]').value === "somebody"`, strings.TrimSpace(tool), bound))
	looks(a.t, a.tab, "tools-refused")
	for _, recipients := range []string{webapi.Sato + "\n" + webapi.Tanaka, ""} {
		a.tab.Type(bound, recipients)
		a.tab.Press(tool + "button[type=submit]")
		a.tab.Until(fmt.Sprintf(`!document.querySelector('%s[open]') && document.querySelector('%s').value === %s`,
			strings.TrimSpace(tool), bound, browser.Quote(recipients)))
		a.tab.Press(tool + "summary")
	}
}

func (a administering) connectsVendors() {
	a.visit("/console/integrations")
	for _, provider := range []string{"freee", "google", "mcp:rooms"} {
		panel := `section[id="` + provider + `"] `
		a.tab.Until(`document.querySelector('` + panel + `.badge-good')`)
		a.tab.Agree(panel + `button.button-danger`)
		a.tab.Until(`/disconnected|not-revoked/.test(location.search)`)
		a.tab.Click(panel + `form[action="/console/integrations/connect"] button`)
		a.tab.Until(`location.pathname === "/console/integrations/connect"`)
		a.tab.Click(`main a.button-primary`)
		a.tab.Until(`location.pathname.endsWith("/authorize")`)
		a.tab.Click(`main a`)
		a.tab.Until(`location.search === "?done=connected"`)
	}
	looks(a.t, a.tab, "integrations-connected")
}

// TestEveryLinkOfAPageLeadsSomewhere: what pages of an active workspace link to exists, and the console may read all
// that it shows.
func TestEveryLinkOfAPageLeadsSomewhere(t *testing.T) {
	t.Parallel()
	done := driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")
	done.Approve(webapi.Suzuki)
	done.Card(driver.ExecutionCard, "実行完了")
	opened := followLinks(t, "/console", "/console/sessions/"+talk(t).ID, "/console/contests/"+compete(t, done.Ref))
	for _, shape := range []string{"/console/tasks/*?", "/console/sessions/*?", "/console/contests?team"} {
		expect.That(t, opened[shape] != 0, "no page links to %s: %v", shape, opened)
	}
}

// mostOfAShape bounds the addresses of one shape that are opened: lists link to many.
const mostOfAShape = 2

var (
	linkOfPage = regexp.MustCompile(`href="(/console[^"#]*)`)
	anID       = regexp.MustCompile(`[0-9A-Z]{8,}|[0-9a-f]{8,}[0-9a-f-]*|[0-9]+`)
)

// followLinks opens pages, and everything that they and the pages behind them link to. Each must exist, and the console
// must be allowed to read what it shows. It returns the shapes of the opened addresses.
func followLinks(t *testing.T, from ...string) map[string]int {
	t.Helper()
	r, opened, seen := read(t, webapi.Suzuki), map[string]int{}, map[string]bool{}
	for len(from) > 0 {
		at := from[0]
		from = from[1:]
		shape := shapeOf(t, at)
		if seen[at] || opened[shape] == mostOfAShape {
			continue
		}
		seen[at] = true
		opened[shape]++
		for _, link := range linkOfPage.FindAllStringSubmatch(r.get(at), -1) {
			to := html.UnescapeString(link[1])
			if !strings.HasPrefix(to, "/console/signin") && !strings.HasSuffix(to, "/message") && // which leads to Slack
				!strings.Contains(to, "/drafts/") { // of which the task knows nothing
				from = append(from, to)
			}
		}
	}
	return opened
}

// shapeOf returns an address without what differs between pages of one kind.
func shapeOf(t *testing.T, at string) string {
	t.Helper()
	u := expect.Value(url.Parse(at))(t)
	return path.Clean(anID.ReplaceAllString(u.Path, "*")) + "?" + strings.Join(slices.Sorted(maps.Keys(u.Query())), "&")
}

// compete plays a contest of two teams, of which nobody told the task, and returns its id.
func compete(t *testing.T, of aggregate.Ref) (id string) {
	t.Helper()
	all := store.ContestsOf(store.New(dynamodb.NewFromConfig(running.AWS), running.TableName, store.Kinds()...), nil)
	o := contest.Order{Execution: contest.NewID(), Tenant: of.Tenant, Prompt: "経費精算の手順を決めて", Locale: "ja", MaxRounds: 1,
		TeamTimeoutSeconds: 600, Budget: aggregate.USD(1), For: of, ForRow: task.PromptKey(1)}
	config := teamconfig.Contest{Evaluator: teamconfig.Evaluator{
		Metrics: []teamconfig.Metric{{Name: "Coverage", Model: "demo", Weight: 1}}}}
	for _, name := range []string{"team-1", "team-2"} {
		o.Teams = append(o.Teams, contest.Entry{TeamID: name, TeamName: name})
		config.Teams = append(config.Teams, teamconfig.Team{TeamID: name, TeamName: name, MaxConcurrentMembers: 1,
			Leader: teamconfig.Leader{Model: "demo"}, Members: []teamconfig.Member{
				{AgentName: "analyst", AgentType: "plain", ToolDescription: "調べます", Model: "demo"}}})
	}
	text := expect.Value(json.Marshal(config))(t)
	o.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
	expect.NoError(t, storetest.Begin(t, all, o))
	expect.Eventually(t, "the contest is summed up", func() bool {
		a, err := all.Load(t.Context(), contest.Ref(o.Tenant, o.Execution))
		return err == nil && a.Summary != nil
	})
	return o.Execution
}

// reader reads pages without JavaScript.
type reader struct {
	t    *testing.T
	http *http.Client
}

// read signs a person in without JavaScript.
func read(t *testing.T, user string) reader {
	t.Helper()
	r := reader{t, &http.Client{Jar: expect.Value(cookiejar.New(nil))(t)}}
	page := r.get("/console/signin/begin?next=/console/audit")
	link := regexp.MustCompile(`href="([^"]*user=` + user + `[^"]*)"`).FindStringSubmatch(page)
	expect.Must(t, link != nil, "nobody is %s at %s", user, page)
	r.get(html.UnescapeString(link[1]))
	return r
}

func (r reader) get(path string) string {
	r.t.Helper()
	to := expect.Value(url.Parse(running.URL))(r.t)
	return r.text(expect.Value(r.http.Get(expect.Value(to.Parse(path))(r.t).String()))(r.t))
}

func (r reader) text(a *http.Response) string {
	r.t.Helper()
	defer a.Body.Close()
	body := string(expect.Value(io.ReadAll(a.Body))(r.t))
	expect.Must(r.t, a.StatusCode == http.StatusOK, "%s: %d %s", a.Request.URL, a.StatusCode, body)
	return body
}
