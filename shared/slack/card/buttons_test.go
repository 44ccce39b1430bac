package card_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// click makes the decision that a button's action_id stands for, as the interaction's handler does.
func click(s *scenario, b pressed) error {
	if kind, ok := strings.CutPrefix(b.ActionID, card.ReviewAction); ok {
		r := card.Review{Type: aggregate.CardType(kind), ID: b.Value, TaskID: s.Head.TaskID}
		for _, g := range s.Gates { // as the handler reads large arguments
			if g.ID == b.Value && g.Arguments.JSON == "" {
				g.Arguments.JSON = "{}"
			}
		}
		view, ok := card.DialogsOf(s.Aggregate).Review(r, "ja")
		if !ok || view.Submit == nil {
			return fmt.Errorf("the dialog can't be submitted")
		}
		if err := json.Unmarshal([]byte(view.PrivateMetadata), &r); err != nil {
			return err
		}
		_, err := decide.Shown(r.Type, r.Hash, decide.Approve)(s, r.ID, approver, policy, s.now)
		return err
	}
	_, _, hash, _ := card.Subject(b.block)
	switch verb, kind, _ := strings.Cut(b.ActionID, "_"); {
	case verb == "approve":
		_, err := decide.Shown(aggregate.CardType(kind), hash, decide.Approve)(s, b.Value, approver, policy, s.now)
		return err
	case verb == "refill":
		return s.MayRefill(b.Value, requester, policy)
	case verb == "reject":
		back := decide.Reject("検証を追加してください")
		_, err := decide.Shown(aggregate.CardType(kind), hash, back)(s, b.Value, approver, policy, s.now)
		return err
	}
	act, by := decide.Buttons()[b.ActionID].Act, approver
	if b.ActionID == card.Withdraw {
		act, by = decide.End().Act, requester
	}
	_, err := act(s.Aggregate, b.Value, by, policy, s.now)
	return err
}

// pressed is a button and the block_id that Slack sends with it.
type pressed struct {
	*slack.ButtonBlockElement
	block string
}

func buttons(m card.Message) (out []pressed) {
	if len(m.Attachments) == 0 { // a plain reply
		return nil
	}
	for _, b := range m.Attachments[0].Blocks.BlockSet {
		if a, ok := b.(*slack.ActionBlock); ok {
			for _, e := range a.Elements.ElementSet {
				out = append(out, pressed{e.(*slack.ButtonBlockElement), a.BlockID})
			}
		}
	}
	return out
}

// TestEveryButtonWorks: every action that a card offers succeeds, on every card of the task in every state.
func TestEveryButtonWorks(t *testing.T) {
	for _, st := range states { // a stamp under a rule names its stage
		t.Run(st.name, func(t *testing.T) {
			s := st.scenario(t)
			for _, c := range s.Cards {
				for _, b := range buttons(render(s.Aggregate, c, "ja", s.now)) {
					err := click(s, b)
					expect.That(t, err == nil, "%s offers %s %s: %v", c.Key(), b.ActionID, b.Value, err)
				}
			}
		})
	}
}

// TestWhatCanBeDoneIsOffered: every action that waits for a person has its button on exactly one card.
func TestWhatCanBeDoneIsOffered(t *testing.T) {
	for _, st := range states {
		t.Run(st.name, func(t *testing.T) {
			s := st.scenario(t)
			offered := map[string]int{}
			for _, c := range s.Cards {
				for _, b := range buttons(render(s.Aggregate, c, "ja", s.now)) {
					offered[b.ActionID+" "+b.Value]++
				}
			}
			want := map[string]int{}
			for _, x := range s.Offers() {
				name := string(x.Act)
				switch {
				case x.Act == task.ActCancelTask: // it is in Slack's menu of a message
					continue
				case x.Act == aggregate.ActApprove && st.name == "process_pending_unread": // nobody knows what it would do
					continue
				case x.Act == aggregate.ActApprove && offered[card.ReviewAction+string(x.Kind)+" "+x.ID] > 0: // it is cut
					name = card.ReviewAction + string(x.Kind)
				case x.Kind != "":
					name += "_" + string(x.Kind)
				}
				want[name+" "+x.ID] = 1
			}
			if s.Returned() != nil { // beside the menu
				want[card.Withdraw+" "+s.Head.TaskID] = 1
			}
			for b, n := range want {
				expect.That(t, offered[b] == n, "%s is offered %d times", b, offered[b])
			}
			expect.That(t, len(offered) == len(want), "offered %v, want %v", offered, want)
		})
	}
}

// What nobody can read is approved on no surface: not at a step's check, or by a click that is older.
func TestWhatNobodyCanReadIsApprovedNowhere(t *testing.T) {
	s := planned(t, unreadSteps(), defaults)
	_, err := decide.Approve(s.Aggregate, s.Process().ID, approver, policy, s.now)
	expect.That(t, errors.Is(err, aggregate.ErrNotAllowed{Rule: aggregate.RuleUnread}), "a click approves it: %v", err)
	s = calling(t, "send_slack_dm", `{"recipient":"U0SATO","text":"x","details":[]}`, `["U0EVIL"]`)
	m, _ := s.shown(stepCard)
	expect.That(t, !strings.Contains(expect.JSON(m), "approve_step"), "the check approves it")
	expect.Has(t, drawn(m.Attachments[0].Blocks.BlockSet), "引数を読み取れないため")
	_, err = decide.Approve(s.Aggregate, s.Gates[0].ID, approver, policy, s.now)
	expect.That(t, errors.Is(err, aggregate.ErrNotAllowed{Rule: aggregate.RuleUnread}), "a click approves it: %v", err)
}

// What the console can do about something stands beside it: the contest that goes on, the mistake of a team's file, and
// who stands in for somebody who has left.
func TestCardsLinkThePageThatHelps(t *testing.T) {
	mistaken := received(t).extracted().drafting()
	mistaken.do(mistaken.SkipContest(mistaken.Head.Run, "configs/contest.toml", task.ContestFiles,
		"configs/contest.toml: teams: 10", mistaken.now))
	mistaken.drafts(content, defaults)
	around := card.Around{Console: "https://x.example/console"}
	drafts := received(t).extracted().contested()
	waits := expect.JSON(card.Render(drafts.Aggregate, drafts.card(promptCard), defaults, around, drafts.now))
	expect.Has(t, waits, "ほかの案と比べる (1)")
	expect.Has(t, waits, `"url":"https://x.example/console/tasks/`+drafts.Head.TaskID+`"`)
	for want, tt := range map[string]struct {
		s    *scenario
		card string
	}{
		"https://x.example/console/contests/execution|": {
			received(t).extracted().contesting(), promptCard},
		"管理者に知らせてください · <https://x.example/console/tasks/" + mistaken.Head.TaskID + "|開く>": {mistaken, promptCard},
		"<@" + yamada + "> さん (<https://x.example/console/stand-ins|代理を決める>)":              {stuck(received(t)), processCard},
	} {
		m := card.Render(tt.s.Aggregate, tt.s.card(tt.card), defaults, around, tt.s.now)
		said := drawn(m.Attachments[0].Blocks.BlockSet)
		expect.Has(t, said, want)
		expect.That(t, !strings.Contains(said, "contest.toml"), "an approver reads %s", said)
	}
	expect.Has(t, explain.DraftedAlone(mistaken.Prompt(), "ja"), "管理者に知らせてください (configs/contest.toml: teams: 10)")
}

// TestAnEndedTaskSaysSo: some card says how the task ended, whatever its state was.
func TestAnEndedTaskSaysSo(t *testing.T) {
	for _, st := range states {
		t.Run(st.name, func(t *testing.T) {
			s := st.scenario(t)
			grey, failed := 0, 0
			for _, c := range s.Cards {
				m := render(s.Aggregate, c, "ja", s.now)
				if e := s.Head.Ended; e != nil && e.As == task.TaskAnswered {
					continue // a reply says what it does
				}
				switch m.Attachments[0].Color {
				case "#888888":
					grey++
				case "#e01e5a":
					failed++
				}
			}
			switch e := s.Head.Ended; {
			case e == nil || e.As == task.TaskCompleted || e.As == task.TaskAnswered:
				expect.That(t, grey <= 0, "%d grey cards of a task that was not cancelled", grey)
			case e.Reason == task.ReasonMaxVersions || e.As == task.TaskFailed:
				expect.That(t, failed != 0, "no card is red, and the task ended as %s: %s", e.As, e.Reason)
			case grey == 0:
				t.Errorf("no card is grey, and the task ended as %s: %s", e.As, e.Reason)
			}
		})
	}
}

// If not all waiting items were read, Home neither says that nothing waits nor gives a total.
func TestASummaryCountsOnlyWhatWasLookedAt(t *testing.T) {
	w := card.Waits{Of: received(t).extracted().Aggregate, Question: aggregate.Question{Kind: task.CardPrompt, Version: 1}}
	many := slices.Repeat([]card.Waits{w}, 50)
	for _, x := range []struct {
		in    card.Summary
		says  []string
		whole bool
	}{
		{card.Summary{Looked: 1000}, []string{"1000 件だけを確認しました。"}, false},
		{card.Summary{Looked: 60, Waiting: many}, []string{"ほか 30+ 件", "60 件だけ"}, false},
		{card.Summary{}, []string{"(0 件)", "承認待ちのものはありません。"}, true},
		{card.Summary{Waiting: many}, []string{"(50 件)", "ほか "}, true},
	} {
		home := expect.JSON(card.HomeView(x.in, tenancy.DefaultSettings(), "ja"))
		for _, want := range x.says {
			expect.Has(t, home, want)
		}
		for _, no := range []string{"(0 件", "(50 件)", "承認待ちのものはありません。"} {
			expect.That(t, x.whole || !strings.Contains(home, no), "%q: %.400s", no, home)
		}
	}
}

// formOf is the rejection's form of a task's gate at a stage.
func (s *scenario) formOf(kind aggregate.CardType, id string, stage int, locale string) slack.ModalViewRequest {
	of := card.Review{Type: kind, ID: id, TaskID: s.Head.TaskID, Stage: stage}
	return card.DialogsOf(s.Aggregate).Rejection(of, locale)
}

// rejectionForms are the forms of gates under a rule.
func rejectionForms(t *testing.T, locale string) map[string]slack.ModalViewRequest {
	t.Helper()
	first := onRoute(received(t), threeStages()...)
	stamped := onRoute(received(t), threeStages()...).act(circulation.Stamp, 1, takada, standingFor(suzuki))
	stamped.stamps(2, tanaka, mori)
	last := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	last.Process().Terms.MaxVersions = 1
	step := gated(t, arguments)
	routed(&step.Gates[0].Gate, step.now, desk("部長", 1, yamada))
	form := byForm(received(t))
	routed(&form.Process().Gate, form.now, threeStages()...)
	back := card.Review{Type: task.CardProcess, ID: form.Process().ID, TaskID: form.Head.TaskID, Stage: 1}
	return map[string]slack.ModalViewRequest{
		"returned": card.DialogsOf(form.Aggregate).Rejection(back, locale),
		"first":    first.formOf(task.CardProcess, first.Process().ID, 1, locale),
		"stamped":  stamped.formOf(task.CardProcess, stamped.Process().ID, 3, locale),
		"last":     last.formOf(task.CardProcess, last.Process().ID, 2, locale),
		"step":     step.formOf(task.CardStep, step.Gates[0].ID, 1, locale),
		"more":     first.moreOf(first.Process().ID, true, locale),
		"deny":     first.moreOf(first.Process().ID, false, locale),
		"cancel":   step.moreOf(step.Gates[0].ID, true, locale),
		"policy": func() slack.ModalViewRequest {
			s := received(t).extracted().drafted(defaults)
			s.Prompt().Terms.MaxVersions = 1
			return s.formOf(task.CardPrompt, s.Prompt().ID, 0, locale)
		}(),
	}
}

// moreOf is the dialog with what else people may do at the first stage of steps.
func (s *scenario) moreOf(id string, cancel bool, locale string) slack.ModalViewRequest {
	of := card.Review{Type: s.Asked(id).Kind, ID: id, TaskID: s.Head.TaskID, Stage: 1}
	return card.DialogsOf(s.Aggregate).More(of, true, cancel, locale)
}

// filled answers a form's fields with a reason and a choice.
func filled(reason, then string) func(block, input string) string {
	return func(block, input string) string {
		switch block + "/" + input {
		case card.ReasonBlock + "/" + card.ReasonInput:
			return reason
		case card.ThenBlock + "/" + card.ThenInput:
			return then
		}
		return ""
	}
}

// What comes back from a form names the gate, the stage and what was asked, as the person saw them, and their choice.
func TestWhatComesBackFromARejection(t *testing.T) {
	forms := rejectionForms(t, "ja")
	read := func(name, then string) (card.Rejected, bool) {
		v := forms[name]
		return card.ReadRejection(v.PrivateMetadata, filled("宛名が違う", then))
	}
	for _, tc := range []struct {
		form, then string
		typ        aggregate.CardType
		stage      int
		kind       circulation.Kind
		ok         bool
	}{
		{"first", "", task.CardProcess, 1, circulation.SendBack, true},
		{"first", "deny", task.CardProcess, 1, circulation.SendBack, true},
		{"stamped", "", task.CardProcess, 3, circulation.SendBack, true},
		{"last", "", task.CardProcess, 2, circulation.Deny, true},
		{"step", "", task.CardStep, 1, circulation.Deny, true},
		{"returned", "", task.CardProcess, 1, circulation.SendBack, true},
		{"more", "deny", task.CardProcess, 1, circulation.Deny, true},
		{"more", "cancel", task.CardProcess, 1, card.Cancels, true},
		{"more", "stamp", task.CardProcess, 1, "stamp", false},
		{"more", "", task.CardProcess, 1, "", false},
		{"deny", "", task.CardProcess, 1, circulation.Deny, true},
		{"cancel", "", task.CardStep, 1, card.Cancels, true},
	} {
		r, ok := read(tc.form, tc.then)
		expect.Same(t, []any{tc.typ, tc.stage, tc.kind, "宛名が違う", "hash", tc.ok},
			[]any{r.Type, r.Stage, r.Then, r.Reason, r.Asked, ok})
		expect.That(t, r.ID != "" && r.TaskID != "", "%s: %+v", tc.form, r)
	}
}

// A form without a stage is of a gate without a rule, and one that no release draws is none.
func TestOtherFormsThatComeBack(t *testing.T) {
	v := card.DialogsOf(nil).Rejection(card.Review{Type: task.CardPrompt, ID: "01P", TaskID: "01T"}, "ja")
	r, ok := card.ReadRejection(v.PrivateMetadata, filled("短く", "deny"))
	expect.That(t, ok, "the seed's form")
	expect.Same(t, card.Rejected{Rejection: card.Rejection{Type: task.CardPrompt, TaskID: "01T", ID: "01P",
		Then: circulation.SendBack}, Reason: "短く"}, r)
	about := func(v any) string { return expect.JSON(v) }
	for name, form := range map[string]string{
		"no JSON":           "{",
		"another type":      about(card.Rejection{Type: task.CardTask, ID: "01P"}),
		"a stage below 0":   about(card.Rejection{Type: task.CardStep, Stage: -1, Asked: "h"}),
		"nothing asked":     about(card.Rejection{Type: task.CardStep, ID: "01P", Stage: 1}),
		"denied by no rule": about(card.Rejection{Type: task.CardStep, ID: "01P", Then: circulation.Deny}),
	} {
		_, ok := card.ReadRejection(form, filled("短く", "deny"))
		expect.That(t, !ok, "%s is taken", name)
	}
}

// denied brings a task to its end by a denial at the second stage.
func denied(t testing.TB) *scenario {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	who := circulation.Person{User: mori}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: mori, Team: "T1", Member: true}
	act := circulation.Act{Kind: circulation.Deny, Hand: who, Principal: who, Stage: 2, Hash: "hash",
		Text: "見積書の宛名が違います"}
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

// A task that was rejected and ended says so on the Home tab, too, and a torn load of it promises no other version.
func TestADeniedTaskSaysThatItWasRejectedForGood(t *testing.T) {
	for locale, words := range map[string][2]string{"ja": {"却下して終了", "再生成"}, "en": {"ejected and ended", "rewrit"}} {
		s := denied(t)
		home := card.HomeView(card.Summary{Mine: []card.Mine{{Task: s.Aggregate}}}, defaults, locale)
		expect.Has(t, drawn(home.Blocks.BlockSet), words[0], "Home")
		s.Head.Ended = nil // a load that mixes two commits
		text := drawn(render(s.Aggregate, s.card(processCard), locale, s.now).Attachments[0].Blocks.BlockSet)
		expect.That(t, !strings.Contains(text, words[1]), "another version is promised: %s", text)
	}
}

// namedButton finds a name in brackets or quotation marks, and what stands before it in its sentence.
var namedButton = regexp.MustCompile(`([^。.\n]*?)(?:\[([^\]]+)\]|「([^」]+)」|“([^”]+)”)`)

// elsewhere are words by which a sentence says where a button is that isn't on its own card.
var elsewhere = map[string][]string{"ja": {"カード", "コンソール", "ホームタブ", "メニュー"},
	"en": {"card", "console", "Home tab", "menu"}}

// A sentence that names a button names one of its own card or dialog, or says where it is.
func TestNoSentenceNamesAButtonThatIsNotThere(t *testing.T) {
	bare := func(label string) string { return strings.TrimLeft(label, "✅❌⏹️🔄🔁📄💬🧭📝🔎 ") }
	for _, locale := range language.All {
		of, all := map[string]map[string]bool{}, map[string]bool{}
		drawn := map[string][]string{}
		for name, v := range looks(t, locale) {
			of[name] = map[string]bool{}
			visit(decoded(t, v), func(v any) {
				x, is := v.(map[string]any)
				if !is {
					return
				}
				text, _ := x["text"].(map[string]any)
				label, _ := text["text"].(string)
				said, _ := x["text"].(string)
				_, option := x["value"]
				switch kind := x["type"]; {
				case kind == "button" || option:
					of[name][bare(label)], all[bare(label)] = true, true
				case kind == "mrkdwn" || kind == nil:
					drawn[name] = append(drawn[name], said)
				}
				if submit, is := x["submit"].(map[string]any); is {
					label, _ := submit["text"].(string)
					of[name][bare(label)], all[bare(label)] = true, true
				}
			})
		}
		named := 0
		for name, texts := range drawn {
			text := strings.Join(texts, "\n")
			for _, at := range namedButton.FindAllStringSubmatchIndex(text, -1) {
				m := namedButton.FindStringSubmatch(text[at[0]:at[1]])
				after := strings.FieldsFunc(text[at[1]:]+" ", func(r rune) bool { return strings.ContainsRune(".。\n", r) })
				label, says := bare(m[2]+m[3]+m[4]), false
				if !all[label] {
					continue
				}
				named++
				for _, word := range elsewhere[locale] {
					says = says || strings.Contains(m[1]+after[0], word)
				}
				expect.That(t, of[name][label] || says, "%s %s names %q, which it lacks: %s", locale, name, label, m[0])
			}
		}
		expect.That(t, all["承認"] || all["Approve"], "%s: no labels were found", locale)
		expect.That(t, named >= 10, "%s: looked at %d names", locale, named)
	}
}

func visit(v any, see func(any)) {
	see(v)
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			visit(e, see)
		}
	case map[string]any:
		for _, e := range v {
			visit(e, see)
		}
	}
}
