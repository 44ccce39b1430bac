package subject_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

const (
	tool = "post_message"
	says = `{"recipient":"C0HR","text":"締めました"}`
)

func callAt(a *call.Aggregate) string { return "/console/calls/" + a.Call.CallID }

func TestPagesOfCalls(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"people read what it does, and why":     testWhatACallSays,
		"people decide on its page":             testDecisions,
		"each stamps in turn along a route":     testRoute,
		"it is said what became of it":          testOutcomes,
		"the register has what was decided":     testRegister,
		"lists have it for whoever may read it": testLists,
		"nothing that an agent writes runs":     testHostile,
	})
}

func testWhatACallSays(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool)
	a := o.Asks(tool, says, "月次が終わったため", nil)
	b := w.As(webapi.Suzuki)
	b.Get(callAt(a)).Says(t, 200, "post_message の呼び出し", "責任者: 佐藤 花子", "承認待ち", "締めました",
		"エージェントの言葉です。承認の対象ではありません: 月次が終わったため",
		"あなたも承認できます", "この内容のまま、1 回だけ行われます。").
		Holds(t, `value="approve"`, `value="cancel_action"`)
	b.In("en").Get(callAt(a)).Says(t, 200, "Call of post_message", "The agent’s reason", "Not part of what is approved")
}

func testDecisions(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool)
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	a := o.Asks(tool, says, "", nil)
	late := suzuki.Get(callAt(a)).FormOf(t, aggregate.ActReject, "早すぎます")
	suzuki.Did(callAt(a), aggregate.ActApprove, "")
	suzuki.Get(callAt(a)).Says(t, 200, "承認済み・開始待ち", "✅ 承認: 鈴木 一郎").Lacks(t, `value="approve"`)
	suzuki.Post(callAt(a)+"/act", late).Says(t, http.StatusConflict, "鈴木 一郎 が", "に承認しました。", "早すぎます")
	sato.Did(callAt(a), conversation.ActCancel, "")
	sato.Get(callAt(a)).Says(t, 200, "佐藤 花子 が取り消しました。")

	b := o.Asks(tool, `{"recipient":"C0HR","text":"二"}`, "", nil)
	suzuki.Did(callAt(b), aggregate.ActReject, "宛先が違います")
	sato.Get(callAt(b)).Says(t, 200, "鈴木 一郎 が却下しました。", "宛先が違います")
}

func testRoute(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool)
	a := asksAlong(o, consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki),
		consoletest.Desk("部長", 1, webapi.Alex)))
	suzuki, alex := w.As(webapi.Suzuki), w.As(webapi.Alex)
	alex.Get(callAt(a)).Says(t, 200, "課長 いまここ", "部長 これから").Lacks(t, `value="approve"`)
	for _, b := range []*consoletest.Browser{suzuki, alex} {
		b.Get(callAt(a)).Holds(t, `value="deny"`).Lacks(t, `value="reject"`) // a call has no next version
		b.Get("/console").Says(t, 200, "締めました", "経理エージェント").Holds(t, callAt(a))
		before, _, _ := strings.Cut(b.Get("/console").Text(), tool)
		expect.Has(t, before, "締めました", "what it is called with does not lead")
		b.Did(callAt(a), aggregate.ActApprove, "")
	}
	alex.Get(callAt(a)).Says(t, 200, "課長 承認済み", "部長 承認済み", "承認済み・開始待ち")
	expect.Is(t, len(expect.Value(o.Calls.Load(t.Context(), a.Ref()))(t).Call.Gate.Acts), 2)
}

func testOutcomes(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool, "Bash")
	b := w.As(webapi.Suzuki)
	elsewhere := func(x *call.Proposal) { x.Content.Elsewhere = true }
	a := o.Asks("Bash", `{"command":"rm -r old"}`, "", elsewhere)
	b.Get(callAt(a)).Says(t, 200, "エージェントの環境で実行", "rm -r old", "実行した結果は Ringi では確認できません。",
		"この内容のまま、1 回だけ実行できるようになります。").Lacks(t, "1 回だけ行われます。")
	b.Did(callAt(a), aggregate.ActApprove, "")
	b.Get(callAt(a)).Says(t, 200, "承認済み・許可は未使用")
	o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Take(o.Key, "toolu_1", task.Series{}, w.Now())
	})
	b.Get(callAt(a)).Says(t, 200, "許可を使用", "エージェントが許可を使いました。").Lacks(t, `value="cancel_action"`)

	lost := o.Asks(tool, says, "", nil)
	b.Did(callAt(lost), aggregate.ActApprove, "")
	o.Decide(lost, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Claim(a.Head.Run, "i1", task.Series{}, w.Now().Add(time.Minute), w.Now())
	})
	b.Get(callAt(lost)).Says(t, 200, "実行中")
	o.Decide(lost, func(a *call.Aggregate) (aggregate.Change, error) { return a.Lost("i1", w.Now()) })
	b.Get(callAt(lost)).Says(t, 200, "結果不明", "届いたかどうかを確認できません。サービスの画面で確認してください。")
	o.Decide(lost, func(a *call.Aggregate) (aggregate.Change, error) {
		blob := consoletest.Inline(`{"value":{"url":"https://example.com/made"}}`)
		return a.Finish("i1", call.Result{Status: conversation.ActionSucceeded, Call: &blob}, w.Now())
	})
	b.Get(callAt(lost)).Says(t, 200, "完了", "https://example.com/made").Lacks(t, "届いたかどうかを確認できません。")
}

func testLists(t *testing.T, w *consoletest.World) {
	o, suzuki := w.KeyOf(webapi.Sato, tool, "mcp__bank__pay"), w.As(webapi.Suzuki)
	o.Asks("mcp__bank__pay", `{"amount":98000,"to":"アカツキ商事","rows":[{"a":"x1"},{"a":"y2"}]}`, "", nil)
	a := o.Asks(tool, says, "月次が終わったため", nil)
	for _, path := range []string{"/console/calls", "/console"} {
		suzuki.Get(path).Says(t, 200, "amount 98000 · rows › 1", "x1", "y2", "to アカツキ商事", "締めました", "経理エージェント").
			Holds(t, callAt(a)).Lacks(t, "{", "月次が終わったため") // an agent's reason is no word of what its call does
	}
	suzuki.Get("/console/calls").Says(t, 200, "承認待ち", "佐藤 花子", "#人事").
		Holds(t, `<span class="kind">mcp__bank__pay</span>`, `<span class="muted">`)
	suzuki.Get("/console/calls?cursor=x").Says(t, http.StatusBadRequest)
	w.As(webapi.Alex).Get("/console/calls").Says(t, 200, "呼び出しはまだありません").Lacks(t, callAt(a), "/console/keys")
	other := w.Of(w.Found("T0OTHER", webapi.Alex), webapi.Alex)
	other.Get(callAt(a)).Says(t, http.StatusNotFound)
	other.Get("/console/calls").Lacks(t, callAt(a))
}

func testHostile(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, "<script>x</script>")
	a := o.Asks("<script>x</script>", `{"<img src=x>":"<svg onload=x>\u202e"}`, "<script>alert(1)</script>",
		func(x *call.Proposal) { x.Content.Elsewhere = true })
	for _, path := range []string{callAt(a), "/console/calls", "/console", "/console/keys"} {
		consoletest.Harmless(t, path, w.As(webapi.Suzuki).Get(path))
	}
}

func testRegister(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool, "Bash")
	by := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki))
	by.Rule.Numbered = true
	a := asksAlong(o, by)
	b := w.As(webapi.Suzuki)
	b.Did(callAt(a), aggregate.ActApprove, "")
	a = o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		settled, _ := a.Unnumbered()
		of := task.Series{Year: tenancy.DefaultSettings().FiscalYear(settled), Last: 122}
		return a.Claim(a.Head.Run, "i1", of, w.Now().Add(time.Minute), w.Now())
	})
	number := a.Call.DecisionNumber
	register := "/console/audit/register.csv?year=" + number[:4]
	b.Get(register).Holds(t, number, "締めました", "課長 鈴木 一郎", "決裁 (実行中)", "佐藤 花子", a.Call.CallID)
	o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Finish("i1", call.Result{Status: conversation.ActionSucceeded}, w.Now())
	})
	b.Get(callAt(a)).Says(t, 200, "決裁番号: "+number)
	b.Get("/console/audit").Says(t, 200, "経理エージェント", "外部エージェントの呼び出し").Holds(t, callAt(a))
}

const keys = "/console/keys"

func form(w *consoletest.World, change ...string) url.Values {
	f := url.Values{"act": {"save"}, "name": {"月次の締め"}, "answers": {webapi.Sato}, "channel": {webapi.HR},
		"quota_day": {"５０"}, "expires_at": {w.Now().AddDate(0, 1, 0).Format(time.DateOnly)}, "tools": {""},
		"elsewhere": {"Bash\n\nWrite\n"}}
	for i := 0; i+1 < len(change); i += 2 {
		f.Set(change[i], change[i+1])
	}
	return f
}

func TestKeys(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a secret is shown once, and the key is changed and revoked": testKeyOfItsLife,
		"what is wrong is said at its field":                         testWrongKey,
	})
}

func testKeyOfItsLife(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(keys).Says(t, 200, "キーを作る", "使えるツール").Holds(t, "<details open>")
	made := b.Post(keys, form(w))
	made.Says(t, 200, "キーができました", "表示されるのは今回だけです。", "月次の締め 有効", "佐藤 花子", "Bash、Write")
	secret := regexp.MustCompile(`rk_[\w-]{43}`).FindString(made.Body)
	lines := html.UnescapeString(made.Body)
	expect.That(t, regexp.MustCompile("<pre>export RINGI_URL='https?://[^/']+'\nexport RINGI_KEY='"+secret+"'</pre>").
		MatchString(lines), "%s", lines)
	readme := string(expect.Value(os.ReadFile("../../../infra/gate/README.md"))(t))
	for _, start := range []string{"claude -p", "curl -sS"} {
		_, shown, _ := strings.Cut(lines, "<pre>"+start)
		shown, _, _ = strings.Cut(shown, "</pre>")
		expect.Has(t, readme, "```sh\n"+start+shown+"\n```")
	}
	k := expect.Value(w.Store.KeyBySecret(t.Context(), secret, w.Now()))(t)
	expect.That(t, k.QuotaDay == 50 && k.Answers == webapi.Sato && len(k.Tools) == 2 && k.Team == w.Tenant.TeamID, "%+v",
		k)
	b.Get(keys).Says(t, 200, "最後の使用", "なし").Lacks(t, secret).
		Holds(t, "<td data-label=\"有効期限\">"+form(w).Get("expires_at")+"</td>")

	again := form(w, "id", k.ID, "rev", "1", "name", "週次の締め", "elsewhere", "Bash")
	b.Get(keys+"?key="+k.ID).Says(t, 200, "「月次の締め」を変更").Holds(t, "Bash", `value="1"`)
	b.Post(keys, again).Leads(t, keys+"?done=saved")
	b.Get(keys).Says(t, 200, "週次の締め")
	b.Post(keys, again).Says(t, http.StatusConflict, "ほかの人が先に変更しました。")
	act := func(act, rev string) consoletest.Answer {
		return b.Post(keys, url.Values{"act": {act}, "id": {k.ID}, "rev": {rev}})
	}
	b.Post(keys, form(w, "id", k.ID, "rev", "2", "name", "週次の締め", "answers", webapi.Alex)).Leads(t, keys+"?done=saved")
	is := expect.Value(w.Store.Key(t.Context(), w.Tenant.ID, k.ID))(t)
	expect.Is(t, is.Answers, webapi.Sato, "whose it is stays")
	act("revoke", "3").Leads(t, keys+"?done=key_revoked")
	b.Get(keys+"?done=key_revoked").Says(t, 200, "キーを無効にしました。", "週次の締め 無効").Lacks(t, "「週次の締め」を変更")
	_, err := w.Store.KeyBySecret(t.Context(), secret, w.Now())
	expect.Fails(t, err, tenancy.ErrKey{Why: tenancy.KeyRevoked})
	b.Post(keys, form(w, "id", k.ID, "rev", "4")).Says(t, http.StatusConflict)
	var did []string
	for _, e := range w.Audited(store.AuditFilter{Resource: k.ID}) {
		did = append(did, string(e.Action))
	}
	expect.Is(t, strings.Join(did, " "), "key.revoked key.updated key.updated key.created")
	b.Get("/console/audit?resource="+k.ID).Says(t, 200, "週次の締め")
}

func testWrongKey(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	words := web.TextsOf("keys", "ja")
	for field, wrong := range map[string]string{"name": strings.Repeat("あ", 61), "quota_day": "1001", "channel": "",
		"expires_at": w.Now().AddDate(1, 0, 9).Format(time.DateOnly), "elsewhere": "", "answers": "U0NOBODY"} {
		says := words.In("problems", strings.Replace(field, "elsewhere", "tools", 1))
		b.Post(keys, form(w, field, wrong)).Says(t, http.StatusUnprocessableEntity, says, words.Say("make"))
	}
	b.Post(keys, form(w, "act", "x")).Says(t, http.StatusBadRequest)
	b.Get(keys+"?key=none").Says(t, http.StatusNotFound)
	expect.Is(t, len(expect.Value(w.Store.Keys(t.Context(), w.Tenant.ID))(t)), 0)
}

// asksAlong asks for a call along a route.
func asksAlong(o *consoletest.Outside, by aggregate.Opening) *call.Aggregate {
	a := o.Asks(tool, says, "", func(x *call.Proposal) { x.LooksUp = true })
	terms := o.SettingsNow().ActionTerms(o.Now())
	return o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Route(a.Head.Run, call.Routed{Opening: &by, Terms: terms}, o.Now())
	})
}
