package rules

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

var said = regexp.MustCompile(`"((?:must|is) [^"]*)"`)

// A limit that the rules name in another way, or a new one, has no text: this test names it.
func TestEachLimitOfRulesIsSaidInEachLanguage(t *testing.T) {
	n := 0
	for _, file := range []string{"problems", "check", "bounds", "stage"} {
		text := string(expect.Value(os.ReadFile("../../../shared/domain/rules/" + file + ".go"))(t))
		text, _, _ = strings.Cut(text, "func (m *Mark) Problems")
		for _, m := range said.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "JSON pointer") {
				continue // of marks, on the page of tools
			}
			limit := strings.NewReplacer("%d", "7", "%s", "100000").Replace(m[1])
			n++
			for _, locale := range language.All {
				got := speaker{Texts: web.TextsOf("rules", locale)}.limit(limit)
				expect.That(t, got != limit && got != "", "%s has no text for %q", locale, limit)
			}
		}
	}
	expect.That(t, n > 30, "only %d limits are found", n)
}

func TestAmountsAsPeopleTypeThem(t *testing.T) {
	for text, want := range map[string]rules.Decimal{
		"100000": "100000", "１００，０００": "100000", "10万": "100000", "10万円": "100000", "¥1,000": "1000", "￥1000": "1000", "1.5億": "1.5億", "3億円": "300000000",
		"0.5": "0.5", "": "", "abc": "abc", "万": "万", "-1": "-1", "1e9": "1e9",
	} {
		expect.Is(t, amountTyped(text), want, "%q", text)
	}
	for _, x := range []struct {
		n          rules.Decimal
		currency   string
		inJa, inEn string
	}{
		{"100000", "JPY", "10万円", "¥100,000"}, {"123456", "JPY", "123,456円", "¥123,456"}, {"12340000", "JPY", "1,234万円", "¥12,340,000"}, {"300000000", "JPY", "3億円", "¥300,000,000"},
		{"0.5", "USD", "0.5 USD", "0.5 USD"}, {"1000", "USD", "1,000 USD", "1,000 USD"}, {"abc", "JPY", "abc", "abc"}, {"0", "JPY", "0円", "¥0"},
	} {
		expect.Is(t, speaker{Texts: web.TextsOf("rules", "ja")}.money(x.n, x.currency), x.inJa, "%s", x.n)
		expect.Is(t, speaker{Texts: web.TextsOf("rules", "en")}.money(x.n, x.currency), x.inEn, "%s", x.n)
	}
}
