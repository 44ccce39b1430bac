package rules_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// pack is a hidden field as the page makes it, of any text.
func pack(text []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

func testNoDraftIsBelieved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	bomb := pack(bytes.Repeat([]byte(" "), 200<<20))
	many := pack([]byte(`{"rules":{"rules":[` + strings.Repeat(`{},`, 300) + `{}]}}`))
	for _, draft := range []string{"", "x", "!", pack(nil), pack([]byte("[]")), pack([]byte(`{"rev":"x"}`)), bomb, many} {
		for _, p := range []string{path, path + "/rule"} {
			b.Post(p, url.Values{"draft": {draft}, "act": {"check"}}).Says(t, http.StatusBadRequest)
		}
	}
	// Values that no form sends are refused when they are to be saved, not before: the page shows them.
	odd := pack([]byte(`{"rev":0,"rules":{"form":1,"floor":{"stamps":1},"rules":[{"id":"x","name":"a\u202eb","when":{"tools":{"use":"maybe"},"amount":{"at_least":"1/3","currency":"<b>"}},` +
		`"route":{"stages":[{"name":"","who":{"kind":"people","people":["<script>"]},"need":-5,"empty":{"vacant":"never","own":"","twice":""}}],"hands":-3}}],"last":{}}}`))
	list := b.Post(path, url.Values{"draft": {odd}, "act": {"look"}}).Says(t, http.StatusOK)
	list.Lacks(t, "<script>", "<b>", "a\u202eb")
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusUnprocessableEntity, "ULID")
	form := b.Post(path, list.Hidden("act", "edit.0")).Says(t, http.StatusOK).Lacks(t, "<script>", "<b>")
	for _, act := range []string{"stage", "up.0", "down.99999999999999999999", "delete.0", "delete.-1", "search", "keep", "x", ""} {
		a := b.Post(path+"/rule", form.Hidden("act", act, "outcome", "route", "stages.0.kind", "<i>", "stages.9.was", "0", "at", "-1"))
		expect.That(t, a.Status == http.StatusOK || a.Status == http.StatusUnprocessableEntity, "%q: %v", act, a)
	}
	b.Post(path+"/rule", form.Hidden("act", "try", "was", "x")).Says(t, http.StatusBadRequest)
	for _, at := range []string{"7", "-1", "x", ""} {
		b.Post(path, list.Hidden("act", "edit."+at)).Says(t, http.StatusOK)
	}
	other := pack([]byte(`{"rev":0,"rules":{"form":2,"floor":{"stamps":1},"rules":[],"last":{}}}`))
	list = b.Post(path, url.Values{"draft": {other}, "act": {"look"}}).Says(t, http.StatusOK)
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusUnprocessableEntity, "形式: 1 にしてください。")
	expect.That(t, stored(w) == nil, "%+v", stored(w))
}

func testNoRuleBecomesMarkup(t *testing.T, w *consoletest.World) {
	const evil = `"><script>alert(1)</script>{who}`
	saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{
		{ID: aggregate.NewID(), Name: evil, Outcome: rules.Outcome{Refuse: evil}, When: rules.Conditions{
			Destinations: &rules.Destinations{Go: rules.GoOutside, List: []string{evil}},
			Requester:    &rules.Requester{Departments: []string{evil}}, Tools: &rules.Tools{Use: rules.UseSome, List: []rules.Tool{{Name: evil}}}}},
		{ID: aggregate.NewID(), Name: "x", Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: evil, Who: rules.Who{Kind: rules.WhoPosition, Department: evil, Position: evil}, Need: 1, Empty: rules.EmptyRefuse}}}}},
	}})
	b := w.As(webapi.Suzuki)
	list := b.Get(path).Says(t, http.StatusOK).Lacks(t, "<script>alert")
	for _, act := range []string{"edit.0", "edit.1", "end", "try", "down.0"} {
		b.Post(path, list.Hidden("act", act, "try.tool", evil, "try.place", evil, "try.who", evil)).Lacks(t, "<script>alert")
	}
	b.Post(path, b.Post(path, list.Hidden("act", "down.0")).Hidden("act", "check")).Says(t, http.StatusOK).Lacks(t, "<script>alert")
	b.Post(path+"/import", url.Values{"text": {evil + ": 1"}}).Lacks(t, "<script>alert")
}

// The largest rules: what a page of them weighs, and what this process computes for it.
const (
	heaviest = 150 << 10
	slowest  = 300 * time.Millisecond
)

func testAHundredRules(t *testing.T, w *consoletest.World) {
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}}
	for i := range rules.MaxRules {
		r := rules.Rule{ID: aggregate.NewID(), Name: fmt.Sprintf("ルール %d", i), When: rules.Conditions{Kinds: []rules.Kind{rules.KindSteps},
			Tools: &rules.Tools{Use: rules.UseWriting}, Amount: &rules.Between{AtLeast: rules.Decimal(fmt.Sprint(1 + i)), Currency: "JPY"}}}
		r.Route = &rules.Policy{}
		for n := range rules.MaxStages {
			r.Route.Stages = append(r.Route.Stages, rules.Stage{Name: fmt.Sprintf("段階%d", n), Need: 1, Empty: rules.EmptyRefuse,
				Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki, webapi.Tanaka, webapi.Alex}}})
		}
		x.Rules = append(x.Rules, r)
	}
	saved(w, x)
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
	for _, act := range []string{"look", "up.99", "edit.50", "check"} {
		form := b.Post(path, list.Hidden("act", "delete.0")).Hidden("act", act)
		took, a := time.Hour, consoletest.Answer{}
		for range 3 { // the best one counts
			began := computed(t)
			a = b.Post(path, form).Says(t, http.StatusOK)
			took = min(took, computed(t)-began)
		}
		t.Logf("%s: %d KB, %v", act, len(a.Body)>>10, took)
		expect.That(t, len(a.Body) <= heaviest && took <= slowest, "%s: %d bytes, %v", act, len(a.Body), took)
		expect.That(t, len(form.Encode()) < 100<<10, "%s sends %d bytes", act, len(form.Encode()))
	}
}

// computed returns the time that this process has computed so far.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	expect.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
