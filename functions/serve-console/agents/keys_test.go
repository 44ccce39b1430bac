package agents_test

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
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

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
		"only administrators have them":                              testRightsOnKeys,
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
	for field, wrong := range map[string][2]string{
		"name":       {strings.Repeat("あ", 61), "1〜60 文字の 1 行で入力してください。"},
		"quota_day":  {"1001", "1〜1,000 の整数を入力してください。"},
		"expires_at": {w.Now().AddDate(1, 0, 9).Format(time.DateOnly), "1 年以内の日付"},
		"channel":    {"", "チャンネルを選んでください。"},
		"elsewhere":  {"", "ツールを 1〜100 個選んでください。"},
		"answers":    {"U0NOBODY", "このワークスペースのメンバーを選んでください。"},
	} {
		b.Post(keys, form(w, field, wrong[0])).Says(t, http.StatusUnprocessableEntity, wrong[1], "キーを作る").Lacks(t, "キーができました")
	}
	b.Post(keys, form(w, "act", "x")).Says(t, http.StatusBadRequest)
	b.Get(keys+"?key=none").Says(t, http.StatusNotFound)
	expect.Is(t, len(expect.Value(w.Store.Keys(t.Context(), w.Tenant.ID))(t)), 0)
}

func testRightsOnKeys(t *testing.T, w *consoletest.World) {
	k := w.KeyOf(webapi.Sato, "Bash")
	for _, b := range []*consoletest.Browser{w.As(webapi.Sato), w.As(webapi.Tanaka)} {
		b.Get(keys).Says(t, http.StatusForbidden)
		b.Post(keys, form(w)).Says(t, http.StatusForbidden)
	}
	other := w.Of(w.Found("T0OTHER", webapi.Alex), webapi.Alex)
	other.Get(keys).Lacks(t, "経理エージェント")
	other.Get(keys+"?key="+k.ID).Says(t, http.StatusNotFound)
	other.Post(keys, url.Values{"act": {"revoke"}, "id": {k.ID}}).Says(t, http.StatusNotFound)
}
