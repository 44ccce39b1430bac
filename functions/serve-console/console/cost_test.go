package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// Reads per page.
const (
	entriesOfAudit = 50
	waitingOfPage  = 50
)

// heard counts calls to DynamoDB by action, and the rows that their queries read.
type heard struct {
	mu    sync.Mutex
	calls []string
	rows  int
}

func (h *heard) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	var looked struct{ ScannedCount int }
	h.mu.Lock()
	defer h.mu.Unlock()
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	h.calls = append(h.calls, action)
	if action == "Query" {
		if err := json.Unmarshal(body, &looked); err != nil {
			return nil, err
		}
		h.rows += looked.ScannedCount
	}
	return res, nil
}

// take returns the calls since the last take by name, and the rows that their queries read.
func (h *heard) take() (calls []string, rows int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls, rows = h.calls, h.rows
	h.calls, h.rows = nil, 0
	slices.Sort(calls)
	return calls, rows
}

// A page of the list reads the session and makes one query, however many requests there are. The list of what waits
// makes one more for what the viewer owes along routes, and one for whom they stand in; a member's list of
// conversations makes the former, too.
func TestAListPageIsTheSessionAndOneQuery(t *testing.T) {
	db := storetest.Start(t)
	for _, n := range []int{10, 400} {
		w, h := consoletest.New(t, db), &heard{}
		w.Filled(n, func(int) (user, channel, title string) { return webapi.Sato, webapi.HR, "勤怠" })
		cfg := db.Config
		cfg.HTTPClient = &http.Client{Transport: h}
		all := store.New(dynamodb.NewFromConfig(cfg), w.Table, store.Kinds()...)
		w.Console.Store, w.Console.Conversations = web.RowsOf(all), store.ConversationsOf(all)
		for path, want := range map[string][]string{
			"/console/tasks":                               {"GetItem", "Query"},
			"/console/tasks?status=done":                   {"GetItem", "Query"},
			"/console/tasks?person=" + webapi.Sato:         {"GetItem", "Query"},
			"/console/tasks?from=2026-01-01&to=2100-01-01": {"GetItem", "Query"},
			"/console/audit?from=2026-01-05&to=2026-01-20": {"GetItem", "Query"},                              // one for each month
			"/console/approvals":                           {"GetItem", "GetItem", "Query", "Query", "Query"}, // settings
			"/console/agents":                              {"GetItem", "GetItem", "Query"},                   // and who answers
			"/console/agents?status=open":                  {"GetItem", "GetItem", "Query"},
		} {
			for _, user := range readers(path) {
				b, calls := w.As(user), want
				if strings.HasPrefix(path, "/console/agents") && user == webapi.Sato {
					calls = append(slices.Clone(want), "Query")
				}
				h.take()
				b.Get(path).Says(t, http.StatusOK)
				got, _ := h.take()
				expect.Same(t, calls, got)
			}
		}
	}
}

// readers are an administrator and, on pages for members, a member.
func readers(path string) []string {
	if strings.HasPrefix(path, "/console/audit") {
		return []string{webapi.Suzuki}
	}
	return []string{webapi.Suzuki, webapi.Sato}
}

// However long the list and wherever the page, its query reads the page's rows, and one more if there are older ones.
func TestEveryPageOfAListLooksAtItsRowsAlone(t *testing.T) {
	db := storetest.Start(t)
	for _, n := range []int{100, 1000} {
		w, h := consoletest.New(t, db), &heard{}
		w.Filled(n, func(int) (user, channel, title string) { return webapi.Sato, webapi.HR, "勤怠" })
		var entries []aggregate.AuditEntry
		for i := range n {
			entries = append(entries, aggregate.AuditEntry{
				TenantID: w.Tenant.ID, Timestamp: time.Date(2026, 1, 20, 0, 0, -i, 0, time.UTC), ActorType: aggregate.ActorSystem,
				Action: task.AuditTaskExpired, ResourceType: "task", ResourceID: fmt.Sprint(i), AggregateID: fmt.Sprint(i), Details: "{}",
			})
		}
		w.Record(entries...)
		cfg := db.Config
		cfg.HTTPClient = &http.Client{Transport: h}
		w.Console.Store = web.RowsOf(store.NewTasks(dynamodb.NewFromConfig(cfg), w.Table).Of.Store)
		b := w.As(webapi.Suzuki)
		for _, path := range []string{
			"/console/tasks", "/console/tasks?status=done", "/console/tasks?person=" + webapi.Sato,
			"/console/audit?from=2026-01-05&to=2026-01-20", "/console/audit?from=2026-01-05&to=2026-01-20&action=" + string(task.AuditTaskExpired),
		} {
			left := n
			for at := path; at != ""; left -= entriesOfAudit {
				h.take()
				page := b.Get(at)
				if _, rows := h.take(); page.Status != http.StatusOK || rows != min(left, entriesOfAudit+1) {
					t.Errorf("%s of %d, with %d left: %d, and its query looks at %d rows", path, n, left, page.Status, rows)
				}
				at = page.Link("next")
			}
			expect.That(t, left == 0, "%s of %d: %d are on no page", path, n, left)
		}
	}
}

// The history of contests reads the session and makes one query. The board makes one more call for the contests of its
// rounds, and a team's board one for its statistics.
func TestPagesOfContestsReadTheSameHoweverManyThereAre(t *testing.T) {
	db := storetest.Start(t)
	w, h := consoletest.New(t, db), &heard{}
	cfg := db.Config
	cfg.HTTPClient = &http.Client{Transport: h}
	all := store.New(dynamodb.NewFromConfig(cfg), w.Table, store.Kinds()...)
	w.Ask()
	ref, plain, counted := w.Ref, w.Console.Contests, store.ContestsOf(all, w.Results)
	for _, n := range []int{1, 12} {
		for w.Console.Contests = plain; n > 0; n-- {
			w.Compete("勤怠の方針", &ref).Plays(1, 1, float64(n)/100, "案")
		}
		w.Console.Store, w.Console.Contests = web.RowsOf(all), counted
		b := w.As(webapi.Suzuki)
		for path, want := range map[string][]string{
			"/console/contests":                   {"GetItem", "Query"},
			"/console/contests/board":             {"BatchGetItem", "GetItem", "Query"},
			"/console/contests/board?team=team-a": {"BatchGetItem", "GetItem", "GetItem", "Query"},
		} {
			h.take()
			b.Get(path).Says(t, http.StatusOK, "勤怠の方針")
			got, _ := h.take()
			expect.Same(t, want, got)
		}
	}
}

// The index of what waits lacks the requests' titles: they take one more call, and each other kind of row takes one,
// whatever the number of rows.
func TestThePageOfApprovalsReadsTheSameHoweverMuchWaits(t *testing.T) {
	db := storetest.Start(t)
	w, h := consoletest.New(t, db), &heard{}
	cfg := db.Config
	cfg.HTTPClient = &http.Client{Transport: h}
	counted, plain := web.RowsOf(store.NewTasks(dynamodb.NewFromConfig(cfg), w.Table).Of.Store), w.Console.Store
	// Titles, and the requesters' words; what the viewer owes, for whom they stand in, and what waits.
	want := []string{"BatchGetItem", "BatchGetItem", "GetItem", "GetItem", "Query", "Query", "Query"}
	for _, n := range []int{1, 10, waitingOfPage + 1} {
		for w.Console.Store = plain; w.Said < n; {
			who := []string{webapi.Sato, webapi.Tanaka}[w.Said%2] // each may have fifty open ones
			w.Made(consoletest.Requested{User: who, Channel: webapi.HR, Kind: "channel", Title: "勤怠"})
			w.Draft(tenancy.DefaultSettings())
		}
		w.Console.Store = counted
		b := w.As(webapi.Suzuki)
		h.take()
		page := b.Get("/console/approvals")
		got, looked := h.take()
		expect.Same(t, want, got)
		expect.That(t, looked == n, "%d wait, and the query looks at %d", n, looked)
		rows := strings.Count(page.Body, `<tr data-row>`)
		expect.That(t, rows == min(n, waitingOfPage), "%d wait, %d are shown", n, rows)
	}
}
