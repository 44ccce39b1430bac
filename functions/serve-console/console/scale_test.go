package console_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
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
	"ringi/shared/words/language"
)

// The most that a page may weigh, in bytes, and that this process may compute for it. The emulator is another process,
// and how busy the machine is decides how long an answer takes, but not how long it computes.
const (
	heaviest = 150 << 10
	slowest  = 300 * time.Millisecond
	tries    = 3 // the best one counts: now and then a collection of garbage falls into one
)

// computed returns the time that this process has computed so far.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	expect.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measured is what a page needs.
type measured struct {
	page consoletest.Answer
	took time.Duration // computed here
	call []string      // of the database
}

// measure opens a page and prints what it needs.
func measure(t *testing.T, b *consoletest.Browser, h *heard, path, label string) measured {
	t.Helper()
	var m measured
	for n := range tries {
		h.take()
		began := computed(t)
		page := b.Get(path)
		took := computed(t) - began
		calls, _ := h.take()
		if n == 0 || took < m.took {
			m.took = took
		}
		m.page, m.call = page, calls
	}
	expect.That(t, m.page.Status == http.StatusOK, "%s: %d", path, m.page.Status)
	t.Logf("%s, %-48s %d calls %v, %3d ms, %3d KB", label, path, len(m.call), slices.Compact(slices.Clone(m.call)), m.took.Milliseconds(), len(m.page.Body)>>10)
	expect.That(t, len(m.page.Body) <= heaviest, "%s weighs %d bytes", path, len(m.page.Body))
	expect.That(t, m.took <= slowest, "%s computes %v", path, m.took)
	return m
}

// TestPagesNeedNoMoreCallsForManyRequests prints the calls, the time and the weight of the pages of requests at a hundred
// and at a thousand of them.
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
		w.Console.Store, w.Console.Conversations = web.RowsOf(all), store.ConversationsOf(all)
		paths := []string{
			"/console/tasks", "/console/tasks?person=" + webapi.Sato, "/console/tasks?person=me&status=waits",
			"/console/tasks?person=" + webapi.Sato + "&status=done", "/console/tasks?person=me&status=failed", "/console/approvals", "/console/approvals?for=me&sort=due",
			"/console/approvals?group=person", "/console/tasks/" + w.Ref.ID,
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

// TestARequestOfSixtyStepsIsLight: the page of a request with as many steps as there may be, all of them executed, weighs
// no more than other pages. What it leaves out is a link away.
func TestARequestOfSixtyStepsIsLight(t *testing.T) {
	w := consoletest.Start(t)
	w.Sixty()
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
		expect.That(t, links(m.page) == 2 && links(before.page) == 1, "%d and %d plans are folded", links(m.page), links(before.page))
	}
}
