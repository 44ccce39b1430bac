package main

import (
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/store/storetest"
)

// Whoever is listed by name gets a copy, though a listed user group was deleted.
func TestCopiesBesideAGroupThatIsGone(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	s := w.listing([]string{workspace.Suzuki}, []string{"S0GONE"})
	w.Prompted(s)
	w.slack.Faults.Add(webapi.Fault{Method: "usergroups.users.list", Kind: webapi.Refused, Code: "no_such_subteam", Times: 1000})
	w.drawn()
	if got := w.direct(workspace.Suzuki); len(got) != 1 || !strings.Contains(got[0], "approve_prompt") {
		t.Errorf("who is listed by name got %v; given back for %v", got, w.queue.hidden)
	}
}
