package explain

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Every reason for which the fold refuses an act has a sentence in each language, and every sentence a reason.
func TestEveryRefusalOfAnActHasASentence(t *testing.T) {
	source := string(expect.Value(os.ReadFile("../domain/circulation/refusal.go"))(t))
	known := map[string]bool{"turn_over": true, "author": true, "self_principal": true, "self_successor": true,
		"no_organisation": true, "no_channel": true, "no_delegation": true, "no_admin": true, "no_successor": true,
		"no_others": true, "period": true, "no_below": true, "no_employee": true,
		"only_employees": true}
	for _, m := range regexp.MustCompile(`Why\w+ +Why = "(\w+)"`).FindAllStringSubmatch(source, -1) {
		known[m[1]] = m[1] != string(circulation.WhyFound) // whose sentence says what was not found
	}
	expect.That(t, len(known) > 20, "found %d", len(known))
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
	gate := circulation.Gate{Rule: &circulation.Rule{ID: "r"}, AskedAt: at, Hours: 1, Asked: "h",
		Askers: []circulation.Person{person("U1"), person("U9")},
		Route: &circulation.Route{Form: circulation.Form, Hands: 2, Stages: []circulation.Stage{
			desk("課長", 1, "U2"), desk("経理", 2, "U3", "U4"), desk("部長", 1, "U5")}}}
	act := func(kind circulation.Kind, stage int, hand string, more ...func(*circulation.Act)) circulation.Act {
		a := circulation.Act{Form: circulation.Form, Kind: kind, Hand: person(hand), Principal: person(hand), At: at, Stage: stage,
			Hash: "h", Surface: "slack"}
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
		{act(circulation.Stamp, 2, "U5"), "It is 経理's turn ([U3], [U4]). You will be told when it is yours (部長)."},
		{act(circulation.Stamp, 2, "U2"), "Your stage is over. It is 経理's turn ([U3], [U4])."},
		{act(circulation.Stamp, 1, "U3"), "It is 経理's turn ([U3], [U4]). Please try again from the newest card."},
		{act(circulation.Stamp, 2, "U7"), "Nothing is asked of you here. It is 経理's turn ([U3], [U4])."},
		{act(circulation.Stamp, 2, "U1"), "This is your own request; you can't stamp it, nor as a stand-in."},
		{act(circulation.Stamp, 2, "U9"), "This version was made by your words, so somebody else has to stamp it."},
		{act(circulation.Stamp, 2, "U7", func(a *circulation.Act) { a.Principal = person("U3") }),
			"You don't stand in for [U3] at this time. Please ask an administrator to reassign it."},
		{act(circulation.Stamp, 2, "U7", func(a *circulation.Act) { a.Principal = person("U1") }),
			"[U1] asked for this (or this version was made by their words), so you can't stamp it as their stand-in."},
		{act(circulation.Stand, 2, "U7", func(a *circulation.Act) {
			from, to := person("U3"), person("U1")
			to.Via = "group S1"
			a.For, a.To, a.Text = &from, &to, "left"
			a.Found = circulation.Found{Admin: &circulation.Admin{Key: "TENANT", Rev: 1}, Resolved: to.Via}
		}), "Whoever asked can't be a successor. Please choose somebody else."},
		{act(circulation.TakeBack, 2, "U3"), "There is no stamp to take back."},
		{act(circulation.Stamp, 2, "U3", func(a *circulation.Act) { a.Hash = "other" }), "The content has changed."},
		{act(circulation.Deny, 2, "U3"), "Please give a reason of 1 to 1000 characters."},
		{act(circulation.Stand, 2, "U7", func(a *circulation.Act) { a.Text, a.For, a.To = "left", new(person("U3")), new(person("U8")) }),
			"Only administrators can reassign what is asked."},
		{act(circulation.Stand, 2, "U7", func(a *circulation.Act) {
			a.Text, a.For, a.To, a.Found.Admin = "left", new(person("U3")), new(person("U8")), &circulation.Admin{Key: "TENANT", Rev: 1}
		}), "The successor is neither whom the rule finds today nor stands above."},
		{act(circulation.Stamp, 2, "U3", func(a *circulation.Act) { a.Form = 9 }), "This version of Ringi can't read"},
	} {
		err := fmt.Errorf("stamp: %w", circulation.Admit(gate, circulation.Walk(gate), tc.act))
		got := en.Refused(err, tenancy.Settings{}, request)
		expect.That(t, strings.HasPrefix(got, tc.want) && !strings.Contains(got, "{"), "%s\nwant %s", got, tc.want)
	}
	hands := &circulation.Refusal{Why: circulation.WhyHands, Missing: 2}
	expect.Has(t, Surface{"ja", page{}}.Note(hands), "別の方の承認があと 2 人必要です", "hands")
	anybody := &circulation.Refusal{Why: circulation.WhyStage, Name: "みんな"}
	expect.Has(t, en.Refused(anybody, tenancy.Settings{}, request), "みんな's turn (members of [in C1])", "a channel's stage")
}

// A stamp that the next stage has followed is kept, and the sentence names that stage, not the one that is asked now.
func TestATooLateTakeBackNamesTheStageThatStamped(t *testing.T) {
	next := &circulation.Refusal{Why: circulation.WhyNext, Stage: 2, Name: "経理"}
	expect.Is(t, Surface{"en", page{}}.Note(next),
		"経理 has stamped (or execution has begun), so it can't be taken back. To stop it, reject or cancel.", "en")
	expect.Is(t, Surface{"ja", page{}}.Note(next),
		"次の 経理 の承認(または実行)が始まったため、引き戻せません。止めるには却下または中止を使ってください。", "ja")
}
