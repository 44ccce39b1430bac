package rules_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func testRulesTravelAsAFile(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(path+".yaml").Says(t, http.StatusNotFound)
	written(t, w)
	was := stored(w)
	file := b.Get(path + ".yaml")
	file.Holds(t, "版 1", "- "+webapi.Suzuki+" # 鈴木 一郎", "- "+webapi.HR+" # #人事", `at_least: "100000"`)
	expect.That(t, strings.Contains(file.Header.Get("Content-Disposition"), "ringi-rules-1.yaml"), "%v", file.Header)

	draft := b.Post(path+"/import", url.Values{"text": {file.Body}}).Says(t, http.StatusOK)
	draft.Lacks(t, "まだ保存していません")
	b.Post(path, draft.Hidden("act", "check")).Says(t, http.StatusOK, "保存する変更はありません")
	text := strings.ReplaceAll(file.Body, "name: 部長", "name: 本部長")
	draft = b.Post(path+"/import", url.Values{"text": {strings.ReplaceAll(text, "\n", "\r\n")}}).Says(t, http.StatusOK,
		"まだ保存していません")
	expect.Same(t, was, stored(w))
	b.Post(path, b.Post(path, draft.Hidden("act", "check")).Hidden("act", "save")).Leads(t, path+"?done=saved")
	was.Rev, was.Rules[0].Route.Stages[0].Name = 2, "本部長"
	expect.Same(t, was, stored(w))

	b.Get(path).Says(t, http.StatusOK, "2 2026", "1 2026", "鈴木 一郎")
	old := b.Get(path+".yaml?rev=1").Holds(t, "name: 部長")
	expect.That(t, old.Body == file.Body, "another file of revision 1: %v", old)
	for _, rev := range []string{"0", "-1", "3", "x", "99999999999999999999"} {
		b.Get(path+".yaml?rev="+rev).Says(t, http.StatusNotFound)
	}
	// A rule that somebody wrote by hand needs no id.
	hand := "rules:\n  - name: 断る\n    refuse: だめです\n  - name: 部長\n    route: {stages: [{name: 部長, who: {kind: people," +
		" people: [" + webapi.Suzuki + "]}, need: 1}]}\n"
	draft = b.Post(path+"/import", url.Values{"text": {hand}}).Says(t, http.StatusOK, "「だめです」と伝えて、依頼を断ります。",
		"部長 (鈴木 一郎)が承認します。")
	b.Post(path, b.Post(path, draft.Hidden("act", "check")).Hidden("act", "save")).Leads(t, path+"?done=saved")
	expect.That(t, stored(w).Form == rules.Form, "%+v", stored(w))
}

func testAFilesMistakesAreNamed(t *testing.T, w *consoletest.World) {
	for locale, all := range map[string]map[string]string{
		"ja": {
			"rules:\n- name: x\n  whom: y": "3 行目: rules[0].whom: この名前の項目はありません。", "a: [": "YAML の形式が正しくありません。",
			"rev: 3":  "1 行目: rev: ファイルには書けません。",
			"form: 2": "1 行目: 形式: 1 にしてください。", "rules:\n- name: x\n- name: x\n  refuse: y": "3 行目: ルール 2「x」: ルール名: ほかの行と同じです。",
			"rules:\n- route: {stages: [{need: zwei}]}": "2 行目: rules[0].route.stages[0].need: " +
				"整数を入力してください。",
			"rules: &a []\nlast: *a": "2 行目: last: YAML のアンカーとエイリアス " +
				"(&amp; と *) は使えません。",
			"rules:\n- name: x\n  route:\n    stages:\n    - name: y\n      need: 7\n": "6 行目: ルール 1「x」: 段階 ① 必要な人数",
		},
		"en": {"form: 2": "Line 1: Form: Must be 1."},
	} {
		b := w.As(webapi.Suzuki).In(locale)
		for text, says := range all {
			b.Post(path+"/import", url.Values{"text": {text}}).Says(t, http.StatusUnprocessableEntity, says)
		}
		b.Post(path+"/import", url.Values{"text": {strings.Repeat("- a\n", 40000)}}).Says(t, http.StatusUnprocessableEntity,
			"131,072")
	}
}

// pack is a hidden field as the page makes it, of any text.
func pack(text []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

func testNoDraftIsBelieved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	bomb := pack(append([]byte(`{"rev":0,"rules":{"form":1,"rules":[],"last":{}}}`),
		bytes.Repeat([]byte(" "), 16<<20)...)) // a draft but for its size
	many := pack([]byte(`{"rules":{"rules":[` + strings.Repeat(`{},`, 300) + `{}]}}`))
	for _, draft := range []string{"", "x", "!", pack(nil), pack([]byte("[]")), pack([]byte(`{"rev":"x"}`)), bomb, many} {
		for _, p := range []string{path, path + "/rule"} {
			b.Post(p, url.Values{"draft": {draft}, "act": {"check"}}).Says(t, http.StatusBadRequest)
		}
	}
	// Values that no form sends are refused when they are to be saved, not before: the page shows them.
	odd := pack([]byte(`{"rev":0,"rules":{"form":1,"rules":[{"id":"x","name":"a\u202eb",` +
		`"when":{"tools":{"use":"maybe"},"amount":{"at_least":"1/3","currency":"<b>"}},` +
		`"route":{"stages":[{"name":"","who":{"kind":"people","people":["<script>"]},"need":-5}]}}],"last":{}}}`))
	list := b.Post(path, url.Values{"draft": {odd}, "act": {"look"}}).Says(t, http.StatusOK)
	list.Lacks(t, "<script>", "<b>", "a\u202eb")
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusUnprocessableEntity, "ULID")
	form := b.Post(path, list.Hidden("act", "edit.0")).Says(t, http.StatusOK).Lacks(t, "<script>", "<b>")
	for _, act := range []string{"stage", "up.0", "down.99999999999999999999", "delete.0", "delete.-1", "search", "keep",
		"x", ""} {
		a := b.Post(path+"/rule", form.Hidden("act", act, "outcome", "route", "stages.0.kind", "<i>", "stages.9.was", "0",
			"at", "-1"))
		expect.That(t, a.Status == http.StatusOK || a.Status == http.StatusUnprocessableEntity, "%q: %v", act, a)
	}
	for _, at := range []string{"7", "-1", "x", ""} {
		b.Post(path, list.Hidden("act", "edit."+at)).Says(t, http.StatusOK)
	}
	other := pack([]byte(`{"rev":0,"rules":{"form":2,"rules":[],"last":{}}}`))
	list = b.Post(path, url.Values{"draft": {other}, "act": {"look"}}).Says(t, http.StatusOK)
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusUnprocessableEntity, "形式: 1 にしてください。")
	expect.That(t, stored(w) == nil, "%+v", stored(w))
}

func testNoRuleBecomesMarkup(t *testing.T, w *consoletest.World) {
	const evil = `"><script>alert(1)</script>{who}`
	saved(w, &rules.Rules{Form: rules.Form, Rules: []rules.Rule{
		{ID: aggregate.NewID(), Name: evil, Outcome: rules.Outcome{Refuse: evil}, When: rules.Conditions{
			Labels:    []rules.Labelled{{Name: evil, List: []string{evil}}},
			Requester: &rules.Requester{Departments: []string{evil}}, Tools: &rules.Tools{Use: rules.UseSome,
				List: []rules.Tool{{Name: evil}}}}},
		{ID: aggregate.NewID(), Name: "x", Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: evil, Who: rules.Who{Kind: rules.WhoPosition, Department: evil, Position: evil}, Need: 1}}}}},
	}})
	b := w.As(webapi.Suzuki)
	list := b.Get(path).Says(t, http.StatusOK).Lacks(t, "<script>alert")
	for _, act := range []string{"edit.0", "edit.1", "end", "try", "down.0"} {
		b.Post(path, list.Hidden("act", act, "try.tool", evil, "try.place", evil, "try.who", evil)).Lacks(t, "<script>alert")
	}
	b.Post(path, b.Post(path, list.Hidden("act", "down.0")).Hidden("act", "check")).Says(t, http.StatusOK).Lacks(t,
		"<script>alert")
	b.Post(path+"/import", url.Values{"text": {evil + ": 1"}}).Lacks(t, "<script>alert")
}

// The largest rules: what a page of them weighs, and what this process computes for it.
const (
	heaviest = 150 << 10
	slowest  = 300 * time.Millisecond
)

func testAHundredRules(t *testing.T, w *consoletest.World) {
	x := &rules.Rules{Form: rules.Form}
	for i := range rules.MaxRules {
		r := rules.Rule{ID: aggregate.NewID(), Name: fmt.Sprintf("ルール %d", i),
			When: rules.Conditions{Kinds: []rules.Kind{rules.KindSteps},
				Tools: &rules.Tools{Use: rules.UseWriting}, Amount: &rules.Between{AtLeast: rules.Decimal(fmt.Sprint(1 + i)),
					Currency: "JPY"}}}
		r.Route = &rules.Policy{}
		for n := range 5 { // more would not be in one row
			r.Route.Stages = append(r.Route.Stages, rules.Stage{Name: fmt.Sprintf("段階%d", n), Need: 1,
				Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki, webapi.Tanaka, webapi.Alex}}})
		}
		x.Rules = append(x.Rules, r)
	}
	saved(w, x)
	b := w.As(webapi.Suzuki)
	list, soon := consoletest.Answer{}, time.Hour
	for range 3 {
		soon = min(soon, expect.Computed(t, func() { list = b.Get(path).Says(t, http.StatusOK) }))
	}
	expect.That(t, len(list.Body) <= 2*heaviest && soon <= slowest, "the list: %d bytes, %v", len(list.Body), soon)
	for _, act := range []string{"look", "up.99", "edit.50", "check"} {
		form := b.Post(path, list.Hidden("act", "delete.0")).Hidden("act", act)
		took, a := time.Hour, consoletest.Answer{}
		for range 3 { // the best one counts
			took = min(took, expect.Computed(t, func() { a = b.Post(path, form).Says(t, http.StatusOK) }))
		}
		t.Logf("%s: %d KB, %v", act, len(a.Body)>>10, took)
		expect.That(t, len(a.Body) <= heaviest && took <= slowest, "%s: %d bytes, %v", act, len(a.Body), took)
		expect.That(t, len(form.Encode()) < 100<<10, "%s sends %d bytes", act, len(form.Encode()))
	}
}

func testTwoAdministrators(t *testing.T, w *consoletest.World) {
	written(t, w)
	w.Tenant.Admins = append(w.Tenant.Admins, webapi.Tanaka)
	w.Administered(w.Tenant.Admins...)

	suzuki, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	mine := suzuki.Post(path, suzuki.Get(path).Hidden("act", "look"))
	check := suzuki.Post(path, mine.Hidden("act", "check")).Says(t, http.StatusOK)
	theirs := tanaka.Post(path, tanaka.Get(path).Hidden("act", "delete.0"))
	tanaka.Post(path, tanaka.Post(path, theirs.Hidden("act", "check")).Hidden("act", "save")).Leads(t, path+"?done=saved")

	// At the look and at saving: who saved in between is named, and what was typed is kept.
	for _, a := range []consoletest.Answer{
		suzuki.Post(path, mine.Hidden("act", "check")), suzuki.Post(path, check.Hidden("act", "save")),
	} {
		a.Says(t, http.StatusConflict, "田中 恵 さんが、このページを開いている間に版 2 を保存しました", "削除 「10万円以上の外部書き込み」", "この下書きはまだ保存していません")
		expect.That(t, len(stored(w).Rules) == 0, "what Tanaka saved is overwritten: %v", a)
		check = suzuki.Post(path, a.Hidden("act", "check")).Says(t, http.StatusOK, "追加 ルール 1「10万円以上の外部書き込み」")
	}
	suzuki.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	x := stored(w)
	expect.That(t, len(x.Rules) == 1 && x.Rev == 3, "%+v", x)
	all := w.Audited(store.AuditFilter{Action: tenancy.AuditRulesUpdated})
	expect.That(t, len(all) == 3 && all[1].ActorID == webapi.Tanaka, "%+v", all)
}

// What is saved is what was looked at.
func testWhatWasNotLookedAtIsNotSaved(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	check := b.Post(path, b.Get(path).Hidden("act", "check"))
	other := b.Post(path, b.Get(path).Hidden("act", "delete.0"))
	sent := check.Hidden("act", "save")
	sent["draft"] = other.Hidden()["draft"]
	b.Post(path, sent).Says(t, http.StatusOK, "確認した後に下書きが変わった")
	expect.That(t, len(stored(w).Rules) == 1, "what was not looked at is saved")
	check.Says(t, http.StatusOK, "保存する変更はありません").Lacks(t, `value="save"`)
}

func testTheLookBeforeSaving(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	// A second rule for less is covered by none; one like the first is. A guest can't stamp.
	form := b.Post(path, b.Get(path).Hidden("act", "add"))
	same := append(append([]string{}, ordered...), "name", "同じ", "stages.0.people", "|"+webapi.Guest, "act", "keep")
	list := b.Post(path+"/rule", form.Hidden(same...)).Says(t, http.StatusOK, "同じ")
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK,
		"ルール 2「同じ」は使われません: ルール 1「10万円以上の外部書き込み」がすべて先に受けます。")
	// Whatever else writes outside is refused, until an administrator chooses otherwise.
	last := b.Post(path, list.Hidden("act", "edit.writes")).Says(t, http.StatusOK, "外部に書き込む依頼",
		"上のどの行にも当てはまらない依頼", "決まった文で依頼を断る 次の順に承認してもらう 文を添えて依頼を断る")
	list = b.Post(path+"/rule", last.Hidden("outcome", "route", "stages.0.name", "承認", "stages.0.kind", "people",
		"stages.0.people", "|"+webapi.Tanaka, "stages.0.need", "1", "stages.0.vacant", "refuse", "stages.0.own", "refu"+
			"se", "stages.0.twice", "again", "act", "keep"))
	list.Says(t, http.StatusOK, "承認 (田中 恵)が承認します。")
}

func testWithoutSlackNothingIsSaved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	written(t, w)
	list := b.Post(path, b.Get(path).Hidden("act", "look"))
	check := b.Post(path, list.Hidden("act", "check"))
	w.Later(2 * time.Minute) // what Slack said is kept for one
	for range 3 {
		w.Slack.Faults.Add(webapi.Fault{Method: "users.list", Kind: webapi.Unavailable})
	}
	b.Post(path, check.Hidden("act", "save")).Says(t, http.StatusServiceUnavailable, "Slack の応答がない").Lacks(t,
		`value="save"`)
	b.Get(path).Says(t, http.StatusOK, "名前を表示できません", webapi.Tanaka)
	expect.That(t, stored(w).Rev == 1, "rules whose people nobody could check are saved")
}

func testTheRulesEnd(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	settings := "実行ステップについては、回覧ルールが決めます。"
	b.Get("/console/settings/approval").Says(t, http.StatusOK, settings)
	check := b.Post(path, b.Get(path).Hidden("act", "end")).Says(t, http.StatusOK, "保存すると回覧ルールがなくなり", "削除 「")
	expect.That(t, stored(w) != nil, "they ended before they were saved")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	expect.That(t, stored(w) == nil, "%+v", stored(w))
	b.Get(path).Says(t, http.StatusOK, "回覧ルールはまだありません", "やめました")
	b.Get("/console/settings/approval").Lacks(t, settings)
	written(t, w) // and they begin again
	expect.That(t, stored(w).Rev == 3, "%+v", stored(w))
}
