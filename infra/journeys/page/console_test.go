package page

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// windows are the windows in which every page is checked.
var windows = []struct {
	name string
	browser.Window
}{
	{"ja-desktop", desk},
	{"en-phone", phone},
}

var (
	desk  = browser.Window{Width: 1280, Height: 900, Hasty: true, Calm: true}
	phone = browser.Window{Width: 390, Height: 844, Phone: true, Dark: true, Language: "en", Hasty: true, Calm: true}
)

// signIn opens a page as a person who first has to sign in with Slack.
func signIn(t *testing.T, b *browser.Browser, w browser.Window, user, path string) *browser.Tab {
	t.Helper()
	tab := b.Open(t, running.URL+path, w)
	tab.Until(`location.pathname === "/console/signin"`)
	tab.Fits()
	tab.Accessible(t)
	tab.Click(`a.button-primary`)
	tab.Until(`location.pathname === "/openid/connect/authorize"`)
	tab.Fits()
	tab.Accessible(t)
	tab.Click(fmt.Sprintf(`a[href*="user=%s"]`, user))
	tab.Until(fmt.Sprintf(`location.pathname === %q`, path))
	return tab
}

// pages returns the addresses in the menu, and those of one task and of others.
func pages(t *testing.T, tab *browser.Tab, task string, others ...string) []string {
	t.Helper()
	found := browser.Read[string](tab,
		`[...document.querySelectorAll("#nav .to")].map((a) => new URL(a.href).pathname).join(" ")`)
	return append(append(strings.Fields(found), "/console/calls", "/console/keys", "/console/organisation",
		"/console/stand-ins", "/console/tools", "/console/settings/admins", "/console/tools/servers/rooms",
		"/console/tasks/"+task), others...)
}

// TestEveryPageCanBeReadByEverybody: in both languages, light and dark, on a desktop and on a phone, with rows and
// without.
func TestEveryPageCanBeReadByEverybody(t *testing.T) {
	t.Parallel()
	done := driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")
	done.Approve(webapi.Suzuki)
	done.Card(driver.ExecutionCard, "実行完了")
	waits := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	waits.Until("it waits", func(a *task.Aggregate) bool { return a.Prompt() != nil })

	talked := "/console/sessions/" + talk(t, 0).ID
	games, played := compete(t, running, done.Ref, 2, 1)
	summedUp(t, games, played)
	competed := "/console/contests/" + played.ID

	t.Run("and every link of a page", func(t *testing.T) {
		t.Parallel()
		opened := followLinks(t, "/console", talked, competed)
		for _, shape := range []string{"/console/tasks/*?", "/console/sessions/*?", "/console/contests?team"} {
			expect.That(t, opened[shape] != 0, "no page links to %s: %v", shape, opened)
		}
	})
	b := browser.Start(t)
	for i, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if i > 0 {
				expect.AtNight(t)
			}
			tab := signIn(t, b, w.Window, webapi.Suzuki, "/console")
			for _, path := range pages(t, tab, done.Ref.ID, talked, competed) {
				t.Run(strings.TrimPrefix(path, "/"), func(t *testing.T) {
					tab := tab.For(t)
					tab.Visit(running.URL + path)
					tab.Until(fmt.Sprintf(`location.pathname === %q && document.querySelector("h1")`, path))
					looks(t, tab, w.name+"-"+strings.NewReplacer("/", "-", done.Ref.ID, "task",
						strings.TrimPrefix(talked, "/console/sessions/"), "session", played.ID, "contest").Replace(path))
					if chrome := browser.Read[float64](tab,
						`document.querySelector("main").getBoundingClientRect().top / innerHeight`); w.Phone {
						expect.That(t, chrome <= 0.2, "the page begins at %.2f of the screen", chrome)
					}
				})
			}
		})
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

// An administrator disconnects a vendor and connects it again on the vendor's page, and the work continues.
func TestVendorsAreConnectedAgainByHand(t *testing.T) {
	driver.Leave(t, running)
	t.Cleanup(func() { _ = driver.Connect(context.Background(), running, running.Sandbox.TeamID()) })
	driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して").Approve(webapi.Suzuki) // who signs in is known then
	b := browser.Start(t)
	for i, w := range windows {
		providers := [][]string{{"freee", "google", "mcp:rooms"}, {"mcp:rooms"}}[i]
		t.Run(w.name, func(t *testing.T) {
			if i > 0 {
				expect.AtNight(t)
			}
			tab := signIn(t, b, w.Window, webapi.Suzuki, "/console/integrations")
			look := func(name string) { looks(t, tab, w.name+"-integrations-"+name) }
			for _, provider := range providers {
				panel := `section[id="` + provider + `"] `
				tab.Until(`document.querySelector('` + panel + `.badge-good')`)
				tab.Agree(panel + `button.button-danger`)
				tab.Until(`/disconnected|not-revoked/.test(location.search)`)
				look("without")
				tab.Click(panel + `form[action="/console/integrations/connect"] button`)
				tab.Until(`location.pathname === "/console/integrations/connect"`)
				look("go")
				tab.Click(`main a.button-primary`)
				tab.Until(`location.pathname.endsWith("/authorize")`)
				tab.Click(`main a`)
				tab.Until(`location.search === "?done=connected"`)
			}
			look("connected")
		})
	}
	again := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	again.Approve(webapi.Suzuki)
	again.Card(driver.ExecutionCard, "実行完了")
}

// compete begins a contest for a task that nobody told of it, with the demo model. Its teams are team-1, team-2 and so
// on, each of a leader and a member; each plays all of its rounds. The store has no bucket, so all of its data must be
// in rows.
func compete(t *testing.T, s *stack.Stack, of aggregate.Ref, teams, rounds int) (*store.ContestStore, aggregate.Ref) {
	t.Helper()
	all := store.ContestsOf(store.New(dynamodb.NewFromConfig(s.AWS), s.TableName, store.Kinds()...), nil)
	o := contest.Order{
		Execution: contest.NewID(), Tenant: of.Tenant, Prompt: "経費精算の手順を決めて", Locale: "ja",
		MaxRounds:          rounds,
		TeamTimeoutSeconds: 600, Budget: aggregate.USD(1),
	}
	config := teamconfig.Contest{Evaluator: teamconfig.Evaluator{
		Metrics: []teamconfig.Metric{{Name: "Coverage", Model: "demo", Weight: 0.5},
			{Name: "Relevance", Model: "demo", Weight: 0.5}},
	}}
	for i := range teams {
		e := contest.Entry{TeamID: fmt.Sprint("team-", i+1), TeamName: fmt.Sprint("チーム ", i+1)}
		o.Teams = append(o.Teams, e)
		config.Teams = append(config.Teams, teamconfig.Team{TeamID: e.TeamID, TeamName: e.TeamName, MaxConcurrentMembers: 1,
			Leader: teamconfig.Leader{Model: "demo"}, Members: []teamconfig.Member{
				{AgentName: "analyst", AgentType: "plain", ToolDescription: "調べます", Model: "demo"},
			}})
	}
	o.For, o.ForRow = of, task.PromptKey(1)
	text := expect.Value(json.Marshal(config))(t)
	o.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
	expect.NoError(t, storetest.Begin(t, all, o))
	return all, contest.Ref(o.Tenant, o.Execution)
}

func summedUp(t *testing.T, all *store.ContestStore, ref aggregate.Ref) (a *contest.Aggregate) {
	t.Helper()
	expect.Eventually(t, "the contest is summed up", func() bool {
		var err error
		a, err = all.Load(t.Context(), ref)
		return err == nil && a.Summary != nil
	})
	return a
}

// looks checks that people can read the page, and takes a screenshot if RINGI_SCREENSHOTS names a folder.
func looks(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	tab.Fits()
	tab.Accessible(t)
	tab.Clean()
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		tab.Whole(filepath.Join(dir, name+".png"))
	}
}

// TestTheListsFollowWhatHappens: a request appears without reloading, in the list and on the home; filters and
// paging work by hand; a thousand rows stay readable.
func TestTheListsFollowWhatHappens(t *testing.T) {
	driver.Leave(t, running)
	nothingWaits(t, driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて"))
	b := browser.Start(t)
	tab := signIn(t, b, desk, webapi.Suzuki, "/console/tasks")
	asked := driver.Ask(t, running, webapi.Tanaka, "従業員一覧を取得して")
	row := fmt.Sprintf(`a[href="/console/tasks/%s"]`, asked.Ref.ID)
	tab.Until(fmt.Sprintf(`document.querySelector('#requests %s')`, row))
	tab.Visit(running.URL + "/console")
	tab.Until(fmt.Sprintf(`document.querySelector('#waiting %s')`, row))
	looks(t, tab, "lists-live")
	asked.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	tab.Until(fmt.Sprintf(`[...document.querySelectorAll("#waiting [data-row]")].some((li) => li.querySelector('%s') `+
		`&& li.innerText.includes("シート"))`, row))
	looks(t, tab, "lists-steps")
	looks(t, tab, "home")
}

// nothingWaits ends everything that other tests left waiting: the lists show only a few items, longest waiting first.
func nothingWaits(t *testing.T, d *driver.Request) {
	t.Helper()
	team := running.Sandbox.TeamID()
	for _, x := range expect.Value(d.Store.Waiting(t.Context(), aggregate.TenantID(team), "", 100))(t).Items {
		expect.Value(d.Store.Decide(t.Context(), x.Ref, func(a *task.Aggregate) (aggregate.Change, error) {
			by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Request.User, Team: team, Member: true}
			return a.End(by, aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true}, time.Now())
		}))(t)
	}
}
