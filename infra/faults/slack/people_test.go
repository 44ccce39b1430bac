package slack

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// bad are the ways in which a call about one person fails.
var bad = map[string]webapi.Fault{
	"too many requests":     {Kind: webapi.RateLimited, RetryAfter: time.Second},
	"HTTP 500":              {Kind: webapi.Unavailable, Status: http.StatusInternalServerError},
	"the answer is lost":    {Kind: webapi.Lost},
	"it takes four seconds": {Kind: webapi.Late, Delay: 4 * time.Second},
	"channel_not_found":     {Kind: webapi.Refused, Code: "channel_not_found"},
	"not_in_channel":        {Kind: webapi.Refused, Code: "not_in_channel"},
	"is_archived":           {Kind: webapi.Refused, Code: "is_archived"},
	"msg_too_long":          {Kind: webapi.Refused, Code: "msg_too_long"},
	"token_revoked":         {Kind: webapi.Refused, Code: "token_revoked"},
}

// If a note can't be shown, the person is not told why, but Slack gets its answer in time, the decision stands, and
// nothing is retried.
func TestANoteThatCantBeShown(t *testing.T) {
	d, _ := atGate(t)
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	old := d.Card("CARD#process#0001", "approve_process")
	d.Click(webapi.Suzuki, "CARD#process#0001", "approve_process")
	d.Until("done", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	for name, fault := range bad {
		t.Run(name, func(t *testing.T) {
			untilQueueEmpty(t, d.S)
			heard, before := listen(d.S), d.Load().Head.Rev
			fault.Method = "chat.postEphemeral"
			d.S.Sandbox.Faults().Add(fault)
			if code := press(t, d, webapi.Tanaka, old, "approve_process", d.Load().Process().ID); code != http.StatusOK {
				t.Errorf("answered %d", code)
			}
			if n := heard.count("chat.postEphemeral", ""); n > 1 {
				t.Errorf("%d notes were tried", n)
			}
			a := d.Until("shown", func(*task.Aggregate) bool { return true })
			expect.That(t, a.Head.Rev == before, "the task moved from rev %d to %d", before, a.Head.Rev)
			d.S.Sandbox.Faults().Clear("")
		})
	}
}

// If Slack doesn't open a dialog, the person is told, and clicks again.
func TestADialogThatDoesNotOpen(t *testing.T) {
	faults := map[string]webapi.Fault{"expired_trigger_id": {Kind: webapi.Refused, Code: "expired_trigger_id"}}
	for _, name := range []string{"too many requests", "HTTP 500", "the answer is lost", "it takes four seconds",
		"token_revoked"} {
		faults[name] = bad[name]
	}
	d, _ := atGate(t)
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			fault.Method = "views.open"
			heard, noted := clicks(d, "reject_prompt", fault)
			d.S.Sandbox.Faults().Clear("")
			if n := heard.count("views.open", ""); n > 1 {
				t.Errorf("%d dialogs were asked for", n)
			}
			unknown := fault.Kind != webapi.Refused && fault.Kind != webapi.RateLimited
			told := d.Notes(webapi.Suzuki)[noted:]
			expect.That(t, unknown || slices.Equal(told, []string{card.Note("ja", explain.ErrUnavailable)}),
				"the person was told %q", told)
			for _, v := range d.S.Sandbox.Views(webapi.Suzuki) { // the dialog is open, but the answer was lost
				expect.That(t, unknown, "a dialog is open")
				expect.NoError(t, d.S.Sandbox.CloseView(webapi.Suzuki, v.ID))
			}
		})
	}
	d.Reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔に")
	d.Card("CARD#prompt#0002", "approve_prompt")
	withdraw2(d)
}

// withdraw2 cancels a task whose second policy waits.
func withdraw2(d *driver.Request) {
	d.T.Helper()
	d.Cancel(webapi.Sato, d.Root)
	d.Card("CARD#prompt#0002", "キャンセルされました")
}

// A step sends a direct message: after a definite failure a person retries it; after an unknown outcome Ringi looks for
// the message, and without it a person is asked to.
func TestADirectMessageThatAStepSends(t *testing.T) {
	type failure struct {
		name  string
		fault webapi.Fault
		shows string // on the failed card; "" if the step doesn't fail
	}
	for _, tt := range first(4, []failure{
		{"too many requests, for a second", webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Second}, ""},
		{"the connection drops after it was sent", webapi.Fault{Kind: webapi.Lost}, ""}, // Ringi finds it
		{"HTTP 500", bad["HTTP 500"], "結果不明"},
		{"token_revoked", bad["token_revoked"], "❌"},
		{"too many requests, for longer than the call may take",
			webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Hour}, "❌"},
		{"four seconds", webapi.Fault{Kind: webapi.Late, Delay: 4 * time.Second}, ""},
		{"channel_not_found", bad["channel_not_found"], "❌"},
		{"msg_too_long", bad["msg_too_long"], "❌"},
		{"is_archived", bad["is_archived"], "❌"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			untilQueueEmpty(t, s)
			heard := listen(s)
			tt.fault.Method, tt.fault.Channel = "chat.postMessage", webapi.DirectMessage(webapi.Sato)
			s.Sandbox.Faults().Add(tt.fault)
			d := say(t, s)
			d.Approve(webapi.Suzuki)
			calls := 1
			if tt.fault.Kind == webapi.RateLimited {
				calls = 2 // Slack said that it did nothing
			}
			if tt.shows != "" {
				d.Card("CARD#execution", "retry_execution")
				if seen := driver.Face(d.Card("CARD#execution", tt.shows)); strings.Contains(seen, "xoxb") {
					t.Error("the card shows the token")
				}
				untilQueueEmpty(t, s)
				if n := heard.count("chat.postMessage", tt.fault.Channel) - outcomes(d); n != 1 {
					t.Errorf("%d direct messages were tried before anybody asked again", n)
				}
				d.Click(webapi.Sato, "CARD#execution", "retry_execution")
				calls = 2
			}
			a := d.Until("done", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
			untilQueueEmpty(t, s)
			if n := heard.count("chat.postMessage", tt.fault.Channel) - outcomes(d); n != calls {
				t.Errorf("%d direct messages were tried, want %d", n, calls)
			}
			if n := d.Notified(a, webapi.Sato); n != 1 {
				t.Errorf("the requester has %d messages, want one", n)
			}
		})
	}
}

// outcomes counts the messages that told the requester how the task ended.
func outcomes(d *driver.Request) (n int) {
	for _, c := range d.Load().Copies {
		if c.CardType == task.CardOutcome && c.MessageTS != "" {
			n++
		}
	}
	return n
}

const stranger = "T0STRANGER" // another workspace that has installed the app

// belonging is a task of one workspace, and one of its cards.
type belonging struct {
	*driver.Request
	a    *task.Aggregate
	card webapi.Message
}

// Two workspaces have installed one app. If one sends the other's ids, in any place, nothing changes there and nothing
// is found.
func TestIdsOfAnotherWorkspace(t *testing.T) {
	d, _ := atGate(t)
	a := d.Load()
	victim := belonging{d, a, d.Card("CARD#prompt#0001", "approve_prompt")}
	own := strangersTask(t, d)
	running := finished(t) // so that there are execution ids too
	metadata := func(taskID string) object {
		return object{"event_type": "ringi_card", "event_payload": object{"task": taskID, "card": "CARD#prompt#0001"}}
	}
	shortcut := func(message object) object {
		return object{
			"type": "message_action", "callback_id": "cancel_task", "team": object{"id": stranger},
			"user":    object{"id": webapi.Tanaka, "team_id": stranger},
			"channel": object{"id": webapi.HR}, "message_ts": "1.000001", "message": message,
		}
	}
	form := func(kind aggregate.CardType, taskID, id string) object {
		return submission(t, stranger, webapi.Tanaka, kind, taskID, id, a.Asked(id).Hash, "いいえ")
	}
	pressed := func(on belonging, taskID, action, id string) object {
		return click(stranger, webapi.Tanaka, on.card, taskID, action, id)
	}
	prompt, foreign, e := a.Prompt().ID, own.Load().Prompt().ID, running.a.Execution().ID
	for _, tt := range []struct {
		name    string
		payload object
	}{
		{"block_id and value", pressed(victim, d.Ref.ID, "approve_prompt", prompt)},
		{"a rejection", pressed(victim, d.Ref.ID, "reject_prompt", prompt)},
		{"their own block_id, the other's value", pressed(victim, own.Ref.ID, "approve_prompt", prompt)},
		{"the other's block_id, their own value", pressed(victim, d.Ref.ID, "approve_prompt", foreign)},
		{"an execution to try again", pressed(running, running.Ref.ID, "retry_execution", e)},
		{"an execution to cancel", pressed(running, running.Ref.ID, "cancel_execution", e)},
		{"a generation to try again", pressed(victim, d.Ref.ID, "retry_generation", d.Ref.ID)},
		{"a step", pressed(running, running.Ref.ID, "approve_step", e)},
		{"a form's private_metadata", form(task.CardPrompt, d.Ref.ID, prompt)},
		{"a form with their own task", form(task.CardPrompt, own.Ref.ID, prompt)},
		{"a dialog about a task to cancel", cancellation(t, stranger, webapi.Tanaka,
			card.Cancellation{TaskID: d.Ref.ID, Channel: webapi.HR})},
		{"a form about steps", form(task.CardProcess, running.Ref.ID, running.a.Process().ID)},
		{"a shortcut on a card", shortcut(object{"ts": victim.card.TS, "metadata": metadata(d.Ref.ID)})},
		{"a shortcut on a message with buttons", shortcut(object{"ts": "2.000001",
			"attachments": []object{{"blocks": []object{{"block_id": d.Ref.ID}}}}})},
		{"a shortcut on the request", shortcut(object{"ts": d.Root, "thread_ts": d.Root})},
	} {
		t.Run(tt.name, func(t *testing.T) { checkNotFound(t, tt.name, tt.payload, victim, running) })
	}
	withdraw(d) // the control: the comparison does see a change
	expect.That(t, !cmp.Equal(a, d.Load(), equal), "a cancel is not seen")
}

// checkNotFound sends a stranger's acts with other people's ids: they only learn that nothing was found.
func checkNotFound(t *testing.T, name string, payload object, all ...belonging) {
	d := all[0]
	code, body, notes := interaction(t, d.S, payload).answered(t, d.S, webapi.Tanaka)
	expect.That(t, code == http.StatusOK, "answered %d %s", code, body)
	for _, b := range all {
		if diff := cmp.Diff(b.a, b.Load(), equal); diff != "" {
			t.Errorf("the other's rows (-before +after)\n%s", diff)
		}
	}
	said := strings.Contains(body, card.Note("ja", aggregate.ErrNotFound)) ||
		slices.Equal(notes, []string{card.Note("ja", aggregate.ErrNotFound)})
	if strings.HasPrefix(name, "a shortcut on the request") { // means a message of the same time in their own channel
		said = said || slices.Equal(notes, []string{card.Note("ja",
			explain.ErrUnavailable)}) // no dialog opens without a trigger
	}
	expect.That(t, said, "they were told %q and answered %s", notes, body)
	for _, text := range append(notes, body) {
		for _, secret := range []string{d.a.Task.Title, webapi.Sato, "進め方"} {
			expect.That(t, !strings.Contains(text, secret), "they learned %q", secret)
		}
	}
}

// equal compares a task without what records its display.
var equal = cmp.Options{cmpopts.IgnoreFields(task.Head{}, "DueAt", "ShownRev", "Redraws"),
	cmpopts.IgnoreFields(task.Aggregate{}, "Cards"), cmpopts.IgnoreFields(aggregate.Shared{}, "Copies")}

// TestAnEventOfAnUnknownWorkspaceMakesNoTenant: the event is recorded, refused and costs nothing.
func TestAnEventOfAnUnknownWorkspaceMakesNoTenant(t *testing.T) {
	s := start(t)
	rows := store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
	const unknown = "T0UNKNOWN"
	root := expect.Value(s.Sandbox.Say(webapi.Tanaka, webapi.HR, "こちらは知らない会社です"))(t)
	event(t, s, unknown, root, "従業員一覧を取得して").deliver(t, s)
	id, err := task.ID(unknown, webapi.HR, root)
	expect.NoError(t, err)
	var a *task.Aggregate
	expect.Eventually(t, "the request is refused", func() bool {
		a, err = rows.Load(t.Context(), task.RefOf(aggregate.TenantID(unknown), id))
		return err == nil && a.Head.Ended != nil
	})
	expect.Eventually(t, "what there is to show is dealt with", func() bool {
		a, err = rows.Load(t.Context(), a.Ref())
		return err == nil && a.Head.ShownRev == a.Head.Rev
	})
	if c := a.Card("CARD#task"); c.State != aggregate.CardNone || c.MessageTS != "" {
		t.Errorf("its card is %s in %s", c.State, c.Channel)
	}
	if e := a.Head.Ended; e.As != task.TaskRefused || e.Reason != task.ReasonWorkspace || a.Task != nil ||
		a.Used() != nil {
		t.Errorf("%+v, ended %+v", a.Task, e)
	}
	if made, err := rows.Tenant(t.Context(), aggregate.TenantID(unknown)); !errors.Is(err, aggregate.ErrNotFound) {
		t.Errorf("there is %+v, %v", made, err)
	}
	if home, err := rows.Tenant(t.Context(), aggregate.TenantID(s.Sandbox.TeamID())); err == nil &&
		home.Name != webapi.Name {
		t.Errorf("our own is called %q", home.Name)
	}
}

// strangersTask makes a task of the other workspace, at its first gate. That workspace connected Slack itself; our
// Slack knows nothing about its people.
func strangersTask(t *testing.T, like *driver.Request) *driver.Request {
	t.Helper()
	expect.Value(like.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: aggregate.TenantID(stranger), Name: "よその会社",
		TeamID: stranger, Admins: []string{}}, time.Now()))(t)
	// The local stack connects a new workspace as one of the deployment's; later rows are its own.
	arrives := object{"type": "shortcut", "team": object{"id": stranger},
		"user": object{"id": webapi.Alex, "team_id": stranger}}
	if code, body := interaction(t, like.S, arrives).send(t, like.S); code != http.StatusOK {
		t.Fatalf("answered %d %s", code, body)
	}
	connected := expect.Value(like.Store.Integration(t.Context(), aggregate.TenantID(stranger), tenancy.SlackProvider))(t)
	sealed := vault.EnvelopeAt(like.S.AWS, like.S.KeyID)
	connected.Credentials = expect.Value(sealed.SealCredential(t.Context(), aggregate.TenantID(stranger),
		tenancy.SlackProvider, vault.Credential{AccessToken: like.S.BotToken}))(t) // the sandbox knows one token
	expect.Value(like.Store.SaveIntegration(t.Context(), connected,
		aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Alex}, time.Now()))(t)
	like.S.Sandbox.Faults().Add(webapi.Fault{Method: "users.info", Kind: webapi.Refused, Code: "unknown_method",
		Times: -1})
	defer like.S.Sandbox.Faults().Clear("")
	root, err := like.S.Sandbox.Say(webapi.Tanaka, webapi.HR, "こちらは別の会社です") // no mention: no task of this workspace
	expect.NoError(t, err)
	event(t, like.S, stranger, root, "従業員一覧を取得して").deliver(t, like.S)
	id := expect.Value(task.ID(stranger, webapi.HR, root))(t)
	own := *like
	own.Root, own.Ref = root, task.RefOf(aggregate.TenantID(stranger), id)
	expect.Eventually(t, "the other workspace's policy waits", func() bool {
		a, err := own.Store.Load(t.Context(), own.Ref)
		return err == nil && waits(a)
	})
	return &own
}

// finished makes a task that failed at its second step and can be retried.
func finished(t *testing.T) belonging {
	t.Helper()
	s := start(t)
	s.Vendors.Fail("list_attendance", http.StatusBadRequest, true)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	c := d.Card("CARD#execution", "retry_execution")
	return belonging{d, d.Until("failed and shown", func(a *task.Aggregate) bool { return a.Head.Ended != nil }), c}
}

// At each click Slack is asked who may decide. If Slack doesn't answer, nobody decides, and the person is told to try
// again within the three seconds that Slack allows.
func TestWhoeverCantBeCheckedDecidesNothing(t *testing.T) {
	d, _ := atGate(t)
	before := d.Load().Head.Rev
	for _, name := range []string{"too many requests", "HTTP 500", "the answer is lost", "it takes four seconds",
		"token_revoked"} {
		t.Run(name, func(t *testing.T) {
			fault := always(bad[name])
			fault.Method = "users.info"
			heard, noted := clicks(d, "approve_prompt", fault)
			defer d.S.Sandbox.Faults().Clear("")
			if n := heard.count("users.info", ""); n != 1 {
				t.Errorf("asked %d times", n)
			}
			if told := d.Notes(webapi.Suzuki)[noted:]; !slices.Equal(told, []string{card.Note("ja", explain.ErrUnverified)}) {
				t.Errorf("the person was told %q", told)
			}
			if a := d.Load(); a.Head.Rev != before || !waits(a) {
				t.Errorf("the task is at rev %d, and was at %d", a.Head.Rev, before)
			}
		})
	}
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Until("the stamp counts", func(a *task.Aggregate) bool { return a.Prompt().Status == aggregate.Approved })
}
