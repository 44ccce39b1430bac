package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	outside "ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// typed returns the form that Slack posts for /ringi with a text.
func (w *world) typed(user, channel, text string) url.Values {
	return url.Values{
		"token": {"x"}, "team_id": {slacktest.Team}, "team_domain": {"x"}, "channel_id": {channel}, "channel_name": {"x"},
		"user_id": {user}, "user_name": {"x"},
		"command": {"/ringi"}, "text": {text}, "api_app_id": {"A1"}, "is_enterprise_install": {"false"},
		"response_url": {"https://hooks.slack.com/commands/x"},
		"trigger_id":   {w.slack.NewTrigger(webapi.Hand{User: user})},
	}
}

// said answers a command and returns the text that only the person sees.
func (w *world) said(form url.Values) string {
	w.T.Helper()
	out := expect.Value(w.h.Handle(w.T.Context(), signed(form.Encode(), w.Now())))(w.T)
	var answer struct {
		Type string `json:"response_type"`
		Text string `json:"text"`
	}
	err := json.Unmarshal([]byte(out.Body), &answer)
	expect.Must(w.T, err == nil && out.StatusCode == 200 && answer.Type == "ephemeral",
		"answered %d %s (%v)", out.StatusCode, out.Body, err)
	return answer.Text
}

// inWorlds runs parts against one database, each with its own table and workspace.
func inWorlds(t *testing.T, parts map[string]func(*testing.T, *world)) {
	t.Helper()
	db := storetest.Start(t)
	for name, run := range parts {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

// asks finds the request that the bot's newest message in a channel belongs to.
func (w *world) asks(channel, text string) *task.Aggregate {
	w.T.Helper()
	for _, m := range expect.Value(w.slack.History(channel, webapi.Range{}))(w.T) {
		if m.User == webapi.Bot && strings.Contains(m.Text, text) {
			id := expect.Value(task.ID(slacktest.Team, channel, m.TS))(w.T)
			return expect.Value(w.Store.Load(w.T.Context(), task.RefOf(w.Ref.Tenant, id)))(w.T)
		}
	}
	w.T.Fatalf("nothing in %s says %s", channel, text)
	return nil
}

func TestCommandMakesARequest(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"but not of what is only shown": func(t *testing.T, w *world) {
			before := len(expect.Value(w.slack.History(webapi.HR, webapi.Range{}))(t))
			for _, text := range []string{"`先月の残業`", "&gt; 先月の残業", "~先月の残業~"} {
				expect.Is(t, w.said(w.typed(webapi.Sato, webapi.HR, text)), card.NoteShown.Told("ja", ""), "%s", text)
			}
			expect.Is(t, len(expect.Value(w.slack.History(webapi.HR, webapi.Range{}))(t)), before, "messages")
		},
		"in the channel where it is typed": func(t *testing.T, w *world) {
			if said := w.said(w.typed(webapi.Sato, webapi.HR, "先月の残業 &amp; 休暇を &lt;まとめて&gt;")); !strings.HasPrefix(said,
				card.NoteAccepted.Told("ja", "")) {
				t.Error(said)
			}
			a := w.asks(webapi.HR, "先月の残業 &amp; 休暇を")
			if r := a.Request; r.Text != "先月の残業 & 休暇を <まとめて>" || r.User != webapi.Sato || r.ThreadTS != r.MessageTS ||
				r.Source != task.SourceChannel {
				t.Errorf("%+v", r)
			}
		},
		"not of guests and people of other workspaces, and nothing of theirs is posted": func(t *testing.T, w *world) {
			for user, locale := range map[string]string{webapi.Guest: "ja", webapi.Stranger: "en"} {
				if said := w.said(w.typed(user, webapi.HR, "ゲストの投稿")); said != card.NoteStranger.Told(locale, "") {
					t.Errorf("%s: %s", user, said)
				}
			}
			expect.Same(t, 0, w.messages(webapi.HR, "ゲストの投稿"))
		},
		"in direct messages where Ringi can't post": func(t *testing.T, w *world) {
			if said := w.said(w.typed(webapi.Sato, "C0ELSEWHERE", "残業を確認して")); !strings.HasPrefix(said,
				card.NoteElsewhere.Told("ja", "")) {
				t.Error(said)
			}
			own := expect.Value(w.slack.Client.OpenDM(t.Context(), webapi.Sato))(t)
			if a := w.asks(own, "残業を確認して"); a.Request.ChannelType != "im" || a.Request.Source != task.SourceAgentContainer {
				t.Errorf("%+v", a.Request)
			}
		},
		"once, however often it arrives": func(t *testing.T, w *world) {
			form := w.typed(webapi.Sato, webapi.HR, "一度だけ頼む")
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() { w.said(form) })
			}
			all.Wait()
			expect.Same(t, 1, w.messages(webapi.HR, "一度だけ頼む"))
			if said := w.said(form); !strings.HasPrefix(said, card.NoteRepeated.Told("ja", "")) {
				t.Error(said)
			}
		},
		"again, after nothing came of it": func(t *testing.T, w *world) {
			form := w.typed(webapi.Sato, webapi.HR, "もう一度頼む")
			w.slack.Faults.Add(webapi.Fault{Kind: webapi.Refused, Method: "chat.postMessage", Code: "ekm_access_denied",
				Times: 1})
			expect.Same(t, card.NoteFailed.Told("ja", ""), w.said(form))
			w.said(form)
			w.asks(webapi.HR, "もう一度頼む")
		},
	})
}

// messages counts the bot's messages in a channel with this text.
func (w *world) messages(channel, text string) (n int) {
	w.T.Helper()
	for _, m := range expect.Value(w.slack.History(channel, webapi.Range{}))(w.T) {
		if m.User == webapi.Bot && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

func TestCommandsThatAreNoRequests(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"help, in the person's language": func(t *testing.T, w *world) {
			for text, want := range map[string]string{
				"help": card.NoteHelp.Told("ja", ""), "": card.NoteHelp.Told("ja", ""), "HELP": card.NoteHelp.Told("ja", ""),
				"ヘルプ": card.NoteHelp.Told("ja", ""), "使い方": card.NoteHelp.Told("ja", ""),
				"status": card.NoteUnknown.Told("ja", ""), "cancel": card.NoteHelp.Told("ja",
					""), "cancel R-1": card.NoteNoSuchTask.Told("ja", ""),
			} {
				if said := w.said(w.typed(webapi.Sato, webapi.HR, text)); !strings.HasPrefix(said, want) {
					t.Errorf("%q: %s", text, said)
				}
			}
			for _, text := range []string{"approve " + w.Ref.ID, "Reject `" + w.Ref.ID + "`"} {
				if said := w.said(w.typed(webapi.Suzuki, webapi.HR, text)); !strings.HasPrefix(said,
					card.NoteUnknown.Told("ja", "")) || w.messages(webapi.HR, w.Ref.ID) != 0 {
					t.Errorf("%q: %s", text, said)
				}
			}
			expect.That(t, w.said(w.typed(webapi.Suzuki, webapi.HR, "help")) != "", "no help")
		},
		"list": func(t *testing.T, w *world) {
			w.prompted()
			mine := w.said(w.typed(webapi.Sato, webapi.HR, "list"))
			expect.That(t, strings.Contains(mine, w.Ref.ID) && strings.Contains(mine, "承認待ち"), "%v", mine)
			other := w.said(w.typed(webapi.Suzuki, webapi.HR, "list"))
			expect.That(t, !strings.Contains(other, w.Ref.ID) && strings.Contains(other, "実行方針 v1"), "%v", other)
			outsider := w.said(w.typed(webapi.Guest, webapi.HR, "list"))
			expect.That(t, !strings.Contains(outsider, "実行方針 v1"), "a guest sees what waits: %s", outsider)
		},
		"cancel": func(t *testing.T, w *world) {
			w.prompted()
			if said := w.said(w.typed(webapi.Guest, webapi.HR, "cancel "+w.Ref.ID)); strings.Contains(said, "キャンセルしました") {
				t.Errorf("a guest cancelled: %s", said)
			}
			if said := w.said(w.typed(webapi.Sato, webapi.HR,
				"cancel `"+w.Ref.ID+"`")); said != card.NoteCancelled.Told("ja", "") {
				t.Error(said)
			}
			e := w.Load().Head.Ended
			expect.That(t, e != nil && e.By == webapi.Sato, "ended %+v", e)
			unknown := aggregate.Derive(time.Time{}, "none")
			expect.Same(t, card.NoteNoSuchTask.Told("ja", ""), w.said(w.typed(webapi.Sato, webapi.HR, "cancel "+unknown)))
		},
	})
}

func TestCommandsFromElsewhereMakeNoRequest(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"of an organization's installation": func(t *testing.T, w *world) {
			form := w.typed(webapi.Sato, webapi.HR, "残業を確認して")
			form.Set("is_enterprise_install", "true")
			form.Del("team_id")
			if said := w.said(form); !strings.Contains(said, "Enterprise Grid") || w.messages(webapi.HR, "残業を確認して") != 0 {
				t.Error(said)
			}
		},
		"of a workspace that is none of ours": func(t *testing.T, w *world) {
			form := w.typed(webapi.Sato, webapi.HR, "残業を確認して")
			form.Set("team_id", "T0ELSE")
			if said := w.said(form); said != inEach(card.NoteForeign) || w.messages(webapi.HR, "残業を確認して") != 0 {
				t.Error(said)
			}
		},
	})
}

// unanswered saves a task, or doesn't, and then loses the answer this many times.
type unanswered struct {
	Store
	lost  int
	keeps bool
}

func (s *unanswered) Create(ctx context.Context, c aggregate.Change) error {
	if s.lost == 0 {
		return s.Store.Create(ctx, c)
	}
	s.lost--
	if s.keeps {
		if err := s.Store.Create(ctx, c); err != nil {
			return err
		}
	}
	return context.DeadlineExceeded
}

// If a request's task was saved although the answer was lost, its message stays. Otherwise the person might ask again,
// and the request would be carried out twice.
func TestARequestWhoseAnswerWasLostKeepsItsMessage(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"a kept one is found": func(t *testing.T, w *world) {
			w.h.Store = &unanswered{w.h.Store, 1, true}
			w.said(w.typed(webapi.Sato, webapi.HR, "一度だけ払う"))
			w.asks(webapi.HR, "一度だけ払う")
		},
		"one that was not kept is kept": func(t *testing.T, w *world) {
			w.h.Store = &unanswered{w.h.Store, 1, false}
			w.said(w.typed(webapi.Sato, webapi.HR, "一度だけ払う"))
			w.asks(webapi.HR, "一度だけ払う")
		},
		"one that nobody knows of is not begun again": func(t *testing.T, w *world) {
			form := w.typed(webapi.Sato, webapi.HR, "一度だけ払う")
			w.h.Store = &unanswered{w.h.Store, 2, false}
			expect.Same(t, card.NoteUnsure.Told("ja", ""), w.said(form))
			expect.Same(t, card.NoteBegun.Told("ja", ""), w.said(form))
			expect.Same(t, 1, w.messages(webapi.HR, "一度だけ払う"))
		},
		"nor by a second click in the dialog, which stays open": func(t *testing.T, w *world) {
			form := w.global(webapi.Sato, "一度だけ払う", webapi.HR)
			w.h.Store = &unanswered{w.h.Store, 2, false}
			w.post(form)
			out := w.post(form)
			expect.That(t, strings.Contains(out.Body, card.RequestTextBlock) &&
				strings.Contains(out.Body, card.NoteBegun.Told("ja", "")), "%d %s", out.StatusCode, out.Body)
			expect.Same(t, 1, w.messages(webapi.HR, "一度だけ払う"))
		},
		"a second click while the first is under way is told what became of it": func(t *testing.T, w *world) {
			form := w.global(webapi.Sato, "一度だけ頼む", webapi.HR)
			w.slack.Faults.Add(webapi.Fault{Kind: webapi.Refused, Method: "chat.postMessage", Code: "ekm_access_denied",
				Times: 1})
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { w.post(form) })
			}
			all.Wait()
			n := w.messages(webapi.HR, "一度だけ頼む")
			expect.That(t, n == 1, "%d messages: the second click stands for the first, which failed", n)
		},
	})
}

func TestADecisionIsFoundByItsNumber(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"by who may read it": func(t *testing.T, w *world) {
			o := pipelinetest.Along([]string{webapi.Sato}, 1, pipelinetest.Desk("課長", 1, webapi.Suzuki))
			o.Rule.Numbered = true
			w.PlannedOnRoute(tenancy.DefaultSettings(), o, pipelinetest.Step(1, "send_slack_dm", aggregate.Write,
				`{"text":"x"}`))
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				hand := circulation.Person{User: webapi.Suzuki}
				act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: a.Process().AskedSum}
				by := aggregate.Actor{Type: aggregate.ActorUser, ID: hand.User, Team: w.By.Team, Member: true}
				return a.Act(a.Process().ID, act, by, aggregate.Policy{Team: w.By.Team}, w.Now())
			})
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.StartNumbered(a.Head.Run, task.Series{Year: 2026, Last: 122}, w.Now())
			})
			for user, reads := range map[string]bool{webapi.Sato: true, webapi.Suzuki: true, webapi.Guest: false} {
				said := w.said(w.typed(user, webapi.HR, "2026-000123"))
				expect.That(t, strings.Contains(said, w.Load().Task.Title) == reads && strings.Contains(said, "https://") == reads,
					"%s: %s", user, said)
			}
			expect.Is(t, w.said(w.typed(webapi.Sato, webapi.HR, "2026-000124")), card.NoteNoNumber.Told("ja", ""))
		},
		"a call of an outside agent": func(t *testing.T, w *world) {
			k, _, err := w.Store.CreateKey(t.Context(), tenancy.Key{TenantID: w.Ref.Tenant, Team: w.By.Team, Name: "締め",
				Answers: webapi.Sato, Tools: []string{"Bash"}, Channel: webapi.HR, QuotaDay: 9,
				ExpiresAt: w.Now().Add(time.Hour)}, w.By, w.Now())
			expect.NoError(t, err)
			x := outside.Proposal{Key: k, Effect: "e", Content: outside.Content{Tool: "Bash", Elsewhere: true},
				Terms: tenancy.DefaultSettings().ActionTerms(webapi.HR, w.Now())}
			_, err = store.CallsOf(w.Store.KindStore.Store).Ask(t.Context(), &x, expect.Value(x.Ask(w.Now()))(t))
			expect.NoError(t, err)
			page := "<https://ringi.example/console/calls/" + x.Ref().ID + "|"
			expect.Has(t, w.said(w.typed(webapi.Sato, webapi.HR, "list")), page) // its message isn't posted yet
			n := &task.Numbered{Year: 2026, N: 5, SessionID: x.Ref().ID, ActionID: x.Ref().ID, GateKey: outside.Key}
			of := task.Series{Year: 2026}.Of()
			expect.Value(w.Store.AddListed(t.Context(), w.Ref.Tenant, task.NumbersList, of, n))(t)
			for user, reads := range map[string]bool{webapi.Sato: true, webapi.Suzuki: true, webapi.Guest: false} {
				said := w.said(w.typed(user, webapi.HR, "2026-000005"))
				expect.That(t, strings.Contains(said, "締め") == reads, "%s: %s", user, said)
			}
		},
		"a request by its own, beside a decision that has the same": func(t *testing.T, w *world) {
			year := tenancy.DefaultSettings().FiscalYear(w.Now())
			into := &task.Register{Settings: tenancy.DefaultSettings(), Of: task.Series{Year: year, Last: 86}}
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Registering(into).RefuseUndecidable(a.Head.Run, aggregate.RuleSelf, w.Now())
			})
			number := w.Load().Head.RequestNumber
			for user, reads := range map[string]bool{webapi.Sato: true, webapi.Suzuki: true, webapi.Guest: false} {
				said := w.said(w.typed(user, webapi.HR, number))
				expect.That(t, strings.Contains(said, "起案番号 "+number+": "+w.Load().Request.Text) == reads &&
					strings.Contains(said, "https://") == reads && !strings.Contains(said, "決裁番号"), "%s: %s", user, said)
			}
			x := &task.Numbered{Year: year, N: 87, TaskID: w.Ref.ID, ProcessID: w.Ref.ID}
			of := task.Series{Year: year}.Of()
			expect.Value(w.Store.AddListed(t.Context(), w.Ref.Tenant, task.NumbersList, of, x))(t)
			said := w.said(w.typed(webapi.Sato, webapi.HR, number))
			expect.That(t, strings.Contains(said, "決裁番号 "+number) && strings.Contains(said, "起案番号 "+number), "%s", said)
		},
	})
}

// The list says what a person owes along a route, though they aren't in the channel where it was asked for.
func TestTheListHasWhatAPersonOwes(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.onRoute(webapi.Alex, webapi.Tanaka)
	list := func(user string) string { return w.said(w.typed(user, webapi.General, "list")) }
	expect.Is(t, strings.Count(list(webapi.Alex), " · requested by "), 1, "before an entry says so")
	owes := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: webapi.Alex, Stage: 1,
		OwedSince: p.AskedAt}
	late := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: webapi.Tanaka, Stage: 1,
		OwedSince: p.AskedAt}
	expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, []*aggregate.Card{owes, late}))
	expect.Has(t, list(webapi.Alex), "Your turn (1)", "of Alex")
	expect.Is(t, strings.Count(list(webapi.Alex), " · requested by "), 1, "with an entry")
	expect.Has(t, list(webapi.Alex), "👥 "+webapi.Alex+" (1 more) <@"+webapi.Alex+">", "stage")
	for _, user := range []string{webapi.Tanaka, webapi.Suzuki, webapi.Sato} {
		waits, _, _ := strings.Cut(list(user), "*あなたの依頼*") // below, the requester reads whose turn it is
		expect.That(t, !strings.Contains(waits, "👥") && waits != list(user), "%s: %s", user, list(user))
	}
}
