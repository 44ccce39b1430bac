package main

import (
	"fmt"
	"net/http"
	"testing"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
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
