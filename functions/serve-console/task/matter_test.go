package task_test

import (
	"fmt"
	"net/http"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestTheFormThatAsksForADecision(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"makes one request, however often it is sent":      testMatterOnce,
		"says what is wrong, and nothing typed is lost":    testMatterWrong,
		"asks what the settings say besides":               testMatterFields,
		"leads to the register and the sheet, by a number": testMatterRegistered,
		"is filled in again once it was returned":          testMatterRefilled,
		"is filled in again with other files":              testMatterRefilledFiles,
	})
}

func testMatterOnce(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Sato)
	b.Get("/console/tasks").Holds(t, `href="/console/decisions/new"`)
	b.Get("/console/decisions/new").Says(t, 200, "決裁を求める", "支出", "その他", "内容と理由")
	form := b.MatterForm(webapi.HR)
	id := b.AskForDecision(form)
	expect.Is(t, b.AskForDecision(form), id)
	r := expect.Value(w.Store.Load(t.Context(), task.RefOf(w.Tenant.ID, id)))(t).Request
	expect.Same(t, &task.Matter{Kind: "契約", Title: "倉庫の賃貸", Amount: "3600000", Currency: "JPY",
		Description: "在庫が\n増えたため。"}, r.Matter)
	expect.That(t, r.User == webapi.Sato && r.Channel == webapi.HR, "%+v", r)
	b.In("en").Get("/console/decisions/new").Says(t, 200, "Ask for a decision", "Details and reasons", "Spending").
		Holds(t, `value="支出"`)
}

func testMatterWrong(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Sato)
	for _, locale := range language.All { // the kind decides the route: nobody's is chosen
		w.As(webapi.Sato).In(locale).Get("/console/decisions/new").Holds(t, `name="matter" required><option value="">—</option>`)
	}
	for field, says := range map[string][2]string{"matter": {"", "一覧から"}, "title": {" ", "150 文字"},
		"amount": {"-1", "0 以上"}, "currency": {"XAU", "JPY, USD, EUR"}, "description": {"", "内容と理由を入力してください"},
		"channel": {"C0OTHERS", "招待"}} {
		form := b.MatterForm("")
		form.Set(field, says[0])
		page := b.Post("/console/decisions", form)
		page.Says(t, http.StatusUnprocessableEntity, "入力内容を確認してください。", says[1])
		page.Holds(t, `id="`+field+`"`, `aria-invalid="true"`)
		if field != "title" {
			page.Holds(t, "倉庫の賃貸")
		}
	}
	form := b.MatterForm("")
	form.Set("key", "x")
	expect.That(t, b.Post("/console/decisions", form).Status >= 400, "a form without its key is read")
}

func testMatterFields(t *testing.T, w *consoletest.World) {
	s := w.SettingsNow()
	s.MatterFields = []tenancy.MatterField{{Name: "行先 A&B", Values: []string{"市内", "市外"}}, {Name: "日数", Number: true},
		{Name: "関係部", Values: []string{"総務部", "経理部", "営業部"}, Several: true}}
	expect.Value(w.Store.SaveSettings(t.Context(), w.Tenant.ID, s, w.By, w.Now()))(t)
	b := w.As(webapi.Sato)
	form := b.MatterForm(webapi.HR)
	form.Set("field:日数", "8日")
	b.Post("/console/decisions", form).Says(t, http.StatusUnprocessableEntity, "行先 A&amp;Bを一覧から", "日数は 0 以上").
		Holds(t, `id="field-0"`, `name="field:日数" value="8日"`)
	form.Set("field:行先 A&B", "市外")
	form.Set("field:日数", "８")
	b.Post("/console/decisions", form).Says(t, http.StatusUnprocessableEntity, "関係部を一覧から", "すべて選びます")
	form["field:関係部"] = []string{"営業部", "総務部"}
	id := b.AskForDecision(form)
	r := expect.Value(w.Store.Load(t.Context(), task.RefOf(w.Tenant.ID, id)))(t).Request
	expect.Same(t, []task.MatterValue{{Name: "行先 A&B", Value: "市外"}, {Name: "日数", Value: "8", Number: true},
		{Name: "関係部", Value: "総務部、営業部", Several: true}}, r.Matter.Fields)
	b.Get("/console/decisions/new?like="+id).Holds(t, `<option value="`+webapi.HR+`" selected>`, `<option value="市外" selected>`, `name="field:日数" value="8"`,
		`<option value="総務部" selected>`, `<option value="経理部">`, `<option value="営業部" selected>`)
	form.Set("key", b.MatterForm("").Get("key"))
	w.MatterAskedBy(form, nil)
	w.As(webapi.Suzuki).Get(w.TaskPage()).Says(t, 200, "「 行先 A&amp;B 」 市外 · 日数 8", "関係部 総務部 、 営業部")
}

func testMatterRegistered(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	w.MatterAsked()
	b.Get(w.TaskPage()).Says(t, 200, "「 契約 」の決裁: 「 倉庫の賃貸 」", "¥3,600,000").Holds(t, "↩️ 差し戻し").
		Lacks(t, `<dt>内容</dt>`) // the request says it
	expect.Is(t, b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Status, http.StatusSeeOther)
	number := fmt.Sprintf("%d-000001", w.MatterRecorded())
	b.Get("/console/tools").Lacks(t, "/console/tools/marks/record_decision")
	b.Get("/console/tools/marks/record_decision").Says(t, http.StatusNotFound)
	b.Get(w.TaskPage()).Says(t, 200, "結果", "決裁番号 "+number, "実行方針 v1 承認不要").Holds(t, `href="/console/register/`+number)
	b.Get("/console/register?by=decisions").Says(t, 200, number, "決裁 倉庫の賃貸", "¥3,600,000", "鈴木")
	b.Get("/console/register/file.csv?by=decisions").Holds(t, number, `"決裁","倉庫の賃貸"`, `"3600000","JPY"`).
		Lacks(t, `"Ringi"`) // nobody's deed: a record
	b.Get("/console/register/"+number).Says(t, 200, number, "倉庫の賃貸", "「 契約 」の決裁", "¥3,600,000", "鈴木", "在庫が").
		Lacks(t, "実行方針")
}

// A form that was returned is filled in again on its page, under its number; page and sheet say what changed and why.
func testMatterRefilled(t *testing.T, w *consoletest.World) {
	w.MatterAsked()
	number := w.Load().Head.RequestNumber
	form := w.Act(aggregate.ActReject, "安いものを探してください")
	form.Set("act", string(aggregate.ActGiveBack))
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	suzuki.Get(w.TaskPage()).Holds(t, "↩️ 差し戻し").Lacks(t, `value="reject"`)
	suzuki.Post(w.TaskPage()+"/act", form).Says(t, http.StatusSeeOther)
	p := w.Load().Process()
	expect.That(t, p.GivenBack() && w.Load().Head.Noted == task.StatusReturned, "%+v", w.Load().Head)
	path := w.TaskPage() + "/edit/" + p.ID
	sato.Get(w.TaskPage()).Holds(t, "依頼者の修正待ち", path, "フォームで書き直す")
	suzuki.Get(w.TaskPage()).Lacks(t, path, "却下")
	consoletest.Harmless(t, path, sato.Get(path))
	sato.Get(path).Says(t, 200, "安いものを探してください", "番号は変わりません").
		Holds(t, `value="倉庫の賃貸"`, `value="3600000"`, `<option value="契約" selected>`, `type="file"`).Lacks(t, `name="kept"`, `name="channel"`)
	w.As(webapi.Sato).In("en").Get(path).Says(t, 200, "Fill in the form again", "Its number stays")
	expect.That(t, suzuki.Get(path).Status != http.StatusOK, "an approver has the form")

	typed := sato.MatterForm("")
	typed.Set("hash", w.Load().AskedHash(p.ID))
	typed.Set("title", "小さい倉庫の賃貸")
	typed.Set("amount", "200万")
	typed.Set("description", "在庫が\r\n少し増えたため。")
	typed.Set("matter", "宇宙")
	sato.Post(path, typed).Says(t, http.StatusUnprocessableEntity, "一覧から").Holds(t, `value="小さい倉庫の賃貸"`)
	typed.Set("matter", "契約")
	suzuki.Post(path, typed).Says(t, http.StatusUnprocessableEntity, "依頼した本人だけ")
	expect.Is(t, len(w.Load().Prompts), 1)
	sato.Post(path, typed).Says(t, http.StatusSeeOther)
	sato.Post(path, typed).Says(t, http.StatusSeeOther) // a second click
	typed.Set("title", "別の倉庫")
	sato.Post(path, typed).Says(t, http.StatusUnprocessableEntity, "あなたの修正は使われていません").Holds(t, `value="別の倉庫"`)
	a := w.Load()
	expect.That(t, len(a.Prompts) == 2 && a.Task.Title == "小さい倉庫の賃貸" && a.Head.RequestNumber == number, "%+v", a.Task)

	w.MatterGoesRound(a.Prompt().Content)
	suzuki.Get(w.TaskPage()).Says(t, 200, "¥2,000,000", "¥3,600,000", "小さい倉庫の賃貸", "少し増えたため。", "安いものを探してください", "v2")
	expect.Is(t, suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Status, http.StatusSeeOther)
	decided := fmt.Sprintf("%d-000001", w.MatterRecorded())
	suzuki.Get("/console/register/"+decided).Says(t, 200, "件名: 小さい倉庫の賃貸", "¥2,000,000", "少し増えたため。", "これまでの経緯",
		"安いものを探してください", "v1 からの変更", "¥3,600,000").Lacks(t, "実行方針")
	suzuki.Get("/console/register?by=decisions").Says(t, 200, decided, "小さい倉庫の賃貸")
}

// Whoever fills in the form again sees which files it has, leaves some out and adds others. Each version has its own.
func testMatterRefilledFiles(t *testing.T, w *consoletest.World) {
	w.MatterAskedWith(map[string][]byte{"見積書.pdf": []byte("%PDF-1"), "明細.csv": []byte("a,b\n")})
	form := w.Act(aggregate.ActReject, "相見積書を付けてください")
	form.Set("act", string(aggregate.ActGiveBack))
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	suzuki.Post(w.TaskPage()+"/act", form).Says(t, http.StatusSeeOther)
	p := w.Load().Process()
	path := w.TaskPage() + "/edit/" + p.ID
	files := w.Load().FilesOf(p.ID)
	expect.Must(t, len(files) == 2, "%+v", files)
	consoletest.Harmless(t, path, sato.Get(path))
	sato.Get(path).Says(t, 200, "見積書.pdf", "明細.csv", "残すものを選びます").Holds(t, `value="`+files[0].ID+`" checked`)

	typed := sato.MatterForm("")
	typed.Set("hash", w.Load().AskedHash(p.ID))
	typed.Set("kept", files[1].ID)
	typed.Set("matter", "宇宙")
	sato.UploadAll(path, typed, nil).Says(t, http.StatusUnprocessableEntity, "一覧から").
		Holds(t, `value="`+files[0].ID+`">`, `value="`+files[1].ID+`" checked`)
	typed.Set("matter", "契約")
	sato.UploadAll(path, typed, map[string][]byte{"装置.exe": []byte("MZ\x00")}).
		Says(t, http.StatusUnprocessableEntity, "装置.exe")
	added := map[string][]byte{"相見積書.pdf": []byte("%PDF-2")}
	sato.UploadAll(path, typed, added).Says(t, http.StatusSeeOther)
	sato.UploadAll(path, typed, added).Says(t, http.StatusSeeOther) // a second click
	expect.That(t, len(w.Load().Prompts) == 2 && w.Load().Unread(), "%+v", w.Load().Request.Files)
	w.FilesRead()
	w.MatterGoesRound(w.Load().Prompt().Content)
	suzuki.Get(w.TaskPage()).Says(t, 200, "相見積書.pdf", "v2").
		Holds(t, "/files/"+aggregate.HashOf("%PDF-2"), "/files/"+files[0].SHA256) // an earlier version's, too
	for _, sum := range []string{files[0].SHA256, aggregate.HashOf("%PDF-2")} {
		expect.Is(t, suzuki.Get(w.TaskPage()+"/files/"+sum).Status, 200)
	}
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Says(t, http.StatusSeeOther)
	decided := fmt.Sprintf("%d-000001", w.MatterRecorded())
	suzuki.Get("/console/register/"+decided).Says(t, 200, "相見積書.pdf", "見積書.pdf", "v1 からの変更").
		Holds(t, aggregate.HashOf("%PDF-2")).Lacks(t, files[0].SHA256)
	suzuki.Get("/console/register?by=decisions").Says(t, 200, "📎 見積書.pdf", "相見積書.pdf")
}
