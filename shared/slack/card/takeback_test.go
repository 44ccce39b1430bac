package card_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/words/language"
)

// backsIn returns the buttons that take a stamp back, as "<block_id> <action_id> <value>". Each asks for confirmation.
func backsIn(t testing.TB, blocks []slack.Block) (all []string) {
	t.Helper()
	for _, b := range blocks {
		a, is := b.(*slack.ActionBlock)
		if !is {
			continue
		}
		for _, e := range a.Elements.ElementSet {
			if b, is := e.(*slack.ButtonBlockElement); is && len(b.ActionID) > 9 && b.ActionID[:9] == card.TakeBack {
				expect.That(t, b.Confirm != nil && b.Confirm.Text.Text != "", "%s asks nothing", b.ActionID)
				all = append(all, a.BlockID+" "+b.ActionID+" "+b.Value)
			}
		}
	}
	return all
}

// Whoever stamped has a button on their own copy until the next stage stamps, and nobody else has one.
func TestACopyTakesItsPersonsStampBack(t *testing.T) {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	on := func(user string, stage int) []string {
		return backsIn(t, copied(s, s.copyOf(user, stage), "ja").Attachments[0].Blocks.BlockSet)
	}
	button := func(stage string) []string {
		return []string{s.Head.TaskID + stage + " takeback_process " + s.Process().ID + "/" + s.AskedHash(s.Process().ID)}
	}
	none := []string(nil)
	expect.Same(t, button("/1"), on(suzuki, 1))
	expect.Same(t, none, on(tanaka, 2))
	s.stamps(2, tanaka)
	expect.Same(t, none, on(suzuki, 1))
	expect.Same(t, button("/2"), on(tanaka, 2))
	s.stamps(2, mori)
	expect.Same(t, button("/2"), on(mori, 2))
	expect.Same(t, none, on(yamada, 3))
	s.stamps(3, yamada)
	expect.Same(t, none, on(mori, 2))
	expect.Same(t, none, on(yamada, 3))
	for _, c := range []*aggregate.Card{s.card(processCard), s.copyOf(suzuki, 1)} {
		m := render(s.Aggregate, c, "ja", s.now)
		expect.That(t, len(backsIn(t, m.Attachments[0].Blocks.BlockSet)) == 0, "the card has one")
	}
}

// Whoever took a stamp back reads so on their own copy alone, until they stamp again.
func TestACopySaysThatItsPersonTookTheStampBack(t *testing.T) {
	for locale, says := range map[string]string{"ja": "に承認を引き戻しました", "en": "You took your stamp back"} {
		s := onRoute(received(t), threeStages()...).stamps(1, suzuki).stamps(2, tanaka)
		on := func(user string) bool {
			m := copied(s, s.copyOf(user, 2), locale)
			return strings.Contains(drawn(m.Attachments[0].Blocks.BlockSet), says)
		}
		s.act(circulation.TakeBack, 2, tanaka)
		expect.That(t, on(tanaka) && !on(mori), "%s: whose copy says so", locale)
		s.stamps(2, mori)
		expect.That(t, on(tanaka), "%s: another's stamp changes the copy", locale)
		s.stamps(2, tanaka)
		expect.That(t, !on(tanaka), "%s: the stamp that stands is said to be taken back", locale)
	}
}

// A stand-in's stamp is the hand's to take back, and so isn't on the copy of whom it was for.
func TestACopyDoesNotTakeAStandInsStampBack(t *testing.T) {
	s := onRoute(received(t), threeStages()...).act(circulation.Stamp, 1, mori, standingFor(suzuki))
	expect.That(t, len(backsIn(t, copied(s, s.copyOf(suzuki, 1), "ja").Attachments[0].Blocks.BlockSet)) == 0, "they can")
}

// inChannel waits for a channel's stamp; stampsInChannel is that stamp.
func inChannel(t *testing.T) *scenario {
	channel := circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}
	return onRoute(received(t), channel, desk("部長", 1, yamada))
}

func (s *scenario) stampsInChannel() *scenario {
	return s.act(circulation.Stamp, 1, mori, func(act *circulation.Act) { act.Found.Channel = "C0HR" })
}

// takeBackDialog is the dialog of such a process, of which Mori stamped the first stage.
func takeBackDialog(t *testing.T, locale, reader string) slack.ModalViewRequest {
	t.Helper()
	s := inChannel(t).stampsInChannel()
	r := card.Review{Type: task.CardProcess, ID: s.Process().ID, TaskID: s.Head.TaskID, Route: true, Reader: reader}
	v, ok := card.ReviewModal(s.Aggregate, r, locale)
	expect.Must(t, ok, "no dialog")
	return v
}

// The channel's card has no button for one person. Its dialog, which anybody opens, has one for who may take a stamp
// back.
func TestTheDialogTakesItsReadersStampBack(t *testing.T) {
	s := inChannel(t)
	opens := func() bool { return offers(render(s.Aggregate, s.card(processCard), "ja", s.now), "route_process") }
	expect.That(t, !opens(), "the card opens the dialog before anybody stamped")
	s.stampsInChannel()
	expect.That(t, opens(), "the card doesn't open the dialog")
	of, other := takeBackDialog(t, "ja", mori), takeBackDialog(t, "ja", tanaka)
	button := s.Head.TaskID + "/1 takeback_process " + s.Process().ID + "/" + s.AskedHash(s.Process().ID)
	expect.Same(t, []string{button}, backsIn(t, of.Blocks.BlockSet))
	expect.That(t, len(backsIn(t, other.Blocks.BlockSet)) == 0, "somebody else has the button")
	for _, v := range []slack.ModalViewRequest{of, other} {
		expect.That(t, v.Submit == nil && v.Title.Text == "回覧", "it approves, or is called %s", v.Title.Text)
	}
}

// The dialog shows each stage, who is asked now and until when, and who has to come. Whose stamp can't be taken back
// any more reads why, and who gave none reads nothing of it.
func TestTheDialogShowsTheRouteAndWhyAStampStands(t *testing.T) {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki).stamps(2, tanaka)
	dialog := func(reader string) slack.ModalViewRequest {
		r := card.Review{Type: task.CardProcess, ID: s.Process().ID, TaskID: s.Head.TaskID, Route: true, Reader: reader}
		v, _ := card.ReviewModal(s.Aggregate, r, "ja")
		expect.NoError(t, cardtest.CheckView(v))
		return v
	}
	blocks := dialog(suzuki).Blocks.BlockSet
	said := drawn(blocks)
	for _, want := range []string{"✅ ", "いま: ", "⌛", "⬜ ", "<@" + mori + ">", "<@" + yamada + ">", "引き戻せません"} {
		expect.Has(t, said, want, "the dialog")
	}
	expect.That(t, len(backsIn(t, blocks)) == 0, "it takes back what stands")
	for _, reader := range []string{tanaka, yamada} {
		said = drawn(dialog(reader).Blocks.BlockSet)
		expect.That(t, !strings.Contains(said, "引き戻せません"), "%s reads why: %s", reader, said)
	}
}

// An action's stamp is taken back on its copy, in its dialog and on the Home tab, on what was stamped.
func TestAnActionsStampIsTakenBack(t *testing.T) {
	c := begunConversation(t)
	x := c.onRoute(threeStages()...)
	who := circulation.Person{User: suzuki}
	x.Gate = expect.Value(x.Gate.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: who,
		Principal: who, At: c.now, Stage: 1, Hash: "hash", Surface: "slack"}))(t)
	want := []string{c.Head.SessionID + "/1 takeback_action " + x.ActionID + "/hash"}
	k := &aggregate.Card{CardType: conversation.CardAction, Subject: x.Key(), User: suzuki, Stage: 1}
	m := card.ConversationCopy(c.Conversation, k, defaults, "", c.now)
	expect.NoError(t, cardtest.Check(m))
	expect.Same(t, want, backsIn(t, m.Attachments[0].Blocks.BlockSet))
	r := card.Review{ID: x.ActionID, TaskID: c.Head.SessionID, Route: true, Reader: suzuki}
	v, _ := c.Review(r, defaults)
	expect.NoError(t, cardtest.CheckView(v))
	expect.Same(t, want, backsIn(t, v.Blocks.BlockSet))
	stamped := []card.Waits{{Of: c.Conversation.Aggregate, Question: x.Asks()}}
	home := card.HomeView(card.Summary{User: suzuki, Stamped: stamped}, defaults, "ja", c.now)
	expect.Same(t, want, backsIn(t, home.Blocks.BlockSet))
	k.User, k.Stage = "", 0
	m = card.RenderConversation(c.Conversation, k, defaults, c.now)
	expect.NoError(t, cardtest.Check(m))
	expect.That(t, offers(m, "route_action"), "the card doesn't open the dialog")
}

// stampedWaits is a process of which Suzuki stamped the first stage, in a list.
func stampedWaits(t *testing.T) (card.Waits, *scenario) {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	return card.Waits{Of: s.Aggregate, Question: s.Process().Asks(), Link: "https://x.slack.com/archives/C1/p1"}, s
}

func homeOfStamped(t *testing.T, locale string) slack.HomeTabViewRequest {
	x, s := stampedWaits(t)
	return card.HomeView(card.Summary{User: suzuki, Stamped: []card.Waits{x}}, defaults, locale, s.now)
}

// The Home tab lists what its person stamped and may take back, at most five, and nothing that waits for them again.
func TestHomeListsWhatMayBeTakenBack(t *testing.T) {
	x, s := stampedWaits(t)
	for _, locale := range language.All {
		tab := func(in card.Summary) slack.HomeTabViewRequest { return card.HomeView(in, defaults, locale, s.now) }
		v := homeOfStamped(t, locale)
		button := s.Head.TaskID + "/1 takeback_process " + s.Process().ID + "/" + s.AskedHash(s.Process().ID)
		expect.Same(t, []string{button}, backsIn(t, v.Blocks.BlockSet))
		for name, in := range map[string]card.Summary{
			"somebody else's":         {User: tanaka, Stamped: []card.Waits{x}},
			"what waits for them":     {User: suzuki, Stamped: []card.Waits{x}, Waiting: []card.Waits{x}},
			"nothing that is stamped": {User: suzuki},
		} {
			expect.That(t, len(backsIn(t, tab(in).Blocks.BlockSet)) == 0, "%s is listed", name)
		}
	}
	var many []card.Waits
	for range 9 {
		many = append(many, x)
	}
	v := card.HomeView(card.Summary{User: suzuki, Stamped: many}, defaults, "ja", s.now)
	expect.Is(t, len(backsIn(t, v.Blocks.BlockSet)), 5, "listed")
}

// Below the first copy to a person stands that only its button approves: on no card, no later copy, and on no copy of a
// gate without a rule.
func TestOnlyTheFirstCopyOfARouteSaysWhatApproves(t *testing.T) {
	hint := map[string]string{"ja": "ボタンだけが承認になります。返信や絵文字は承認になりません。",
		"en": "Only the button approves. Replies and emoji don't."}
	for _, locale := range language.All {
		s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
		says := func(m card.Message) bool {
			return strings.Contains(drawn(m.Attachments[0].Blocks.BlockSet), hint[locale])
		}
		expect.That(t, says(copied(s, s.copyOf(mori, 2), locale)), "the first copy doesn't")
		expect.That(t, !says(render(s.Aggregate, s.card(processCard), locale, s.now)), "the card does")
		first := s.copyOf(mori, 1)
		first.CreatedAt = first.CreatedAt.Add(-1)
		s.Copies = append(s.Copies, first)
		expect.That(t, !says(copied(s, s.copyOf(mori, 2), locale)), "a later copy does")
		plain := planned(t, fiveSteps(), defaults)
		expect.That(t, !says(copied(plain, plain.copyOf(mori, 0), locale)), "a copy without a rule does")
	}
}

// Home has one line for each waiting item, with what the list of approvals shows, and what is due first at the top.
func TestHomeHasALineForEachThatWaits(t *testing.T) {
	now := time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC)
	due := func(hours int) *time.Time {
		at := now.Add(time.Duration(hours) * time.Hour)
		return &at
	}
	of := func(title string, p task.Priority, steps ...task.Step) *task.Aggregate {
		a := *received(t).extracted().Aggregate
		x := *a.Task
		x.Title, x.Priority = title, p
		a.Task, a.Processes = &x, []*task.Process{{Version: 1, Steps: steps,
			Gate: aggregate.Gate{Status: aggregate.PendingApproval}}}
		return &a
	}
	write := func(tool string) task.Step { return task.Step{Tool: tool, Access: aggregate.Write, ToolInput: "{}"} }
	in := card.Summary{Waiting: []card.Waits{
		{Of: of("いつでも", task.Medium), Question: aggregate.Question{Kind: task.CardPrompt, Version: 1}},
		{Of: of("後で", task.Low, task.Step{Tool: "list_employees", Access: aggregate.Read}),
			Question: aggregate.Question{Kind: task.CardProcess, Version: 1, DecideBy: due(48)}},
		{Of: of("先に", task.Urgent, write("send_slack_dm"), write("write_rows_to_google_sheet"), write("send_slack_dm")),
			Question: aggregate.Question{Kind: task.CardProcess, Version: 2,
				DecideBy: due(1)}, Link: "https://x.slack.com/archives/C1/p1"},
	}}
	for locale, says := range map[string][]string{
		"ja": {"シートに書き込みます", "DM を送ります", "🚨", "期限"},
		"en": {"Writes to a sheet", "Sends a DM", "🚨", "due"},
	} {
		home := jsonOf(card.HomeView(in, tenancy.DefaultSettings(), locale, now))
		first, rest, _ := strings.Cut(home, `{"type":"divider"}`)
		for _, want := range says {
			expect.That(t, strings.Contains(first, want), "%s: the line lacks %q: %s", locale, want, first)
		}
		expect.That(t, strings.Index(rest, "後で") < strings.Index(rest, "いつでも"), "%s: not by due time: %s", locale, rest)
		none := map[string]string{"ja": "書き込みはありません", "en": "nothing is written"}[locale]
		expect.That(t, strings.Contains(rest, none), "%s: what only reads is not said to: %s", locale, rest)
		list := card.List(locale, in)
		expect.That(t, strings.Index(list, "🚨") < strings.Index(list, "後で"), "%s: the list is not by due time", locale)
	}
	for _, n := range []int{30, 31, 200} {
		var many []card.Waits
		for i := range n {
			many = append(many, card.Waits{Of: of(fmt.Sprint("件", i, "件"), task.High),
				Question: aggregate.Question{Kind: task.CardProcess, Version: 1, DecideBy: due(i)}})
		}
		view := card.HomeView(card.Summary{Waiting: many}, tenancy.DefaultSettings(), "ja", now)
		text := jsonOf(view)
		expect.That(t, strings.Contains(text, "件29件") && strings.Contains(text, "ほか ") == (n > 30),
			"%d: thirty have no line, or more are not counted", n)
		expect.That(t, len(view.Blocks.BlockSet) <= 100 && len(text) <= 250_000, "%d: %d blocks, %d bytes", n,
			len(view.Blocks.BlockSet), len(text))
	}
}

// Where rules stand a button of Home leads to where people name who stands in for them.
func TestHomeLeadsToStandIns(t *testing.T) {
	ruled := tenancy.DefaultSettings()
	ruled.RulesRev = 1
	for locale, label := range map[string]string{"ja": "代理を決める", "en": "Name a stand-in"} {
		home := func(s tenancy.Settings, console string) string {
			return jsonOf(card.HomeView(card.Summary{Console: console}, s, locale, time.Now()))
		}
		is := home(ruled, "https://ringi.example/console")
		expect.That(t, strings.Contains(is, label) && strings.Contains(is, `"https://ringi.example/console/stand-ins"`),
			"%s", is)
		for _, none := range []string{home(ruled, ""), home(tenancy.DefaultSettings(), "https://ringi.example/console")} {
			expect.That(t, !strings.Contains(none, label), "%s", none)
		}
	}
}

// A check that nobody wished has a reason, and along a route it is known who is asked.
func TestACheckSaysWhyItIsThereAndWhoIsAsked(t *testing.T) {
	steps := fiveSteps()
	steps[3].RequiresHumanCheck, steps[3].Unnamed = true, true
	for locale, want := range map[string][2]string{
		"ja": {"🔍 実行前にもう一度確認 (承認済みの実行方針にない値を含むため)",
			"🔍 最後に承認する人が実行前にもう一度確認 (承認済みの実行方針にない値を含むため)"},
		"en": {"🔍 a check before it runs, as it has values that no approved policy names",
			"🔍 a check by whoever approves last before it runs, as it has values that no approved policy names"},
	} {
		for i, along := range []bool{false, true} {
			s := planned(t, steps, defaults)
			if along {
				routed(&s.Process().Gate, s.now, threeStages()...)
			}
			m := render(s.Aggregate, s.card(processCard), locale, s.now)
			expect.Has(t, drawn(m.Attachments[0].Blocks.BlockSet), want[i])
		}
	}
}

// Whoever approved the steps and is asked about one of them again is told why.
func TestAStepSaysWhyItIsAskedAboutAgain(t *testing.T) {
	for why, set := range map[string]func(step *task.Step, of *aggregate.Terms){
		"承認済みの実行方針にない値があるため": func(step *task.Step, _ *aggregate.Terms) { step.Unnamed = true },
		"確認すると決めたステップのため":    func(*task.Step, *aggregate.Terms) {},
		"設定により、書き込みは 1 回ごとに": func(step *task.Step, of *aggregate.Terms) {
			step.RequiresHumanCheck, of.AutoApproveTools = false, false
		},
		"承認のときには決まっていなかったため": func(step *task.Step, of *aggregate.Terms) {
			step.RequiresHumanCheck, of.AutoApproveTools = false, true
		},
	} {
		s := gated(t, aggregate.Blob{JSON: `{}`, Bytes: 2})
		set(&s.Process().Steps[1], &s.Execution().Terms)
		expect.Has(t, s.drawn(stepCard), why)
	}
}
