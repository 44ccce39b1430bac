package slackapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/slackapi"
	"ringi/shared/slackapi/outgoing"
	"ringi/shared/slackapi/slacktest"
)

var about = slackapi.Metadata{Task: "01TASK", Card: "CARD#task"}

func message(text string) outgoing.Message {
	return outgoing.Message{Text: text, Attachments: []slack.Attachment{{Color: "#f2c744", Blocks: slack.Blocks{BlockSet: []slack.Block{
		slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, false), nil, nil),
	}}}}}
}

func TestACardIsPostedUpdatedAndDeleted(t *testing.T) {
	s := slacktest.Start(t)
	root := s.Say(t, workspace.Sato, workspace.HR, "お願い")
	ts, err := s.Client.Post(t.Context(), workspace.HR, root, message("one"), about)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Client.Update(t.Context(), workspace.HR, ts, message("two"), about); err != nil {
		t.Fatal(err)
	}
	thread := s.Thread(t, workspace.HR, root)
	if len(thread) != 1 || thread[0].TS != ts || thread[0].Text != "two" || len(thread[0].Attachments) != 1 {
		t.Fatalf("%+v", thread)
	}
	want := map[string]any{"event_type": "ringi_card", "event_payload": map[string]any{"task": "01TASK", "card": "CARD#task"}}
	if diff := cmp.Diff(want, thread[0].Metadata); diff != "" {
		t.Error(diff)
	}
	for range 2 { // the second time it is gone already
		if err := s.Client.Delete(t.Context(), workspace.HR, ts); err != nil {
			t.Fatal(err)
		}
	}
	if thread := s.Thread(t, workspace.HR, root); len(thread) != 0 {
		t.Errorf("%d messages stay", len(thread))
	}
}

// TestFindCards: only our own bot's messages with the metadata, on every page, the earliest first.
func TestFindCards(t *testing.T) {
	s := slacktest.Start(t)
	root := s.Say(t, workspace.Sato, workspace.HR, "お願い")
	var want []string
	for i := range 450 {
		switch i {
		case 3, 230, 444:
			ts, err := s.Client.Post(t.Context(), workspace.HR, root, message("card"), about)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, ts)
		default:
			forged := map[string]any{"event_type": "ringi_card", "event_payload": map[string]any{"task": "01TASK", "card": "CARD#task"}}
			if _, err := s.Post(workspace.Draft{Channel: workspace.HR, User: workspace.Alex, ThreadTS: root, Text: fmt.Sprint(i), Metadata: forged}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, other := range []slackapi.Metadata{{Task: "01TASK", Card: "CARD#prompt#0001"}, {Task: "01OTHER", Card: "CARD#task"}} {
		if _, err := s.Client.Post(t.Context(), workspace.HR, root, message("other"), other); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Client.FindCards(t.Context(), workspace.HR, root, about)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(s.Calls("conversations.replies")); n < 3 {
		t.Errorf("%d pages", n)
	}
	if none, err := s.Client.FindCards(t.Context(), workspace.HR, "1.000001", about); err != nil || len(none) != 0 {
		t.Errorf("a thread that is gone: %v, %v", none, err)
	}
}

func TestPeople(t *testing.T) {
	s := slacktest.Start(t)
	for id, want := range map[string]slackapi.User{
		workspace.Sato:     {ID: workspace.Sato, Team: slacktest.Team},
		workspace.Guest:    {ID: workspace.Guest, Team: slacktest.Team, Guest: true},
		workspace.Stranger: {ID: workspace.Stranger, Team: workspace.StrangerTeam},
	} {
		got, err := s.Client.User(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	group, err := s.Client.UsergroupMembers(t.Context(), workspace.Approvers)
	if diff := cmp.Diff([]string{workspace.Suzuki, workspace.Tanaka}, group); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if err := s.Client.Direct(t.Context(), workspace.Sato, "hello"); err != nil {
		t.Fatal(err)
	}
	dm, err := s.Everything(workspace.DirectMessage(workspace.Sato))
	if err != nil || len(dm) != 1 || dm[0].Text != "hello" {
		t.Errorf("%v %+v", err, dm)
	}
	if err := s.Client.Ephemeral(t.Context(), workspace.HR, "", workspace.Alex, "psst"); err != nil {
		t.Fatal(err)
	}
	if seen := s.Ephemerals(workspace.Alex); len(seen) != 1 || seen[0].Text != "psst" {
		t.Errorf("%+v", seen)
	}
}

// TestChannels: pages are asked for one at a time, and only as long as somebody wants more.
func TestChannels(t *testing.T) {
	pages := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages++
		if r.URL.Path != "/api/users.conversations" || r.FormValue("user") != "U1" || r.FormValue("types") != "public_channel,private_channel" || r.FormValue("limit") != "999" {
			t.Errorf("asked %s with %v", r.URL.Path, r.Form)
		}
		next := map[string]string{"": "b", "b": "c", "c": ""}[r.FormValue("cursor")]
		_, _ = fmt.Fprintf(w, `{"ok":true,"channels":[{"id":"C%d"}],"response_metadata":{"next_cursor":%q}}`, pages, next)
	}))
	defer server.Close()
	c := client(t, server.URL+"/api/", time.Second)
	var all []string
	for id, err := range c.Channels(t.Context(), "U1", "public_channel", "private_channel") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, id)
	}
	if diff := cmp.Diff([]string{"C1", "C2", "C3"}, all); diff != "" {
		t.Error(diff)
	}
	pages = 0
	for range c.Channels(t.Context(), "U1", "public_channel", "private_channel") {
		break
	}
	if pages != 1 {
		t.Errorf("%d pages were asked for", pages)
	}
}
