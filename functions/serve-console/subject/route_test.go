package subject_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/subject"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

var asked = time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)

var desk = consoletest.Desk

func gateOf(stages ...circulation.Stage) aggregate.Gate {
	return aggregate.Gate{
		Status: aggregate.PendingApproval, AskedAt: &asked, AskedSum: "hash", Askers: []circulation.Person{{User: "Q"}},
		Terms: aggregate.Terms{ApprovalHours: 72, ApprovalRequired: true,
			Rule: &circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3}},
		Route: &circulation.Route{Form: circulation.Form, Stages: stages},
	}
}

func three() aggregate.Gate {
	return gateOf(desk("課長", 1, "A"), desk("経理", 2, "B", "C", "D"), desk("部長", 1, "E"))
}

// actedOn adds an act a minute after the last one.
func actedOn(t *testing.T, g aggregate.Gate, kind circulation.Kind, stage int, hand string,
	more ...func(*circulation.Act)) aggregate.Gate {
	t.Helper()
	return pipelinetest.Acted(t, g, asked.Add(time.Duration(len(g.Acts)+1)*time.Minute), kind, stage, hand, more...)
}

func reader(locale string) subject.Reader {
	return subject.Reader{Locale: locale, Person: func(id string) string { return "@" + id }, Channel: "#人事"}
}

// drawn is a route as a line, stage by stage.
func drawn(r *subject.Route) string {
	var parts []string
	for _, s := range r.Stages {
		part := strings.TrimSpace(strings.Join([]string{s.Mark, s.Name, s.State, s.Need, s.Owed}, " "))
		for _, p := range s.People {
			if p.Owes {
				part += " ?" + p.Name
			}
		}
		for _, act := range s.Stamps {
			part += " +" + act.By
		}
		if s.End != nil {
			part += fmt.Sprintf(" !%s %s", s.End.By, s.End.Text)
		}
		parts = append(parts, strings.Join(strings.Fields(part), " "))
	}
	return strings.Join(parts, " / ")
}

// A page says of every state of a gate what each stage is, who owes it a stamp and who gave one.
func TestWhereAGateStands(t *testing.T) {
	stamp := circulation.Stamp
	standIn := func(act *circulation.Act) {
		act.Principal.User, act.Found.Delegation = "A", &circulation.Delegation{Key: "Z#A#2026", Rev: 1}
	}
	one := actedOn(t, three(), stamp, 1, "A")
	two := actedOn(t, one, stamp, 2, "B")
	settled := actedOn(t, actedOn(t, two, stamp, 2, "D"), stamp, 3, "E")
	channel := gateOf(desk("課長", 1, "A"), circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1})
	for name, c := range map[string]struct {
		gate   aggregate.Gate
		over   bool
		ja, en string
	}{
		"first": {three(), false, "🔵 課長 いまここ あと1人 ?@A / ⬜ 経理 これから 3 人のうち 2 人の承認が必要 / ⬜ 部長 これから",
			"🔵 課長 Now 1 more needed ?@A / ⬜ 経理 Later 2 of 3 must approve / ⬜ 部長 Later"},
		"middle": {two, false, "✅ 課長 承認済み +@A / 🔵 経理 いまここ 3 人のうち 2 人の承認が必要 あと1人 ?@C ?@D +@B / ⬜ 部長 これから",
			"✅ 課長 Approved +@A / 🔵 経理 Now 2 of 3 must approve 1 more needed ?@C ?@D +@B / ⬜ 部長 Later"},
		"stand-in": {actedOn(t, three(), stamp, 1, "Z", standIn), false,
			"✅ 課長 承認済み +@Z(@Aさんの代理) / 🔵 経理 いまここ 3 人のうち 2 人の承認が必要 あと2人 ?@B ?@C ?@D / ⬜ 部長 これから",
			"✅ 課長 Approved +@Z (for @A) / 🔵 経理 Now 2 of 3 must approve 2 more needed ?@B ?@C ?@D / ⬜ 部長 Later"},
		"sent back": {actedOn(t, two, circulation.SendBack, 2, "C"), false,
			"✅ 課長 承認済み +@A / ↩️ 経理 差し戻し 3 人のうち 2 人の承認が必要 +@B !@C 宛名が違います / ⬜ 部長 承認前に終了",
			"✅ 課長 Approved +@A / ↩️ 経理 Sent back 2 of 3 must approve +@B !@C 宛名が違います / ⬜ 部長 Ended before its turn"},
		"denied": {actedOn(t, three(), circulation.Deny, 1, "A"), false,
			"❌ 課長 却下 !@A 宛名が違います / ⬜ 経理 承認前に終了 3 人のうち 2 人の承認が必要 / ⬜ 部長 承認前に終了",
			"❌ 課長 Rejected !@A 宛名が違います / ⬜ 経理 Ended before its turn 2 of 3 must approve / ⬜ 部長 Ended before its turn"},
		"settled": {settled, false, "✅ 課長 承認済み +@A / ✅ 経理 承認済み 3 人のうち 2 人の承認が必要 +@B +@D / ✅ 部長 承認済み +@E",
			"✅ 課長 Approved +@A / ✅ 経理 Approved 2 of 3 must approve +@B +@D / ✅ 部長 Approved +@E"},
		"cancelled": {two, true, "✅ 課長 承認済み +@A / ⬜ 経理 承認前に終了 3 人のうち 2 人の承認が必要 +@B / ⬜ 部長 承認前に終了",
			"✅ 課長 Approved +@A / ⬜ 経理 Ended before its turn 2 of 3 must approve +@B / ⬜ 部長 Ended before its turn"},
		"channel": {actedOn(t, channel, stamp, 1, "A"), false,
			"✅ 課長 承認済み +@A / 🔵 みんな いまここ #人事 の参加者のうち1人 あと1人",
			"✅ 課長 Approved +@A / 🔵 みんな Now one of the members of #人事 1 more needed"},
	} {
		expect.Same(t, drawn(reader("ja").Route(&c.gate, c.over)), c.ja)
		expect.Same(t, drawn(reader("en").Route(&c.gate, c.over)), c.en)
		t.Log(name)
	}
}

func TestARouteSaysItsRuleAndTimes(t *testing.T) {
	g := actedOn(t, three(), circulation.Stamp, 1, "A")
	g.Route.Tells = "S1"
	r := reader("ja").Route(&g, false)
	expect.Must(t, r.Now != nil && r.Now.Name == "経理", "%+v", r.Now)
	expect.That(t, r.Now.DecideBy.Equal(asked.Add(time.Minute+72*time.Hour)), "%+v", r.Now)
	expect.Same(t, []any{r.Rule, r.Revision, r.Told}, []any{"10万円以上", 3, "S1"})
}

// What can't be walked has no stage, and no line names anybody.
func TestARouteThatCannotBeWalkedIsSaidToBeOne(t *testing.T) {
	for name, change := range map[string]func(g *aggregate.Gate){
		"form":     func(g *aggregate.Gate) { g.Route.Form++ },
		"mode":     func(g *aggregate.Gate) { g.Route.Stages[0].Mode = "together" },
		"act":      func(g *aggregate.Gate) { g.Acts = []circulation.Act{{Form: circulation.Form, Kind: "other"}} },
		"no route": func(g *aggregate.Gate) { g.Route = nil },
	} {
		g := three()
		change(&g)
		r := reader("ja").Route(&g, false)
		expect.That(t, r.Unknown && r.Stages == nil && r.Now == nil && strings.Contains(r.Note, "読み取れない形式"),
			"%s: %+v", name, r)
	}
}

func TestAGateIsNotDrawnBeforeItsRoute(t *testing.T) {
	g := three()
	g.Status, g.Route, g.AskedSum = aggregate.Generating, nil, ""
	r := reader("ja").Route(&g, false)
	expect.That(t, !r.Unknown && r.Note == "回覧先を確認しています。" && r.Stages == nil, "%+v", r)
	expect.That(t, reader("ja").Route(&g, true).Note == "", "it is looked up after its end")
	expect.That(t, reader("ja").Route(&aggregate.Gate{Status: aggregate.PendingApproval}, false) == nil,
		"a gate without a rule has a route")
}

func TestHowSomebodyWasFound(t *testing.T) {
	for via, want := range map[string][2]string{
		"named by the rule":    {"ルールで指定", "named by the rule"},
		"group S0KEIRI":        {"グループ S0KEIRI", "group S0KEIRI"},
		"manager 1 of U1":      {"@U1さんの上長", "manager of @U1"},
		"manager 2 of U1":      {"@U1さんの 2 段上の上長", "manager 2 levels above @U1"},
		"head of sales":        {"sales の長", "head of sales"},
		"an unknown way\u202e": {"an unknown way⟨U+202E⟩", "an unknown way⟨U+202E⟩"},
		"stamped the steps":    {"ステップを承認した人", "approved the steps"},
		"over 課長 of sales":     {"sales の 課長 の上に立つ人", "over 課長 of sales"},
		"":                     {"", ""},
	} {
		g := three()
		g.Route.Stages[0].People[0].Via = via
		for i, locale := range language.All {
			expect.Same(t, reader(locale).Route(&g, false).Stages[0].People[0].Via, want[i])
		}
	}
}
