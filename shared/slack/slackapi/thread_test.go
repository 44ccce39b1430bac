package slackapi_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

func TestWhatWasSaidBefore(t *testing.T) {
	s := slacktest.Start(t)
	root := s.Say(t, workspace.Sato, workspace.HR, "有給の残りが合わない")
	reply := func(user, text string) string {
		t.Helper()
		m := expect.Value(s.Workspace.Post(workspace.Draft{Channel: workspace.HR, User: user, Text: text, ThreadTS: root}))(t)
		return m.TS
	}
	for i := range 250 {
		reply(workspace.Suzuki, fmt.Sprintf("%d", i))
	}
	expect.Value(s.Client.Post(t.Context(), workspace.HR, root, message("a card of ours"), about))(t)
	asked := reply(workspace.Sato, "<@"+workspace.Bot+"> お願い")
	reply(workspace.Suzuki, "later")

	got, err := s.Client.Before(t.Context(), workspace.HR, root, asked, 3)
	want := []slackapi.Said{{workspace.Suzuki, "247"}, {workspace.Suzuki, "248"}, {workspace.Suzuki, "249"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if got, err = s.Client.Before(t.Context(), workspace.HR, root, asked, 1000); len(got) != 251 || got[0] != (slackapi.Said{User: workspace.Sato, Text: "有給の残りが合わない"}) {
		t.Errorf("%d messages, %v", len(got), err)
	}
	s.Faults.Add(webapi.Fault{Method: "conversations.replies", Kind: webapi.Refused, Code: "missing_scope"})
	if _, err := s.Client.Before(t.Context(), workspace.HR, root, asked, 3); slackapi.Code(err) != "missing_scope" {
		t.Errorf("got %v", err)
	}
}
