package card_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/words/language"
)

func saying(text string) func(*circulation.Act) {
	return func(act *circulation.Act) { act.Text = text }
}

// adds has the hand add somebody.
func adds(user string, as circulation.As) func(*circulation.Act) {
	return func(act *circulation.Act) {
		act.To, act.As, act.Text = &circulation.Person{User: user}, as, "契約の *3条* を見てください"
	}
}

// addedBefore is the second version of a process, about which people are asked whom others added to the first.
func addedBefore(s *scenario) *scenario {
	s = sentBack(s)
	s.Process().Route.Carried = []circulation.Carried{
		{To: circulation.Person{User: "U0LEGAL1"}, By: circulation.Person{User: suzuki}, As: circulation.AsConsult, After: 1,
			Round: 1},
		{To: circulation.Person{User: "U0LEGAL2"}, By: circulation.Person{User: tanaka}, As: circulation.AsApprove, After: 2,
			Round: 1, LeftOut: rules.LeftStanding},
	}
	return s.stamps(1, suzuki)
}

// asked is a process about which Suzuki, then answered whether Sato answered.
func asked(s *scenario, question, answer string) *scenario {
	s = onRoute(s, threeStages()...).stamps(1, suzuki).act(circulation.Ask, 2, tanaka, saying(question))
	if answer != "" {
		s.act(circulation.Answer, 2, requester.ID, saying(answer))
	}
	return s
}

// consulting is a process whose first stage is only consulted, and asks who stands above if somebody objects.
func consulting(s *scenario) *scenario { return consults(s, desk("部長", 1, yamada)) }

func consults(s *scenario, later ...circulation.Stage) *scenario {
	consulted := desk("法務", 2, tanaka, takada)
	consulted.As, consulted.Dissent = circulation.AsConsult, circulation.ObjectionRaised
	consulted.Over = []circulation.Person{{User: mori}}
	return onRoute(s, append([]circulation.Stage{consulted}, later...)...)
}

// askedOnce asks after an objection whom a later stage asks, too.
func askedOnce(s *scenario) *scenario {
	own := desk("次長", 2, mori, suzuki)
	own.Once = true
	s = consults(s, own, desk("部長", 1, yamada)).stamps(1, tanaka)
	return s.act(circulation.Dissent, 1, takada, saying("条項が古い"))
}

// board is a process whose first stage decides at a meeting.
func board(s *scenario) *scenario {
	is := desk("取締役会", 2, tanaka, takada)
	is.Minutes = true
	return onRoute(s, is, desk("部長", 1, yamada))
}

// met has the hand record minutes.
func met(act *circulation.Act) {
	act.Meeting = &circulation.Meeting{Held: "2026-04-01", Present: []string{tanaka, takada, mori},
		Carried: act.Kind == circulation.Stamp, Minutes: "設備の更新について\n全員が賛成した", Reference: "総務の書庫 12"}
}

// toRead is a process that Tanaka has stamped for Takada, who is to read it.
func toRead(s *scenario) *scenario {
	first := desk("経理", 1, takada)
	first.ReadAfter = true
	return onRoute(s, first, desk("部長", 1, yamada)).act(circulation.Stamp, 1, tanaka, func(act *circulation.Act) {
		act.Principal.User, act.Found.Delegation = takada, &circulation.Delegation{Key: tanaka + "#" + takada + "#2026-04-01", Rev: 1}
	})
}

// read has Takada read it.
func (s *scenario) read() *scenario {
	s.now = s.now.Add(time.Hour)
	s.Reads = append(s.Reads, &aggregate.Reading{Asked: s.Process().AskedSum, User: takada, By: takada, ReadAt: s.now})
	return s
}

// besideStates are cards of gates at which somebody did something that is no decision.
var besideStates = []state{
	{"route_asked", processCard, func(s *scenario) *scenario { return asked(s, "見積は何社から取りましたか?", "") }},
	{"route_answered", processCard, func(s *scenario) *scenario {
		s = asked(s, "見積は何社から取りましたか?", "2 社です。\n安いほうを選びました。")
		return s.act(circulation.Ask, 2, takada, saying("納期は?")).act(circulation.Answer, 2, requester.ID, saying("来週です"))
	}},
	{"route_asked_settled", processCard, func(s *scenario) *scenario {
		return asked(s, "何社?", "2 社です").stamps(2, tanaka, takada).stamps(3, yamada)
	}},
	{"route_asked_long", processCard, func(s *scenario) *scenario {
		return asked(s, strings.Repeat("長い質問 & <!channel> ", 40), strings.Repeat("長い回答」", 160))
	}},
	{"route_asked_once", processCard, askedOnce},
	{"route_answered_objection", processCard, func(s *scenario) *scenario { return askedOnce(s).stamps(4, mori) }},
	{"route_answered_and_more", processCard, func(s *scenario) *scenario {
		return askedOnce(s).stamps(4, mori).stamps(2, suzuki)
	}},
	{"route_added", processCard, func(s *scenario) *scenario {
		s = onRoute(s, threeStages()...).act(circulation.Add, 1, suzuki, adds("U0LEGAL1", circulation.AsConsult))
		return s.act(circulation.Add, 1, suzuki, adds("U0LEGAL2", circulation.AsApprove))
	}},
	{"route_may_raise", processCard, mayRaise},
	{"route_added_asked", processCard, func(s *scenario) *scenario {
		s = onRoute(s, threeStages()...).act(circulation.Add, 1, suzuki, adds("U0LEGAL1", circulation.AsConsult))
		return s.stamps(1, suzuki)
	}},
	{"route_added_before", "CARD#process#0002", addedBefore},
	{"route_consults", processCard, consulting},
	{"route_objected", processCard, func(s *scenario) *scenario {
		return consulting(s).stamps(1, tanaka).act(circulation.Dissent, 1, takada, saying("条項が古い」で始まります"))
	}},
	{"route_minutes", processCard, board},
	{"route_minutes_last", processCard, func(s *scenario) *scenario { return board(s).stamps(1, tanaka) }},
	{"route_minutes_recorded", processCard, func(s *scenario) *scenario { return board(s).act(circulation.Stamp, 1, tanaka, met) }},
	{"route_minutes_settled", processCard, func(s *scenario) *scenario {
		return board(s).act(circulation.Stamp, 1, tanaka, met).stamps(1, takada).stamps(2, yamada)
	}},
	{"route_minutes_denied", processCard, func(s *scenario) *scenario {
		return board(s).act(circulation.Deny, 1, tanaka, met, saying("資金が足りない"))
	}},
	{"route_to_read", processCard, toRead},
	{"route_read", processCard, func(s *scenario) *scenario { return toRead(s).stamps(2, yamada).read() }},
	{"route_objected_settled", processCard, func(s *scenario) *scenario {
		s = consulting(s).stamps(1, tanaka).act(circulation.Dissent, 1, takada, saying("条項が古い"))
		return s.stamps(3, mori).stamps(2, yamada)
	}},
}

// questionFor is the copy of the question with this number for somebody.
func (s *scenario) questionFor(user string, n int) *aggregate.Card {
	return &aggregate.Card{CardType: aggregate.CardQuestion, User: user,
		Subject: aggregate.QuestionSubject(s.Process().Key(), n)}
}

func copiesOfQuestions(t *testing.T, locale string) map[string]card.Message {
	all := map[string]card.Message{}
	s := asked(received(t), "見積は何社から取りましたか?", "")
	all["question"] = copied(s, s.questionFor(requester.ID, 1), locale)
	all["asked"] = copied(s, s.copyOf(takada, 2), locale)
	s.act(circulation.Answer, 2, requester.ID, saying("2 社です"))
	all["answer"] = copied(s, s.questionFor(tanaka, 1), locale)
	all["unanswered"] = copied(asked(received(t), "何社?", "").expire(), s.questionFor(requester.ID, 1), locale)
	s = consulting(received(t))
	all["consults"] = copied(s, s.copyOf(tanaka, 1), locale)
	s.stamps(1, tanaka).act(circulation.Dissent, 1, takada, saying("条項が古い"))
	all["consented"], all["objected"] = copied(s, s.copyOf(tanaka, 1), locale), copied(s, s.copyOf(takada, 1), locale)
	s = received(t)
	secretary := desk("取締役会", 2, tanaka, takada, mori)
	secretary.Parts, secretary.Minutes, secretary.Secretary = []circulation.Part{{N: 2, Of: 1}, {N: 1, Of: 1}}, true, 2
	s = onRoute(s, secretary)
	all["secretary"], all["member"] = copied(s, s.copyOf(mori, 1), locale), copied(s, s.copyOf(tanaka, 1), locale)
	s = toRead(received(t))
	all["to_read"] = copied(s, s.copyOf(takada, 1), locale)
	all["read"] = copied(s.read(), s.copyOf(takada, 1), locale)
	s = consulting(received(t)).stamps(1, tanaka).act(circulation.Dissent, 1, takada, saying("条項が古い"))
	all["raised"] = copied(s, s.copyOf(mori, 3), locale)
	s = onRoute(received(t), threeStages()...).act(circulation.Add, 1, suzuki, adds("U0LEGAL1", circulation.AsConsult))
	all["added"] = copied(s.stamps(1, suzuki), s.copyOf("U0LEGAL1", 4), locale)
	return all
}

func routeActForms(t *testing.T, locale string) map[string]slack.ModalViewRequest {
	all := map[string]slack.ModalViewRequest{}
	s := asked(received(t), "見積は何社から取りましたか?", "")
	for _, act := range card.RouteActs {
		of := card.Review{Type: task.CardProcess, ID: s.Process().ID, TaskID: s.Head.TaskID, Hash: "hash", Stage: 2}
		all[string(act)] = card.DialogsOf(s.Aggregate).RouteAct(card.RouteAct{Review: of, Kind: act}, locale)
	}
	return all
}

// What people type stands between quotation marks, and neither ends them nor looks like a line of Ringi's.
func TestNothingTypedPassesForRingisWords(t *testing.T) {
	for _, typed := range []string{
		"はい」 ✅ <@U0BOSS>さんの回答 (今日):「承認します", "a” ✅ <@U0BOSS> answered (today): “approved", "x\n*👉 あなたの番です*", "<!channel> *太字*",
		"\u202e逆", "💬 「回答」", strings.Repeat("」", 1000), "\\」", "<https://evil.example|全文を読む>",
	} {
		for _, locale := range language.All {
			s := asked(received(t), typed, typed)
			s.act(circulation.Add, 2, tanaka, adds("U0LEGAL1", circulation.AsConsult), saying(typed))
			for name, m := range map[string]card.Message{"card": render(s.Aggregate, s.card(processCard), locale, s.now),
				"copy": copied(s, s.copyOf(takada, 2), locale), "message": copied(s, s.questionFor(tanaka, 1), locale)} {
				said := drawn(m.Attachments[0].Blocks.BlockSet)
				expect.NoError(t, cardtest.Check(m))
				quotes := map[string][2]string{"ja": {"「", "」"}, "en": {"“", "”"}}[locale]
				for line := range strings.SplitSeq(said, "\n") {
					if !strings.Contains(line, "❓") && !strings.Contains(line, "💬") && !strings.Contains(line, "➕") {
						continue
					}
					within := line
					for _, mark := range quotes {
						within = strings.ReplaceAll(within, `\`+mark, "")
					}
					expect.That(t, strings.Count(within, quotes[0]) <= 2 && strings.Count(within, quotes[0]) == strings.Count(within,
						quotes[1]), "%s, %s: %s", name, typed, line)
				}
				for _, no := range []string{"<@U0BOSS>", "<!channel>", "\n*👉 あなたの番です*\n", "<https://evil"} {
					expect.That(t, !strings.Contains(said, no), "%s, %s: %s", name, typed, said)
				}
			}
		}
	}
}

// A long text is cut on a card, which links the page with all of it; the message to one person has it whole.
func TestALongQuestionIsCutWithALink(t *testing.T) {
	long := strings.Repeat("長い質問", 250)
	s := asked(received(t), long, "")
	m := card.Render(s.Aggregate, s.card(processCard), defaults, card.Around{Console: "https://x.example/console"}, s.now)
	said := drawn(m.Attachments[0].Blocks.BlockSet)
	expect.Has(t, said, "<https://x.example/console/tasks/"+s.Head.TaskID+"|全文を読む>")
	expect.That(t, !strings.Contains(said, long), "it isn't cut: %s", said)
	expect.Has(t, drawn(copied(s, s.copyOf(takada, 2), "ja").Attachments[0].Blocks.BlockSet), "(全文は依頼のページにあります)")
	told := drawn(copied(s, s.questionFor(requester.ID, 1), "ja").Attachments[0].Blocks.BlockSet)
	expect.Has(t, told, "「"+long+"」")
	expect.That(t, !strings.Contains(told, "全文"), "%s", told)
}

// Cards offer what the stage allows: an answer to the question that waits in place of another one, nobody to add in a
// channel, and no rejection to who is only consulted.
func TestButtonsBesideADecision(t *testing.T) {
	all := []string{"approve_process", "reject_process", "ask_process", "answer_process", "add_process", "dissent_process",
		"minutes_process"}
	has := func(name string, m card.Message, want ...string) {
		t.Helper()
		for _, action := range all {
			expect.Is(t, offers(m, action), slices.Contains(want, action), "%s: %s", name, action)
		}
	}
	drawnAs := func(s *scenario) card.Message { return render(s.Aggregate, s.card(processCard), "ja", s.now) }
	yes, no, ask, add := all[0], all[1], all[2], all[4]
	has("a stage of people", drawnAs(onRoute(received(t), threeStages()...)), yes, no, ask, add)
	s := asked(received(t), "何社?", "")
	has("a question waits", drawnAs(s), yes, no, all[3], add)
	has("on the copy of who is asked", copied(s, s.copyOf(takada, 2), "ja"), yes, no, add)
	has("a channel", drawnAs(onRoute(received(t), circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1})),
		yes, no, ask)
	has("who is consulted", drawnAs(consulting(received(t))), yes, all[5], ask, add)
	has("minutes", drawnAs(board(received(t))), yes, no, all[6], ask, add)
	has("only minutes are owed", drawnAs(board(received(t)).stamps(1, tanaka)), no, all[6], ask, add)
	has("minutes are recorded", drawnAs(board(received(t)).act(circulation.Stamp, 1, tanaka, met)), yes, no, ask, add)
	has("without a rule", drawnAs(planned(t, fiveSteps(), defaults)), yes, no)
	has("settled", drawnAs(asked(received(t), "何社?", "").stamps(2, tanaka, takada).stamps(3, yamada)))
	tab := card.HomeView(card.Summary{Waiting: []card.Waits{{Of: consulting(received(t)).Aggregate,
		Question: s.Process().Asks()}}}, defaults, "ja", s.now)
	expect.That(t, !strings.Contains(fmt.Sprint(tab.Blocks), "reject_process"), "the tab lets who is consulted reject")
}

// The Home tab and /ringi list remind whose request it is of the question that waits.
func TestListsNameTheQuestionThatWaits(t *testing.T) {
	s := asked(received(t), "何社?", "")
	list := func() string { return card.List("ja", card.Summary{Mine: []card.Mine{{Task: s.Aggregate}}}) }
	expect.Has(t, list(), "❓ 質問に回答してください")
	s.act(circulation.Answer, 2, requester.ID, saying("2 社です"))
	expect.That(t, !strings.Contains(list(), "❓"), "%s", list())
}

// So it is of an agent's action: its card, the message about a question, and the forms.
func TestAQuestionAboutAnAction(t *testing.T) {
	c := begunConversation(t)
	x := c.onRoute(threeStages()...)
	g := x.Gate.Circulating()
	st := circulation.Walk(g)
	hand := st.Owes()[0]
	act := circulation.Act{Form: circulation.Form, Kind: circulation.Ask, Hand: hand, Principal: hand, Stage: st.Present,
		At: c.now, Hash: g.AskedSum, Surface: "slack", Text: "なぜ必要ですか"}
	x.Gate = expect.Value(x.Gate.Acted(act))(t)
	for _, locale := range language.All {
		set := tenancy.DefaultSettings()
		set.Locale = locale
		m := card.ConversationCopy(c.Conversation, &aggregate.Card{CardType: aggregate.CardQuestion, User: "U1",
			Subject: aggregate.QuestionSubject(x.Key(), 1)}, set, "", c.now)
		expect.NoError(t, cardtest.Check(m))
		expect.That(t, offers(m, "answer_action"), "no button: %s", drawn(m.Attachments[0].Blocks.BlockSet))
		expect.Has(t, drawn(m.Attachments[0].Blocks.BlockSet), "なぜ必要ですか")
		for _, act := range card.RouteActs {
			of := card.Review{Type: conversation.CardAction, ID: x.ActionID, TaskID: c.Head.SessionID, Stage: 1}
			expect.NoError(t, cardtest.CheckView(c.Conversation.RouteAct(card.RouteAct{Review: of, Kind: act}, locale)))
		}
	}
}

// Who is only consulted consents to what they see whole: of a card that shows steps only in part, in its dialog.
func TestAConsultedStageIsShownWhole(t *testing.T) {
	s := consulting(received(t))
	long := strings.Repeat("長い文。", 5000)
	s.Process().Steps[4].ToolInput = aggregate.JSON(`{"recipient":"U0SATO","details":[],"text":"` + long + `"}`)
	m := render(s.Aggregate, s.card(processCard), "ja", s.now)
	text := jsonOf(m)
	expect.That(t, strings.Contains(text, card.ReviewAction+"process") && !strings.Contains(text, "approve_process"),
		"one click consents to what isn't shown: %s", drawn(m.Attachments[0].Blocks.BlockSet))
}

// The tab lists what somebody is to read, with a button each, behind what waits for them.
func TestTheTabListsWhatIsToBeRead(t *testing.T) {
	s := toRead(received(t))
	to := []card.Waits{{Of: s.Aggregate, Question: s.Process().Asks()}}
	for locale, want := range map[string]string{"ja": "後閲待ち(代理や代決で承認されたもの)", "en": "To read (approved for you)"} {
		tab := card.HomeView(card.Summary{User: takada, Unread: to}, defaults, locale, s.now)
		said := jsonOf(tab.Blocks)
		expect.That(t, strings.Contains(said, want) && strings.Contains(said, `"action_id":"read_after"`), "%s", said)
	}
}

// A question, its answer and the message about it stay with the version that was asked about, however that ended.
func TestAQuestionStaysWithItsVersion(t *testing.T) {
	ends := map[string]func(s *scenario) *scenario{
		"returned": func(s *scenario) *scenario {
			act, by := denial(takada, 2)
			act.Kind = circulation.GiveBack
			return s.do(s.Act(s.Process().ID, act, by, policy, s.now))
		},
		"drafted anew": func(s *scenario) *scenario {
			act, by := denial(takada, 2)
			act.Kind = circulation.SendBack
			return s.do(s.Act(s.Process().ID, act, by, policy, s.now))
		},
		"denied": func(s *scenario) *scenario {
			act, by := denial(takada, 2)
			return s.do(s.Act(s.Process().ID, act, by, policy, s.now))
		},
		"cancelled": func(s *scenario) *scenario { return s.do(s.End(requester, policy, s.now)) },
	}
	for name, end := range ends {
		s := asked(received(t), "納期は?", "来週です")
		answer := s.questionFor(tanaka, 1)
		before := card.Copy(s.Aggregate, answer, defaults, "", s.now).Text
		s = end(s)
		text := s.drawn(processCard)
		expect.That(t, strings.Contains(text, "納期は?") && strings.Contains(text, "来週です"), "%s: %s", name, text)
		next := *s.Process()
		next.Version, next.Gate, next.Steps = next.Version+1, aggregate.Gate{}, fiveSteps()[:2]
		s.Processes = append(s.Processes, &next)
		expect.Is(t, card.Copy(s.Aggregate, answer, defaults, "", s.now).Text, before)
	}
}

// Only who asked reads that their question was answered.
func TestAnAnswerIsToldAsWhoseQuestionItWas(t *testing.T) {
	s := asked(received(t), "納期は?", "来週です")
	for locale, want := range map[string][2]string{"ja": {"質問に回答がありました", "質問は回答済みです"},
		"en": {"Your question was answered", "The question is answered"}} {
		for i, user := range []string{tanaka, requester.ID} {
			expect.Has(t, copied(s, s.questionFor(user, 1), locale).Text, want[i])
		}
	}
}

// The form for an objection says what the stage's rule has follow, and nothing of other rules.
func TestTheFormForAnObjectionSaysWhatFollows(t *testing.T) {
	for locale, says := range map[string]map[circulation.Objection]string{
		"ja": {circulation.ObjectionRaised: "あなたの上の人の確認が加わります。", circulation.ObjectionNoted: "ほかの方の確認は加わりません。"},
		"en": {circulation.ObjectionRaised: "stands above you is asked", circulation.ObjectionNoted: "Nobody else is asked"},
	} {
		for follows, text := range says {
			s := consulting(received(t))
			s.Process().Route.Stages[0].Dissent = follows
			x := card.RouteAct{Kind: circulation.Dissent, Review: card.Review{Type: task.CardProcess, ID: s.Process().ID}}
			form := sent(t, card.DialogsOf(s.Aggregate).RouteAct(x, locale))
			expect.That(t, strings.Contains(form, text), "%s %s: %s", locale, follows, form)
		}
	}
}
