package rules_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

func TestReadingFiles(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"what files don't say is asked once":       testWhatFilesDontSayIsAskedOnce,
		"an unknown file is read as somebody says": testAnUnknownFileIsReadAsSomebodySays,
		"three files are read together":            testThreeFilesAreReadTogether,
		"answers have their bounds":                testAnswersHaveTheirBounds,
		"what files say twice is told":             testWhatFilesSayTwiceIsTold,
	})
}

var (
	formFields = regexp.MustCompile(`<input type="hidden" name="([a-z_0-9]+)" value="([^"]*)"`)
	choosers   = regexp.MustCompile(`(?s)<select[^>]* name="([a-z_]+)"[^>]*>(.*?)</select>`)
	chosen     = regexp.MustCompile(`<option value="([^"]*)"[^>]* selected`)
	rankFields = regexp.MustCompile(`<input class="number" name="rank"[^>]* value="([^"]*)"`)
)

// answers returns the form of a page as a browser sends it: with everything that is chosen and filled in.
func answers(a consoletest.Answer, act string) url.Values {
	form := url.Values{"act": {act}}
	for _, m := range formFields.FindAllStringSubmatch(a.Body, -1) {
		if m[1] != "form" {
			form.Add(m[1], html.UnescapeString(m[2]))
		}
	}
	for _, m := range choosers.FindAllStringSubmatch(a.Body, -1) {
		is := chosen.FindStringSubmatch(m[2])
		if is == nil {
			is = []string{"", ""}
		}
		form.Add(m[1], html.UnescapeString(is[1]))
	}
	for _, m := range rankFields.FindAllStringSubmatch(a.Body, -1) {
		form.Add("rank", m[1])
	}
	return form
}

// exported returns a file of a product.
func exported(t *testing.T, name string) []byte {
	t.Helper()
	return expect.Value(os.ReadFile(filepath.Join("../../../shared/domain/organisation/testdata/layouts", name)))(t)
}

// set changes the answer for a key: of a column, a value or a position.
func set(t *testing.T, form url.Values, keys, answers, key, answer string) {
	t.Helper()
	for i, k := range form[keys] {
		if k == key {
			form[answers][i] = answer
			return
		}
	}
	t.Fatalf("%q is not asked: %q", key, form[keys])
}

func testWhatFilesDontSayIsAskedOnce(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	file := exported(t, "freee.csv")
	a := b.Upload(page, url.Values{"act": {"show"}}, file).Says(t, http.StatusOK, ja.Say("asked_title"), "freee人事労務の従業員情報",
		"4 行", ja.Say("ignored")+": 氏名（カナ）", "標準報酬月額", "代表取締役 "+ja.Say("asked"), "業務委託").
		Lacks(t, `value="save"`, ja.Say("has"))
	form := answers(a, "show")
	set(t, form, "position", "rank", "課長", "5")
	a = b.Post(page, form).Says(t, http.StatusOK, ja.Say("has"), "加わる人 4", "井上 花子 (E-2)").
		Lacks(t, ja.Say("asked_title"))
	b.Post(page, answers(a, "save")).Says(t, http.StatusSeeOther)
	is := stands(w)
	expect.Is(t, is.Organisation.Chart(w.Console.Today()).HoldersOf("部長", "株式会社みどり/管理部")[0].Number, "E-2")
	kept := expect.Value(w.Store.OrganisationLayout(t.Context(), w.Tenant.ID))(t)
	expect.Same(t, map[string]int{"代表取締役": 1, "部長": 2, "課長": 5}, kept.Ranks)
	expect.That(t, len(kept.Columns) == 0 && len(kept.Values) == 0, "what is known anyway is kept: %+v", kept)

	// The next file of its kind leaves nothing to be asked, but for a position that is new.
	b.Upload(page, url.Values{"act": {"show"}}, file).Says(t, http.StatusOK, ja.Say("same")).
		Lacks(t, ja.Say("asked_title"))
	next := strings.Replace(string(file), "課長", "室長", 1)
	a = b.Upload(page, url.Values{"act": {"show"}}, []byte(next)).Says(t, http.StatusOK, ja.Say("asked_title"),
		"室長 "+ja.Say("asked")).Lacks(t, "部長 <strong>")
	b.Post(page, answers(a, "save")).Says(t, http.StatusOK, ja.Say("has"))
	expect.Is(t, stands(w).Rev, is.Rev, "it is saved before it was shown")

	// Answers that change nothing are kept, too: there is nothing to save.
	b.Upload(page, url.Values{"act": {"show"}, "column": {"標準報酬月額"}, "column_as": {"post"},
		"column_was": {"ignored"}}, file).Says(t, http.StatusOK, ja.Say("same"))
	kept = expect.Value(w.Store.OrganisationLayout(t.Context(), w.Tenant.ID))(t)
	expect.Is(t, kept.Columns["標準報酬月額"], "post")
	b.In("en").Upload(page, url.Values{"act": {"show"}}, []byte(next)).Says(t, http.StatusOK, "What the files don’t say",
		"freee HR employees", "Employee")
}

func testAnUnknownFileIsReadAsSomebodySays(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	const file = "Nr,Vor,Zu,Adresse,Bereich,Vertrag,---\n7,Ichiro,Suzuki,suzuki@example.com,Leitung/Einkauf,fest,x\n"
	a := b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusUnprocessableEntity,
		ja.In("missing", "name"), ja.In("missing", "department"), ja.In("layouts", "")).Lacks(t, "<h2>"+ja.Say("asked_title"))
	form := answers(a, "show")
	for key, as := range map[string]string{"nr": "employee_number", "vor": "given_name", "zu": "family_name",
		"adresse": "email", "bereich": "department", "vertrag": "employment"} {
		set(t, form, "column", "column_as", key, as)
	}
	a = b.Post(page, form).Says(t, http.StatusOK, "fest", ja.Say("asked")).Lacks(t, ja.In("missing", "name"))
	form = answers(a, "show")
	set(t, form, "value", "value_as", "employment fest", "employee")
	a = b.Post(page, form).Says(t, http.StatusOK, ja.Say("has"), "Ichiro Suzuki (7)", "Einkauf")
	form = answers(a, "show")
	form.Set("split", "whole")
	a = b.Post(page, form).Says(t, http.StatusOK, "Leitung/Einkauf (Leitung/Einkauf)")
	b.Post(page, answers(a, "save")).Says(t, http.StatusSeeOther)
	kept := expect.Value(w.Store.OrganisationLayout(t.Context(), w.Tenant.ID))(t)
	expect.That(t, kept.Columns["bereich"] == "department" && kept.Split == "whole" &&
		kept.Values["employment fest"] == "employee" && len(kept.Columns) == 6, "%+v", kept.Kept)
	b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusOK, ja.Say("same"))
}

func testThreeFilesAreReadTogether(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	files := map[string][]byte{}
	for _, name := range []string{"jinjer.csv", "jinjer_main.csv", "jinjer_concurrent.csv"} {
		files[name] = exported(t, name)
	}
	a := b.UploadAll(page, url.Values{"act": {"show"}}, files).Says(t, http.StatusOK, "jinjer_concurrent.csv",
		"ジンジャー人事労務の社員情報", "ジンジャー人事労務の所属", "Shift_JIS")
	form := answers(a, "show")
	a = b.Post(page, form).Says(t, http.StatusOK, ja.Say("has"), "髙橋 花子 (2002)", ja.Say("away"), "遠藤 明 (2004)")
	b.Post(page, answers(a, "save")).Says(t, http.StatusSeeOther)
	expect.Is(t, len(stands(w).Organisation.Chart(w.Console.Today()).Posts("2002")), 2)
	b.Get(page).Says(t, http.StatusOK, ja.Say("away"))
	b.Get(page+"?number=2004").Says(t, http.StatusOK, ja.In("presence", "away"))
	files["jinjer_concurrent.csv"] = []byte("社員番号,発令年月日,所属グループ\n9999,2026/04/01,みどり商事\n")
	b.UploadAll(page, url.Values{"act": {"show"}}, files).Says(t, http.StatusUnprocessableEntity,
		"jinjer_concurrent.csv 2 行目 社員番号 9999 "+ja.In("rules", "unknown"))
	files["one too many"] = []byte("x")
	b.UploadAll(page, url.Values{"act": {"show"}}, files).Says(t, http.StatusUnprocessableEntity,
		ja.In("rules", "files", "limit", "3"))
}

func testAnswersHaveTheirBounds(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	a := b.Upload(page, url.Values{"act": {"show"}}, exported(t, "freee.csv"))
	for field, wrong := range map[string]string{"column_as": "x", "value_as": "x", "rank": "1000", "split": "x",
		"packed": "x"} {
		form := answers(a, "show")
		form[field] = []string{wrong}
		b.Post(page, form).Says(t, http.StatusBadRequest)
	}
	form := answers(a, "show")
	for _, field := range []string{"column_as", "value_as", "rank", "file_name", "encoding"} {
		form.Del(field)
	}
	b.Post(page, form).Says(t, http.StatusBadRequest)
}

func testWhatFilesSayTwiceIsTold(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	upload := func(name string, pairs ...string) consoletest.Answer {
		text := strings.NewReplacer(pairs...).Replace(string(exported(t, "../exports/"+name+".csv")))
		return b.Upload(page, url.Values{"act": {"show"}}, []byte(text))
	}
	upload("smarthr").Says(t, http.StatusOK, ja.Say("rehired", "n", "1", "some", "坂本 彰 (0056)"))
	upload("entra_trading").Says(t, http.StatusOK, ja.Say("enabled", "n", "1", "some", "佐藤 亮 (T006)"),
		ja.Say("unnumbered", "n", "1", "some", "ri@trading.example"))
	upload("google_shared").Says(t, http.StatusOK, ja.Say("unnumbered", "n", "2", "some",
		"info@aoba-seiki.example、scan1@aoba-seiki.example")).Lacks(t, "****")
	upload("google_units", ",技術本部,C100", ",企画,C100").Says(t, http.StatusOK, ja.Say("doubt", "n", "1", "some", "6",
		"used", "Org Unit Path [Required]", "other", "Department"))
	a := upload("google_policy").Says(t, http.StatusOK, ja.Say("doubt_dropped", "n", "37",
		"used", "Department", "other", "Org Unit Path [Required]"))
	form := answers(a, "show")
	set(t, form, "column", "column_as", "orgunitpath", "department")
	b.Post(page, form).Says(t, http.StatusOK, ja.Say("doubt", "n", "37", "some", "3、4、5、6、7",
		"used", "Org Unit Path [Required]", "other", "Department"))
	b.Upload(page, url.Values{"act": {"show"}}, []byte("社員番号,姓,名,部署,役職,順位,雇用形態\n1,甲,一,Sales A B,課長,3,正社員\n"+
		"2,乙,二,Sales AB,二課長,3,正社員\n3,丙,三,,課長,3,正社員\n4,丁,四,Sales AB,ニ課長,3,正社員\n")).Says(t, http.StatusOK,
		ja.Say("placed", "n", "1", "some", "丙 三 (3)"), ja.Say("spelled", "n", "1", "some", "Sales A B = Sales AB"),
		strings.Split(ja.Say("alike", "n", "1", "some", "ニ⟨|"), "|")[0])
	upload("freee_hospital", "2001-10-01", "2001-13-01").Says(t, http.StatusUnprocessableEntity, ja.Say("problems"),
		"4 行目 入社日 2001-13-01 "+ja.In("rules", "date"), ja.Say("columns_read")).Lacks(t, "1234567")
	b.Upload(page, url.Values{"act": {"show"}}, []byte("PK\x03\x04")).Says(t, http.StatusUnprocessableEntity,
		ja.Say("problems_file"), ja.In("rules", "form"))
}
