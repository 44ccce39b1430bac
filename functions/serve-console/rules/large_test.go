package rules_test

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// company is a file of so many people, in departments of ten that stand four above each other, of whom some change
// their post in a year. Its addresses are as long as those of large companies.
func threeHeads(people int, title string) string {
	var b strings.Builder
	b.WriteString(organisationHeader)
	for i := range people {
		department, parent, position := i/10, "", ","
		if department > 0 {
			parent = fmt.Sprintf("D%d", (department-1)/6)
		}
		if i%10 == 0 {
			position = title + ",3"
		}
		row := func(position, from, to string) {
			fmt.Fprintf(&b,
				"%05d,社員 番号%d,first-name.last-name-%d@subsidiary.a-large-company.example,D%d,第%d営業部東日本法人課,%s,"+
					"%s,主務,,社員,%s,%s\n",
				i, i, i, department, department, parent, position, from, to)
		}
		if i%7 != 0 {
			row(position, "", "")
			continue
		}
		row(position, "", fmt.Sprintf("2099-%02d-14", 1+i%12))
		row("主任,4", fmt.Sprintf("2099-%02d-15", 1+i%12), "")
	}
	return b.String()
}

// The most that showing a file of 5,000 people may take here, on a slow core. API Gateway waits for 29 s, in which Slack
// is asked, too.
const slowestPage = 8 * time.Second

// Bounds of an answer of Lambda's, and of what the file may take of the function's 512 MB.
const (
	heaviestPage = 5 << 20
	memory       = 200 << 20
)

func TestAFileOf5000PeopleIsShownAndSavedInTime(t *testing.T) {
	expect.Patience(t)
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	for n, title := range []string{"課長", "室長"} {
		file := threeHeads(5000, title)
		peak := watched(t)
		began := time.Now()
		a := b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusOK)
		took := time.Since(began)
		expect.That(t, len(a.Body) < heaviestPage, "the answer has %d bytes", len(a.Body))
		form := shown(t, a)
		began = time.Now()
		b.Post(page, form).Says(t, http.StatusSeeOther)
		t.Logf("a file of %d bytes: shown in %v as %d bytes, of which %d are the file, saved in %v, %d MB", len(file),
			took,
			len(a.Body), len(form.Get("packed")), time.Since(began), peak()>>20)
		expect.That(t, took < slowestPage && time.Since(began) < slowestPage, "%v to show, %v to save", took,
			time.Since(began))
		expect.That(t, peak() < memory, "it takes %d bytes", peak())
		expect.Is(t, stands(w).Rev, n+1)
	}
	began := time.Now()
	b.Get(page).Says(t, http.StatusOK, "5,000 人")
	b.Get(page+"/people?q=04999").Says(t, http.StatusOK, "第499営業部東日本法人課")
	sent := b.Get(page+".csv").Says(t, http.StatusOK)
	t.Logf("what stands in %v, as a file of %d bytes", time.Since(began), len(sent.Body))
	expect.That(t, len(sent.Body) < heaviestPage && time.Since(began) < slowestPage, "%d bytes in %v", len(sent.Body),
		time.Since(began))
}

// watched returns the most bytes that the heap has had since, beyond what it had.
func watched(t *testing.T) (peak func() uint64) {
	t.Helper()
	runtime.GC()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	was := heap()
	stop, done := make(chan bool), make(chan uint64)
	go func() {
		ticks, most := time.NewTicker(5*time.Millisecond), was
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				most = max(most, heap())
			case <-stop:
				done <- most - was
				return
			}
		}
	}()
	return sync.OnceValue(func() uint64 { close(stop); return <-done })
}
