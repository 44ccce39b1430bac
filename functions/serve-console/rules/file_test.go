package rules_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
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
	draft = b.Post(path+"/import", url.Values{"text": {strings.ReplaceAll(text, "\n", "\r\n")}}).Says(t, http.StatusOK, "まだ保存していません")
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
	hand := "rules:\n  - name: 断る\n    refuse: だめです\n  - name: 部長\n    route: {stages: [{name: 部長, who: {kind: people, people: [" + webapi.Suzuki + "]}, need: 1, empty: {vacant: refuse, own: refuse, twice: again}}]}\n"
	draft = b.Post(path+"/import", url.Values{"text": {hand}}).Says(t, http.StatusOK, "「だめです」と伝えて、依頼を断ります。", "部長 (鈴木 一郎)が承認します。")
	b.Post(path, b.Post(path, draft.Hidden("act", "check")).Hidden("act", "save")).Leads(t, path+"?done=saved")
	expect.That(t, stored(w).Form == rules.Form && stored(w).Floor.Stamps == 1, "%+v", stored(w))
}

func testAFilesMistakesAreNamed(t *testing.T, w *consoletest.World) {
	for locale, all := range map[string]map[string]string{
		"ja": {
			"rules:\n- name: x\n  whom: y": "3 行目: rules[0].whom: この名前の項目はありません。", "a: [": "YAML として読み取れません。", "rev: 3": "1 行目: rev: ファイルには書けません。",
			"form: 2": "1 行目: 形式: 1 にしてください。", "rules:\n- name: x\n- name: x\n  refuse: y": "3 行目: ルール 2「x」: ルール名: ほかのルールと同じです。",
			"floor: {stamps: zwei}": "1 行目: floor.stamps: 整数にしてください。", "rules: &a []\nlast: *a": "2 行目: last: アンカーとエイリアスは使えません。",
			"rules:\n- name: x\n  route:\n    stages:\n    - name: y\n      need: 7\n": "6 行目: ルール 1「x」: 段階 ① 必要な人数",
		},
		"en": {"form: 2": "Line 1: Form: Must be 1.", "floor: {stamps: 9}": "Line 1: Stamps: Must be between 1 and 5."},
	} {
		b := w.As(webapi.Suzuki)
		b.Locale = locale
		for text, says := range all {
			b.Post(path+"/import", url.Values{"text": {text}}).Says(t, http.StatusUnprocessableEntity, says)
		}
		b.Post(path+"/import", url.Values{"text": {strings.Repeat("- a\n", 40000)}}).Says(t, http.StatusUnprocessableEntity, "128")
	}
}
