package console_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/conversations"
	"ringi/shared/store/kinds"
	"ringi/shared/store/storetest"
)

// The most that a page may weigh, in bytes, and take, without the emulator's share.
const (
	heaviest = 150 << 10
	slowest  = 300 * time.Millisecond
)

// timed adds up how long the emulator takes to answer.
type timed struct {
	heard
	took atomic.Int64
}

func (h *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	res, err := h.heard.RoundTrip(r)
	h.took.Add(int64(time.Since(began)))
	return res, err
}

// TestPagesNeedNoMoreCallsForTenThousandRequests prints the calls, the time and the weight of the pages of requests at a
// hundred and at ten thousand of them.
func TestPagesNeedNoMoreCallsForTenThousandRequests(t *testing.T) {
	sizes := []int{100, 10_000}
	if testing.Short() {
		sizes = []int{100, 1000}
	}
	db := storetest.Start(t)
	most := map[string]int{}
	for _, n := range sizes {
		w, h := consoletest.New(t, db), &timed{}
		w.Filled(n, func(i int) (user, channel, title string) {
			return []string{workspace.Sato, workspace.Tanaka}[i%2], workspace.HR, "今月の勤怠をまとめて"
		})
		for i := range 60 {
			who := []string{workspace.Sato, workspace.Tanaka}[i%2]
			w.Made(consoletest.Requested{User: who, Channel: workspace.HR, Kind: "channel", Title: "従業員一覧を取得して"})
			w.Draft(tenancy.DefaultSettings())
		}
		cfg := db.Config
		cfg.HTTPClient = &http.Client{Transport: h}
		all := store.New(dynamodb.NewFromConfig(cfg), w.Table, kinds.All()...)
		w.Console.Store, w.Console.Conversations = web.RowsOf(all), conversations.Of(all)
		paths := []string{
			"/console/tasks", "/console/tasks?person=" + workspace.Sato, "/console/tasks?person=me&status=waits",
			"/console/tasks?person=" + workspace.Sato + "&status=done", "/console/approvals", "/console/approvals?for=me&sort=due",
			"/console/approvals?group=person", "/console/tasks/" + w.Ref.ID,
		}
		for _, s := range task.Statuses {
			paths = append(paths, "/console/tasks?status="+string(s))
		}
		for _, user := range []string{workspace.Suzuki, workspace.Sato} {
			b := w.As(user)
			b.Get("/console/tasks") // names and channels are kept for a minute
			for _, path := range paths {
				h.take()
				h.took.Store(0)
				began := time.Now()
				page := b.Get(path)
				took := time.Since(began) - time.Duration(h.took.Load())
				calls, _ := h.take()
				expect.That(t, page.Status == http.StatusOK, "%s: %d", path, page.Status)
				t.Logf("%5d requests, %s, %-48s %d calls %v, %3d ms, %3d KB", n, user, path, len(calls), slices.Compact(calls), took.Milliseconds(), len(page.Body)>>10)
				expect.That(t, len(page.Body) <= heaviest, "%s weighs %d bytes", path, len(page.Body))
				expect.That(t, took <= slowest, "%s takes %v", path, took)
				key := user + kindOf(path, w.Ref.ID)
				if before, known := most[key]; known {
					if strings.Contains(path, "person=me&status=waits") { // one person's by status: the rest is read at once
						before++
					}
					expect.That(t, len(calls) <= before, "%s needs %d calls at %d requests, and %d at fewer", path, len(calls), n, before)
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
