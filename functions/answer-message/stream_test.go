package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

// stage is a conversation in a Slack that shows unfinished answers.
type stage struct {
	*world
	slack           *slacktest.Slack
	channel, thread string
}

func newStage(t *testing.T, db *storetest.Server) *stage {
	t.Helper()
	slack := slacktest.Start(t)
	g := &stage{slack: slack, channel: expect.Value(slack.Client.OpenDM(t.Context(), webapi.Sato))(t)}
	g.thread = slack.Say(t, webapi.Sato, g.channel, "codex: hello")
	in := conversation.Inbound{Team: slacktest.Team, Channel: g.channel, ChannelType: "im", Thread: g.thread,
		TS: g.thread, User: webapi.Sato, Text: "hello"}
	g.world = talkingOf(t, db, in, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
	g.Streamer, g.Notes, g.Every = slack.Client, g.Rows.KindStore.Store, time.Millisecond
	slack.Calls()
	return g
}

// shows waits until the bot's only message in the thread shows text, and returns it.
func (g *stage) shows(text string) webapi.Message {
	g.T.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		all := g.slack.Thread(g.T, g.channel, g.thread)
		if len(all) == 1 && strings.Contains(all[0].Text, text) {
			return all[0]
		}
		expect.Must(g.T, !time.Now().After(end), "the thread shows %d messages, want %q: %+v", len(all), text, all)
	}
}

var long = strings.Repeat("words of an answer ", 20)

// writesLong has the vendor begin an answer that is shown early, calls then, and ends the answer.
func (g *stage) writesLong(then func()) {
	g.vendor.says.Text = long + "and its end."
	g.vendor.writes = func(onText func(string)) {
		onText(long)
		g.shows("words of an answer")
		if then != nil {
			then()
		}
	}
}

// taken checks that the streamed message became the newest message's card.
func (g *stage) taken(ts string) {
	g.T.Helper()
	a := g.Load()
	if a.Stream != nil || len(a.Cards) != 1 || a.Cards[0].MessageTS != ts || a.Cards[0].State != aggregate.CardPosted ||
		a.Cards[0].Hash != "" {
		g.T.Fatalf("%+v, cards %+v", a.Stream, a.Cards)
	}
}

func TestAnswersGrowInSlack(t *testing.T) {
	db := storetest.Start(t)
	run := func(name string, test func(t *testing.T, g *stage)) {
		t.Run(name, func(t *testing.T) { test(t, newStage(t, db)) })
	}
	run("a long one is shown as it is written, and its card takes the message over", testGrows)
	run("a short one is not", testShort)
	run("a retried turn streams no second message", testTriedAgain)
	run("a message whose call was lost is found", testLostStart)
	run("what broke off is said to be no answer before the model is asked again", testBreaksOff)
	run("where Slack refuses to stream the card is posted", testNoStreams)
	run("a person who stops the agent gets a sentence in its place", testStopped)
	run("of a session that was closed meanwhile nothing stays", testClosed)
	run("what an earlier answer left is deleted first", testLeft)
}

func testGrows(t *testing.T, g *stage) {
	g.vendor.says.Text = long + "<!channel> [here](https://example.com) the end."
	var first webapi.Message
	g.vendor.writes = func(onText func(string)) {
		onText(long[:150])
		onText(long)
		first = g.shows("answer")
		onText(long + "<!channel> [here](https://example.com) th")
		first = g.shows("[here")
	}
	next := expect.Value(g.handle())(t)
	expect.Must(t, next.State == aggregate.StateFinish, "%+v", next)
	m := g.shows("answer")
	if first.TS != m.TS || strings.Contains(m.Text, "<!") || strings.Contains(m.Text, "](") || m.Streaming ||
		m.Metadata != nil {
		t.Errorf("%+v", m)
	}
	g.taken(m.TS)
	expect.Is(t, strings.Join(g.slack.Calls(), " "), "chat.startStream chat.appendStream chat.stopStream")
}

func testShort(t *testing.T, g *stage) {
	g.vendor.writes = func(onText func(string)) { onText(long[:streamFrom]) }
	expect.Value(g.handle())(t)
	calls := g.slack.Calls()
	expect.That(t, len(calls) == 0 && g.Load().Cards[0].State == aggregate.CardNone, "%q", calls)
}

func testTriedAgain(t *testing.T, g *stage) {
	g.writesLong(nil)
	g.vendor.err = &model.Error{Provider: "openai", Kind: model.Overloaded, Retryable: true}
	if _, err := g.handle(); !errors.Is(err, explain.ErrModelUnavailable) {
		t.Fatal(err)
	}
	half := g.shows("It broke off here, so this answer isn't used.")
	g.vendor.err = nil
	expect.Value(g.handle())(t)
	m := g.shows("words")
	expect.Is(t, m.TS, half.TS)
	g.taken(m.TS)
	expect.Is(t, len(g.slack.Calls("chat.startStream")), 1, "streams began")
}

// What was shown of an answer that broke off is said to be none before the model is asked again, not when it has
// answered.
func testBreaksOff(t *testing.T, g *stage) {
	var half webapi.Message
	g.vendor.says = model.Response{Text: long, Stop: model.StopLength}
	asks := 0
	g.vendor.writes = func(onText func(string)) {
		if asks++; asks == 2 {
			half = g.shows("It broke off here, so this answer isn't used.")
			g.vendor.says = model.Response{Text: long + "and its end.", Stop: model.StopEnd}
		}
		onText(long)
		g.shows("words of an answer")
	}
	expect.Value(g.handle())(t)
	expect.Is(t, asks, 2, "asks")
	g.taken(half.TS)
}

func testLostStart(t *testing.T, g *stage) {
	g.slack.Faults.Add(webapi.Fault{Method: "chat.startStream", Kind: webapi.Lost})
	g.writesLong(nil)
	g.vendor.err = &model.Error{Provider: "openai", Kind: model.Overloaded, Retryable: true}
	if _, err := g.handle(); !errors.Is(err, explain.ErrModelUnavailable) {
		t.Fatal(err)
	}
	row := g.Load().Stream
	expect.Must(t, row != nil && row.TS == "", "%+v", row)
	g.vendor.err = nil
	expect.Value(g.handle())(t)
	g.taken(g.shows("words").TS)
}

func testNoStreams(t *testing.T, g *stage) {
	g.slack.Faults.Add(webapi.Fault{Method: "chat.startStream", Kind: webapi.Refused, Code: "channel_type_not_supported"})
	g.vendor.says.Text = long
	g.vendor.writes = func(onText func(string)) {
		onText(long)
		expect.Eventually(t, "it has been refused", func() bool { return len(g.slack.Calls()) > 0 })
		onText(long + "and more ")
	}
	expect.Value(g.handle())(t)
	if a := g.Load(); a.Stream != nil || a.Cards[0].State != aggregate.CardNone ||
		len(g.slack.Thread(t, g.channel, g.thread)) != 0 {
		t.Errorf("%+v %+v", a.Stream, a.Cards[0])
	}
	expect.Is(t, len(g.slack.Calls()), 0)
}

func testStopped(t *testing.T, g *stage) {
	by, policy := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team,
		Member: true}, aggregate.Policy{Team: slacktest.Team, AllowSelf: true}
	g.writesLong(func() {
		g.recorded()
		expect.Value(g.Rows.Decide(t.Context(), g.Ref, func(a *conversation.Aggregate) (aggregate.Change,
			error) {
			return a.Stop(by, policy, time.Now())
		}))(t)
	})
	_, err := g.handle()
	expect.Must(t, errors.Is(err, aggregate.ErrSuperseded), "%v", err)
	g.taken(g.shows("words").TS)
	expect.Is(t, g.Newest().Reason, conversation.ReasonStopped)
}

// recorded waits until the row names the message.
func (g *stage) recorded() {
	g.T.Helper()
	expect.Eventually(g.T, "a row names the message", func() bool {
		row := g.Load().Stream
		return row != nil && row.TS != ""
	})
}

func testClosed(t *testing.T, g *stage) {
	by, policy := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team,
		Member: true}, aggregate.Policy{Team: slacktest.Team, AllowSelf: true}
	run := g.Load().Head.Run
	g.writesLong(func() {
		g.recorded()
		expect.Value(g.Rows.Decide(t.Context(), g.Ref, func(a *conversation.Aggregate) (aggregate.Change,
			error) {
			return a.End(by, policy, time.Now())
		}))(t)
	})
	_, err := g.Handle(t.Context(), pipeline.Input{Tenant: g.Ref.Tenant, Kind: "session", ID: g.Ref.ID, Run: run})
	expect.Must(t, errors.Is(err, aggregate.ErrSuperseded), "%v", err)
	if a := g.Load(); a.Stream != nil || len(g.slack.Thread(t, g.channel, g.thread)) != 0 {
		t.Errorf("%v: %+v, and %d messages", err, a.Stream, len(g.slack.Thread(t, g.channel, g.thread)))
	}
}

func testLeft(t *testing.T, g *stage) {
	row := conversation.NewStream(&conversation.Inbox{Message: "2026-01-01T00:00:00.000Z#gone"}, time.Now())
	row.TS = expect.Value(g.slack.Client.StartStream(t.Context(), g.channel, g.thread, slacktest.Team, webapi.Sato,
		"of an earlier answer"))(t)
	expect.NoError(t, g.Notes.PutNote(t.Context(), g.Ref, row, row.Of, true))
	g.writesLong(nil)
	expect.Value(g.handle())(t)
	m := g.shows("words")
	expect.That(t, m.TS != row.TS, "the earlier one stays")
	g.taken(m.TS)
}

// TestWhatGrowsIsTheFirstMessage compares what is streamed of an answer, piece by piece, with the message that the
// answer's first card will show.
func TestWhatGrowsIsTheFirstMessage(t *testing.T) {
	bits := []string{"words ", "文です。", "`a * b`", "\n", "\n\n", "\n```go\n", "\n```\n", "**bold** ", "x",
		strings.Repeat("long ", 40), strings.Repeat("長い", 60), strings.Repeat("code\n", 30),
		"- item\n", "    ", "`", "# h\n", "~~~\n", "> q\n"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 1, 160).Draw(t, "bits"), "")
		parts := conversation.Parts(text)
		if len(parts) == 0 {
			return
		}
		first := card.Streamed(parts[0] + "\n\n終わり。\n\n")
		shown := ""
		for at := 0; at < len(text); at += rapid.IntRange(1, 400).Draw(t, "step") {
			whole := card.Streamed(sure(text[:at]))
			if strings.HasPrefix(shown, whole) {
				continue
			}
			if !strings.HasPrefix(whole, shown) || !strings.HasPrefix(first, whole) {
				t.Fatalf("of %q: %q, then %q, in the end %q", text[:at], shown, whole, first)
			}
			shown = whole
		}
	})
}

// A message ends without the blanks that may follow in the stream.
func TestBlanksAtTheEndAreHeldBack(t *testing.T) {
	expect.Is(t, card.Streamed(sure("words \n    \n")), "words")
}
