package settings_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

const rulePage = "/console/rules"

// stored returns the saved rules.
func stored(w *consoletest.World) *rules.Rules {
	w.T.Helper()
	x, _, err := w.Store.Rules(w.T.Context(), w.Tenant.ID)
	expect.NoError(w.T, err)
	return x
}

// ordered are the fields of a rule of three stages.
var ordered = []string{
	"name", "10万円以上の外部書き込み", "use", "writing", "from", "¥100,000", "currency", "jpy", "asks", "steps|step|call",
	"channels", "|" + webapi.HR,
	"stages.0.name", "部長", "stages.0.who", "user:" + webapi.Suzuki, "stages.0.need", "",
	"stages.1.name", "経理", "stages.1.who", "user:" + webapi.Tanaka + "|user:" + webapi.Alex, "stages.1.need", "１",
	"stages.2.name", "人事のみなさん", "stages.2.who", "channel:", "stages.2.need", "1", "tells", webapi.HR,
}

// written saves a rule of three stages, as an administrator does.
func written(t *testing.T, w *consoletest.World) {
	t.Helper()
	b := w.As(webapi.Suzuki)
	rule := b.Post(rulePage, b.Get(rulePage).Hidden("act", "add")).Says(t, http.StatusOK, "新しいルール")
	list := b.Post(rulePage+"/rule", rule.Hidden(append(ordered, "act", "keep")...)).Says(t, http.StatusOK, "まだ保存していません",
		"読むだけのものはチャンネルのだれか 1 人が承認します",
		"10万円以上の外部書き込み").Lacks(t, `class="crumb"`)
	b.Post(rulePage, list.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
}

func TestRules(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"an administrator fills in the form and saves it": testARuleIsWritten,
		"two administrators at once":                      testTwoAdministrators,
		"without slack":                                   testWithoutSlack,
		"a group of which slack says nothing":             testSilentGroup,
		"a large organisation is searched":                testALargeOrganisation,
		"what is wrong is said at its field":              testWhatIsWrongIsSaidAtItsField,
		"rules and stages are moved":                      testRulesAndStagesAreMoved,
		"the form gives back what a file says":            testTheFormGivesBack,
		"the rule that takes a request":                   testTheRuleThatTakesARequest,
		"what should be known":                            testWhatShouldBeKnown,
		"what a rule asks for":                            testWhatARuleAsksFor,
		"a draft goes along into the other language":      testADraftGoesAlong,
		"two rules for the same have two names":           testTwoRulesForTheSame,
		"no draft is believed":                            testNoDraftIsBelieved,
		"no rule becomes markup":                          testNoRuleBecomesMarkup,
		"a form of an organisation":                       testAFormOfAnOrganisation,
		"an organisation that can't be read":              testAnOrganisationThatCantBeRead,
	})
}

func testARuleIsWritten(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(rulePage).Says(t, http.StatusOK, "回覧ルールはまだありません")
	written(t, w)
	x := stored(w)
	expect.Must(t, x != nil && len(x.Rules) == 1, "%+v", x)
	r := x.Rules[0]
	expect.Same(t, rules.Conditions{Channels: []string{webapi.HR}, From: "100000", Currency: "JPY"}, r.Conditions)
	expect.Same(t, rules.Outcome{Stages: []rules.Stage{
		{Name: "部長", Who: rules.Who{People: []string{webapi.Suzuki}}},
		{Name: "経理", Who: rules.Who{People: []string{webapi.Tanaka, webapi.Alex}}, Need: 1},
		{Name: "人事のみなさん", Who: rules.Who{Channel: true}, Need: 1},
	}, Tells: webapi.HR}, r.Outcome)
	b.Get(rulePage).Says(t, http.StatusOK, "外部への書き込み ¥100,000以上 「10万円以上の外部書き込み」 · 金額が不明でも · #人事 部長 鈴木 一郎 の全員",
		"経理 田中 恵 または Alex Kim 人事のみなさん チャンネルのだれか 1 人",
		"どのルールにも当てはまらないもの 読むだけ チャンネルのだれか 1 人")
	b.Get("/console/audit?action=rules.updated").Says(t, http.StatusOK, "鈴木 一郎")
	b.In("en").Get(rulePage).Says(t, http.StatusOK, "Writes outside ¥100,000 or more", "Everything else")
}

// A new rule takes all that writes, whatever asks. Fewer boxes are fewer kinds, and none is refused.
func testWhatARuleAsksFor(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(rulePage, b.Get(rulePage).Hidden("act", "add"))
	for _, kind := range rules.Kinds {
		form.Holds(t, `name="asks" value="`+string(kind)+`" checked`)
	}
	sent := form.Sent(t, rulePage+"/rule")
	sent["stages.0.who"], sent["act"] = []string{"user:" + webapi.Tanaka}, []string{"keep"}
	list := b.Post(rulePage+"/rule", sent).Says(t, http.StatusOK, "外部への書き込み 金額によらない")
	b.Post(rulePage, list.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	r := stored(w).Rules[0]
	expect.That(t, r.Asks == nil && r.Tools == nil && r.Name == "外部への書き込み", "%+v", r)

	sent = b.Post(rulePage, b.Get(rulePage).Hidden("act", "edit.0")).Sent(t, rulePage+"/rule")
	sent["asks"], sent["act"] = []string{"steps", "call"}, []string{"keep"}
	list = b.Post(rulePage+"/rule", sent).Says(t, http.StatusOK, "実行ステップ または 外部エージェントの呼び出し だけ")
	b.Post(rulePage, list.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	expect.Same(t, stored(w).Rules[0].Asks, []rules.Kind{rules.KindSteps, rules.KindCall})
	delete(sent, "asks")
	b.Post(rulePage+"/rule", sent).Says(t, http.StatusUnprocessableEntity, "承認の対象 1 : 次のどれかを入力してください: 依頼の実行ステップ / ")
}

// The link to the other language takes what isn't saved along, of the list and of the form.
func testADraftGoesAlong(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(rulePage, b.Get(rulePage).Hidden("act", "add")).
		Holds(t, `form="draft" formaction="/console/language/en?next=%2Fconsole%2Frules%2Frule"`)
	sent := form.Sent(t, rulePage+"/rule", "from", "440000", "stages.0.who", "user:"+webapi.Tanaka)
	to := b.Post("/console/language/en?next="+url.QueryEscape(rulePage+"/rule"), sent)
	expect.That(t, to.Status == http.StatusTemporaryRedirect && to.To == rulePage+"/rule", "%v", to)
	b.Post(to.To, sent).Says(t, http.StatusOK, "New rule").Holds(t, `value="440,000"`)
	list := b.Post(rulePage+"/rule", consoletest.With(sent, "act", "keep")).
		Holds(t, `form="draft" formaction="/console/language/ja?`)
	b.Post(rulePage, list.Hidden()).Says(t, http.StatusOK, "This draft isn’t saved yet.", "¥440,000 or more")
	b.Post(rulePage, list.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	b.Get(rulePage).Lacks(t, "formaction=\"/console/language") // nothing would be lost
}

// A rule to which nobody gives a name doesn't take that of another.
func testTwoRulesForTheSame(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	page := b.Get(rulePage)
	for range 2 {
		sent := b.Post(rulePage, page.Hidden("act", "add")).Sent(t, rulePage+"/rule",
			"stages.0.who", "user:"+webapi.Tanaka, "act", "keep")
		page = b.Post(rulePage+"/rule", sent).Says(t, http.StatusOK, "まだ保存していません")
	}
	b.Post(rulePage, page.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	expect.Is(t, stored(w).Rules[1].Name, "外部への書き込み (2)")
}

// What can't be kept is said, and what was typed stays.
func testWhatIsWrongIsSaidAtItsField(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(rulePage, b.Get(rulePage).Hidden("act", "add"))
	wrong := form.Hidden(append(slices.Clone(ordered), "act", "keep", "name", strings.Repeat("名", 81), "from", "abc",
		"below",
		"-1", "currency", "yen!", "stages.0.who", "", "stages.1.need", "五人", "stages.2.who", "group:S1|group:S2")...)
	b.Post(rulePage+"/rule", wrong).Says(t, http.StatusUnprocessableEntity, "名前 : 1 〜 80 文字", "下限 : 0 より大きい数",
		"上限 (未満) : 0 より大きい", "通貨 : JPY のような 3 文字", "段階 1 : だれに依頼するかを選んでください", "段階 2 必要な人数 : 0〜2 ",
		"段階 3 : グループ、上長、役職は段階ごとに 1 つです").
		Holds(t, `name="from" value="abc"`, `name="stages.1.need" value="五人"`, `<a href="#stages-0">`)
	expect.That(t, stored(w) == nil, "a wrong rule is saved")
}

func testRulesAndStagesAreMoved(t *testing.T, w *consoletest.World) {
	x := &rules.Rules{}
	for i := range 3 {
		x.Rules = append(x.Rules, rules.Rule{ID: aggregate.NewID(), Name: fmt.Sprintf("R%d", i+1),
			Outcome: rules.Outcome{Refuse: "-"}})
	}
	saved(w, x)
	b := w.As(webapi.Suzuki)
	list := b.Post(rulePage, b.Get(rulePage).Hidden("act", "up.2"))
	list = b.Post(rulePage, list.Hidden("act", "delete.0"))
	b.Post(rulePage, list.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	names := ""
	for _, r := range stored(w).Rules {
		names += r.Name
	}
	expect.Is(t, names, "R3R2")

	form := b.Post(rulePage, b.Get(rulePage).Hidden("act", "edit.0"))
	form = b.Post(rulePage+"/rule", form.Hidden(append(slices.Clone(ordered), "act", "delete.1")...))
	form = b.Post(rulePage+"/rule", form.Sent(t, rulePage+"/rule", "act", "up.1"))
	form.Holds(t, `name="stages.0.name" value="人事のみなさん"`, `name="stages.1.name" value="部長"`).Lacks(t, `value="経理"`)
	form = b.Post(rulePage+"/rule", form.Sent(t, rulePage+"/rule", "act", "stage"))
	form.Holds(t, `name="stages.2.name" value="承認 3"`)
	b.In("en").Post(rulePage+"/rule", form.Sent(t, rulePage+"/rule", "act", "stage")).Holds(t,
		`name="stages.3.name" value="Approval 4"`)
}

// A rule that uses every field is the same after its form is sent as it is shown.
func testTheFormGivesBack(t *testing.T, w *consoletest.World) {
	for _, was := range []rules.Rule{
		{Conditions: rules.Conditions{
			Asks: []rules.Kind{rules.KindSteps}, People: []string{webapi.Sato}, Departments: []string{"営業部"},
			Groups: []string{webapi.Approvers}, Channels: []string{rules.Direct, "C0ELSEWHERE"}, Only: true,
			Tools: []rules.Tool{{Name: "send_slack_dm"}, {Address: "https://gone.example.com/mcp", Name: "book a room"}},
			From:  "100000", Below: "1000000.5", Currency: "USD", Labels: map[string][]string{"費目": {"国内旅費", "海外旅費"}},
		}, Outcome: rules.Outcome{Numbered: true, Tells: webapi.Approvers, Stages: []rules.Stage{
			{Name: "上長", Who: rules.Who{Superior: 2, People: []string{webapi.Tanaka}}, Need: 1},
			{Name: "経理", Who: rules.Who{Group: webapi.Approvers, Department: "経理部", Position: "部長"}},
			{Name: "課長", Who: rules.Who{Position: "課長"}, Need: 2}, {Name: "長", Who: rules.Who{Department: "本社"}},
			{Name: "だれか", Who: rules.Who{Channel: true}, Need: 1},
		}}},
		{Conditions: rules.Conditions{Tools: []rules.Tool{{Name: "list_employees"}}}, Outcome: rules.Outcome{Refuse: "No."}},
		{Outcome: rules.Outcome{Refuse: "First line.\nSecond line."}},
	} {
		was.ID, was.Name = aggregate.NewID(), "x"
		saved(w, &rules.Rules{Rules: []rules.Rule{was}})
		b := w.As(webapi.Suzuki)
		form := b.Post(rulePage, b.Get(rulePage).Hidden("act", "edit.0")).Says(t, http.StatusOK)
		list := b.Post(rulePage+"/rule", form.Sent(t, rulePage+"/rule", "act", "keep", "name", "y")).Says(t, http.StatusOK)
		b.Post(rulePage, list.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
		was.Name = "y"
		expect.Same(t, was, stored(w).Rules[0])
	}
}

// testTheRuleThatTakesARequest: one is tried before it is asked for.
func testTheRuleThatTakesARequest(t *testing.T, w *consoletest.World) {
	written(t, w)
	priced(w)
	b := w.As(webapi.Suzuki)
	try := func(tool, amount, who, label, says string) {
		t.Helper()
		b.Post(rulePage, b.Get(rulePage).Hidden("act", "try", "try.tool", tool, "try.place", webapi.HR, "try.amount", amount,
			"try.who", who, "try.label", label)).Says(t, http.StatusOK, says)
	}
	const none = "どのルールにも当てはまらないもの"
	try("send_slack_dm", "", "佐藤", "", "ルール 1「10万円以上の外部書き込み」 鈴木 一郎 部長 田中 恵・Alex Kim のうち 1 人 経理 チャンネルのだれか 1 人 人事のみなさん")
	try("send_slack_dm", "100,000", "", "", "今日 鈴木 一郎 さんが依頼すると、断られます (部長: 依頼した人のほかに、人が足りません)。")
	try("send_slack_dm", "99,999", "", "", none+" : 断る")
	try("list_employees", "", "佐藤", "", none+" チャンネルのだれか 1 人")
	try("send_slack_dm", "x", "", "", "のような金額を入力してください")
	try("send_slack_dm", "", "だれでもない", "", "「だれでもない」という人が見つかりません。")
	x := stored(w)
	x.Rules[0].Labels = map[string][]string{"区分": {"訴訟"}}
	x.Rules[0].From, x.Rules[0].Currency, x.Rules[0].Channels = "", "", nil
	saved(w, x)
	b.Get(rulePage).Holds(t, `>区分: 訴訟</option>`)
	page := b.In("en").Post(rulePage, b.Get(rulePage).Says(t, 200, "Matter for decision: 訴訟").Hidden("act", "edit.0"))
	kept := b.Post(rulePage+"/rule", page.Lacks(t, "区分").Sent(t, rulePage+"/rule", "act", "keep"))
	b.In("ja").Post(rulePage, kept.Says(t, 200, "Matter for decision: 訴訟").Hidden("act", "edit.0")).Holds(t, `value="区分"`)
	try("record_decision", "1", "佐藤", "区分\t訴訟", "ルール 1")
	try("record_decision", "1", "佐藤", "", "区分の値が分からないか")
}

func testTwoAdministrators(t *testing.T, w *consoletest.World) {
	written(t, w)
	w.Administered(webapi.Suzuki, webapi.Tanaka)
	suzuki, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	mine := suzuki.Get(rulePage)
	theirs := tanaka.Post(rulePage, tanaka.Get(rulePage).Hidden("act", "delete.0")).Says(t, http.StatusOK, "ルールがなくなると",
		"設定の「承認できる人」が承認します")
	tanaka.Post(rulePage, theirs.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	now := suzuki.Post(rulePage, mine.Hidden("act", "save")).Says(t, http.StatusConflict, "田中 恵 さんがその間に別のルールを保存しました",
		"10万円以上の外部書き込み", "この下書きはまだ保存していません")
	expect.That(t, stored(w) == nil && w.SettingsNow().RulesRev == 0, "what Tanaka saved is overwritten: %v", now)
	suzuki.Post(rulePage, now.Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	x := stored(w)
	expect.That(t, len(x.Rules) == 1 && x.Rev == 3, "%+v", x)
}

// Without Slack nothing is shown that can't be checked.
func testWithoutSlack(t *testing.T, w *consoletest.World) {
	written(t, w)
	for range 12 {
		w.Slack.Faults.Add(webapi.Fault{Method: "users.list", Kind: webapi.Unavailable})
		w.Slack.Faults.Add(webapi.Fault{Method: "usergroups.list", Kind: webapi.Unavailable})
	}
	w.Later(time.Hour)
	w.As(webapi.Suzuki).Get(rulePage).Says(t, http.StatusServiceUnavailable).Holds(t, `href="`+rulePage+`"`)
}

// While Slack doesn't say who is in a group, nobody is named.
func testSilentGroup(t *testing.T, w *consoletest.World) {
	saved(w, &rules.Rules{Rules: []rules.Rule{{ID: aggregate.NewID(), Name: "人事", Outcome: rules.Outcome{
		Stages: []rules.Stage{{Name: "人事", Who: rules.Who{Group: webapi.Approvers}, Need: 2},
			{Name: "部長", Who: rules.Who{People: []string{webapi.Suzuki}}}}}}}})
	b := w.As(webapi.Suzuki)
	tries(b, "佐藤").Says(t, http.StatusOK, "鈴木 一郎・田中 恵 の全員 人事", "鈴木 一郎: グループ", "省いた段階: 部長")
	tries(b, "鈴木").Says(t, http.StatusOK, "断られます (人事: 依頼した人のほかに") // of the two, the requester can't stamp
	const silent = "Slack の応答がないため、今は人を確認できません。"
	b.Get(rulePage).Says(t, http.StatusOK).Lacks(t, silent)
	w.Slack.Faults.Add(webapi.Fault{Method: "usergroups.users.list", Kind: webapi.Unavailable, Times: -1})
	b.Get(rulePage).Says(t, http.StatusOK, silent)
	said := tries(b, "佐藤").Says(t, http.StatusOK)
	expect.Is(t, strings.Count(said.Text(), silent), 2, "beside the rules, and as the answer: ")
	said.Lacks(t, "の全員 人事")
}

// tries asks which rule would take a direct message that somebody asks for.
func tries(b *consoletest.Browser, who string) consoletest.Answer {
	return b.Post(rulePage, b.Get(rulePage).Hidden("act", "try", "try.tool", "send_slack_dm", "try.who", who))
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

func pack(text []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

func testNoDraftIsBelieved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	bomb := pack(append([]byte(`{"Rev":0,"Rules":[]}`), bytes.Repeat([]byte(" "), 16<<20)...)) // but for its size
	many := pack([]byte(`{"Rules":[` + strings.Repeat(`{},`, 300) + `{}]}`))
	for _, draft := range []string{"", "x", "!", pack(nil), pack([]byte("[]")), pack([]byte(`{"Rev":"x"}`)), bomb, many} {
		for _, p := range []string{rulePage, rulePage + "/rule"} {
			b.Post(p, url.Values{"draft": {draft}, "act": {"save"}}).Says(t, http.StatusBadRequest)
		}
	}
	// Values that no form sends are refused when they are to be saved, not before: the page shows them.
	odd := pack([]byte(`{"Rules":[{"id":"x","name":"a\u202eb","only":true,"from":"1/3","currency":"<b>",` +
		`"stages":[{"name":"","people":["<script>"],"need":-5}]}]}`))
	list := b.Post(rulePage, url.Values{"draft": {odd}, "act": {"look"}}).Says(t, http.StatusOK)
	list.Lacks(t, "<script>", "<b>", "a\u202eb")
	b.Post(rulePage, list.Hidden("act", "save")).Says(t, http.StatusUnprocessableEntity, "ULID")
	form := b.Post(rulePage, list.Hidden("act", "edit.0")).Says(t, http.StatusOK).Lacks(t, "<script>", "<b>")
	for _, act := range []string{"stage", "up.0", "down.99999999999999999999", "delete.0", "delete.-1", "find",
		"keep", "x", ""} {
		a := b.Post(rulePage+"/rule", form.Hidden("act", act, "stages.0.who", "<i>", "stages.8.name", "0", "at", "-1"))
		expect.That(t, a.Status == http.StatusOK || a.Status == http.StatusUnprocessableEntity, "%q: %v", act, a)
	}
	for _, at := range []string{"7", "-1", "x", ""} {
		b.Post(rulePage, list.Hidden("act", "edit."+at)).Says(t, http.StatusOK)
	}
	expect.That(t, stored(w) == nil, "%+v", stored(w))
}

func testNoRuleBecomesMarkup(t *testing.T, w *consoletest.World) {
	const evil = `"><script>alert(1)</script>{who}`
	saved(w, &rules.Rules{Rules: []rules.Rule{
		{ID: aggregate.NewID(), Name: evil, Outcome: rules.Outcome{Refuse: evil}, Conditions: rules.Conditions{
			Labels: map[string][]string{evil[:30]: {evil}}, Departments: []string{evil}, Tools: []rules.Tool{{Name: evil}}}},
		{ID: aggregate.NewID(), Name: "x", Outcome: rules.Outcome{Stages: []rules.Stage{
			{Name: evil, Who: rules.Who{Department: evil, Position: evil}, Need: 1}}}},
	}})
	b := w.As(webapi.Suzuki)
	list := b.Get(rulePage).Says(t, http.StatusOK).Lacks(t, "<script>alert")
	for _, act := range []string{"edit.0", "edit.1", "try", "down.0", "save"} {
		b.Post(rulePage, list.Hidden("act", act, "try.tool", evil, "try.place", evil, "try.who", evil, "try.label", evil)).
			Lacks(t, "<script>alert")
	}
}

// What the form of a rule has as it opens: what is folded away, and what is only there without a script, isn't counted.
func TestTheFormOfARuleIsShort(t *testing.T) {
	b := consoletest.Start(t).As(webapi.Suzuki)
	page := b.Post(rulePage, b.Get(rulePage).Hidden("act", "add")).Says(t, http.StatusOK)
	controls := 0
	var count func(n *html.Node)
	count = func(n *html.Node) {
		folded := n.Data == "details" && !consoletest.Has(n, "open")
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case folded && c.Data != "summary", consoletest.Attr(c, "type") == "hidden", consoletest.Attr(c, "class") == "skip":
			default:
				if slices.Contains([]string{"input", "select", "button", "textarea"}, c.Data) {
					controls++
				}
				count(c)
			}
		}
	}
	for n := range expect.Value(html.Parse(strings.NewReader(page.Body)))(t).Descendants() {
		if n.Data == "main" {
			count(n)
		}
	}
	expect.That(t, controls > 10 && controls <= 18, "%d controls", controls)
}

// Whom nobody finds is said beside the rules.
func testWhatShouldBeKnown(t *testing.T, w *consoletest.World) {
	gone := rules.Outcome{Stages: []rules.Stage{{Name: "承認 1", Who: rules.Who{People: []string{webapi.Guest}}, Need: 1}}}
	saved(w, &rules.Rules{Rules: []rules.Rule{{ID: aggregate.NewID(), Name: "dm", Outcome: gone,
		Conditions: rules.Conditions{Tools: []rules.Tool{{Name: "send_slack_dm"}}}}}})
	b := w.As(webapi.Suzuki)
	b.Get(rulePage).Says(t, http.StatusOK, "ルール 1「dm」の①は、今日は人が足りません。")
	tries(b, "佐藤").Says(t, http.StatusOK, "断られます (承認 1: ")
}
