package language_test

import (
	"embed"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestEveryLanguageHasItsOwn(t *testing.T) {
	said := language.InEach("はい", "yes")
	expect.Must(t, len(said) == len(language.All), "%d languages, %d texts", len(language.All), len(said))
	for locale, want := range map[string]string{"ja": "はい", "en": "yes", "": "はい", "fr": "はい"} {
		expect.Is(t, said.In(locale), want, "%q", locale)
	}
}

//go:embed testdata
var files embed.FS

func TestWordsAreReadByLanguage(t *testing.T) {
	type words struct {
		Yes  string
		More map[string]string
	}
	expect.Whole[words](t, files, "testdata/whole")
	in := language.Catalog[words]{Files: &files, Folder: "testdata/whole"}
	for locale, want := range map[string]string{"ja": "はい", "en": "yes", "fr": "はい"} {
		got := in.In(locale)
		expect.That(t, got.Yes == want && got == in.In(locale), "%q: %+v", locale, got)
	}
	defer func() { expect.That(t, recover() != nil, "a file that is not there is read") }()
	(&language.Catalog[words]{Files: &files, Folder: "testdata/none"}).In("en")
}

func TestTheLanguageOfATextIsThatOfItsSentences(t *testing.T) {
	for want, texts := range map[string][]string{
		"en": {
			"Overtime of the sales department for last month", "Check overtime of 営業部 for last month", "overtime",
			"Show 営業部's overtime for last month", "Overtime of 佐藤さん", "佐藤さん overtime for last month",
			"Send “会議は3時からです” to <@U1>", "attendance <@U1|佐藤> <https://example.com|勤怠の表>",
			"the list of employees of 開発部 and 人事部, please", "Cancel the request for 今期", "2026年10月 overtime of 営業部, please",
			"<@U0RINGI> Résumé of this month's attendance :お疲れ様:", "Summarize this:\n&gt; 会議は3時からです\n&gt; よろしく",
			"Send \"「はい」と言って\" to <@U1>", "Explain `勤怠を集計する` to me", "Run ```勤怠を\n集計する``` please", "Send the report to Иван",
			"Write to 佐藤さん that https://example.com/勤怠 is done, please",
			"Overtime " + strings.Repeat("of the sales department ", 2000),
		},
		"ja": {
			"先月の勤怠", "先月勤怠 PDF", "freee の勤怠を Google Sheets の this month に", "残業 for 営業部", "残業 report を Slack に",
			"<@U1> に “see you at three” と DM して", "10月勤怠 demo: slow 3", "「お知らせ」", "営業部", "佐藤さん", "営業部 overtime",
			"ｷﾝﾀｲ", "没収品一覧", "&gt; Please send it by Friday.\n" +
				"この件を整理して", "<https://example.com/report|report> を見て", "https://example.com/aを見て",
			"The report, please\nよろしくお願いします", "勤怠 report for last month", "勤怠 &amp; 残業 ```select a from the table of b```",
			strings.Repeat("今月の勤怠をまとめて", 2000),
		},
		"": {
			"", " ", "123 👍", "2026-10", "<https://example.com/reports/today>", "https://example.com/reports/today",
			"<@U0RINGI>",
			"<@U0RINGI> :tada: :+1::skin-tone-2:", "1 &amp; 2 &lt; 3", "sato@example.com", "???", "지난달 근태 PDF", "Сводка за " +
				"месяц", "请整理上个月的考勤",
		},
	} {
		for _, text := range texts {
			for _, otherwise := range language.All {
				expected := want
				if want == "" {
					expected = otherwise
				}
				expect.Is(t, language.Detect(text, otherwise), expected, "in a %s workspace: %.60q", otherwise, text)
			}
		}
	}
	expect.Is(t, language.Detect("only letters tell", "xx"), "en")
	expect.Is(t, language.Detect("12", ""), "", "without another language")
}

// A card asks for the language each time that it is drawn.
func TestTheLanguageOfALongTextTakesNoTime(t *testing.T) {
	for _, of := range []string{"「", "「」", "\"", "`", "<", ":a", "a@", "> a\n", "勤怠 of the ", "勤怠の"} {
		took := expect.Computed(t, func() { language.Detect(strings.Repeat(of, 40_000/len(of)), "en") })
		expect.That(t, took < 5*time.Second, "%q takes %s", of, took)
	}
}

func TestAValueBetweenQuotationMarksCannotEndThem(t *testing.T) {
	expect.Is(t, language.Fill("{a}「{a}」{a}", "a", `x」「\`), `x」「\「x』『\\」x」「\`)
	expect.Is(t, language.Fill("{a}: “{a}”", "a", `x” “`), `x” “: “x\” \“”`)
	expect.Is(t, language.Fill("「{a}」 ({b}: 「{c}」)", "a", "{c}", "b", "「", "c", "｣⌟"), `「{c}」 (「: 「\｣\⌟」)`)
}
