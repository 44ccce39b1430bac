package explain

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// page is a surface other than Slack.
type page struct{}

func (page) Person(id string) string     { return "[" + id + "]" }
func (page) Group(id string) string      { return "[group " + id + "]" }
func (page) Channel(id string) string    { return "[in " + id + "]" }
func (page) Time(t time.Time) string     { return t.Format(time.DateOnly) }
func (page) Text(s string, _ int) string { return s }

// Texts for pages contain no Slack markup.
func TestAnySurfaceSaysIt(t *testing.T) {
	en := Surface{"en", page{}}
	at := time.Date(2026, 4, 18, 0, 0, 0, 0, time.UTC)
	request := aggregate.Origin{User: "U1", Channel: "C1", ChannelType: "channel"}
	listed := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U2"},
		Usergroups: []string{"S1"}}, AllowSelfApproval: true}
	for got, want := range map[string]string{
		en.Note(fmt.Errorf("approve: %w", aggregate.ErrDecided{Status: "approved", By: "U1",
			At: at})): "[U1] already approved this (2026-04-18).",
		en.Note(aggregate.ErrFull{Count: aggregate.Count{Reason: task.ReasonOpenPerson, Most: 50}}): "(limit 50)",
		en.Note(task.StopError{Reason: task.ReasonToolChanged, Detail: "book"}):                     "(book)",
		en.Note(aggregate.Problem{Field: "slug", Code: "must be short"}):                            "slug must be short",
		en.Note(errors.New("boom")): "Couldn't save.",
		en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}, tenancy.Settings{},
			request): "\n👥 Can approve or reject: the members of [in C1] ([U1] asked for this and can’t approve it)",
		en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}, tenancy.Settings{},
			aggregate.Origin{User: "U1", Channel: "D1", ChannelType: "im"}): "only the requester",
		en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}, listed,
			request): "\n👥 Can do this: [U1] / [U2], [group S1]",
		en.CancelledBefore("U1", at):                      "[U1] cancelled this task (2026-04-18).",
		Surface{"fr", page{}}.Note(aggregate.ErrNotFound): "対象が見つかりません",
	} {
		expect.Has(t, got, want, "want it to contain")
	}
	// Slack may call the channel otherwise by now, which only its card tells.
	outside := en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}, tenancy.Settings{}, request)
	expect.Has(t, outside, "press the button on the card in the channel")
}

// If only the askers could approve, and they may not, no line refers to another approver.
func TestNobodyIsSentToAnApproverWhoIsNotThere(t *testing.T) {
	refused := aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf}
	list := func(users, groups []string) tenancy.Settings {
		return tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}}
	}
	request, direct := aggregate.Origin{User: "U1", Channel: "C1", ChannelType: "channel"}, aggregate.Origin{User: "U1",
		Channel: "D1", ChannelType: "im"}
	for _, x := range []struct {
		name   string
		set    tenancy.Settings
		o      aggregate.Origin
		askers []string
		nobody bool
	}{
		{"a direct message", tenancy.Settings{}, direct, nil, true},
		{"the only one on the list", list([]string{"U1"}, nil), request, nil, true},
		{"all on the list asked for it", list([]string{"U1", "U2"}, nil), request, []string{"U2", "U1"}, true},
		{"a direct message that somebody else asked in", tenancy.Settings{}, direct, []string{"U2"}, false},
		{"another on the list", list([]string{"U1", "U2"}, nil), request, nil, false},
		{"a user group", list([]string{"U1"}, []string{"S1"}), request, nil, false},
		{"a channel", tenancy.Settings{}, request, nil, false},
		{"their own are theirs", tenancy.Settings{AllowSelfApproval: true}, direct, nil, false},
	} {
		for locale, words := range map[string][2]string{"ja": {"承認できる人: 今の設定では、いません", "ほかの承認者に依頼"},
			"en": {"Can approve: nobody (", "Ask another approver"}} {
			s := Surface{locale, page{}}
			who, click := s.WhoDecides(x.set, x.o, x.askers...), s.Refused(refused, x.set, x.o, x.askers...)
			expect.That(t, strings.Contains(who, words[0]) == x.nobody && strings.Contains(click, who) &&
				strings.Contains(click, words[1]) != x.nobody, "%s, %s: %q, at the click %q", x.name, locale, who, click)
		}
	}
}

// A list has room for names only: those of others than the askers, if they may not approve their own request.
func TestDecidersAreNamedInAFewWords(t *testing.T) {
	request := aggregate.Origin{User: "U1", Channel: "C1", ChannelType: "channel"}
	list := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U1", "U2"}}}
	own := list
	own.AllowSelfApproval = true
	s := Surface{"en", page{}}
	expect.Is(t, s.Deciders(list, request), "[U2]")
	expect.Is(t, s.Deciders(own, request), "[U1], [U2]")
	expect.Is(t, s.Deciders(list, request, "U3"), "[U1], [U2]")
	expect.Is(t, s.Deciders(list, request, "U1", "U2"), s.WhoDecides(list, request, "U1", "U2"))
	expect.Same(t, list.Approvers.Users, []string{"U1", "U2"})
}

// Each class of error that clicks return has a note: "Couldn't save" is only said of unknown errors.
func TestEveryClassHasANote(t *testing.T) {
	of := map[Class]error{
		NotFound: aggregate.ErrNotFound, NotAllowed: aggregate.ErrNotAllowed{}, Decided: aggregate.ErrDecided{},
		NotLatest: aggregate.ErrNotLatest{}, InFlight: aggregate.ErrInFlight, Uncovered: aggregate.ErrUncovered,
		NothingToRetry: task.ErrNothingToRetry, MaxAttempts: task.ErrMaxAttempts, MaxRetries: task.ErrMaxRetries,
		Field: aggregate.Problem{}, Full: aggregate.ErrFull{}, Stopped: task.StopError{},
		Unconfirmed: aggregate.ErrUnconfirmed, Conflict: aggregate.ErrConflict, Changed: aggregate.ErrMoved,
		Superseded: aggregate.ErrSuperseded, Unverified: ErrUnverified, MalformedForm: ErrMalformedForm,
	}
	for class, err := range of { // clicks return no others
		for _, locale := range language.All {
			s := Surface{locale, page{}}
			expect.That(t, ClassOf(err) == class && s.Note(err) != s.Note(errors.New("boom")) && s.Note(err) != "",
				"%s: %s has the note of any error", locale, class)
		}
	}
}

func TestEachRuleHasItsSentence(t *testing.T) {
	for _, r := range aggregate.Rules {
		expect.That(t, refusalWordsOf.In("ja").Rules[r] != "", "no sentence for %s", r)
	}
	expect.Is(t, len(refusalWordsOf.In("ja").Rules), len(aggregate.Rules), "rules, the domain")
}

// Every reason for which the fold refuses an act has a sentence in each language, and every sentence a reason.
func TestEveryRefusalOfAnActHasASentence(t *testing.T) {
	source := string(expect.Value(os.ReadFile("../domain/circulation/act.go"))(t))
	known := map[string]bool{"turn_over": true, "author": true, "self_principal": true, "no_channel": true,
		"no_delegation": true, "no_settings": true}
	for _, m := range regexp.MustCompile(`Why\w+ +Why = "(\w+)"`).FindAllStringSubmatch(source, -1) {
		known[m[1]] = m[1] != string(circulation.WhyFound) // whose sentence says what was not found
	}
	expect.That(t, len(known) > 15, "found %d", len(known))
	for _, locale := range language.All {
		for why, has := range known {
			expect.That(t, (refusalWordsOf.In(locale).Acts[why] != "") == has, "%s in %s", why, locale)
		}
		for why := range refusalWordsOf.In(locale).Acts {
			expect.That(t, known[why], "nothing is refused as %s", why)
		}
	}
}

// A sentence names the stage and the people that are asked, and says what holds for who pressed.
func TestARefusalOfAnActSaysWhatHolds(t *testing.T) {
	at := time.Date(2026, 4, 18, 0, 0, 0, 0, time.UTC)
	person := func(user string) circulation.Person { return circulation.Person{User: user} }
	desk := func(name string, need int, users ...string) circulation.Stage {
		s := circulation.Stage{Name: name, Mode: circulation.ModePeople, Need: need}
		for _, user := range users {
			s.People = append(s.People, person(user))
		}
		return s
	}
	gate := circulation.Gate{Rule: &circulation.Rule{ID: "r"}, AskedAt: at, Hours: 1, AskedSum: "h",
		Askers: []circulation.Person{person("U1"), person("U9")},
		Route: &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{
			desk("課長", 1, "U2"), desk("経理", 2, "U3", "U4"), desk("部長", 1, "U5")}}}
	act := func(kind circulation.Kind, stage int, hand string, more ...func(*circulation.Act)) circulation.Act {
		a := circulation.Act{Form: circulation.Form, Kind: kind, Hand: person(hand), Principal: person(hand), At: at,
			Stage: stage, Hash: "h", Surface: "slack"}
		for _, change := range more {
			change(&a)
		}
		return a
	}
	gate.Acts = []circulation.Act{act(circulation.Stamp, 1, "U2")}
	en, request := Surface{"en", page{}}, aggregate.Origin{User: "U1", Channel: "C1", ChannelType: "channel"}
	for _, tc := range []struct {
		act  circulation.Act
		want string
	}{
		{act(circulation.Stamp, 2, "U5"), "It is the turn of 経理 ([U3], [U4]). You will be told when it is yours (部長)."},
		{act(circulation.Stamp, 2, "U2"), "Your stage is over. It is the turn of 経理 ([U3], [U4])."},
		{act(circulation.Stamp, 1, "U3"), "It is now the turn of 経理 ([U3], [U4]). Please decide on the newest card or page."},
		{act(circulation.Stamp, 2, "U7"), "Nothing is asked of you here. It is the turn of 経理 ([U3], [U4])."},
		{act(circulation.Stamp, 2, "U1"),
			"You can't decide on your own request, nor as a stand-in. It is the turn of 経理 ([U3], [U4]). " +
				"To stop it, cancel it."},
		{act(circulation.Stamp, 2, "U7", func(a *circulation.Act) { a.Principal = person("U3") }),
			"You don't stand in for [U3] at this time. Please ask an administrator to set a stand-in."},
		{act(circulation.Stamp, 2, "U3", func(a *circulation.Act) { a.Hash = "other" }), "The content has changed."},
		{act(circulation.Deny, 2, "U3"), "Please give a reason of 1 to 1000 characters."},
	} {
		err := fmt.Errorf("stamp: %w", circulation.Admit(gate, circulation.Walk(gate), tc.act))
		got := en.Refused(err, tenancy.Settings{}, request)
		expect.That(t, strings.HasPrefix(got, tc.want) && !strings.Contains(got, "{"), "%s\nwant %s", got, tc.want)
	}
	hands := &circulation.Refusal{Why: circulation.WhyHands, Missing: 2}
	expect.Has(t, Surface{"ja", page{}}.Note(hands), "別の方の承認があと 2 人必要です", "hands")
	anybody := &circulation.Refusal{Why: circulation.WhyStage, Name: "みんな"}
	expect.Has(t, en.Refused(anybody, tenancy.Settings{}, request), "the turn of みんな (the members of [in C1])",
		"a channel's stage")
}

func TestEveryReasonHasItsOwnSentence(t *testing.T) {
	for _, locale := range language.All {
		w, seen := endWordsOf.In(locale), map[string]aggregate.Reason{}
		for _, r := range task.Reasons {
			text := Ended(locale, r, "", RetryRun)
			expect.That(t, w.Sentences[r] != "" && text != "" && !strings.Contains(text, "{"), "%s: no sentence for %s: %q",
				locale, r, text)
			other, ok := seen[text]
			expect.That(t, !ok, "%s: %s says the same as %s", locale, r, other)
			seen[text] = r
		}
		expect.Is(t, len(w.Sentences), len(task.Reasons), "%s: sentences, the domain has reasons", locale)
	}
}

func TestASentenceNamesItsDetail(t *testing.T) {
	for _, c := range []struct {
		locale string
		reason aggregate.Reason
		detail string
		want   string
	}{
		{"ja", task.ReasonTimeout, "360", "制限時間を超えました (360 秒)。"},
		{"ja", task.ReasonApprovalAged, "14", "承認から 14 日を過ぎています。もう一度依頼してください。"},
		{"ja", task.ReasonStepsNotDone, "2, 3", "(ステップ 2, 3)"},
		{"en", task.ReasonCostLimit, "1.2/1", " (spent $1.2, limit $1)"},
		{"ja", task.ReasonHourPerson, "10", "上限に達しています (上限 10 件)。"},
		{"ja", task.ReasonTooManyPeople, "500/20", "(500 人、上限 20 人)"},
		{"ja", task.ReasonToolFailed, "{detail}", "失敗しました ({detail})。"},
		{"ja", task.ReasonToolFailed, "エラーです(500)。", "エラーです(500)。"},
		{"en", task.ReasonToolFailed, "It didn't respond.", "It didn't respond.\nOnce the service works"},
		{"fr", "brand_new", "", "Ringi の内部で問題が起きました。"},
		{"ja", task.ReasonToolNotAllowed, "send_slack_dm", "許可されていないツールです (send_slack_dm)。"},
		{"ja", task.ReasonTimeout, "step-3", "制限時間を超えました (step-3)。"},
	} {
		expect.Has(t, Ended(c.locale, c.reason, c.detail, RetryRun), c.want, "%s: want it to contain", c.reason)
	}
}

func TestEveryReasonOfAnUnreadFileHasWords(t *testing.T) {
	for _, locale := range language.All {
		expect.Is(t, len(endWordsOf.In(locale).Unread), len(conversation.Causes), "causes in %s", locale)
		for _, cause := range conversation.Causes {
			expect.That(t, endWordsOf.In(locale).Unread[cause] != "", "%s has no words for %s", locale, cause)
		}
		got := Unread(locale, "files.info: file_deleted: the file can't be read")
		expect.That(t, got == endWordsOf.In(locale).Unread[conversation.Unreadable], "%s shows %q", locale, got)
	}
}

func TestEveryRefusalByRulesNamesItsRule(t *testing.T) {
	asIs := func(s string, _ int) string { return s }
	for _, locale := range language.All {
		for _, why := range []aggregate.Reason{
			task.ReasonRuleRefuses, task.ReasonNoRoute, task.ReasonNoDepartment, task.ReasonUnknownPost,
		} {
			e := aggregate.Refusal{Why: why, Rule: circulation.Rule{Name: "外部への書き込み"}, Detail: "経理"}
			said := RefusedByRules(locale, e, asIs)
			expect.That(t, strings.Contains(said, "外部への書き込み") && !strings.ContainsAny(said, "{}"), "%s %s: %q", locale,
				why, said)
			detailed := why == task.ReasonRuleRefuses || why == task.ReasonNoRoute || why == task.ReasonUnknownPost
			expect.Is(t, strings.Contains(said, "経理"), detailed, locale, why)
		}
	}
	none := aggregate.Refusal{Why: task.ReasonRuleRefuses, Rule: circulation.Rule{Name: "その他"}}
	expect.Is(t, RefusedByRules("ja", none, asIs), "ルール「その他」により、この呼び出しはできません。")
}

// Personal data in a vendor's sentence is masked, since cards show it; an unknown recipient is shown, to be corrected.
func TestWhatAVendorSaysIsMasked(t *testing.T) {
	const said = "hanako@example.com (090-1234-5678) は登録されていません"
	for p, want := range map[Problem]string{
		ProblemDenied: "h*****@example.com (***-****-**78)", ProblemNoRecipient: said,
	} {
		expect.Has(t, Fail(p, nil, Freee, said).Say("ja", time.Now()).Detail, want)
	}
}
