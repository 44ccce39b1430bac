package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func testRefused(t *testing.T, db *storetest.Server) {
	for name, tt := range map[string]struct {
		change func(w *world)
		want   aggregate.Reason
	}{
		"it is not listed any more": {func(w *world) { w.lists() }, conversation.ReasonSourceGone},
		"other people may use it": {func(w *world) {
			s := listed()
			s.People = []string{"U2"}
			w.lists(s)
		}, conversation.ReasonSourceGone},
		"another repository is listed": {func(w *world) {
			s := listed()
			s.RepositoryID++
			w.lists(s)
		}, conversation.ReasonSourceGone},
		"GitHub is not connected": {func(w *world) { w.noApp = true }, conversation.ReasonSourceRefused},
		"the name is another's": {func(w *world) {
			w.Add("acme", "shop").Commit("main", "x", nil, w.now)
		}, conversation.ReasonSourceRefused},
		"the App's key is not taken": {func(w *world) { w.fault = answers("token", 401) }, conversation.ReasonSourceRefused},
		"the branch is gone": {func(w *world) {
			w.fault = answers("GET/git/ref/{ref...}", 404)
		}, conversation.ReasonSourceRefused},
		"it has too many entries":        {manyEntries, conversation.ReasonSourceTooLarge},
		"its archive is no archive":      {func(w *world) { w.fault = noArchive }, ""},
		"the archive is on another host": {func(w *world) { w.fault = elsewhere }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db, nil)
			tt.change(w)
			next, err := w.run()
			if tt.want == "" {
				expect.Fails(t, err, explain.ErrUnavailable)
				return
			}
			expect.NoError(t, err)
			expect.Same(t, conversation.StateAnswer, next.State)
			w.failed(tt.want)
		})
	}
}

func answers(to string, status int) func(string, http.ResponseWriter) bool {
	return func(route string, rw http.ResponseWriter) bool {
		if route == to {
			rw.WriteHeader(status)
		}
		return route == to
	}
}

func manyEntries(w *world) {
	list := map[string]vendors.File{}
	for i := range files.MaxLooked + 1 {
		list[fmt.Sprintf("%d/%d.txt", i%100, i)] = vendors.File{}
	}
	w.sha = w.repo.Commit("main", "many", list, w.now)
}

const download = "GET /codeload/{owner}/{name}/{sha}"

func noArchive(route string, rw http.ResponseWriter) bool {
	if route == download {
		_, _ = rw.Write([]byte("<html>"))
	}
	return route == download
}

func elsewhere(route string, rw http.ResponseWriter) bool {
	if route == tarball {
		rw.Header().Set("Location", "http://169.254.169.254/latest?token=x")
		rw.WriteHeader(http.StatusFound)
	}
	return route == tarball
}

// A workspace has fetched 99 sources today. The hundredth is tried twice, which counts once; the next is refused until
// the day ends, at midnight UTC.
func testDay(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, nil)
	midnight := w.now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	w.now = midnight.Add(-time.Hour)
	const most = tenancy.SourcesPerDay
	hundredth, of := w.ref, func(i int) string { return fmt.Sprintf("1775034001.%06d", i) }
	for i := range most - 1 {
		w.begin(of(i), listed())
		expect.Value(w.rows.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.TrySource(a.Head.Run, most, w.now)
		}))(t)
	}
	w.ref, w.kept.err = hundredth, errors.New("the bucket is down")
	_, err := w.run()
	expect.That(t, err != nil, "no error")
	w.kept.err = nil
	expect.Value(w.run())(t)
	s := w.load().Conversation.Source
	expect.That(t, s.State == conversation.SourceThere && s.Tries == 2, "the hundredth: %+v", s)

	w.now = midnight.Add(-2 * time.Second)
	w.begin(of(100), listed())
	before := w.called("token")
	expect.Same(t, conversation.StateAnswer, expect.Value(w.run())(t).State)
	w.failed(tenancy.ReasonSourcesDay)
	expect.Same(t, before, w.called("token"))
	said := w.says()[0]
	expect.Has(t, said.Content, "can fetch sources 100 times a day")
	expect.Has(t, said.Content, "after midnight UTC")
	for _, p := range said.Pieces() {
		expect.That(t, p.Quoted != strings.Contains(p.Text, "100 times"), "%+v is said as another's words", p)
	}
	expect.Value(w.run())(t) // a repetition says nothing more
	expect.Same(t, 1, len(w.says()))

	w.now = midnight.Add(-time.Second)
	w.begin(of(101), listed())
	expect.Value(w.run())(t)
	expect.Same(t, conversation.SourceThere, w.load().Conversation.Source.State)
}
