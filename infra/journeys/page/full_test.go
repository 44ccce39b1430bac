package page

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// TestPagesStayReadableHoweverMuchTheyHave: a log of a thousand entries, the numbers of a year, and a task of fifty
// versions whose
// result is a table of a thousand rows.
func TestPagesStayReadableHoweverMuchTheyHave(t *testing.T) {
	expect.AtNight(t)
	fewer := running.Vendors.AddEmployees(1000)
	long := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	long.Approve(webapi.Suzuki)
	long.Card(driver.ExecutionCard, "実行完了")
	fewer()
	t.Parallel()
	rewritten(t, long, 50)
	logged(t, 1000)
	b := browser.Start(t)
	for i, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			tab := signIn(t, b, w.Window, webapi.Suzuki, "/console/audit")
			for _, page := range []struct {
				name string
				read func(administering, int)
			}{{"the log", readsALongLog}, {"a task", func(a administering, i int) { readsALongStory(a, long, i) }}} {
				t.Run(page.name, func(t *testing.T) { page.read(administering{t, tab.For(t), w.name}, i) })
			}
		})
	}
}

// took prints how long the current page took, until its first byte and until it had loaded.
func (a administering) took(what string) {
	a.t.Helper()
	took := browser.Read[[]float64](a.tab,
		`(() => { const n = performance.getEntriesByType("navigation")[0]; return [n.responseStart - n.requestStart, `+
			`n.domContentLoadedEventEnd - n.requestStart, n.decodedBodySize]; })()`)
	a.t.Logf("%s: first byte after %.0f ms, there after %.0f ms, %.0f bytes", what, took[0], took[1], took[2])
}

func readsALongLog(a administering, i int) {
	a.visit("/console/audit?from=2025-05-01&to=2025-05-31")
	a.tab.Until(`document.querySelectorAll("table.audit tbody tr:not(.group)").length === 50`)
	a.took("1,000 entries")
	a.look("full-log")
	first := browser.Read[string](a.tab, `document.querySelector("table.audit tbody td").innerText`)
	a.tab.Press("a[rel=next]")
	a.tab.Until(fmt.Sprintf(`location.search.includes("cursor=") && document.querySelector("table.audit tbody `+
		`td").innerText !== %q`, first))
	a.took("its second page")
	a.tab.Press(".pages a:not([rel])")
	a.tab.Until(fmt.Sprintf(`document.querySelector("table.audit tbody td")?.innerText === %q`, first))
	a.tab.Eval(`document.querySelector("#action").value = "task.cancelled"`)
	a.tab.Press(".filters button")
	a.tab.Until(`location.search.includes("action=task.cancelled") && document.querySelectorAll("table.audit tbody ` +
		`tr:not(.group)").length === 50`)
	a.tab.Press("table.audit tbody tr:not(.group) summary")
	a.shows("table.audit tbody tr:not(.group)", [2]string{"理由", "Reason"}[i])
	a.visit("/console/audit?from=2024-02-01&to=2024-02-02")
	a.shows(".empty", [2]string{"記録はありません", "No matching entries"}[i])
	a.look("empty-log")
	a.visit("/console/audit?from=yesterday")
	a.tab.Until(`document.querySelector("[role=alert]")`)
	a.look("log-refused")
}

func readsALongStory(a administering, d *driver.Request, i int) {
	a.visit("/console/tasks/" + d.Ref.ID)
	a.took("50 versions, 1,000 rows")
	a.tab.Until(`document.querySelectorAll("details[id^=policy-]").length === 50`)
	a.look("full-task")
	a.tab.Eval(`document.querySelectorAll("details").forEach((d) => d.open = true)`)
	a.tab.Fits()
	a.tab.Press(`a[href*="?show=step-"]`)
	name, file := a.tab.Download(a.t.TempDir(), `a[href$="/1.csv"]`)
	rows := expect.Value(csv.NewReader(strings.NewReader(strings.TrimPrefix(string(file), "\ufeff"))).ReadAll())(a.t)
	shown := browser.Read[int](a.tab, `document.querySelectorAll("[id^=run-] tbody tr").length`)
	expect.That(a.t, shown < 1000 && len(rows) >= 1000 && strings.HasSuffix(name, ".csv"),
		"the page has %d rows, the file %s %d", shown, name, len(rows))
}

// rewritten gives a finished task earlier versions of its policy, n in total, each rejected for a reason.
func rewritten(t *testing.T, d *driver.Request, n int) {
	t.Helper()
	db, key := dynamodb.NewFromConfig(running.AWS), text("TASK#"+d.Ref.Tenant+"#"+d.Ref.ID)
	row := func(version int) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"PK": key, "SK": text(task.PromptKey(version))}
	}
	last := expect.Value(db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &running.TableName, Key: row(1),
		ConsistentRead: aws.Bool(true)}))(t).Item
	policy := last["content"].(*types.AttributeValueMemberS).Value
	var puts []types.WriteRequest
	for v := 1; v <= n; v++ {
		it := maps.Clone(last)
		maps.Copy(it, row(v))
		it["version"] = &types.AttributeValueMemberN{Value: fmt.Sprint(v)}
		if v < n {
			it["id"], it["status"] = text(fmt.Sprintf("01VERSION%017d", v)), text(string(aggregate.Rejected))
			it["content"] = text(policy + strings.Repeat(fmt.Sprintf("\n- 第%d案の、部署ごとの確かめ方をここに書きます。", v), 3))
			it["rejection_reason"] = text(fmt.Sprintf("%d 回目の差し戻し: 部署ごとに分け、長い https://example.com/%s も残してください", v,
				strings.Repeat("path", 40)))
		}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
	}
	write(t, puts)
}

// logged adds n entries of May 2025 to the log.
func logged(t *testing.T, n int) {
	t.Helper()
	tenant := aggregate.TenantID(running.Sandbox.TeamID())
	var puts []types.WriteRequest
	for i := range n {
		id, action := fmt.Sprintf("01MANY%020d", i), []string{"task.cancelled", "prompt.approved"}[i%2]
		at := aggregate.TimeText(time.Date(2025, 5, 2, 0, i, 0, 0, time.UTC))
		it := map[string]types.AttributeValue{
			"PK": text("AUDIT#" + tenant + "#2025-05"), "SK": text(at + "#" +
				id), "type": text("audit"), "schema_version": &types.AttributeValueMemberN{Value: "1"},
			"id": text(id), "tenant_id": text(tenant), "timestamp": text(at), "actor_type": text("user"),
			"actor_id": text(webapi.Suzuki), "action": text(action),
			"resource_type": text("task"), "resource_id": text(id), "task_id": text(id),
			"details": text(fmt.Sprintf(`{"reason":"%d 番目の、%s"}`, i, strings.Repeat("とても長い理由", 30))),
		}
		for index, by := range []string{"ACTION#" + action, "RESOURCE#" + id, "ACTOR#" + webapi.Suzuki} {
			it[fmt.Sprintf("GSI%dPK", index+1)], it[fmt.Sprintf("GSI%dSK", index+1)] = text("AUDIT#"+tenant+"#"+by), it["SK"]
		}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
	}
	write(t, puts)
}

// TestANewWorkspaceSeesWhatIsMissing: each page that needs no Slack says if nothing was connected or recorded yet.
func TestANewWorkspaceSeesWhatIsMissing(t *testing.T) {
	t.Parallel()
	rows, now := store.NewTasks(dynamodb.NewFromConfig(running.AWS), running.TableName), time.Now().UTC()
	own := tenancy.Tenant{ID: aggregate.TenantID("T0EMPTY"), Name: "空の会社", TeamID: "T0EMPTY",
		Admins: []string{webapi.Alex}}
	expect.Value(rows.Bootstrap(t.Context(), own, now))(t)
	cookie := expect.Value(store.NewSession(own.ID, own.TeamID, webapi.Alex, "Alex Kim",
		now).Signed(running.SigningSecret))(t)
	b := browser.Start(t)
	for i, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			if i > 0 {
				expect.AtNight(t)
			}
			a := administering{t, b.Open(t, running.URL+"/console/signin", w.Window), w.name}
			a.tab.Eval(fmt.Sprintf(`document.cookie = "ringi=%s; path=/"`, cookie))
			a.tab.Until(`document.cookie.includes("ringi=")`) // written beside the page: one that is opened before is signed out
			for _, page := range []struct {
				path, place string
				says        [2]string
			}{
				{"/console/audit", ".empty", [2]string{"記録はありません", "No matching entries"}},
				{"/console/integrations", "main", [2]string{"MCP", "MCP"}},
				{"/console/tools", ".empty", [2]string{"サーバー", "server"}},
			} {
				t.Run(filepath.Base(page.path), func(t *testing.T) {
					a := administering{t, a.tab.For(t), a.at}
					a.visit(page.path)
					a.shows(page.place, page.says[i])
					a.look("empty-" + filepath.Base(page.path))
				})
			}
		})
	}
}

// looks checks that people can read the page, and takes a screenshot if RINGI_SCREENSHOTS names a folder.
func looks(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	tab.Fits()
	tab.Accessible(t)
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
	t.Run("a thousand rows", func(t *testing.T) {
		expect.AtNight(t)
		thousand(t, tab.For(t))
	})
	t.Run("on a phone", func(t *testing.T) {
		tab := signIn(t, b, phone, webapi.Alex, "/console/tasks")
		tab.Visit(running.URL + "/console/tasks?status=failed")
		tab.Until(`document.querySelector(".empty")?.innerText.includes("No matching requests")`)
		looks(t, tab, "lists-phone-empty")
		tab.Visit(running.URL + "/console")
		tab.Until(`document.querySelector(".empty")?.innerText.includes("Nothing is waiting for you")`)
		looks(t, tab, "lists-phone-nothing-waits")
	})
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

// thousand opens a list of many requests, finds one by hand, and pages.
func thousand(t *testing.T, tab *browser.Tab) {
	fill(t, 1000)
	tab.Visit(running.URL + "/console/tasks?status=cancelled")
	tab.Until(`document.querySelectorAll("#requests tbody tr").length === 50`)
	looks(t, tab, "lists-thousand")
	first := browser.Read[string](tab, `document.querySelector("#requests tbody a").innerText`)
	tab.Click(`a[rel=next]`)
	tab.Until(fmt.Sprintf(`document.querySelector(".pages a:not([rel])") && document.querySelector("#requests tbody `+
		`a").innerText !== %q && location.search.includes("status=cancelled")`, first))
	looks(t, tab, "lists-second-page")
	tab.Click(`.pages a:not([rel])`)
	tab.Until(fmt.Sprintf(`location.search === "?status=cancelled" && document.querySelector("#requests tbody `+
		`a").innerText === %q`, first))
	tab.Press("#q")
	tab.Keys("777\r")
	tab.Until(`location.search.includes("q=777") && document.querySelectorAll("#requests tbody tr").length === 1`)
	tab.Visit(running.URL + "/console/tasks?q=778&status=failed")
	tab.Until(`document.querySelector(".empty")`)
	looks(t, tab, "lists-nothing-found")
	tab.Visit(running.URL + "/console/tasks?status=x")
	tab.Until(`document.querySelectorAll("[role=alert]").length === 1`)
	looks(t, tab, "lists-bad-filter")
	tab.Clean()
}

// fill puts the rows of n requests of 2020 into the table until the test ends.
func fill(t *testing.T, n int) {
	t.Helper()
	tenant := aggregate.TenantID(running.Sandbox.Workspace().TeamID())
	var puts, deletes []types.WriteRequest
	for i := range n {
		id, status := fmt.Sprintf("01MANY%020d", i), []task.TaskStatus{task.TaskCompleted, task.TaskCancelled}[i%2]
		listed := []task.Status{task.StatusDone, task.StatusCancelled}[i%2]
		at := aggregate.TimeText(time.Date(2020, 4, 1, 0, i, 0, 0, time.UTC))
		key := map[string]types.AttributeValue{"PK": text("TASK#" + tenant + "#" + id), "SK": text("TASK")}
		deletes = append(deletes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
		it := map[string]types.AttributeValue{
			"PK": key["PK"], "SK": key["SK"], "type": text("task"), "schema_version": &types.AttributeValueMemberN{Value: "1"},
			"rev": &types.AttributeValueMemberN{Value: "2"},
			"id":  text(id), "tenant_id": text(tenant), "status": text(string(status)), "listed_as": text(string(listed)),
			"slack_channel": text(webapi.HR), "source": text("channel"), "priority": text("medium"),
			"title": text(fmt.Sprintf("%d 番目の、勤怠を部署ごとにまとめて一覧にする依頼", i)), "created_at": text(at), "updated_at": text(at),
			"GSI1PK": text(task.AllOf(tenant)), "GSI2PK": text(task.WithStatus(tenant, listed)),
			"GSI3PK": text(task.By(tenant, []string{webapi.Sato, webapi.Tanaka}[i%2])),
		}
		for _, index := range []string{"GSI1SK", "GSI2SK", "GSI3SK"} {
			it[index] = text(at + "#" + id)
		}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
	}
	write(t, puts)
	t.Cleanup(func() { write(t, deletes) })
}

// write puts or deletes rows in batches of DynamoDB's maximum size.
func write(t *testing.T, all []types.WriteRequest) {
	t.Helper()
	db := dynamodb.NewFromConfig(running.AWS)
	for batch := range slices.Chunk(all, 25) {
		expect.Value(db.BatchWriteItem(context.Background(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{running.TableName: batch}}))(t)
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
