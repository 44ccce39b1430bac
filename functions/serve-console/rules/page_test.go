package rules_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

const path = "/console/rules"

// stored returns the saved rules.
func stored(w *consoletest.World) *rules.Rules {
	w.T.Helper()
	x, _, err := w.Store.Rules(w.T.Context(), w.Tenant.ID)
	expect.NoError(w.T, err)
	return x
}

// ordered are the fields of a rule of three stages.
var ordered = []string{
	"name", "10万円以上の外部書き込み", "use", "writes_outside", "low", "10万円", "currency", "jpy", "outcome", "route",
	"channels", "|" + webapi.HR,
	"stages.0.name", "部長", "stages.0.kind", "people", "stages.0.people", "|" + webapi.Suzuki, "stages.0.need", "",
	"stages.0.vacant", "refuse", "stages.0.own", "refuse", "stages.0.twice", "again",
	"stages.1.was", "new", "stages.1.name", "経理", "stages.1.kind", "people", "stages.1.people",
	"|" + webapi.Tanaka + "|" + webapi.Alex, "stages.1.need", "１", "stages.1.vacant", "skip", "stages.1.own", "skip",
	"stages.1.twice", "skip",
	"stages.2.was", "new", "stages.2.name", "人事のみなさん", "stages.2.kind", "channel", "tells", webapi.HR,
}

// written saves a rule of three stages, as an administrator does.
func written(t *testing.T, w *consoletest.World) {
	t.Helper()
	b := w.As(webapi.Suzuki)
	rule := b.Post(path, b.Get(path).Hidden("act", "begin.writes")).Says(t, http.StatusOK, "新しいルール")
	list := b.Post(path+"/rule", rule.Hidden(append(ordered, "act", "keep")...)).Says(t, http.StatusOK, "まだ保存していません",
		"10万円以上の外部書き込み")
	check := b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK, "変更される内容")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
}

func TestRules(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"an administrator fills in a sentence and saves it": testARuleIsWritten,
		"two administrators at once":                        testTwoAdministrators,
		"what was not looked at is not saved":               testWhatWasNotLookedAtIsNotSaved,
		"the look before saving":                            testTheLookBeforeSaving,
		"without slack nothing is saved":                    testWithoutSlackNothingIsSaved,
		"the rules end":                                     testTheRulesEnd,
		"what is wrong is said at its field":                testWhatIsWrongIsSaidAtItsField,
		"rules and stages are moved":                        testRulesAndStagesAreMoved,
		"what the form does not offer is kept":              testWhatTheFormDoesNotOfferIsKept,
		"the rule that takes a request":                     testTheRuleThatTakesARequest,
		"the kind of a request is tried":                    testTheKindOfARequest,
		"a decision is tried by its form":                   testADecisionIsTriedByItsForm,
		"what is found before saving":                       testWhatIsFoundBeforeSaving,
		"a refusal has words":                               testARefusalHasWords,
		"more people than were chosen can't approve":        testMoreThanWereChosen,
		"what a rule is for":                                testWhatARuleIsFor,
		"people and channels are found by name":             testPeopleAndChannelsAreFoundByName,
		"rules travel as a file":                            testRulesTravelAsAFile,
		"a files mistakes are named with their lines":       testAFilesMistakesAreNamed,
		"no draft is believed":                              testNoDraftIsBelieved,
		"no rule becomes markup":                            testNoRuleBecomesMarkup,
		"a hundred rules of five stages":                    testAHundredRules,
		"a form of an organisation":                         testAFormOfAnOrganisation,
		"slack's groups need no organisation":               testGroupsNeedNoOrganisation,
		"the organisation answers":                          testTheOrganisationAnswers,
		"a department that nobody knows refuses":            testAnUnknownDepartmentRefuses,
		"an organisation that can't be read":                testAnOrganisationThatCantBeRead,
		"a large organisation is searched":                  testALargeOrganisation,
	})
}

func testARuleIsWritten(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(path).Says(t, http.StatusOK, "回覧ルールはまだありません", "実行ステップの承認を求める")
	written(t, w)
	x := stored(w)
	expect.Must(t, x != nil && len(x.Rules) == 1, "%+v", x)
	r := x.Rules[0]
	expect.Same(t, rules.Conditions{Places: &rules.Places{Channels: []string{webapi.HR}},
		Tools: &rules.Tools{Use: rules.UseWriting}, Amount: &rules.Between{AtLeast: "100000", Currency: "JPY"}}, r.When)
	expect.Same(t, &rules.Policy{Stages: []rules.Stage{
		{Name: "部長", Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki}}},
		{Name: "経理", Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Tanaka, webapi.Alex}}, Need: 1},
		{Name: "人事のみなさん", Who: rules.Who{Kind: rules.WhoChannel}, Need: 1},
	}, Tells: webapi.HR}, r.Route)
	says := "だれかが、#人事 で、10万円以上 (または金額不明)の外部への書き込みを依頼したら、①部長 (鈴木 一郎) → ②経理 (田中 恵・Alex Kim) のうち 1 人 → " +
		"③人事のみなさん (チャンネルのだれか 1 人) の順に承認します。決まったあとに #人事 に知らせます。"
	b.Get(path).Says(t, http.StatusOK, says)
	b.Get("/console/audit?action=rules.updated").Says(t, http.StatusOK, "鈴木 一郎")
	b.In("en").Get(path).Says(t, http.StatusOK,
		"When somebody asks in #人事 for a write outside of ¥100,000 or more (or an unreadable amount), ① 部長 (鈴木 一郎) → "+
			"② 経理: 1 of 田中 恵, Alex Kim → ③ "+
			"人事のみなさん (one member of the channel) must approve, in this order. "+
			"Told at the end: #人事.")
}

// A rule is for the steps of requests, for calls of outside agents, or for both, and says so.
func testWhatARuleIsFor(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
	form := b.Post(path, list.Hidden("act", "edit.0"))
	form.Says(t, http.StatusOK, "会話でのエージェントの操作は、設定の").Holds(t, `value="" selected`, `class="crumb"`)
	for kinds, says := range map[string]string{"": "部長 (鈴木 一郎)", "call": "(外部エージェントの呼び出しだけのルールです。)",
		"steps": "(依頼の実行ステップだけのルールです。)"} {
		tried := b.Post(path+"/rule", form.Hidden(append(append([]string{}, ordered...), "act", "try", "kinds", kinds)...))
		tried.Says(t, http.StatusOK, says).Holds(t, `value="`+kinds+`" selected`)
	}
	wrong := form.Hidden(append(append([]string{}, ordered...), "act", "keep", "kinds", "money")...)
	b.Post(path+"/rule", wrong).Says(t, http.StatusUnprocessableEntity,
		"対象 (1) 文章で確認", "次のどれかを入力してください: 依頼の実行ステップ / 外部エージェントの呼び出し")

	add := b.Post(path, list.Hidden("act", "add"))
	add.Holds(t, `<p class="does">すべての依頼</p>`)
	list = b.Post(path+"/rule", add.Hidden("kinds", "call", "name", "エージェント", "use", "writes_outside",
		"outcome", "route", "stages.0.name", "経理", "stages.0.kind", "people", "stages.0.people", "|"+webapi.Tanaka,
		"stages.0.need", "1", "act", "keep"))
	check := b.Post(path, list.Says(t, http.StatusOK).Hidden("act", "check"))
	b.Post(path, check.Says(t, http.StatusOK).Hidden("act", "save")).Leads(t, path+"?done=saved")
	expect.Is(t, stored(w).Rules[1].When.Kinds[0], rules.KindCall, "kind")
	for kind, rule := range map[string]string{"steps": "どのルールにも当てはまらない依頼: 依頼を断ります。",
		"call": "ルール 2「エージェント」: 今日"} {
		b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.kind", kind, "try.amount", "500")).
			Says(t, http.StatusOK, rule).Holds(t, `value="`+kind+`" selected`)
	}
}

// What can't be kept is said beside its field, in both languages, and what was typed stays.
func testWhatIsWrongIsSaidAtItsField(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "begin.writes"))
	wrong := form.Hidden(append(append([]string{}, ordered...), "act", "keep", "name", strings.Repeat("名", 81),
		"low", "abc", "high",
		"-1", "currency", "yen!",
		"stages.0.people", "", "stages.1.need", "五人")...)
	for locale, says := range map[string][]string{
		"ja": {"abc以上", "どの人", "ルール名 金額 (以上) ", "1 〜 80 文字",
			"段階 ① 承認する人: 1 〜 50 個にしてください。", "金額 (以上) · ", "0 より大きい数字を、15 桁以下",
			"通貨: JPY のような 3 文字",
			"段階 ② 必要な人数: 1〜2 にしてください (空なら全員)。",
		},
		"en": {"Must have 1 to 80 characters", "Stage ① People who approve: Must have 1 to 50 entries.",
			"Amount (at least) · ", ": Must be a number above 0 with at most 15 digits",
			"Currency: Must be a currency of three letters", "Stage ② How many of them: Must be 1 to 2, or empty for all.",
		},
	} {
		b.In(locale).Post(path+"/rule", wrong).Says(t, http.StatusUnprocessableEntity, says...).Holds(t,
			`name="low" value="abc"`,
			`name="stages.1.need" value="五人"`)
	}
	expect.That(t, stored(w) == nil, "a wrong rule is saved")
}

// Without a text a refusal would be the default, by which the channel approves.
func testARefusalHasWords(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	last := b.Post(path, b.Get(path).Hidden("act", "edit.reads"))
	b.Post(path+"/rule", last.Hidden("outcome", "refuse", "refuse", " ", "act", "keep")).Says(t,
		http.StatusUnprocessableEntity, "1 〜 1,000 文字").Holds(t, `<a href="#refuse">断るときの文</a>`)
	b.Post(path+"/rule", last.Hidden("outcome", "refuse", "refuse", "総務へ", "act", "keep")).Says(t, http.StatusOK,
		"「総務へ」と伝えて、依頼を断ります。")
}

func testRulesAndStagesAreMoved(t *testing.T, w *consoletest.World) {
	x := &rules.Rules{Form: rules.Form}
	for i := range 3 {
		x.Rules = append(x.Rules, rules.Rule{ID: aggregate.NewID(), Name: fmt.Sprintf("R%d", i+1),
			Outcome: rules.Outcome{Refuse: "-"}})
	}
	saved(w, x)
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
	for _, act := range []string{"up.2", "down.0", "delete.2", "up.0", "down.9", "delete.-1", "up.x",
		"nonsense"} { // R1 R3 R2, R3 R1 R2, R3 R1
		list = b.Post(path, list.Hidden("act", act)).Says(t, http.StatusOK)
	}
	check := b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK, "ルールの順序 R1 → R3 R3 → R1", "削除 「R2」")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	is := stored(w).Rules
	expect.That(t, len(is) == 2 && is[0].ID == x.Rules[2].ID && is[1].ID == x.Rules[0].ID, "%+v", is)

	form := b.Post(path, b.Get(path).Hidden("act", "add"))
	b.Post(path+"/rule", form.Hidden("outcome", "route", "stages.0.kind", "people", "act", "stage")).Says(t,
		http.StatusOK, "②承認 2 (未選択) ")
	form = b.Post(path+"/rule", form.Hidden(append(append([]string{}, ordered...), "act", "up.1")...))
	form.Says(t, http.StatusOK, "①経理 (田中 恵・Alex Kim) のうち 1 人 → ②部長 (鈴木 一郎) → ③人事のみなさん")
	form.Holds(t, `name="stages.0.name" value="経理"`, `name="stages.1.name" value="部長"`)
}

// What a file made of a rule is in its form, too: what needs an organisation while none stands, and user groups.
func testWhatTheFormDoesNotOfferIsKept(t *testing.T, w *consoletest.World) {
	was := rules.Rule{ID: aggregate.NewID(), Name: "営業部", Outcome: rules.Outcome{Numbered: true,
		Route: &rules.Policy{Stages: []rules.Stage{
			{Name: "上長", Who: rules.Who{Kind: rules.WhoManager, Level: 2}, Need: 1},
			{Name: "経理", Who: rules.Who{Kind: rules.WhoGroup, Group: webapi.Approvers}},
		}, Tells: webapi.Approvers}}, When: rules.Conditions{
		Kinds: []rules.Kind{rules.KindCall, rules.KindSteps}, Requester: &rules.Requester{Departments: []string{"営業部"},
			People: []string{webapi.Sato}, Groups: []string{webapi.Approvers}},
		Places: &rules.Places{Direct: true, Channels: []string{"C0ELSEWHERE"}},
		Tools: &rules.Tools{Use: rules.UseOnly, List: []rules.Tool{{Address: "https://gone.example.com/mcp",
			Name: "book a room"}}},
	}}
	saved(w, &rules.Rules{Form: rules.Form, Rules: []rules.Rule{was}})
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "edit.0")).Says(t, http.StatusOK, "今は使えないツール",
		"グループ 人事部承認者").Holds(t, `name="departments" value="営業部" checked`)
	list := b.Post(path+"/rule", form.Hidden("act", "keep", "numbered", "|1", "name", "営業", "outcome", "route", "use",
		"only", "channels", "|C0ELSEWHERE", "kinds", "call steps", "departments", "|営業部", "groups", "|"+webapi.Approvers,
		"people", "|"+webapi.Sato, "tells", webapi.Approvers, "stages.0.level", "2", "stages.0.others", "|1",
		"stages.1.group",
		webapi.Approvers,
		"direct", "|1", "tools", "https://gone.example.com/mcp book a room", "stages.0.name", "上長", "stages.0.kind",
		"manager", "stages.0.need", "1", "stages.0.vacant", "up", "stages.0.own", "up", "stages.0.twice", "up",
		"stages.1.name", "経理", "stages.1.kind", "group", "stages.1.share", "majority",
		"stages.1.vacant", "refuse", "stages.1.own", "refuse", "stages.1.twice", "again"))
	check := b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK, "組織表にありません")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	was.Name = "営業"
	expect.Same(t, was, stored(w).Rules[0])
}

func testTheRuleThatTakesARequest(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	for _, amount := range []string{"", "10万"} {
		answer := b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.place", webapi.HR,
			"try.amount", amount, "try.who", "佐藤"))
		answer.Says(t, http.StatusOK, "どのルールにも当てはまらない依頼: 依頼を断ります。", "金額なし。")
		answer.Lacks(t, "金額不明として試しました")
	}
	priced(w)
	for _, x := range []struct{ tool, place, amount, who, says string }{
		{"send_slack_dm", webapi.HR, "", "佐藤", "今日 佐藤 花子 さんが依頼すると: 鈴木 一郎 部長 田中 恵・Alex Kim のうち 1 人 経理 チャンネルのだれか 1 人 人事のみなさん"},
		{"send_slack_dm", webapi.HR, "10万", "", "今日 鈴木 一郎 さんが依頼すると、断られます (部長: 依頼した人のほかに、承認できる人が足りません)。"},
		{"send_slack_dm", webapi.HR, "99,999", "", "どのルールにも当てはまらない依頼: 依頼を断ります。"},
		{"send_slack_dm", "", "", "", "どのルールにも当てはまらない依頼: 依頼を断ります。"},
		{"list_employees", webapi.HR, "", "佐藤", "どのルールにも当てはまらない依頼: 今日"},
		{"send_slack_dm", webapi.HR, "x", "", "金額を読み取れません"},
		{"send_slack_dm", webapi.HR, "", "だれでもない", "「だれでもない」という人が見つかりません。"},
	} {
		b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " "+x.tool, "try.place", x.place, "try.amount", x.amount,
			"try.who", x.who)).
			Says(t, http.StatusOK, x.says)
	}
}

// priced has direct messages move money, by a mark.
func priced(w *consoletest.World) {
	w.T.Helper()
	p := tenancy.ToolPermission{TenantID: w.Tenant.ID, ToolName: "send_slack_dm", Allowed: true,
		Mark: &rules.Mark{Version: "1", How: rules.HowSum, Currency: "JPY", Pointers: []string{"/amount"}}}
	expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, w.By, w.Now()))(w.T)
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
	found := b.Post(path+"/rule", form.Hidden("act", "search", "outcome", "route", "stages.0.kind", "people",
		"find.stages.0.people", "高橋", "find.channels", "gen"))
	found.Says(t, http.StatusOK, "高橋 ゲスト ゲストは承認できません", "#general").Holds(t, `value="U0SANDGUST" disabled`)
	b.Post(path+"/rule", form.Hidden("act", "search", "find.channels", "c0unseen")).Says(t, http.StatusOK,
		"C0UNSEEN あなたが入っていないチャンネルです")
	for _, locale := range language.All {
		b.In(locale).Post(path+"/rule", form.Hidden("act", "search", "find.channels", "zzz")).Says(t, http.StatusOK)
	}
}

// listing is a workspace in which somebody is missing, everybody has the same address, or nobody has one.
type listing struct {
	people.Listing
	without, mail string
	noMail        bool
}

func (l listing) Users(ctx context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) {
		for u, err := range l.Listing.Users(ctx) {
			if l.mail != "" {
				u.Mail = l.mail
			}
			if l.noMail {
				u.Mail = ""
			}
			if u.ID != l.without && !yield(u, err) {
				return
			}
		}
	}
}

func TestEachRuleOfAFileHasItsWords(t *testing.T) {
	for _, locale := range language.All {
		w, said := web.TextsOf("organisation", locale), map[string]bool{}
		for _, rule := range organisation.Rules() {
			text := w.In("rules", rule)
			expect.That(t, text != "" && !said[text], "%s has no words of its own in %s: %q", rule, locale, text)
			said[text] = true
		}
	}
}
