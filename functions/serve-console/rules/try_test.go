package rules_test

import (
	"strings"
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
			Who: rules.Who{Kind: rules.WhoPeople, People: []string{user}}, Empty: rules.EmptyRefuse}}}
		if kinds != nil {
			r.When.Labels = []rules.Labelled{{Name: "費目", Is: rules.UseOnly, List: kinds}}
		}
		return r
	}
	saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{
		of("交際", webapi.Tanaka, "交際費", "会議費"), of("ほか", webapi.Alex)}})
	try := func(kinds string) consoletest.Answer {
		return b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "佐藤",
			"try.labels.0", kinds)).Says(t, 200, "費目")
	}
	try("会議費").Says(t, 200, "ルール 1「交際」: 今日 佐藤 花子 さんが依頼すると: 田中 恵 交際").Holds(t, `name="try.labels.0"`, `value="会議費"`)
	try("旅費").Says(t, 200, "ルール 2「ほか」: 今日")
	try("").Says(t, 200, "ルール 2「ほか」: 今日")
	const none = "種別「費目」を持つツールがありません"
	check := func() consoletest.Answer { return b.Post(path, b.Get(path).Hidden("act", "check")) }
	check().Says(t, 200, "ルール 1「交際」は使われません: "+none)
	p := tenancy.ToolPermission{TenantID: w.Tenant.ID, ToolName: "send_slack_dm", Allowed: true, Mark: &rules.Mark{
		Version: "1", How: rules.HowNothing, LabelledBy: []rules.Label{{Name: "費目", Pointer: "/text"}}}}
	expect.Value(w.Store.SaveToolPermission(t.Context(), p, w.By, w.Now()))(t)
	check().Lacks(t, none)
	try("").Says(t, 200, "ルール 1「交際」: 費目の値が分からず、ほかのルールでは承認が少なくなりうるため、依頼を断ります。")
	try("旅費").Says(t, 200, "ルール 2「ほか」: 今日")
	b.In("en").Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "佐藤")).Says(t, 200,
		"It is refused, because the value of 費目 isn’t known, and another rule might ask fewer people.")

	long := of("長期", webapi.Tanaka)
	long.When.Labels = []rules.Labelled{{Name: "費目", Is: rules.UseOnly, AtLeast: "1000", Below: "2000.5"}}
	saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{long,
		of("ほか", webapi.Alex)}})
	b.In("ja")
	try("1,500").Says(t, 200, "ルール 1「長期」: 今日")
	try("2000.50").Says(t, 200, "ルール 2「ほか」: 今日")
	try("1500日").Says(t, 200, "費目の値が分からず")
	b.Post(path, b.Get(path).Hidden("act", "edit.0")).Says(t, 200, "費目が 1,000〜2,000.5未満 だけの").Holds(t,
		`name="labels.0.low" value="1,000"`, `name="labels.0.high" value="2,000.5"`, `<option value="not">`)
}

// A decision is tried as the form makes it: by its own fields, and never by labels that the form has not.
func testADecisionIsTriedByItsForm(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	s := w.SettingsNow()
	s.MatterFields = []tenancy.MatterField{{Name: "行先", Values: []string{"市内", "市外"}}, {Name: "日数", Number: true}}
	expect.Value(w.Store.SaveSettings(t.Context(), w.Tenant.ID, s, w.By, w.Now()))(t)
	of := func(name, user string, when rules.Conditions) rules.Rule {
		return rules.Rule{ID: aggregate.NewID(), Name: name, When: when, Outcome: rules.Outcome{Route: &rules.Policy{
			Stages: []rules.Stage{{Name: name, Need: 1, Who: rules.Who{Kind: rules.WhoPeople, People: []string{user}},
				Empty: rules.EmptyRefuse}}}}}
	}
	labels := func(name, value string) rules.Conditions {
		return rules.Conditions{Labels: []rules.Labelled{{Name: name, Is: rules.UseOnly, List: []string{value}}}}
	}
	saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{
		of("契約", webapi.Tanaka, labels("区分", "契約")), of("市外", webapi.Tanaka, labels("行先", "市外")),
		of("小口", webapi.Tanaka, rules.Conditions{Amount: &rules.Between{Below: "10000", Currency: "JPY"}}),
		of("規程", webapi.Tanaka, rules.Conditions{Destinations: &rules.Destinations{Go: rules.GoWithin, List: []string{"規程"}}}),
		of("ほか", webapi.Alex, rules.Conditions{})}})
	try := func(typed ...string) consoletest.Answer {
		return b.Post(path, b.Get(path).Hidden(append([]string{"act", "try", "try.tool", " record_decision", "try.who", "佐藤",
			"try.currency", "JPY"}, typed...)...))
	}
	b.Get(path).Holds(t, `class="filters of-form"><div class="field">`, `name="try.field:行先"`) // before the first try
	try("try.matter", "契約").Says(t, 200, "決裁のフォームと同じ項目").Holds(t, `name="try.field:行先"`, `value="契約" selected`).
		Lacks(t, "try.labels")
	try("try.tool", " send_slack_dm").Holds(t, `name="try.field:行先"`).Lacks(t, "try.labels")
	at := func(matter, to, amount string) consoletest.Answer {
		return try("try.matter", matter, "try.field:行先", to, "try.field:日数", "8", "try.amount", amount)
	}
	at("契約", "市内", "").Says(t, 200, "ルール 1「契約」: 今日")
	at("人事", "市外", "").Says(t, 200, "ルール 2「市外」: 今日")
	at("人事", "市内", "9999").Says(t, 200, "ルール 3「小口」: 今日")
	at("人事", "市内", "0").Says(t, 200, "ルール 3「小口」: 今日")
	at("規程", "市内", "").Says(t, 200, "ルール 5「ほか」: 今日")
	at("人事", "市内", "").Says(t, 200, "ルール 5「ほか」: 今日")
	b.Post(path, b.Get(path).Hidden("act", "check")).Says(t, 200,
		"引数が指定されていません): 「完了通知」・「シートに書き込み」")
}

// onLeave is a company whose head of sales is on leave, so that sales has none.
const onLeave = `社員番号,氏名,メール,部署コード,部署名,親部署,役職,順位,主務/兼務,区分,適用開始日,適用終了日,在籍状況
1,鈴木 一郎,suzuki@example.com,HQ,本社,,社長,1,,社員,,,
2,田中 恵,tanaka@example.com,SALES,営業部,HQ,,,,社員,,,
3,佐藤 花子,sato@example.com,SALES,営業部,HQ,,,,社員,,,
4,Alex Kim,alex.kim@example.com,SALES,営業部,HQ,部長,2,,社員,,,休職
`

// The check before saving names whom a rule would refuse today: a department without the post, and who is in the way of
// their own request. A post of somebody on leave can be chosen, and their request is refused for being on leave.
func testWhomARuleRefuses(t *testing.T, w *consoletest.World) {
	organised(w, onLeave)
	b := w.As(webapi.Suzuki)
	of := func(name string, who rules.Who, empty rules.Empty) rules.Rule {
		return rules.Rule{ID: aggregate.NewID(), Name: name, Outcome: rules.Outcome{Route: &rules.Policy{Hands: 1,
			Stages: []rules.Stage{{Name: "決裁", Need: 1, Who: who, Empty: empty}}}}}
	}
	head := rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}}
	up := rules.EmptyUp
	check := func(r rules.Rule) consoletest.Answer {
		saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{r}})
		return b.Post(path, b.Get(path).Hidden("act", "check")).Says(t, 200)
	}
	refused := check(of("部長決裁", head, rules.EmptyRefuse))
	refused.Says(t, 200, "ルール 1「部長決裁」: 営業部の人が今日依頼すると、断られます (決裁: 空席で、だれも見つかりません)。",
		"ルール 1「部長決裁」: 鈴木 一郎 さんが今日")
	b.In("en").Post(path, b.Get(path).Hidden("act", "check")).Says(t, 200, "today it refuses what")
	b.In("ja")
	check(of("部長決裁", head, up)).Lacks(t, "営業部の人")
	check(of("社長決裁", rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki}}, rules.EmptyRefuse)).Says(t, 200,
		"ルール 1「社長決裁」: 鈴木 一郎 さんが今日依頼すると、断られます (決裁: 依頼した人のほかに")
	form := b.Post(path, b.Get(path).Hidden("act", "edit.0"))
	form.Says(t, 200, "営業部の部長 (Alex Kim (休職・出向中))")
	expect.That(t, strings.Index(form.Body, `id="vacant-0"`) < strings.Index(form.Body, `class="rest-of"`),
		"what becomes of a vacant stage is behind a fold")
	ways := []string{"act", "try", "try.tool", " send_slack_dm", "try.who", "Alex"}
	b.Post(path, b.Get(path).Hidden(ways...)).Says(t, 200, "さんがその日は休職・出向中のため、依頼を断ります。")
	b.In("en").Post(path, b.Get(path).Hidden(ways...)).Says(t, 200, "is on leave or seconded that day")
}

// Of a rule whose label says a department it is looked at whom it refuses if the label says none, and said that the
// departments weren't tried; of stages that only a department opens, what is left is looked at.
func testWhomARuleOfLabelsRefuses(t *testing.T, w *consoletest.World) {
	organised(w, onLeave)
	b := w.As(webapi.Suzuki)
	concerned := rules.Stage{Name: "合議", Need: 1, Empty: rules.EmptyUp,
		Who: rules.Who{Kind: rules.WhoPosition, Positions: []string{"社長"}, Label: "関係部門", None: "なし"}}
	head := rules.Stage{Name: "決裁", Need: 1, Empty: rules.EmptyRefuse,
		Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki}}}
	r := rules.Rule{ID: aggregate.NewID(), Name: "契約", Outcome: rules.Outcome{Route: &rules.Policy{Hands: 1,
		Stages: []rules.Stage{concerned, head}}}}
	check := func() consoletest.Answer {
		saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{r}})
		return b.Post(path, b.Get(path).Hidden("act", "check"))
	}
	const untried, none = "ルール 1「契約」: 「関係部門」の値で決まる部署が承認する場合は、断られるかどうかを部署ごとには確かめていません。",
		"ルール 1「契約」: 鈴木 一郎 さんが今日依頼すると、断られます (決裁: 依頼した人のほかに、承認できる人が足りません)。"
	const where = "(事案で決まる部署が「関係なし」の場合)"
	check().Says(t, 200, none+where, untried)
	b.In("en").Post(path, b.Get(path).Hidden("act", "check")).Says(t, 200,
		"(where the request says that no department is concerned)", "wasn’t looked at for each department")
	b.In("ja")
	r.Route.Stages[0].Who.None = ""
	check().Says(t, 200, none, untried).Lacks(t, where)
	r.Route.Hands, r.Route.Stages[1].Empty = 2, rules.EmptyUp // another hand may be that of the department
	r.Route.Stages[1].Who.People = []string{webapi.Tanaka}
	check().Says(t, 200, untried).Lacks(t, "断られます (")
	r.Route.Stages, r.Route.Hands = r.Route.Stages[:1], 1
	check().Says(t, 200, untried).Lacks(t, "断られます (")
	r.When.Tools = &rules.Tools{Use: rules.UseSome, List: []rules.Tool{{Name: "rooms.place_order"}}}
	check().Says(t, 200, "ルール 1「契約」は使われません: 「rooms.place_order」というツールはありません")
	r.When.Tools.List = append(r.When.Tools.List, rules.Tool{Name: "send_slack_dm"})
	check().Says(t, 200, "ルール 1「契約」: 「rooms.place_order」というツールはありません。その条件に").Lacks(t, "は使われません: 「")
	b.In("en").Post(path, b.Get(path).Hidden("act", "check")).Says(t, 200, "there is no tool “rooms.place_order”")
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
		of("9", act).Says(t, 422, "選んだ人の数 (1) 以下にしてください").Holds(t, `id="need-0" name="stages.0.need" value="9"`, `aria-invalid="true"`)
	}
	of("1", "keep").Says(t, 200, "まだ保存していません")
	b.In("en")
	of("9", "keep").Says(t, 422, "at most 1, the number of people chosen")
}

// A source that is joined to the one before it has no choice of its own for a vacant stage, and made a stage again it
// has them; what a post rarely needs is folded.
func testWhatIsJoinedHasNoChoices(t *testing.T, w *consoletest.World) {
	organised(w, onLeave)
	b, who := w.As(webapi.Suzuki), func(user string) rules.Who {
		return rules.Who{Kind: rules.WhoPeople, People: []string{user}}
	}
	head := rules.Stage{Name: "決裁", Need: 1, Empty: rules.EmptyUp, Beside: []rules.Source{{Who: who(webapi.Alex), Need: 1}},
		Who:    rules.Who{Kind: rules.WhoPosition, Positions: []string{"社長"}, Instead: []rules.Who{who(webapi.Tanaka)}},
		Raises: []rules.Raise{{When: "重要", Who: who(webapi.Sato)}}}
	saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{ID: aggregate.NewID(),
		Name: "契約", Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{head}}}}}})
	form := b.Post(path, b.Get(path).Hidden("act", "edit.0"))
	form.Says(t, 200, "ほかの役職、事案で決まる部署").Holds(t, `id="vacant-0"`, `id="share-2"`, `id="need-2"`).
		Lacks(t, `id="vacant-1"`, `id="own-1"`, `id="vacant-2"`, `id="vacant-3"`, `id="share-1"`, `id="share-3"`,
			`name="stages.3.others"`)
	b.Post(path+"/rule", form.Hidden("act", "keep", "name", "契約", "outcome", "route", "stages.0.name", "決裁",
		"stages.0.kind", "position", "stages.0.position", "|"+"\t社長", "stages.0.need", "1", "stages.0.vacant", "up",
		"stages.0.own", "up", "stages.0.twice", "up", "stages.1.join", "", "stages.1.kind", "people", "stages.1.people",
		"|"+webapi.Tanaka, "stages.1.need", "1", "stages.2.join", "beside", "stages.2.kind", "people", "stages.2.people",
		"|"+webapi.Alex, "stages.2.need", "1", "stages.3.join", "raise", "stages.3.name", "重要", "stages.3.kind", "people",
		"stages.3.people", "|"+webapi.Sato, "stages.3.need", "1")).Says(t, 422, "段階 ② 段階の名前").Holds(t, `id="vacant-1"`)
}
