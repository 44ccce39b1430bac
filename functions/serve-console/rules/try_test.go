package rules_test

import (
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Kinds by which rules tell requests apart are asked, and one that a tool has is unknown as long as it isn't typed.
func testTheKindOfARequest(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(path).Lacks(t, "try.labels")
	of := func(name, user string, kinds ...string) (r rules.Rule) {
		r.ID, r.Name, r.Route = aggregate.NewID(), name, &rules.Policy{Stages: []rules.Stage{{Name: name, Need: 1,
			Who: rules.Who{Kind: rules.WhoPeople, People: []string{user}}}}}
		if kinds != nil {
			r.When.Labels = []rules.Labelled{{Name: "費目", List: kinds}}
		}
		return r
	}
	saved(w, &rules.Rules{Form: rules.Form, Rules: []rules.Rule{
		of("交際", webapi.Tanaka, "交際費", "会議費"), of("ほか", webapi.Alex)}})
	try := func(kinds string) consoletest.Answer {
		return b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "佐藤",
			"try.labels.0", kinds)).Says(t, 200, "費目")
	}
	try("会議費").Says(t, 200, "ルール 1「交際」: 今日 佐藤 花子 さんが依頼すると: 田中 恵 交際").Holds(t, `name="try.labels.0"`, `value="会議費"`)
	try("旅費").Says(t, 200, "どのルールにも挙がっていない")
	try("").Says(t, 200, "ルール 2「ほか」: 今日")
	p := tenancy.ToolPermission{TenantID: w.Tenant.ID, ToolName: "send_slack_dm", Allowed: true, Mark: &rules.Mark{
		Version: "1", How: rules.HowNothing, LabelledBy: []rules.Label{{Name: "費目", Pointer: "/text"}}}}
	expect.Value(w.Store.SaveToolPermission(t.Context(), p, w.By, w.Now()))(t)
	try("").Says(t, 200, "ルール 1「交際」: 費目の値が分からないか、どのルールにも挙がっていないため、依頼を断ります。")
	b.In("en").Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "佐藤")).Says(t, 200,
		"It is refused, because the value of 費目 isn’t known, or no rule lists it.")
}

// A decision is tried as the form makes it: by its own fields, and never by labels that the form has not.
func testADecisionIsTriedByItsForm(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	of := func(name, user string, when rules.Conditions) rules.Rule {
		return rules.Rule{ID: aggregate.NewID(), Name: name, When: when, Outcome: rules.Outcome{Route: &rules.Policy{
			Stages: []rules.Stage{{Name: name, Need: 1, Who: rules.Who{Kind: rules.WhoPeople, People: []string{user}}}}}}}
	}
	labels := func(name, value string) rules.Conditions {
		return rules.Conditions{Labels: []rules.Labelled{{Name: name, List: []string{value}}}}
	}
	saved(w, &rules.Rules{Form: rules.Form, Rules: []rules.Rule{
		of("契約", webapi.Tanaka, labels("区分", "契約")),
		of("小口", webapi.Tanaka, rules.Conditions{Amount: &rules.Between{Below: "10000", Currency: "JPY"}}),
		of("ほかの区分", webapi.Tanaka, rules.Conditions{Places: &rules.Places{Direct: true}, Labels: []rules.Labelled{
			{Name: "区分", List: []string{"人事", "規程"}}}}),
		of("ほか", webapi.Alex, rules.Conditions{})}})
	try := func(typed ...string) consoletest.Answer {
		return b.Post(path, b.Get(path).Hidden(append([]string{"act", "try", "try.tool", " record_decision", "try.who", "佐藤",
			"try.currency", "JPY"}, typed...)...))
	}
	b.Get(path).Holds(t, `class="filters of-form"><div class="field">`, `name="try.matter"`) // before the first try
	try("try.matter", "契約", "try.currency", "GBP", "try.amount", "9").Says(t, 200, "フォームで選べる通貨")
	try("try.matter", "契約").Holds(t, `value="契約" selected`).Lacks(t, "try.labels")
	try("try.tool", " send_slack_dm").Holds(t, `name="try.matter"`).Lacks(t, "try.labels")
	at := func(matter, amount string) consoletest.Answer {
		return try("try.matter", matter, "try.amount", amount)
	}
	at("契約", "").Says(t, 200, "ルール 1「契約」: 今日")
	at("人事", "9999").Says(t, 200, "ルール 2「小口」: 今日")
	at("人事", "0").Says(t, 200, "ルール 2「小口」: 今日")
	at("規程", "").Says(t, 200, "ルール 4「ほか」: 今日")
	at("人事", "").Says(t, 200, "ルール 4「ほか」: 今日")
}

// vacated is a company of which nobody who may approve heads sales.
const vacated = `社員番号,氏名,メール,部署コード,部署名,親部署,役職,順位,区分
1,鈴木 一郎,suzuki@example.com,HQ,本社,,社長,1,社員
2,田中 恵,tanaka@example.com,SALES,営業部,HQ,,,社員
3,佐藤 花子,sato@example.com,SALES,営業部,HQ,,,社員
4,Alex Kim,alex.kim@example.com,SALES,営業部,HQ,部長,2,委託
`

// What finds nobody today is said before rules are saved.
func testWhatIsFoundBeforeSaving(t *testing.T, w *consoletest.World) {
	organised(w, vacated)
	b := w.As(webapi.Suzuki)
	head := rules.Stage{Name: "決裁", Need: 1, Who: rules.Who{Kind: rules.WhoPosition, Position: "部長", Department: "SALES"}}
	r := rules.Rule{ID: aggregate.NewID(), Name: "契約",
		Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{head}}}}
	saved(w, &rules.Rules{Form: rules.Form, Rules: []rules.Rule{r}})
	b.Post(path, b.Get(path).Hidden("act", "check")).Says(t, 200, "ルール 1「契約」: ① は、今日承認できる人が足りません。")
	b.In("en").Post(path, b.Get(path).Hidden("act", "check")).Says(t, 200, "① finds too few people today who can stamp.")
}

// A number of approvals above that of the people who were chosen is said at its field, when the rule is looked at and
// when it is kept.
func testMoreThanWereChosen(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "begin.writes"))
	of := func(need, act string) consoletest.Answer {
		return b.Post(path+"/rule", form.Hidden("act", act, "name", "x", "use", "writes_outside", "outcome", "route",
			"stages.0.name", "x", "stages.0.kind", "people", "stages.0.people", "|"+webapi.Tanaka, "stages.0.need", need,
			"stages.0.vacant", "refuse", "stages.0.own", "refuse", "stages.0.twice", "skip"))
	}
	for _, act := range []string{"try", "keep"} {
		of("9", act).Says(t, 422, "選んだ人の数 (1) 以下にしてください").Holds(t, `id="need-0" name="stages.0.need" value="9"`,
			`aria-invalid="true"`)
	}
	of("1", "keep").Says(t, 200, "まだ保存していません")
	b.In("en")
	of("9", "keep").Says(t, 422, "at most 1, the number of people chosen")
}
