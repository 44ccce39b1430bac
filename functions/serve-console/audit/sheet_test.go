package audit

import (
	"testing"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	domain "ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

// Anybody may choose their own name: it must not look like further stages or stamps.
func TestANameAddsNothingToAPath(t *testing.T) {
	names := map[string]string{"U1": "田中 → 部長 山田", "U2": "山田・川口 ➔ 社長", "U3": "→", "U4": "Anne O'Neil-Smith (Sales)"}
	s := speaker{words: web.TextsOf("register", "ja"),
		Reader: subject.Reader{Locale: "ja", Person: func(id string) string { return names[id] }}}
	at, stage := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), circulation.Stage{Mode: circulation.ModePeople, Need: 4}
	g := aggregate.Gate{AskedAt: &at, AskedSum: "hash", Terms: aggregate.Terms{ApprovalHours: 1,
		Rule: &circulation.Rule{ID: "r"}}}
	for _, user := range []string{"U1", "U2", "U3", "U4"} {
		p := circulation.Person{User: user}
		stage.People = append(stage.People, p)
		g.Acts = append(g.Acts, circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: p, Principal: p,
			At:    at,
			Stage: 1, Hash: "hash"})
	}
	g.Route = &circulation.Route{Form: circulation.Form, Hands: 4, Stages: []circulation.Stage{stage}}
	expect.Is(t, s.path(&g), "田中 部長 山田・山田 川口 社長・U3・Anne O'Neil-Smith (Sales)")
}

// A path says for whom a stand-in stamped in words that can be read in one way.
func TestAPathSaysForWhomAStandInStamped(t *testing.T) {
	at, hand := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), circulation.Person{User: "U2"}
	stage := circulation.Stage{Name: "課長", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{
		{User: "U1"}}}
	g := aggregate.Gate{AskedAt: &at, AskedSum: "hash", Terms: aggregate.Terms{ApprovalHours: 1,
		Rule: &circulation.Rule{ID: "r"}}, Route: &circulation.Route{Form: circulation.Form, Hands: 1,
		Stages: []circulation.Stage{stage}}, Acts: []circulation.Act{{Form: circulation.Form, Kind: circulation.Stamp,
		Hand: hand, Principal: stage.People[0], At: at, Stage: 1, Hash: "hash",
		Found: circulation.Found{Delegation: &circulation.Delegation{Key: "U2#U1#2026-04-01", Rev: 1}}}}}
	names := map[string]string{"U1": "鈴木 一郎", "U2": "田中 恵"}
	for locale, want := range map[string]string{"ja": "課長 田中 恵(鈴木 一郎さんの代理)", "en": "課長 田中 恵 (for 鈴木 一郎)"} {
		s := speaker{words: web.TextsOf("register", locale),
			Reader: subject.Reader{Locale: locale, Person: func(id string) string { return names[id] }}}
		expect.Is(t, s.path(&g), want)
	}
}

// A path, and the sheet's stamp, say in whose place somebody decided; who is on leave and a vacancy aren't the same.
func TestAPathSaysInWhosePlaceSomebodyDecided(t *testing.T) {
	at := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for via, want := range map[string][2]string{
		"instead of U1: x": {"部長 田中 恵(山田 太郎 さんが不在のため代決)", "部長 田中 恵 (in the place of 山田 太郎 (away))"},
		"instead of leave U1: x": {"部長 田中 恵(山田 太郎 さん(休職・出向中)が不在のため代決)",
			"部長 田中 恵 (in the place of 山田 太郎 (on leave or seconded))"},
		"instead of leave : x": {"部長 田中 恵(担当が休職・出向中のため代決)",
			"部長 田中 恵 (in the place of somebody on leave or seconded)"},
		"above leave U1: x": {"部長 田中 恵(山田 太郎 さん(休職・出向中)が不在のため、その上の人)",
			"部長 田中 恵 (in the place of 山田 太郎 (on leave or seconded))"},
		"instead of vacant: x": {"部長 田中 恵(空席のため代決)", "部長 田中 恵 (as the post is vacant)"},
		"instead of : x":       {"部長 田中 恵(担当不在のため代決)", "部長 田中 恵 (as nobody before in the order is there)"},
	} {
		p := circulation.Person{User: "U2", Via: via}
		g := aggregate.Gate{AskedAt: &at, AskedSum: "hash", Terms: aggregate.Terms{ApprovalHours: 1,
			Rule: &circulation.Rule{ID: "r"}}, Route: &circulation.Route{Form: circulation.Form, Hands: 1,
			Stages: []circulation.Stage{{Name: "部長", Mode: circulation.ModePeople, Need: 1, Filled: "instead",
				People: []circulation.Person{p}}}}, Acts: []circulation.Act{{Form: circulation.Form,
			Kind: circulation.Stamp, Hand: circulation.Person{User: "U2"}, Principal: circulation.Person{User: "U2"}, At: at,
			Stage: 1, Hash: "hash"}}}
		names := map[string]string{"U1": "山田 太郎", "U2": "田中 恵"}
		for i, locale := range language.All {
			s := speaker{words: web.TextsOf("register", locale),
				Reader: subject.Reader{Locale: locale, Person: func(id string) string { return names[id] }}}
			expect.Is(t, s.path(&g), want[i], locale)
			expect.Is(t, "部長 "+s.Route(&g, true).Stages[0].Stamps[0].By, want[i], locale)
		}
	}
}

// The sheet says at the stage itself that a post was vacant: nobody looks up who would have been asked years later.
func TestTheSheetSaysWhichPostWasVacant(t *testing.T) {
	desk := circulation.Stage{Name: "部長", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{
		{User: "U1"}}}
	filled, out := desk, circulation.Stage{Name: "室長", Mode: circulation.ModePeople, LeftOut: rules.LeftVacant}
	filled.Filled = rules.LeftVacant
	renamed, elsewhere := desk, desk
	renamed.Filled, elsewhere.Filled = rules.LeftUnknown, "elsewhere"
	at := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	g := &aggregate.Gate{AskedAt: &at, AskedSum: "hash", Terms: aggregate.Terms{ApprovalHours: 1,
		Rule: &circulation.Rule{ID: "r"}}, Route: &circulation.Route{Form: circulation.Form, Hands: 1,
		Stages: []circulation.Stage{desk, filled, out, renamed, elsewhere}}}
	for locale, want := range map[string][]string{
		"ja": {"", "空席のため、その上の人", "該当者なしのため省略",
			"組織表にない役職のため、その上の人", "依頼した人の上にこの役職がないため、その上の人"},
		"en": {"", "vacant, so who stands above", web.TextsOf("route", "en").In("why", rules.LeftVacant),
			"the organisation’s table doesn’t have the post, so who stands above",
			"no such post stands above the requester, so who does"},
	} {
		by := subject.Reader{Locale: locale, Person: func(id string) string { return id }}
		for i, b := range by.Route(g, true).Stages {
			expect.Is(t, b.Why, want[i], locale, b.Name)
		}
		expect.That(t, want[2] != "", "it has no word")
	}
}

// What was carried out names what it made: an address, or else ids and numbers, but nothing of what only reads.
func TestWhatWasCarriedOutNamesWhatItMade(t *testing.T) {
	at := time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC)
	step := func(id string, access aggregate.Access) domain.Step {
		return domain.Step{StepID: id, Tool: "shop.order", ToolVersion: "v1", Access: access, ToolInput: "{}",
			Mark: &rules.Mark{Version: "v1", Act: rules.ActOrder, How: rules.HowNothing,
				Results: map[string]language.Texts{"/order_number": {"ja": "注文番号"}}}}
	}
	result := func(id, text string) domain.ResultEntry {
		return domain.ResultEntry{StepID: id, Status: domain.StepCompleted,
			Result: &aggregate.Blob{JSON: aggregate.JSON(text)}}
	}
	x := &store.RegisteredTask{Steps: []domain.Step{step("1", aggregate.Read), step("2", aggregate.Write),
		step("3", aggregate.Write), step("4", aggregate.Write), step("5", aggregate.Write)}}
	x.Executed = store.Executed{CompletedAt: &at, Results: []domain.ResultEntry{
		result("1", `{"order_number":"9"}`), result("2", `{"order_number":4500012,"発注番号":"A-7","rows":3,"id":{}}`),
		result("3", `{"url":"https://docs.google.com/spreadsheets/d/1","spreadsheet_id":"1"}`), result("4", `["id"]`),
		{StepID: "5", Status: domain.StepFailed, Result: &aggregate.Blob{JSON: `{"id":"5"}`}},
	}}
	s := speaker{words: web.TextsOf("register", "ja"), Reader: subject.Reader{Locale: "ja"}}
	sum := explain.SumUp("ja", x.Steps)
	got := s.executed(x, sum)
	expect.That(t, got.At.Equal(at) && len(got.Says) > 0, "%+v", got)
	expect.Is(t, got.Made, "注文番号 4500012 · 発注番号 A-7 · https://docs.google.com/spreadsheets/d/1")
	x.Executed.CompletedAt = nil
	expect.That(t, s.executed(x, sum).At.IsZero() && s.executed(x, sum).Text() == "", "it was not carried out")
}

// Exported for the tests of the pages.
const PageSize = auditPage

var Actors = (*Pages).actors

// A sheet says how versions of the steps before the settled one ended.
func TestASheetSaysWhatWentBefore(t *testing.T) {
	at := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	s := speaker{Reader: subject.Reader{Locale: "ja", Person: func(id string) string { return "山田" }},
		words: web.TextsOf("register", "ja")}
	p := &domain.Process{Version: 2}
	expect.Is(t, s.earlier(p), earlier{Version: 2, Ended: "決まらずに、次の版へ"})
	p.Verdict = aggregate.Verdict{RejectedBy: "U1", RejectedAt: &at, RejectionReason: "高い"}
	expect.Is(t, s.earlier(p).Ended, "却下 (作り直し): 山田 「高い」")
	p.Status, p.Acts = aggregate.Rejected, []circulation.Act{{Kind: circulation.GiveBack}}
	expect.Is(t, s.earlier(p).Ended, "差し戻し: 山田 「高い」")
}

// A sheet has the stamp on the policy, and who checked a step before it ran.
func TestASheetHasEveryStamp(t *testing.T) {
	at := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	stamped := func(user string) aggregate.Gate {
		return aggregate.Gate{Status: aggregate.Approved, Verdict: aggregate.Verdict{ApprovedBy: user, ApprovedAt: &at}}
	}
	prompt := &domain.Prompt{ID: "p", Version: 1, Gate: stamped("U1")}
	first, second := &domain.Process{Version: 1, PromptID: "p"}, &domain.Process{Version: 2, PromptID: "p"}
	first.Verdict = aggregate.Verdict{RejectedBy: "U3", RejectedAt: &at, RejectionReason: "多い"}
	a := &domain.Aggregate{Prompts: []*domain.Prompt{prompt}, Processes: []*domain.Process{first, second},
		Gates: []*domain.StepGate{{ProcessVersion: 2, Order: 1, Gate: stamped("U4")}, {ProcessVersion: 1, Order: 1,
			Gate: stamped("U5")}}}
	names := map[string]string{"U1": "鈴木", "U2": "佐藤", "U3": "田中", "U4": "伊藤", "U5": "森"}
	for _, locale := range language.All {
		s := speaker{words: web.TextsOf("register", locale), Reader: subject.Reader{Locale: locale,
			Person: func(id string) string { return names[id] }}}
		d := sheetData{task: a, process: second, prompt: prompt, Policy: "方針"}
		x := &store.RegisteredTask{}
		x.Head.Ended = &domain.Ended{As: domain.TaskCompleted}
		d.draw(x, s)
		d.draw(x, s) // once more changes nothing
		expect.Is(t, *d.Approved, approved{1, "鈴木", at})
		expect.Is(t, len(d.Checks), 1)
		expect.Is(t, d.Checks[0].Step, 1)
		expect.Is(t, d.Checks[0].By[0].By, "伊藤")
		expect.Is(t, len(d.Before), 1)
	}
}

// The register calls the end of a request as Slack and the lists do, with the amount.
func TestALineOfARequestWhoseRouteFindsNobody(t *testing.T) {
	for locale, want := range map[string]string{"ja": "回覧できず終了", "en": "Ended: can’t circulate"} {
		s := speaker{words: web.TextsOf("register", locale), acts: web.TextsOf("approvals", locale),
			Reader: subject.Reader{Locale: locale, Person: func(id string) string { return id }}}
		x := &store.RegisteredTask{Request: domain.Requested{N: 1, TaskID: "t"}}
		x.Head.Glance.Amount = rules.Amount{Value: "312000", Currency: "JPY"}
		x.Head.Ended = &domain.Ended{As: domain.TaskCancelled, Reason: domain.ReasonNoRoute}
		is := s.line(x, explain.SumUp(locale, nil))
		expect.Is(t, is.State, want)
		expect.Is(t, is.Money, "¥312,000")
		x.Head.Ended.As = domain.TaskRefused
		expect.Is(t, s.line(x, explain.SumUp(locale, nil)).State, web.TextsOf("tasks", locale).In("statuses", "refused"))
	}
}
