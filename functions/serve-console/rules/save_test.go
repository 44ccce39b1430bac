package rules_test

import (
	"net/http"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func testTwoAdministrators(t *testing.T, w *consoletest.World) {
	written(t, w)
	w.Tenant.Admins = append(w.Tenant.Admins, webapi.Tanaka)
	owner := expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t)
	owner.Admins = w.Tenant.Admins
	expect.NoError(t, w.Store.SaveTenant(t.Context(), owner, w.By, w.Now()))

	suzuki, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	mine := suzuki.Post(path, suzuki.Get(path).Hidden("act", "look", "floor.stamps", "2"))
	check := suzuki.Post(path, mine.Hidden("act", "check")).Says(t, http.StatusOK, "最低ライン")
	theirs := tanaka.Post(path, tanaka.Get(path).Hidden("act", "delete.0"))
	tanaka.Post(path, tanaka.Post(path, theirs.Hidden("act", "check")).Hidden("act", "save")).Leads(t, path+"?done=saved")

	// At the look and at saving: who saved in between is named, and what was typed is kept.
	for _, a := range []consoletest.Answer{
		suzuki.Post(path, mine.Hidden("act", "check")), suzuki.Post(path, check.Hidden("act", "save")),
	} {
		a.Says(t, http.StatusConflict, "田中 恵 さんが、このページを開いている間に版 2 を保存しました", "削除 ルール 1「10万円以上の外部書き込み」", "この下書きはまだ保存していません")
		expect.That(t, len(stored(w).Rules) == 0, "what Tanaka saved is overwritten: %v", a)
		a.Holds(t, `name="floor.stamps" value="2"`)
		check = suzuki.Post(path, a.Hidden("act", "check")).Says(t, http.StatusOK, "追加 ルール 1「10万円以上の外部書き込み」")
	}
	suzuki.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	x := stored(w)
	expect.That(t, len(x.Rules) == 1 && x.Floor.Stamps == 2 && x.Rev == 3, "%+v", x)
	all := expect.Value(w.Store.Audit(t.Context(), w.Tenant.ID, store.AuditFilter{Action: tenancy.AuditRulesUpdated}, "", 9))(t).Items
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
	// Ringi's own tools move no money, unless an administrator says that nobody knows.
	b.Post(path, list.Hidden("act", "check")).Lacks(t, "金額がいつも不明")
	p := tenancy.ToolPermission{TenantID: w.Tenant.ID, ToolName: "send_slack_dm", Allowed: true,
		Mark: &rules.Mark{Version: "1", Destinations: []string{"/user"}}}
	expect.Value(w.Store.SaveToolPermission(t.Context(), p, w.By, w.Now()))(t)
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK,
		"ルール 2「同じ」は使われません: ルール 1「10万円以上の外部書き込み」がすべて先に受けます。",
		"ルール 2「同じ」: ① の 高橋 ゲスト さんは、今日承認できません", "ルール 2「同じ」: ① は、今日承認できる人が足りません。",
		"次のツールでは金額がいつも不明なので、「以上」の条件に必ず当てはまります (ツールのページで、金額の引数が指定されていません): 「完了通知」",
		"「完了通知」 #人事 承認 2 つ・別の人 2 人 ルール 1「10万円以上の外部書き込み」")
	// Whatever else writes outside is refused, until an administrator chooses otherwise.
	last := b.Post(path, list.Hidden("act", "edit.writes")).Says(t, http.StatusOK, "外部に書き込む依頼")
	list = b.Post(path+"/rule", last.Hidden("outcome", "route", "stages.0.name", "承認", "stages.0.kind", "people",
		"stages.0.people", "|"+webapi.Tanaka, "stages.0.need", "1", "stages.0.vacant", "refuse", "stages.0.own", "refuse", "stages.0.twice", "again", "act", "keep"))
	list.Says(t, http.StatusOK, "承認 (田中 恵)が承認します。")
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK,
		"「完了通知」 ほかのチャンネル・ダイレクトメッセージ 承認 1 つ・別の人 1 人 どれにも当てはまらないとき",
		"「Sheet 書き込み」 ほかのチャンネル・ダイレクトメッセージ・#人事 承認 1 つ・別の人 1 人 どれにも当てはまらないとき")
}

func testWithoutSlackNothingIsSaved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	written(t, w)
	list := b.Post(path, b.Get(path).Hidden("act", "look", "floor.stamps", "2"))
	check := b.Post(path, list.Hidden("act", "check"))
	w.Later(2 * time.Minute) // what Slack said is kept for one
	for range 3 {
		w.Slack.Faults.Add(webapi.Fault{Method: "users.list", Kind: webapi.Unavailable})
	}
	b.Post(path, check.Hidden("act", "save")).Says(t, http.StatusServiceUnavailable, "Slack の応答がない").Lacks(t, `value="save"`)
	b.Get(path).Says(t, http.StatusOK, "名前を表示できません", webapi.Tanaka)
	expect.That(t, stored(w).Rev == 1, "rules whose people nobody could check are saved")
}

func testTheRulesEnd(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	settings := "実行ステップについては、回覧ルールが決めます。"
	b.Get("/console/settings").Says(t, http.StatusOK, settings)
	check := b.Post(path, b.Get(path).Hidden("act", "end")).Says(t, http.StatusOK, "保存すると回覧ルールがなくなり", "削除 ルール 1")
	expect.That(t, stored(w) != nil, "they ended before they were saved")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	expect.That(t, stored(w) == nil, "%+v", stored(w))
	b.Get(path).Says(t, http.StatusOK, "回覧ルールはまだありません", "やめました")
	b.Get("/console/settings").Lacks(t, settings)
	written(t, w) // and they begin again
	expect.That(t, stored(w).Rev == 3, "%+v", stored(w))
}
