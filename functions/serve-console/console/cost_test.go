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
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
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
// makes one more for what the viewer owes along routes, and one for whom they stand in.
func TestAListPageIsTheSessionAndOneQuery(t *testing.T) {
	db := storetest.Start(t)
	for _, n := range []int{10, 400} {
		w, h := consoletest.New(t, db), &heard{}
		w.Filled(n, func(int) (user, channel, title string) { return webapi.Sato, webapi.HR, "勤怠" })
		cfg := db.Config
		cfg.HTTPClient = &http.Client{Transport: h}
		all := store.New(dynamodb.NewFromConfig(cfg), w.Table, store.Kinds()...)
		w.Console.Store, w.Console.Conversations = store.TasksOf(all), store.ConversationsOf(all)
		for path, want := range map[string][]string{
			"/console/tasks":                               {"GetItem", "Query"},
			"/console/tasks?status=done":                   {"GetItem", "Query"},
			"/console/tasks?person=" + webapi.Sato:         {"GetItem", "Query"},
			"/console/tasks?from=2026-01-01&to=2100-01-01": {"GetItem", "Query"},
			"/console/audit?from=2026-01-05&to=2026-01-20": {"GetItem",
				"Query"}, // one for each month
			"/console":        {"GetItem", "GetItem", "Query", "Query", "Query"}, // settings
			"/console/agents": {"GetItem", "GetItem", "Query"},                   // and who answers
		} {
			for _, user := range readers(path) {
				b := w.As(user)
				h.take()
				b.Get(path).Says(t, http.StatusOK)
				got, _ := h.take()
				expect.Same(t, want, got)
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
				Action: task.AuditTaskExpired, ResourceType: "task", ResourceID: fmt.Sprint(i), AggregateID: fmt.Sprint(i),
				Details: "{}",
			})
		}
		w.Record(entries...)
		cfg := db.Config
		cfg.HTTPClient = &http.Client{Transport: h}
		w.Console.Store = store.TasksOf(store.NewTasks(dynamodb.NewFromConfig(cfg), w.Table).KindStore.Store)
		b := w.As(webapi.Suzuki)
		for _, path := range []string{
			"/console/tasks", "/console/tasks?status=done", "/console/tasks?person=" + webapi.Sato,
			"/console/audit?from=2026-01-05&to=2026-01-20", "/console/audit?from=2026-01-05&to=2026-01-20&action=" +
				string(task.AuditTaskExpired),
		} {
			left := n
			for at := path; at != ""; left -= entriesOfAudit {
				h.take()
				page := b.Get(at)
				_, rows := h.take()
				expect.That(t, page.Status == http.StatusOK && rows == min(left, entriesOfAudit+1),
					"%s of %d, with %d left: %d, and its query looks at %d rows", path, n, left, page.Status, rows)
				at = page.Link("next")
			}
			expect.That(t, left == 0, "%s of %d: %d are on no page", path, n, left)
		}
	}
}

// The list of contests reads the session and makes two queries, one for the board; a team's statistics take one more.
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
		w.Console.Store, w.Console.Contests = store.TasksOf(all), counted
		b := w.As(webapi.Suzuki)
		for path, want := range map[string][]string{
			"/console/contests":             {"GetItem", "Query", "Query"},
			"/console/contests?team=team-a": {"GetItem", "Query", "Query", "Query"},
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
	counted, plain := store.TasksOf(store.NewTasks(dynamodb.NewFromConfig(cfg), w.Table).KindStore.Store), w.Console.Store
	// Titles; what waits, for whom the viewer stands in, and their own requests.
	want := []string{"BatchGetItem", "GetItem", "GetItem", "Query", "Query", "Query"}
	for _, n := range []int{1, 10, waitingOfPage + 1} {
		for w.Console.Store = plain; w.Said < n; {
			who := []string{webapi.Sato, webapi.Tanaka}[w.Said%2] // each may have fifty open ones
			w.Made(consoletest.Requested{User: who, Channel: webapi.HR, Kind: "channel", Title: "勤怠"})
			w.Draft(tenancy.DefaultSettings())
		}
		w.Console.Store = counted
		b := w.As(webapi.Suzuki)
		h.take()
		page := b.Get("/console")
		got, looked := h.take()
		expect.Same(t, want, got)
		expect.That(t, looked == n, "%d wait, and the query looks at %d", n, looked)
		rows := strings.Count(page.Body, `<tr data-row>`)
		expect.That(t, rows == min(n, waitingOfPage), "%d wait, %d are shown", n, rows)
	}
}

// The most that a page may weigh, in bytes, and that this process may compute for it.
const (
	heaviest = 150 << 10
	slowest  = 300 * time.Millisecond
	tries    = 3 // the first that is fast enough counts: now and then a collection of garbage falls into one
)

// measured is what a page needs.
type measured struct {
	page consoletest.Answer
	took time.Duration // computed here
	call []string      // of the database
}

// measure opens a page, again while it computes for too long, and prints what it needs.
func measure(t *testing.T, b *consoletest.Browser, h *heard, path, label string) measured {
	t.Helper()
	var m measured
	for n := range tries {
		h.take()
		var page consoletest.Answer
		took := expect.Computed(t, func() { page = b.Get(path) })
		calls, _ := h.take()
		if n == 0 || took < m.took {
			m.took = took
		}
		m.page, m.call = page, calls
		if m.took <= slowest {
			break
		}
	}
	expect.That(t, m.page.Status == http.StatusOK, "%s: %d", path, m.page.Status)
	t.Logf("%s, %-48s %d calls %v, %3d ms, %3d KB", label, path, len(m.call), slices.Compact(slices.Clone(m.call)),
		m.took.Milliseconds(), len(m.page.Body)>>10)
	expect.That(t, len(m.page.Body) <= heaviest, "%s weighs %d bytes", path, len(m.page.Body))
	expect.That(t, m.took <= slowest, "%s computes %v", path, m.took)
	return m
}

// TestPagesNeedNoMoreCallsForManyRequests prints the calls, the time and the weight of the pages of requests at a
// hundred and at a thousand of them.
func TestPagesNeedNoMoreCallsForManyRequests(t *testing.T) {
	sizes := []int{100, 1000}
	if expect.Long() {
		sizes = []int{100, 10_000}
	}
	db := storetest.Start(t)
	most := map[string]int{}
	for _, n := range sizes {
		w, h := consoletest.New(t, db), &heard{}
		w.Filled(n, func(i int) (user, channel, title string) {
			return []string{webapi.Sato, webapi.Tanaka}[i%2], webapi.HR, "今月の勤怠をまとめて"
		})
		for i := range 60 {
			who := []string{webapi.Sato, webapi.Tanaka}[i%2]
			w.Made(consoletest.Requested{User: who, Channel: webapi.HR, Kind: "channel", Title: "従業員一覧を取得して"})
			w.Draft(tenancy.DefaultSettings())
		}
		cfg := db.Config
		cfg.HTTPClient = &http.Client{Transport: h}
		all := store.New(dynamodb.NewFromConfig(cfg), w.Table, store.Kinds()...)
		w.Console.Store, w.Console.Conversations = store.TasksOf(all), store.ConversationsOf(all)
		paths := []string{
			"/console/tasks", "/console/tasks?person=" + webapi.Sato, "/console/tasks?person=me&status=waits",
			"/console/tasks?person=" + webapi.Sato + "&status=done", "/console/tasks?person=me&status=failed",
			"/console", "/console?of=all", "/console/tasks/" + w.Ref.ID,
		}
		for _, s := range task.Statuses {
			paths = append(paths, "/console/tasks?status="+string(s))
		}
		for _, user := range []string{webapi.Suzuki, webapi.Sato} {
			b := w.As(user)
			b.Get("/console/tasks") // names and channels are kept for a minute
			for _, path := range paths {
				calls := measure(t, b, h, path, fmt.Sprintf("%5d requests, %s", n, user)).call
				key := user + kindOf(path, w.Ref.ID)
				if before, known := most[key]; known {
					expect.That(t, len(calls) <= before, "%s needs %d calls at %d requests, and %d at fewer", path, len(calls), n,
						before)
				}
				most[key] = len(calls)
			}
		}
	}
}

// kindOf returns the path without the request's id.
func kindOf(path, id string) string {
	if path == "/console/tasks/"+id {
		return "/console/tasks/{id}"
	}
	return path
}

// TestARequestOfSixtyStepsIsLight: the page of a request with as many steps as there may be, all of them executed,
// weighs no more than other pages. What it leaves out is a link away.
func TestARequestOfSixtyStepsIsLight(t *testing.T) {
	w := consoletest.Start(t)
	sixty(w)
	for _, locale := range language.All {
		b, words := w.As(webapi.Suzuki), web.TextsOf("task", locale)
		b.Locale = locale
		m := measure(t, b, &heard{}, w.TaskPage(), "60 steps, "+locale)
		m.page.Says(t, http.StatusOK, "60.", "E019", words.Say("show_values"), words.Say("show_steps"))
		n := strings.Count(m.page.Body, ">E019<")
		expect.That(t, n > 3 && n < task.MaxSteps, "%d results are shown", n)
		last := measure(t, b, &heard{}, w.TaskPage()+"?show=step-2-1-60", "60 steps, "+locale)
		expect.That(t, strings.Contains(last.page.Body, `<details id="step-2-1-60" open>`), "the step is not unfolded")
		expect.Same(t, n+1, strings.Count(last.page.Body, ">E019<"))
		before := measure(t, b, &heard{}, w.TaskPage()+"?show=plan-1", "60 steps, "+locale)
		links := func(a consoletest.Answer) int { return strings.Count(a.Body, words.Say("show_steps")) }
		expect.That(t, links(m.page) == 2 && links(before.page) == 1, "%d and %d plans are folded", links(m.page),
			links(before.page))
	}
}

// sixty makes a request with as many steps as there may be, after three versions of the policy and two of the steps,
// and executes them. Each returns a table.
func sixty(w *consoletest.World) {
	w.T.Helper()
	settings := tenancy.DefaultSettings()
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "全員に今月の勤怠を送って"})
	for n := range 3 {
		if w.Draft(settings); n < 2 {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return decide.Reject("宛先をもう一度確かめてください。")(a, a.Prompt().ID, w.By, w.AnyMember(), w.Now())
			})
		}
	}
	var steps []task.Step
	for n := range task.MaxSteps {
		steps = append(steps, consoletest.Message(n+1, "今月の勤怠をお送りします。内容に誤りがあれば、金曜日までに人事へお知らせください。"))
	}
	w.AskForSteps(steps...)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("送る順に並べてください。")(a, a.Process().ID, w.By, w.AnyMember(), w.Now())
	})
	slices.Reverse(steps)
	for i := range steps {
		steps[i].Order = i + 1
	}
	w.Plan(steps)
	w.Approve()
	w.Begin()
	var sent []string
	for n := range 20 {
		sent = append(sent, fmt.Sprintf(`{"employee_id":"E%03d","name":"佐藤 花子","department":"営業部","worked_hours":%d}`, n,
			140+n))
	}
	result := consoletest.Inline(`{"rows":[` + strings.Join(sent, ",") + `]}`)
	for _, s := range steps {
		w.Ran(consoletest.Inline(string(s.ToolInput)), result)
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "全員に今月の勤怠を送りました。", w.Now())
	})
}

// The audit log makes one call for what all requests of a page are called, however many there are.
func TestTheAuditLogNamesItsRequestsInOneCall(t *testing.T) {
	db := storetest.Start(t)
	w, h := consoletest.New(t, db), &heard{}
	cfg := db.Config
	cfg.HTTPClient = &http.Client{Transport: h}
	plain := w.Console.Store
	counted := store.TasksOf(store.NewTasks(dynamodb.NewFromConfig(cfg), w.Table).KindStore.Store)
	day := w.Now().In(tenancy.Zone()).Format("2006-01-02")
	for _, n := range []int{1, 5} {
		for w.Console.Store = plain; n > 0; n-- {
			w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "勤怠集計"})
		}
		w.Console.Store = counted
		b := w.As(webapi.Suzuki)
		h.take()
		b.Get("/console/audit?from="+day+"&to="+day).Says(t, http.StatusOK, "勤怠集計")
		calls, _ := h.take()
		expect.Same(t, []string{"BatchGetItem", "GetItem", "Query"}, calls)
	}
}
