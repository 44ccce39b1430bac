package rules_test

import (
	"fmt"
	"net/http"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// What can't be kept is said beside its field, in both languages, and what was typed stays.
func testWhatIsWrongIsSaidAtItsField(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "begin.writes"))
	wrong := form.Hidden(append(append([]string{}, ordered...), "act", "keep", "name", "", "at_least", "abc", "below", "-1", "currency", "yen!",
		"stages.0.people", "", "stages.1.need", "五人", "stages.1.vacant", "wait", "stages.1.own", "wait", "stages.1.twice", "wait", "hands", "99", "to", "within", "destinations", "")...)
	for locale, says := range map[string][]string{
		"ja": {"ルール名: 1 〜 80 文字", "段階 ① 承認する人: 1 〜 50 個にしてください。", "金額 (以上): 0 より大きい数字を、15 桁以下", "通貨: JPY のような 3 文字",
			"段階 ② 必要な人数: 0 〜 2 にしてください。", "段階 ② 依頼した本人の段階のとき: 次のどれかにしてください: up, skip or refuse。", "送信先: 1 〜 100 個",
			"代理の承認は、代理をした人の 1 人と数えます。"},
		"en": {"Name: Must have 1 to 80 characters", "Stage ① People who approve: Must have 1 to 50 entries.", "Amount (at least): Must be a number above 0 with at most 15 digits",
			"Currency: Must be a currency of three letters", "Stage ② How many of them: Must be between 0 and 2.", "Stage ② If an earlier stage asks the same people: Must be one of these: up, skip or again.",
			"a stand-in counts as themselves"},
	} {
		b.Locale = locale
		b.Post(path+"/rule", wrong).Says(t, http.StatusUnprocessableEntity, says...).Holds(t, `name="at_least" value="abc"`, `name="stages.1.need" value="五人"`, `name="hands" value="99"`)
	}
	expect.That(t, stored(w) == nil, "a wrong rule is saved")
}

// The floor holds at each rule, and is said at the rule.
func testTheFloor(t *testing.T, w *consoletest.World) {
	written(t, w)
	for locale, says := range map[string]string{
		"ja": "ルール 1「10万円以上の外部書き込み」: 段階: 最低ラインを下回ります。承認が合わせて 5 つ以上",
		"en": "Rule 1 “10万円以上の外部書き込み”: Stages: Below the floor. All stages together must need at least 5 stamps.",
	} {
		b := w.As(webapi.Suzuki)
		b.Locale = locale
		b.Post(path, b.Get(path).Hidden("act", "check", "floor.stamps", "5")).Says(t, http.StatusUnprocessableEntity, says)
		b.Post(path, b.Get(path).Hidden("act", "check", "floor.stamps", "x", "floor.hands_from", "0")).
			Says(t, http.StatusUnprocessableEntity).Holds(t, `name="floor.stamps" value="x"`)
	}
	b := w.As(webapi.Suzuki)
	last := b.Post(path, b.Get(path).Hidden("act", "edit.reads"))
	b.Post(path+"/rule", last.Hidden("outcome", "refuse", "refuse", " ", "act", "keep")).Says(t, http.StatusUnprocessableEntity, "断るときの文: 1 〜 1000 文字")
	b.Post(path+"/rule", last.Hidden("outcome", "refuse", "refuse", "総務へ", "act", "keep")).Says(t, http.StatusOK, "「総務へ」と伝えて、依頼を断ります。")
}

func testRulesAndStagesAreMoved(t *testing.T, w *consoletest.World) {
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}}
	for i := range 3 {
		x.Rules = append(x.Rules, rules.Rule{ID: aggregate.NewID(), Name: fmt.Sprintf("R%d", i+1), Outcome: rules.Outcome{Refuse: "-"}})
	}
	saved(w, x)
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
	for _, act := range []string{"up.2", "down.0", "delete.2", "up.0", "down.9", "delete.-1", "up.x", "nonsense"} { // R1 R3 R2, R3 R1 R2, R3 R1
		list = b.Post(path, list.Hidden("act", act)).Says(t, http.StatusOK)
	}
	check := b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK, "ルールの順序 R1 → R3 R3 → R1", "削除 ルール 2「R2」")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	is := stored(w).Rules
	expect.That(t, len(is) == 2 && is[0].ID == x.Rules[2].ID && is[1].ID == x.Rules[0].ID, "%+v", is)

	form := b.Post(path, b.Get(path).Hidden("act", "add"))
	b.Post(path+"/rule", form.Hidden("outcome", "route", "stages.0.kind", "people", "act", "stage")).Says(t, http.StatusOK, "②承認 2 (?) ")
	form = b.Post(path+"/rule", form.Hidden(append(append([]string{}, ordered...), "act", "up.1")...))
	form.Says(t, http.StatusOK, "①経理 (田中 恵・Alex Kim) のうち 1 人 (空席なら、本人なら、前の段階と同じ人なら省略) → ②部長 (鈴木 一郎) → ③人事のみなさん")
	form.Holds(t, `name="stages.0.name" value="経理"`, `name="stages.1.name" value="部長"`)
}

// A rule that a file made keeps what this form doesn't offer.
func testWhatTheFormDoesNotOfferIsKept(t *testing.T, w *consoletest.World) {
	was := rules.Rule{ID: aggregate.NewID(), Name: "営業部", Outcome: rules.Outcome{Numbered: true, Route: &rules.Policy{Stages: []rules.Stage{
		{Name: "上長", Who: rules.Who{Kind: rules.WhoManager, Level: 2}, Need: 1, Empty: rules.EmptyUp, Others: true},
		{Name: "経理", Who: rules.Who{Kind: rules.WhoGroup, Group: webapi.Approvers}, Need: 2, Empty: rules.EmptyRefuse},
	}, Readers: &rules.Readers{Groups: []string{webapi.Approvers}}}}, When: rules.Conditions{
		Kinds: []rules.Kind{rules.KindAction, rules.KindSteps}, Requester: &rules.Requester{Departments: []string{"営業部"}},
		Places: &rules.Places{Direct: true, Channels: []string{"C0ELSEWHERE"}},
		Tools:  &rules.Tools{Use: rules.UseOnly, List: []rules.Tool{{Address: "https://gone.example.com/mcp", Name: "book a room"}}},
	}}
	saved(w, &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{was}})
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "edit.0")).Says(t, http.StatusOK, "依頼した人の条件「営業部とその下の部署の人」はこの画面では変更できず",
		"今は使えないツール", "グループ 人事部承認者")
	list := b.Post(path+"/rule", form.Hidden("act", "keep", "numbered", "|1", "name", "営業", "outcome", "route", "use", "only", "channels", "|C0ELSEWHERE",
		"direct", "|1", "tools", "https://gone.example.com/mcp book a room", "stages.0.name", "上長", "stages.0.kind", "manager", "stages.0.need", "1", "stages.0.vacant", "up", "stages.0.own", "up", "stages.0.twice", "up",
		"stages.1.name", "経理", "stages.1.kind", "group", "stages.1.need", "2", "stages.1.vacant", "refuse", "stages.1.own", "refuse", "stages.1.twice", "again"))
	check := b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK, "組織表が必要")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	was.Name = "営業"
	expect.Same(t, was, stored(w).Rules[0])
}

func testTheRuleThatTakesARequest(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	for _, x := range []struct{ tool, place, amount, who, says string }{
		{"send_slack_dm", webapi.HR, "", "佐藤", "今日 佐藤 花子 さんが依頼すると: ①部長 (鈴木 一郎) → ②経理 (田中 恵・Alex Kim) のうち 1 人 → ③人事のみなさん"},
		{"send_slack_dm", webapi.HR, "10万", "", "今日 鈴木 一郎 さんが依頼すると、断られます (部長: 依頼した人のほかに、承認できる人が足りません)。"},
		{"send_slack_dm", webapi.HR, "99,999", "", "どれにも当てはまらないとき: 依頼を断ります。"},
		{"send_slack_dm", "", "", "", "どれにも当てはまらないとき: 依頼を断ります。"},
		{"list_employees", webapi.HR, "", "佐藤", "どれにも当てはまらないとき: チャンネルのだれか 1 人が承認します。"},
		{"send_slack_dm", webapi.HR, "x", "", "金額を読み取れません"},
		{"send_slack_dm", webapi.HR, "", "だれでもない", "「だれでもない」という人が見つかりません。"},
	} {
		b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " "+x.tool, "try.place", x.place, "try.amount", x.amount, "try.who", x.who)).
			Says(t, http.StatusOK, x.says)
	}
}

// saved stores rules without the page.
func saved(w *consoletest.World, x *rules.Rules) {
	w.T.Helper()
	_, rev, err := w.Store.Rules(w.T.Context(), w.Tenant.ID)
	expect.NoError(w.T, err)
	_, _, err = w.Store.SaveRules(w.T.Context(), w.Tenant.ID, x, rev, nil, w.By, w.Now())
	expect.NoError(w.T, err)
}

func testPeopleAndChannelsAreFoundByName(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "begin.writes"))
	found := b.Post(path+"/rule", form.Hidden("act", "search", "outcome", "route", "stages.0.kind", "people", "find.stages.0.people", "高橋", "find.channels", "gen"))
	found.Says(t, http.StatusOK, "高橋 ゲスト U0SANDGUST ゲストは承認できません", "#general").Holds(t, `value="U0SANDGUST" disabled`)
	b.Post(path+"/rule", form.Hidden("act", "search", "find.channels", "c0unseen")).Says(t, http.StatusOK, "C0UNSEEN あなたが入っていないチャンネルです")
	for _, locale := range language.All {
		b.Locale = locale
		b.Post(path+"/rule", form.Hidden("act", "search", "find.channels", "zzz")).Says(t, http.StatusOK)
	}
}

// A rule from before its channel got another id is shown, tried and saved with the id that the channel has by now.
func testAChannelThatGotAnotherID(t *testing.T, w *consoletest.World) {
	written(t, w)
	b, former := w.As(webapi.Suzuki), "C0FORMER"
	x := stored(w)
	x.Rules[0].When.Places.Channels = []string{former}
	saved(w, x)
	b.Get(path).Says(t, http.StatusOK, former).Lacks(t, "#人事 で")
	draft := b.Get(path)
	move := tenancy.Moved{To: webapi.HR, At: "1612206778.000000"}
	expect.NoError(t, w.Store.MoveChannel(t.Context(), w.Tenant.ID, former, move))
	b.Get(path).Says(t, http.StatusOK, "#人事 で").Lacks(t, former)
	for _, place := range []string{former, webapi.HR} {
		b.Post(path, draft.Hidden("act", "try", "try.tool", " send_slack_dm", "try.place", place, "try.amount", "200000")).
			Says(t, http.StatusOK, "ルール 1「10万円以上の外部書き込み」:")
	}
	b.Post(path, draft.Hidden("act", "check")).Lacks(t, former)
	form := b.Post(path, draft.Hidden("act", "edit.0"))
	b.Post(path+"/rule", form.Hidden(append(append([]string{}, ordered...), "channels", "|"+former, "act", "keep")...)).
		Says(t, http.StatusOK, "#人事 で").Lacks(t, former)
}
