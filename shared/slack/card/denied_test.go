package card_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// denial is an act of somebody who rejects for good, on a gate that is asked about as "hash".
func denial(user string, stage int) (circulation.Act, aggregate.Actor) {
	who := circulation.Person{User: user}
	act := circulation.Act{Kind: circulation.Deny, Hand: who, Principal: who, Stage: stage, Hash: "hash",
		Text: "見積書の宛名が違います"}
	return act, aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: "T1", Member: true}
}

// denied brings a task to its end by a denial at the second stage.
func denied(t testing.TB) *scenario {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	s.Head.Opens(s.Process().Key(), &s.Process().Gate)
	act, by := denial(mori, 2)
	return s.do(s.Act(s.Process().ID, act, by, policy, s.now))
}

// deniedCards are all cards and copies of such a task, and its summary.
func deniedCards(t *testing.T, locale string) map[string]card.Message {
	s := denied(t)
	all := map[string]card.Message{"copy": copied(s, s.copyOf(mori, 2), locale),
		"copy_of_another": copied(s, s.copyOf(tanaka, 2), locale),
		"outcome":         copied(s, &aggregate.Card{CardType: task.CardOutcome}, locale)}
	for name, key := range map[string]string{"task": taskCard, "prompt": promptCard, "process": processCard} {
		all[name] = render(s.Aggregate, s.card(key), locale, s.now)
	}
	return all
}

// A task that was rejected for good says so on all its cards and copies, in its summary and on the Home tab.
func TestADeniedTaskSaysThatItWasRejectedForGood(t *testing.T) {
	words := map[string]string{"ja": "却下して終了", "en": "ejected for good"}
	others := map[string][]string{"ja": {"再生成", "キャンセル", "差し戻しの残り"}, "en": {"rewrit", "ancelled", "Send-backs"}}
	for _, locale := range language.All {
		for name, m := range deniedCards(t, locale) {
			text := m.Text + drawn(m.Attachments[0].Blocks.BlockSet)
			expect.Has(t, text, words[locale], name)
			for _, other := range others[locale] {
				expect.That(t, !strings.Contains(text, other), "%s says %q: %s", name, other, text)
			}
		}
		s := denied(t)
		home := card.HomeView(card.Summary{Mine: []card.Mine{{Task: s.Aggregate}}}, defaults, locale, s.now)
		expect.Has(t, drawn(home.Blocks.BlockSet), words[locale], "Home")
		s.Head.Ended = nil // a load that mixes two commits
		m := render(s.Aggregate, s.card(processCard), locale, s.now)
		text := drawn(m.Attachments[0].Blocks.BlockSet)
		expect.That(t, !strings.Contains(text, others[locale][0]), "another version is promised: %s", text)
	}
}

// rejectedActions are actions of which one was rejected for good and one sent back, which differ. Their copies say the
// same.
func rejectedActions(t *testing.T, locale string) map[string]card.Message {
	all := map[string]card.Message{}
	for _, kind := range []circulation.Kind{circulation.Deny, circulation.SendBack} {
		c := begunConversation(t)
		c.Conversation.Conversation.Locale = locale
		x := c.onRoute(threeStages()...)
		act, by := denial(suzuki, 1)
		act.Kind = kind
		c.Conversation.Head.Opens(x.Key(), &x.Gate)
		c.do(c.Act(x.ActionID, act, by, anyMember, c.now))
		k := &aggregate.Card{CardType: conversation.CardAction, Subject: x.Key()}
		m := card.RenderConversation(c.Conversation, k, defaults, c.now)
		all[string(kind)] = m
		k.User, k.Stage = suzuki, 1
		expect.Is(t, card.ConversationCopy(c.Conversation, k, defaults, "", c.now).Text, m.Text)
	}
	return all
}

// Whoever asked is told by which rule it was refused, and what the rule says, before and after the request is accepted.
func TestACardSaysWhichRuleRefused(t *testing.T) {
	words := map[string][]string{
		"ja": {"ルール「社外への連絡」により、この依頼は受け付けられません。広報に頼んでください。", "システム"},
		"en": {"Rule “社外への連絡” refuses this. 広報に頼んでください。", "System"},
	}
	no := task.Refusal{Why: task.ReasonRuleRefuses, Rule: circulation.Rule{Name: "社外への連絡"}, Detail: "広報に頼んでください。"}
	for _, locale := range language.All {
		for _, s := range []*scenario{received(t), received(t).extracted().drafting()} {
			s = s.do(s.RefuseByRule(s.Head.Run, no, defaults, s.now))
			text := drawn(render(s.Aggregate, s.card(taskCard), locale, s.now).Attachments[0].Blocks.BlockSet)
			expect.Has(t, text, words[locale][0])
			expect.That(t, !strings.Contains(text, words[locale][1]), "%s", text)
		}
	}
}
