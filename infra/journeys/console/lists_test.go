package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// looks checks that people can read the page, and takes a screenshot if RINGI_SCREENSHOTS names a folder.
func looks(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	tab.Fits()
	tab.Accessible(t)
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		tab.Whole(filepath.Join(dir, name+".png"))
	}
}

// TestTheListsFollowWhatHappens: a request appears without reloading, in the list and among what waits; filters and
// paging work by hand; a thousand rows stay readable.
func TestTheListsFollowWhatHappens(t *testing.T) {
	driver.Leave(t, running)
	nothingWaits(t, driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて"))
	b := browser.Start(t)
	tab := signIn(t, b, desk, webapi.Suzuki, "/console/tasks")
	tab.Until(`!document.querySelector("#waiting[data-now]")`) // it was fetched
	asked := driver.Ask(t, running, webapi.Tanaka, "従業員一覧を取得して")
	row := fmt.Sprintf(`a[href="/console/tasks/%s"]`, asked.Ref.ID)
	tab.Until(fmt.Sprintf(`document.querySelector('#requests %s') && document.querySelector('#waiting %s')`, row, row))
	looks(t, tab, "lists-live")
	asked.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	tab.Until(fmt.Sprintf(`[...document.querySelectorAll("#waiting [data-row]")].some((li) => li.querySelector('%s') && li.innerText.includes("実行ステップ"))`, row))
	looks(t, tab, "lists-steps")
	tab.Visit(running.URL + "/console/approvals?person=" + webapi.Tanaka)
	tab.Until(`document.readyState === "complete"`) // its script listens
	for range 2 {                                   // there is one row alone
		tab.Keys("j")
		tab.Until(fmt.Sprintf(`document.activeElement === document.querySelector('#waiting %s')`, row))
	}
	looks(t, tab, "approvals")
	tab.Keys(kb.Enter)
	tab.Until(fmt.Sprintf(`location.pathname === "/console/tasks/%s"`, asked.Ref.ID))
	tab.Until(`document.readyState === "complete"`)
	tab.Keys("r") // neither key decides anything
	tab.Until(`document.activeElement.matches("textarea[name=reason]")`)
	tab.Keys("a") // it is typed
	tab.Until(`document.activeElement.value === "a"`)
	tab.Eval(`document.activeElement.blur()`)
	tab.Keys("a")
	tab.Until(`document.activeElement.matches("button") && document.activeElement.form.elements.act.value === "approve"`)

	t.Run("a thousand rows", func(t *testing.T) { thousand(t, tab.For(t)) })
	t.Run("on a phone", func(t *testing.T) {
		tab := signIn(t, b, phone, webapi.Alex, "/console/tasks")
		tab.Until(`document.querySelector(".empty")?.innerText.includes("No requests yet")`)
		looks(t, tab, "lists-phone-empty")
		tab.Visit(running.URL + "/console/approvals?for=me")
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
	tab.Visit(running.URL + "/console/tasks?to=2020-12-31")
	tab.Until(`document.querySelectorAll("#requests tbody tr").length === 50`)
	looks(t, tab, "lists-thousand")
	first := browser.Read[string](tab, `document.querySelector("#requests tbody a").innerText`)
	tab.Click(`a[rel=next]`)
	tab.Until(fmt.Sprintf(`document.querySelector("a[rel=prev]") && document.querySelector("#requests tbody a").innerText !== %q && location.search.includes("to=2020-12-31")`, first))
	looks(t, tab, "lists-second-page")
	tab.Click(`a[rel=prev]`)
	tab.Until(fmt.Sprintf(`location.search === "?to=2020-12-31" && document.querySelector("#requests tbody a").innerText === %q`, first))
	tab.Press("#q")
	tab.Keys("777\r")
	tab.Until(`location.search.includes("q=777") && document.querySelectorAll("#requests tbody tr").length === 1`)
	tab.Visit(running.URL + "/console/tasks?q=778&to=2020-12-31&status=failed")
	tab.Until(`document.querySelector(".empty")`)
	looks(t, tab, "lists-nothing-found")
	tab.Visit(running.URL + "/console/tasks?status=x&from=x")
	tab.Until(`document.querySelectorAll("[role=alert]").length === 2`)
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
			"PK": key["PK"], "SK": key["SK"], "type": text("task"), "schema_version": &types.AttributeValueMemberN{Value: "1"}, "rev": &types.AttributeValueMemberN{Value: "2"},
			"id": text(id), "tenant_id": text(tenant), "status": text(string(status)), "listed_as": text(string(listed)),
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
		expect.Value(db.BatchWriteItem(context.Background(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{running.TableName: batch}}))(t)
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
