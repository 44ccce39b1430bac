package rules_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const page = "/console/organisation"

var ja = web.TextsOf("organisation", "ja")

// organisationHeader is that of a file in Japanese.
const organisationHeader = "社員番号,氏名,メール,部署コード,部署名,親部署,役職,順位,主務/兼務,上長,区分\n"

// staffFile is the sandbox's workspace as a company.
const staffFile = organisationHeader + `1,鈴木 一郎,suzuki@example.com,A,本社,,社長,1,,,社員
2,佐藤 花子,SATO@example.com,B,人事部,A,部長,2,,,社員
3,田中 恵,tanaka@example.com,B,人事部,A,,,,,社員
4,高橋 ゲスト,takahashi@partner.example.com,B,人事部,A,,,,,委託
5,髙橋 誠,makoto@example.com,B,人事部,A,,,,3,社員
`

var hidden = regexp.MustCompile(`name="(rev|sha256|accounts|packed)" value="([^"]*)"`)

// shown returns the form of an answer that shows what a file would change.
func shown(t *testing.T, a consoletest.Answer) url.Values {
	t.Helper()
	form := url.Values{"act": {"save"}}
	for _, m := range hidden.FindAllStringSubmatch(a.Body, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	expect.Must(t, len(form) == 5, "there is no form to save: %v", a)
	return form
}

// saved uploads a file and saves what was shown.
func savedOrganisation(t *testing.T, b *consoletest.Browser, file string) {
	t.Helper()
	form := shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusOK))
	b.Post(page, form).Says(t, http.StatusSeeOther).Leads(t, page+"?done=saved")
}

// stands returns what stands.
func stands(w *consoletest.World) store.StandingOrganisation {
	w.T.Helper()
	return expect.Value(w.Console.Organisations.Current(w.T.Context(), w.Tenant.ID))(w.T)
}

func TestOrganisation(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"nothing stands at first":                           testNothingStandsAtFirst,
		"a file is shown and saved":                         testAFileIsShownAndSaved,
		"a new file says who goes":                          testANewFileSaysWhoGoes,
		"only what was shown is saved":                      testOnlyWhatWasShownIsSaved,
		"the second of two administrators sees the first":   testTheSecondOfTwoAdministratorsSeesTheFirst,
		"accounts that change meanwhile are shown":          testAccountsThatChangeMeanwhileAreShown,
		"accounts are matched by one listing":               testAccountsAreMatchedByOneListing,
		"without slack nothing is saved":                    testNoOrganisationIsSavedWithoutSlack,
		"mistakes are named by row and column":              testMistakesAreNamedByRowAndColumn,
		"a hostile file becomes no markup and no formula":   testAHostileFileBecomesNoMarkupAndNoFormula,
		"files are read in UTF-8 and Shift_JIS":             testFilesAreReadInTwoEncodings,
		"files that are sent are read as the same":          testFilesThatAreSentAreReadAsTheSame,
		"somebody is looked up":                             testSomebodyIsLookedUp,
		"an organisation is removed once it was asked":      testAnOrganisationIsRemovedOnceItWasAsked,
		"an organisation that can't be read may be changed": testAnOrganisationThatCantBeReadMayBeChanged,
		"what never stood is cleaned up":                    testWhatNeverStoodIsCleanedUp,
		"files have their bounds":                           testFilesHaveTheirBounds,
	})
}

func testNothingStandsAtFirst(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	a := b.Get(page).Says(t, http.StatusOK, ja.Say("about"), ja.Say("until_then"))
	for _, text := range ja.List("about_lists", "changes") {
		a.Says(t, http.StatusOK, text)
	}
	a.Lacks(t, page+".csv", page+"/remove")
	b.Get(page+".csv").Says(t, http.StatusNotFound)
	b.Get(page+"/remove").Leads(t, page)
	b.Post(page+"/remove", url.Values{"rev": {"0"}}).Says(t, http.StatusConflict)
}

func testAFileIsShownAndSaved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	a := b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile))
	a.Says(t, http.StatusOK, "5 人 (社員 4、委託 1)", ja.Say("first_hint"), ja.Say("without"), "髙橋 誠 (5)",
		ja.Say("with_account")+" 4 人", ja.Say("nobody")+" 1 "+ja.Say("nobody_note")+" Alex Kim ("+webapi.Alex+")")
	expect.That(t, !stands(w).Stands(), "it is saved before anybody said so")
	a.Lacks(t, ja.Say("nobody_approves"))
	strangers := strings.ReplaceAll(staffFile, "@example.com", "@example.org")
	b.Upload(page, url.Values{"act": {"show"}}, []byte(strangers)).Says(t, http.StatusOK, ja.Say("nobody_approves"))
	b.Post(page, shown(t, a)).Says(t, http.StatusSeeOther).Leads(t, page+"?done=saved")
	is := stands(w)
	expect.Is(t, is.SHA256, expect.Value(organisation.Read([]byte(staffFile)))(t).SHA256())
	number, _ := is.Accounts.Number(webapi.Sato)
	expect.That(t, number == "2" && is.SavedBy == webapi.Suzuki, "%q, by %s", number, is.SavedBy)
	guest := is.Accounts.ByNumber("4")
	expect.That(t, len(guest) == 1 && guest[0].Guest, "%+v", guest)
	b.Get(page).Says(t, http.StatusOK, "5 人 (社員 4、委託 1)", "鈴木 一郎").
		Holds(t, page+".csv", page+"/remove")
	entries := w.Audited(store.AuditFilter{Action: tenancy.AuditOrganisationSaved})
	expect.That(t, len(entries) == 1 && strings.Contains(string(entries[0].Details), `"people_added":5`),
		"%+v", entries)
	b.Get("/console/audit").Says(t, http.StatusOK, "組織を保存した")

	b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusOK, ja.Say("same")).
		Lacks(t, `value="save"`)
	form := shown(t, a)
	form.Set("rev", fmt.Sprint(is.Rev))
	b.Post(page, form).Says(t, http.StatusSeeOther)
	expect.That(t, stands(w).Rev == is.Rev, "the same again is saved: %d", stands(w).Rev)
}

func testANewFileSaysWhoGoes(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	savedOrganisation(t, b, staffFile)
	next := strings.NewReplacer("3,田中 恵", "3,田中 めぐみ",
		"4,高橋 ゲスト,takahashi@partner.example.com,B,人事部,A,,,,,委託\n", "").Replace(staffFile)
	b.Upload(page, url.Values{"act": {"show"}}, []byte(next)).Says(t, http.StatusOK,
		ja.Say("gone", "n", 1), ja.Say("save_hint"))
	savedOrganisation(t, b, next)
	entries := w.Audited(store.AuditFilter{Action: tenancy.AuditOrganisationSaved})
	expect.That(t, strings.Contains(string(entries[0].Details), `"people_gone":1`), "%+v", entries)
	var many strings.Builder
	for i := range 12 {
		fmt.Fprintf(&many, "%d,社員 %d,e%d@example.com,B,人事部,A,,,,,社員\n", 100+i, i, i)
	}
	b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile+many.String())).Says(t, http.StatusOK).
		Holds(t, `<details class="panel" id="without">`, `<summary><h2>`+ja.Say("without")+` <small>13</small>`)
	en := w.As(webapi.Suzuki).In("en")
	en.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusOK,
		"5 (employees 4, contractors 1)")
}

func testOnlyWhatWasShownIsSaved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)))
	other := shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(strings.Replace(staffFile, "部長", "課長", 1))))
	for name, change := range map[string]func(url.Values){
		"another file":    func(f url.Values) { f.Set("packed", other.Get("packed")) },
		"another hash":    func(f url.Values) { f.Set("sha256", other.Get("sha256")) },
		"no hash":         func(f url.Values) { f.Del("sha256") },
		"no revision":     func(f url.Values) { f.Del("rev") },
		"other accounts":  func(f url.Values) { f.Set("accounts", "x") },
		"another revison": func(f url.Values) { f.Set("rev", "3") },
		"only shown":      func(f url.Values) { f.Set("act", "show") },
	} {
		f := url.Values{}
		for k, v := range form {
			f[k] = v
		}
		change(f)
		a := b.Post(page, f)
		expect.That(t, a.Status == http.StatusOK || a.Status == http.StatusConflict, "%s: %v", name, a)
		shown(t, a)
		expect.That(t, !stands(w).Stands(), "%s is saved", name)
	}
	for _, broken := range []string{"x", "AAAA", "$$"} {
		b.Post(page, url.Values{"act": {"save"}, "packed": {broken}}).Says(t, http.StatusBadRequest)
	}
	b.Post(page, url.Values{"act": {"save"}}).Says(t, http.StatusUnprocessableEntity, ja.In("rules", "empty"))
}

func testTheSecondOfTwoAdministratorsSeesTheFirst(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	first := shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)))
	second := shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(strings.Replace(staffFile, "部長", "課長", 1))))
	b.Post(page, first).Says(t, http.StatusSeeOther)
	a := b.Post(page, second).Says(t, http.StatusConflict, ja.Say("conflict"), ja.Say("with_account"))
	expect.Is(t, stands(w).SHA256, first.Get("sha256"))
	b.Post(page, shown(t, a)).Says(t, http.StatusSeeOther)
	expect.Is(t, stands(w).SHA256, second.Get("sha256"))
}

// A person who joins Slack between showing and saving is not matched unseen.
func testAccountsThatChangeMeanwhileAreShown(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	with := shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)))
	fewer := listing{Listing: w.Console.Listing, without: webapi.Sato}
	all := w.Console.Listing
	w.Console.Listing = fewer
	a := b.Post(page, with).Says(t, http.StatusConflict, ja.Say("moved"), ja.Say("without"), "佐藤 花子 (2)")
	expect.That(t, !stands(w).Stands(), "accounts that nobody saw are saved")
	b.Post(page, shown(t, a)).Says(t, http.StatusSeeOther)
	w.Console.Listing = all
	// The same file again matches whoever has joined.
	a = b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusOK, ja.Say("save_hint"))
	b.Post(page, shown(t, a)).Says(t, http.StatusSeeOther)
	expect.Is(t, stands(w).Accounts.People(), 4)
}

func testAccountsAreMatchedByOneListing(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Over = w.Console.Handler() // one process
	w.Slack.Calls()
	file := strings.NewReplacer("makoto@example.com", "alex.kim@example.com;suzuki2@example.com", "tanaka@example.com",
		"nobody@example.com").Replace(staffFile)
	a := b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusOK, "田中 恵 (3)",
		"田中 恵 ("+webapi.Tanaka+")")
	b.Post(page, shown(t, a)).Says(t, http.StatusSeeOther)
	expect.Is(t, len(w.Slack.Calls("users.list")), 1)
	w.Console.Listing = listing{Listing: w.Console.Listing, mail: "suzuki@example.com"}
	b.Over = nil
	b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusOK, ja.Say("shared"),
		"suzuki@example.com: ")
	w.Console.Listing = listing{Listing: w.Console.Listing, noMail: true}
	b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusOK, ja.Say("mailless"))
}

func testNoOrganisationIsSavedWithoutSlack(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)))
	w.Slack.Faults.Add(webapi.Fault{Method: "users.list", Kind: webapi.Unavailable, Times: -1})
	b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusServiceUnavailable).
		Lacks(t, `value="save"`)
	b.Post(page, form).Says(t, http.StatusServiceUnavailable)
	expect.That(t, !stands(w).Stands(), "it is saved without accounts")
}

func testMistakesAreNamedByRowAndColumn(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	wrong := staffFile + "6,山本 明,yamamoto,Z,,Q,,x,,9,パート\n2,佐藤 花,,B,,,,,兼務,,\n"
	a := b.Upload(page, url.Values{"act": {"show"}}, []byte(wrong)).Says(t, http.StatusUnprocessableEntity,
		ja.Say("problems"),
		"7 行目 メール yamamoto "+ja.In("rules", "mail"), "7 行目 順位 x "+ja.In("rules", "rank", "limit", "999"),
		"7 行目 区分 パート "+ja.In("rules", "kind"),
		"8 行目 氏名", ja.In("rules", "conflict")+" (3 行目も確認してください)")
	a.Lacks(t, `value="save"`, "{").Holds(t, `name="file" type="file"`)
	var many strings.Builder
	many.WriteString(organisationHeader)
	for i := range 1000 {
		fmt.Fprintf(&many, "%d,,,A,,,,,,,社員\n", i)
	}
	b.Upload(page, url.Values{"act": {"show"}}, []byte(many.String())).Says(t, http.StatusUnprocessableEntity,
		ja.Say("more_problems", "n", "900"))
	b.In("en").Upload(page, url.Values{"act": {"show"}}, []byte(wrong)).Says(t, http.StatusUnprocessableEntity,
		"7 email yamamoto Not an email address.",
		"(see also row 3)")
	b.Upload(page, url.Values{"act": {"show"}}, nil).Says(t, http.StatusUnprocessableEntity,
		"File There are no rows below the header.")
}

func testAHostileFileBecomesNoMarkupAndNoFormula(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	const evil = `</td><script>alert(1)</script>`
	file := organisationHeader + `1,"` + evil + `",a@example.com,"` + "=HYPERLINK(1)" + `","` + evil +
		`",,"@SUM(1)",1,,,社員,,` + "\n"
	b.Upload(page, url.Values{"act": {"show"}}, []byte(strings.Replace(file, "社員", evil+",,", 1))).
		Says(t, http.StatusUnprocessableEntity).Lacks(t, "<script>alert")
	a := b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusOK).Lacks(t, "<script>alert")
	b.Post(page, shown(t, a)).Says(t, http.StatusSeeOther)
	b.Get(page+"?q=1").Says(t, http.StatusOK, "=HYPERLINK(1)").Lacks(t, "<script>alert")
	b.Get(page+"?q="+url.QueryEscape(evil)).Says(t,
		http.StatusOK).Lacks(t, "<script>alert")
	sent := b.Get(page+".csv").Says(t, http.StatusOK).Holds(t, `"'=HYPERLINK(1)"`, `"'@SUM(1)"`)
	b.Upload(page, url.Values{"act": {"show"}}, []byte(sent.Body)).Says(t, http.StatusOK, ja.Say("same"))
}

func testFilesAreReadInTwoEncodings(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	sjis := expect.Value(japanese.ShiftJIS.NewEncoder().String(strings.ReplaceAll(staffFile, "\n", "\r\n")))(t)
	want := expect.Value(organisation.Read([]byte(staffFile)))(t).SHA256()
	for encoding, file := range map[string]string{"Shift_JIS": sjis, "UTF-8": "\ufeff" + staffFile} {
		a := b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusOK,
			"髙橋 誠")
		expect.Is(t, shown(t, a).Get("sha256"), want, encoding)
	}
	// A character that a company made is refused by its row.
	taka := expect.Value(japanese.ShiftJIS.NewEncoder().String("髙"))(t)
	gaiji := []byte(strings.Replace(sjis, taka, "\xf0\x40", 1))
	b.Upload(page, url.Values{"act": {"show"}}, gaiji).Says(t, http.StatusUnprocessableEntity,
		"橋 誠", ja.In("rules", "damaged"))
	b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile+"\xff\xfe\x00")).Says(t, http.StatusUnprocessableEntity,
		"7 行目 0xFF "+ja.In("rules", "encoding"))
}

func testFilesThatAreSentAreReadAsTheSame(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	twelve := expect.Value(os.ReadFile("../../../shared/domain/organisation/testdata/twelve.csv"))(t)
	savedOrganisation(t, b, string(twelve))
	for _, b.Locale = range language.All {
		sent := b.Get(page+".csv").Says(t, http.StatusOK)
		expect.That(t, strings.Contains(sent.Header.Get("Content-Disposition"), "attachment"), "%v", sent.Header)
		expect.Is(t, expect.Value(organisation.Read([]byte(sent.Body)))(t).SHA256(), stands(w).SHA256)
		example := b.Get(page+"/template.csv").Says(t, http.StatusOK)
		o := expect.Value(organisation.Read([]byte(example.Body)))(t)
		rows := expect.Value(csv.NewReader(bytes.NewReader([]byte(strings.TrimPrefix(example.Body,
			"\ufeff")))).ReadAll())(t)
		expect.That(t, len(rows) == 3 && len(o.People()) == 2, "%v", rows)
	}
}

func testSomebodyIsLookedUp(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	savedOrganisation(t, b, staffFile)
	b.Get(page+"?q=5").Says(t, http.StatusOK, "髙橋 誠 (5)", "主務 (役職なし) 人事部 (B) ← 本社 (A)",
		"田中 恵 (3) 人事部 CSV の「上長」に指定", "佐藤 花子 (2) 人事部 部長 人事部 を率いる人", "鈴木 一郎 (1)", ja.Say("no_account")).
		Holds(t, "number=3")
	b.Get(page+"?q="+url.QueryEscape("子")).Says(t, http.StatusOK, "佐藤 花子 (2)")
	b.Get(page+"?q="+url.QueryEscape("橋")).Says(t, http.StatusOK, "高橋 ゲスト (4)", "髙橋 誠 (5)")
	b.Get(page+"?q=tanaka@example.com").Says(t, http.StatusOK, "田中 恵 ("+webapi.Tanaka+")")
	b.Get(page+"?q=none").Says(t, http.StatusOK, ja.Say("none_found"))
	b.Get(page+"?number=99").Says(t, http.StatusOK, "読み取れない指定がありました: 人。", "佐藤 花子 (2)", "鈴木 一郎 (1)")
	b.Get(page+"?number=4").Says(t, http.StatusOK, ja.In("kinds", "contractor"), ja.Say("guest"))
}

func testFilesHaveTheirBounds(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	file := []byte(staffFile + strings.Repeat(",\n", (web.MaxBody)/2))
	b.Upload(page, url.Values{"act": {"show"}}, file).Says(t, http.StatusOK)
	for _, path := range []string{page + "/remove", "/console/settings"} {
		b.Upload(path, nil, file).Says(t, http.StatusRequestEntityTooLarge)
	}
	b.Upload(page, nil, bytes.Repeat([]byte("\n"), web.MaxFile+1)).Says(t, http.StatusRequestEntityTooLarge)
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
