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
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// rowsOfPage is how many rows a page of a list has. Its query reads one more if there are older ones.
const rowsOfPage = 50

// heard counts calls to DynamoDB by action, and the rows that their queries read.
type heard struct {
	mu    sync.Mutex
	calls []string
	rows  int

	looked int // rows, by the page that was opened last
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

// counted makes a workspace whose console's calls to DynamoDB are heard.
func counted(t *testing.T, db *storetest.Server) (*consoletest.World, *heard) {
	w, h, cfg := consoletest.New(t, db), &heard{}, db.Config
	cfg.HTTPClient = &http.Client{Transport: h}
	all, c := store.New(dynamodb.NewFromConfig(cfg), w.Table, store.Kinds()...), w.Console
	c.Store, c.Conversations, c.Contests = store.TasksOf(all), store.ConversationsOf(all), store.ContestsOf(all, w.Results)
	c.Contests.Now = w.Now
	return w, h
}

// costs opens a page, which makes these calls.
func (h *heard) costs(t *testing.T, b *consoletest.Browser, path string, want ...string) consoletest.Answer {
	t.Helper()
	h.take()
	page := b.Get(path).Says(t, http.StatusOK)
	got, rows := h.take()
	h.looked = rows
	expect.Same(t, want, got)
	expect.That(t, len(page.Body) <= heaviest, "%s weighs %d bytes", path, len(page.Body))
	return page
}

// A page of a list reads the workspace and makes one query, of its rows alone, however many there are. The home makes
// two more of the requests' titles and words, which the index of what waits lacks, one for whom the viewer stands in,
// and one for their own; the contests' one for the board, and one for a team's statistics; the log one for what all
// requests of a page are called.
func TestListsReadTheSameHoweverManyRowsThereAre(t *testing.T) {
	w, h := counted(t, storetest.Start(t))
	title := func(n int) (user, channel, title string) {
		return webapi.Sato, webapi.HR, "今月の勤怠をまとめて"
	}
	day := tenancy.DayOf(w.Now())
	pages := map[string][]string{"/console/tasks?status=done": {"GetItem", "Query"}}
	if !strings.HasSuffix(day, "-01") { // some hours of that are in the month before in UTC, which may be a query more
		pages["/console/audit?from="+day+"&to="+day] = []string{"BatchGetItem", "GetItem", "Query"}
	}
	for _, n := range []int{1, 12} {
		w.Filled(30*n, title)
		save(w, 5*n)
		for i := range n {
			w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Kind: "channel", Title: "勤怠集計"})
			w.Draft(tenancy.DefaultSettings())
			w.Compete("勤怠の方針", &w.Ref).Plays(1, 1, float64(n-i)/100, "案")
		}
		for _, b := range []*consoletest.Browser{w.As(webapi.Suzuki), w.As(webapi.Sato)} {
			h.costs(t, b, "/console/tasks", "BatchGetItem", "GetItem", "GetItem", "Query") // and for what open ones wait
			h.costs(t, b, "/console/tasks?status=done", "GetItem", "Query")
			h.costs(t, b, "/console/tasks?person=me", "GetItem", "Query")
			h.costs(t, b, "/console", "BatchGetItem", "BatchGetItem", "GetItem", "GetItem", "Query", "Query", "Query")
			h.costs(t, b, "/console/agents", "GetItem", "GetItem", "Query") // and who answers
		}
		b := w.As(webapi.Suzuki)
		for path, want := range pages {
			h.costs(t, b, path, want...).Says(t, http.StatusOK, "勤怠")
			expect.That(t, h.looked <= rowsOfPage+1, "%s looks at %d rows", path, h.looked)
		}
		h.costs(t, b, "/console/contests", "GetItem", "Query", "Query").Says(t, http.StatusOK, "勤怠の方針")
		h.costs(t, b, "/console/contests?team=team-a", "GetItem", "Query", "Query", "Query").Says(t, http.StatusOK, "勤怠の方針")
	}
}

// The most that a page may weigh, in bytes, and that this process may compute for it.
const (
	heaviest = 150 << 10
	slowest  = 300 * time.Millisecond
	tries    = 3 // the first that is fast enough counts: now and then a collection of garbage falls into one
)

// light opens a page, again while it computes for too long.
func light(t *testing.T, b *consoletest.Browser, path string) (page consoletest.Answer) {
	t.Helper()
	took := time.Hour
	for n := 0; n < tries && took > slowest; n++ {
		took = min(took, expect.Computed(t, func() { page = b.Get(path) }))
	}
	t.Logf("%s: %d ms, %d KB", path, took.Milliseconds(), len(page.Body)>>10)
	expect.That(t, len(page.Body) <= heaviest, "%s weighs %d bytes", path, len(page.Body))
	expect.That(t, took <= slowest, "%s computes %v", path, took)
	return page
}

// TestARequestOfSixtyStepsIsLight: the page of a request with as many steps as there may be, all of them executed,
// weighs no more than other pages. What it leaves out is a link away.
func TestARequestOfSixtyStepsIsLight(t *testing.T) {
	w := consoletest.Start(t)
	sixty(w)
	b, words := w.As(webapi.Suzuki), web.TextsOf("task", "ja")
	page := light(t, b, w.TaskPage()).Says(t, http.StatusOK, "60.", "E019", words.Say("show_values"),
		words.Say("show_steps"))
	n := strings.Count(page.Body, ">E019<")
	expect.That(t, n > 3 && n < task.MaxSteps, "%d results are shown", n)
	last := light(t, b, w.TaskPage()+"?show=step-2-1-60").Holds(t, `<details id="step-2-1-60" open>`)
	expect.Same(t, n+1, strings.Count(last.Body, ">E019<"))
	before := light(t, b, w.TaskPage()+"?show=plan-1")
	links := func(a consoletest.Answer) int { return strings.Count(a.Body, words.Say("show_steps")) }
	expect.That(t, links(page) == 2 && links(before) == 1, "%d and %d plans are folded", links(page), links(before))
}

// sixty makes a request with as many steps as there may be, after three versions of the policy and two of the steps,
// and executes them. Each returns a table.
func sixty(w *consoletest.World) {
	w.T.Helper()
	settings := tenancy.DefaultSettings()
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "全員に今月の勤怠を送って"})
	for n := range 3 {
		if w.Draft(settings); n < 2 {
			w.Reject("宛先をもう一度確かめてください。")
		}
	}
	var steps []task.Step
	for n := range task.MaxSteps {
		steps = append(steps, consoletest.Message(n+1, "今月の勤怠をお送りします。内容に誤りがあれば、金曜日までに人事へお知らせください。"))
	}
	w.AskForSteps(steps...)
	w.Reject("送る順に並べてください。")
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
	w.Completed("全員に今月の勤怠を送りました。")
}
