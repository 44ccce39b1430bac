package slackapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

var about = slackapi.Metadata{Task: "01TASK", Card: "CARD#task"}

func message(text string) slack.Msg {
	return slack.Msg{Text: text,
		Attachments: []slack.Attachment{{Color: "#f2c744", Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, false), nil, nil),
		}}}}}
}

func TestACardIsPostedUpdatedAndDeleted(t *testing.T) {
	s := ringitest.StartSlack(t)
	root := s.Say(t, webapi.Sato, webapi.HR, "お願い")
	ts := expect.Value(s.Client.Post(t.Context(), webapi.HR, root, message("one"), about))(t)
	expect.NoError(t, s.Client.Update(t.Context(), webapi.HR, ts, message("two"), about))
	thread := s.Thread(t, webapi.HR, root)
	expect.Must(t, len(thread) == 1 && thread[0].TS == ts && thread[0].Text == "" && len(thread[0].Attachments) == 1 &&
		thread[0].Attachments[0].(map[string]any)["fallback"] == "two",
		"%+v", thread)
	want := map[string]any{"event_type": "ringi_card",
		"event_payload": map[string]any{"task": "01TASK", "card": "CARD#task"}}
	expect.Same(t, want, thread[0].Metadata)
	for range 2 { // the second time it is already gone
		expect.NoError(t, s.Client.Delete(t.Context(), webapi.HR, ts))
	}
	expect.Same(t, 0, len(s.Thread(t, webapi.HR, root)))
}

// TestFindCards finds only the bot's own messages with the metadata, on every page, the earliest first.
func TestFindCards(t *testing.T) {
	s := ringitest.StartSlack(t)
	root := s.Say(t, webapi.Sato, webapi.HR, "お願い")
	var want []string
	for i := range 450 {
		switch i {
		case 3, 230, 444:
			ts := expect.Value(s.Client.Post(t.Context(), webapi.HR, root, message("card"), about))(t)
			want = append(want, ts)
		default:
			forged := map[string]any{"event_type": "ringi_card",
				"event_payload": map[string]any{"task": "01TASK", "card": "CARD#task"}}
			expect.Value(s.Post(webapi.Message{Channel: webapi.HR, User: webapi.Tanaka, ThreadTS: root,
				Text: fmt.Sprint(i), Metadata: forged}))(t)
		}
	}
	for _, other := range []slackapi.Metadata{{Task: "01TASK", Card: "CARD#prompt#0001"},
		{Task: "01OTHER", Card: "CARD#task"}} {
		expect.Value(s.Client.Post(t.Context(), webapi.HR, root, message("other"), other))(t)
	}
	expect.Same(t, want, expect.Value(s.Client.FindCards(t.Context(), webapi.HR, root, about))(t))
	n := len(s.Calls("conversations.replies"))
	expect.That(t, n >= 3, "%d pages", n)
	none, err := s.Client.FindCards(t.Context(), webapi.HR, "1.000001", about)
	expect.That(t, err == nil && len(none) == 0, "a thread that is gone: %v, %v", none, err)
	// Slack posts in the channel what was for a thread that it doesn't find.
	ts := expect.Value(s.Client.Post(t.Context(), webapi.HR, "", message("card"), about))(t)
	expect.Same(t, []string{ts}, expect.Value(s.Client.FindCards(t.Context(), webapi.HR, "1.000001", about))(t))
}

func TestPeople(t *testing.T) {
	s := ringitest.StartSlack(t)
	for id, want := range map[string]slackapi.User{
		webapi.Sato: {ID: webapi.Sato, Name: "佐藤 花子", Mail: "sato@example.com", Team: ringitest.Team, Language: "ja"},
		webapi.Guest: {ID: webapi.Guest, Name: "高橋 ゲスト", Mail: "takahashi@partner.example.com", Team: ringitest.Team,
			Guest: true, Language: "ja"},
		webapi.Stranger: {ID: webapi.Stranger, Name: "Robin Park", Mail: "robin@acme.example.com",
			Team: webapi.StrangerTeam, Language: "en"},
	} {
		expect.Same(t, want, expect.Value(s.Client.User(t.Context(), id))(t))
	}
	group, err := s.Client.UsergroupMembers(t.Context(), webapi.Approvers)
	diff := cmp.Diff([]string{webapi.Suzuki, webapi.Tanaka}, group)
	expect.That(t, diff == "" && err == nil, "%v %v", err, diff)
	text := "<!subteam^" + webapi.Approvers + "> へ"
	said := slackapi.Message{Text: text, Attachments: []any{map[string]any{"is_share": true, "text": text}}}
	s.Client.Label(t.Context(), &said)
	expect.Is(t, said.Content().Whole(), "@hr-approvers へ\n> ?:\n> @hr-approvers へ")
	expect.NoError(t, s.Client.Direct(t.Context(), webapi.Sato, "hello"))
	dm, err := s.Everything(webapi.DirectMessage(webapi.Sato))
	expect.That(t, err == nil && len(dm) == 1 && dm[0].Text == "hello", "%v %+v", err, dm)
	expect.NoError(t, s.Client.Ephemeral(t.Context(), webapi.HR, "", webapi.Tanaka, "psst"))
	seen := s.Ephemerals(webapi.Tanaka)
	expect.That(t, len(seen) == 1 && seen[0].Text == "psst", "%+v", seen)
}

// TestChannels: each page is fetched only when it is needed.
func TestChannels(t *testing.T) {
	pages := 0
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages++
		expect.That(t, r.URL.Path == "/api/users.conversations" && r.FormValue("user") == "U1" &&
			r.FormValue("types") == "public_channel,private_channel" && r.FormValue("limit") == "999", "asked %s with %v",
			r.URL.Path, r.Form)
		next := map[string]string{"": "b", "b": "c", "c": ""}[r.FormValue("cursor")]
		_, _ = fmt.Fprintf(w, `{"ok":true,"channels":[{"id":"C%d","name":"n"}],"response_metadata":{"next_cursor":%q}}`,
			pages, next)
	}))
	c := client(t, server.URL+"/api/", time.Minute)
	var all []string
	for ch, err := range c.Channels(t.Context(), "U1", "public_channel", "private_channel") {
		expect.NoError(t, err)
		all = append(all, ch.ID+" "+ch.Name)
	}
	expect.Same(t, []string{"C1 n", "C2 n", "C3 n"}, all)
	pages = 0
	for range c.Channels(t.Context(), "U1", "public_channel", "private_channel") {
		break
	}
	expect.That(t, pages == 1, "%d pages were asked for", pages)
}

func TestWhatWasSaidBefore(t *testing.T) {
	s := ringitest.StartSlack(t)
	root := s.Say(t, webapi.Sato, webapi.HR, "有給の残りが合わない")
	reply := func(user, text string) string {
		t.Helper()
		m := expect.Value(s.Workspace.Post(webapi.Message{Channel: webapi.HR, User: user, Text: text, ThreadTS: root}))(t)
		return m.TS
	}
	for i := range 250 {
		text := strconv.Itoa(i)
		if i == 100 { // of which Slack is asked for the names
			text = "<!subteam^" + webapi.Approvers + ">"
		}
		reply(webapi.Suzuki, text)
	}
	expect.Value(s.Client.Post(t.Context(), webapi.HR, root, message("a card of ours"), about))(t)
	asked := reply(webapi.Sato, "<@"+webapi.Bot+"> お願い")
	reply(webapi.Suzuki, "later")

	got, err := s.Client.Before(t.Context(), webapi.HR, root, asked, 3)
	for i := range got {
		expect.That(t, got[i].TS > root && got[i].TS < asked, "%+v", got[i])
		got[i].TS = ""
	}
	want := []slackapi.Said{{User: webapi.Suzuki, Text: "247"}, {User: webapi.Suzuki, Text: "248"},
		{User: webapi.Suzuki, Text: "249"}}
	d := cmp.Diff(want, got)
	expect.That(t, d == "" && err == nil, "%v %v", d, err)
	if got, err = s.Client.Before(t.Context(), webapi.HR, root, asked, 1000); len(got) != 251 ||
		got[101].Text != "@hr-approvers" ||
		!cmp.Equal(got[0], slackapi.Said{User: webapi.Sato, Text: "有給の残りが合わない", TS: root}) {
		t.Errorf("%d messages, %v", len(got), err)
	}
	expect.NoError(t, s.Workspace.Delete(webapi.HR, root, webapi.Sato)) // Slack leaves a message of its own
	got = expect.Value(s.Client.Before(t.Context(), webapi.HR, root, asked, 1000))(t)
	expect.That(t, len(got) == 250 && got[0].Text == "0", "%d messages", len(got))
	s.Faults.Add(webapi.Fault{Method: "conversations.replies", Kind: webapi.Refused, Code: "missing_scope"})
	_, err = s.Client.Before(t.Context(), webapi.HR, root, asked, 3)
	expect.That(t, slackapi.Code(err) == "missing_scope", "got %v", err)
}

func TestAMessageAsItStands(t *testing.T) {
	s := ringitest.StartSlack(t)
	root := s.Say(t, webapi.Sato, webapi.HR, "有給の残りが合わない")
	reply := expect.Value(s.Workspace.Post(webapi.Message{Channel: webapi.HR, User: webapi.Tanaka, Text: "90 円",
		ThreadTS: root}))(t).TS
	seen := func(thread, ts string) string {
		t.Helper()
		m, there, err := s.Client.Seen(t.Context(), webapi.HR, thread, ts)
		expect.NoError(t, err)
		return fmt.Sprint(m.Text, there)
	}
	expect.Is(t, seen("", root), "有給の残りが合わないtrue")
	expect.Is(t, seen(root, reply), "90 円true")
	now := "900 円"
	expect.Value(s.Update(webapi.HR, reply, webapi.Tanaka, webapi.Patch{Text: &now}))(t)
	expect.Is(t, seen(root, reply), "900 円true")
	expect.NoError(t, s.Delete(webapi.HR, reply, webapi.Tanaka))
	expect.Is(t, seen(root, reply), "false")
	expect.NoError(t, s.Delete(webapi.HR, root, webapi.Sato))
	expect.Is(t, seen("", root), "false")
	s.Faults.Add(webapi.Fault{Method: "conversations.replies", Kind: webapi.Refused, Code: "missing_scope"})
	_, _, err := s.Client.Seen(t.Context(), webapi.HR, root, reply)
	expect.Is(t, slackapi.Code(err), "missing_scope")
}

// What an app says in a thread, for itself or with a person's token, is nobody's, and what a message forwards is its
// author's.
func TestWhoSaidWhatBefore(t *testing.T) {
	s := ringitest.StartSlack(t)
	root := s.Say(t, webapi.Sato, webapi.HR, "障害")
	for _, d := range []webapi.Message{
		{User: webapi.Bot, Text: "Disk is full on db-1"}, {User: webapi.Suzuki, Text: "止めます", BotID: webapi.BotID},
		{User: webapi.Suzuki, Text: "これです", Attachments: []any{map[string]any{"is_share": true, "is_msg_unfurl": true,
			"author_id": webapi.Tanaka, "author_name": "田中 恵", "text": "対象は営業だけ"}}},
	} {
		d.Channel, d.ThreadTS = webapi.HR, root
		m := expect.Value(s.Workspace.Post(d))(t)
		expect.That(t, m.User == d.User && (m.BotID == webapi.BotID) == (d.Attachments == nil), "%+v", m)
	}
	all := expect.Value(s.Client.Before(t.Context(), webapi.HR, root, "9999999999.000000", 3))(t)
	expect.Must(t, len(all) == 3, "%d messages", len(all))
	for _, said := range all[:2] {
		expect.That(t, said.User == webapi.BotID && !aggregate.IsPerson(said.User), "%+v", said)
	}
	expect.Same(t, slackapi.Said{User: webapi.Suzuki, Text: "これです\n> 田中 恵 <@" + webapi.Tanaka + ">:\n> 対象は営業だけ",
		Quoted: []string{webapi.Tanaka}, TS: all[2].TS}, all[2])
}

type signInSlack struct {
	team string
	err  error
}

func (s signInSlack) Team(context.Context) (string, error) { return s.team, s.err }

type rows struct {
	of  string
	err error
}

func (r rows) Tenant(_ context.Context, tenant string) (tenancy.Tenant, error) {
	if r.err == nil && tenant != aggregate.TenantID(r.of) {
		r.err = aggregate.ErrNotFound
	}
	return tenancy.Tenant{ID: tenant}, r.err
}

func TestWhichWorkspaceIsServed(t *testing.T) {
	known := rows{of: "T0OURS"}
	silent, down := errors.New("timeout"), errors.New("no table")
	for name, tt := range map[string]struct {
		slack signInSlack
		rows  rows
		team  string
		want  bool
		err   error
	}{
		"our own":                       {signInSlack{team: "T0OURS"}, rows{err: down}, "T0OURS", true, nil},
		"another":                       {signInSlack{team: "T0OURS"}, rows{}, "T0OTHER", false, nil},
		"another, beside a row of ours": {signInSlack{team: "T0OURS"}, known, "T0OTHER", false, nil},
		"nobody knows which":            {signInSlack{err: silent}, rows{}, "T0OURS", false, slackapi.ErrNoWorkspace},
		"ours, whose token has ended":   {signInSlack{err: silent}, known, "T0OURS", true, nil},
		"another, and nobody knows":     {signInSlack{err: silent}, known, "T0OTHER", false, slackapi.ErrNoWorkspace},
		"the table doesn't answer":      {signInSlack{team: "T0OURS"}, rows{err: down}, "T0OTHER", false, down},
	} {
		t.Run(name, func(t *testing.T) {
			serves, err := slackapi.HomeWorkspace{Slack: tt.slack, Rows: tt.rows}.Serves(t.Context(),
				aggregate.TenantID(tt.team))
			expect.That(t, serves == tt.want && errors.Is(err, tt.err) && (err == nil) == (tt.err == nil),
				"%v, %v; want %v, %v", serves, err, tt.want, tt.err)
		})
	}
}

// says answers with a body of a content type.
func says(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

// The bot's token is sent only to Slack's file hosts, whatever a file's address says.
func TestAFileIsReadWhereSlackKeepsIt(t *testing.T) {
	away := expect.Server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the token went elsewhere")
	}))
	type answers struct {
		info  string
		serve http.HandlerFunc
	}
	var now atomic.Pointer[answers]
	mux := http.NewServeMux()
	mux.HandleFunc("/api/files.info", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, now.Load().info)
	})
	mux.HandleFunc("/files-pri/", func(w http.ResponseWriter, r *http.Request) {
		expect.That(t, r.Header.Get("Authorization") == "Bearer xoxb-1", "the file is asked for with %q",
			r.Header.Get("Authorization"))
		now.Load().serve(w, r)
	})
	slack := expect.Server(t, mux)
	file := func(address, more string) string {
		return fmt.Sprintf(`{"ok":true,"file":{"id":"F1","name":"a.txt","mimetype":"text/plain","size":5,
			"url_private_download":%q%s}}`, address, more)
	}
	here := slack.URL + "/files-pri/T1-F1/a.txt"
	c := slackapi.With(ringitest.Keys{Token: "xoxb-1", Address: slack.URL + "/api/"}, time.Minute)
	for about, tt := range map[string]struct {
		info  string
		serve http.HandlerFunc
		body  string
		err   error
	}{
		"a text":                     {file(here, ""), says("text/plain; charset=utf-8", "hello"), "hello", nil},
		"one that is elsewhere":      {file(away.URL+"/a.txt", ""), nil, "", slackapi.ErrFile},
		"one beside Slack's name":    {file("https://files.slack.com.example.com/a", ""), nil, "", slackapi.ErrFile},
		"one with a password":        {file("https://a:b@files.slack.com/a", ""), nil, "", slackapi.ErrFile},
		"one at no address":          {file("", ""), nil, "", slackapi.ErrFile},
		"another service's":          {file(here, `,"is_external":true`), nil, "", slackapi.ErrFile},
		"one that was deleted":       {file(here, `,"mode":"tombstone"`), nil, "", slackapi.ErrFile},
		"one that is not there":      {`{"ok":false,"error":"file_not_found"}`, nil, "", slackapi.ErrFile},
		"one that says it is larger": {file(here, `,"size":11`), nil, "", slackapi.ErrFile},
		"one that is larger":         {file(here, ""), says("text/plain", strings.Repeat("x", 11)), "", slackapi.ErrFile},
		"a page to sign in instead":  {file(here, ""), says("text/html; charset=utf-8", "<html>"), "", slackapi.ErrFile},
		"a way to another place": {file(here, ""), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, away.URL, http.StatusFound)
		}, "", slackapi.ErrFile},
		"a refusal that is the app's": {`{"ok":false,"error":"missing_scope"}`, nil, "", slackapi.Refused{}},
		"a connection that breaks off": {file(here, ""), func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "", slackapi.Unknown{}},
	} {
		t.Run(about, func(t *testing.T) {
			now.Store(&answers{tt.info, tt.serve})
			got, err := c.File(t.Context(), "F1", 10)
			if tt.err != nil {
				refusedAs(t, err, tt.err)
			} else if err != nil || string(got.Body) != tt.body || got.Name != "a.txt" || got.Type != "text/plain" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// refusedAs checks the error of reading a file. No error contains the file's address.
func refusedAs(t *testing.T, err, want error) {
	t.Helper()
	switch want.(type) {
	case slackapi.Refused:
		expect.That(t, errors.As(err, new(slackapi.Refused)), "%v", err)
	case slackapi.Unknown:
		expect.That(t, errors.As(err, new(slackapi.Unknown)) && !strings.Contains(err.Error(), "files-pri"), "%v", err)
	default:
		expect.That(t, errors.Is(err, want), "%v", err)
	}
}
