package settings

import (
	"fmt"
	"reflect"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestAmountsAsPeopleTypeThem(t *testing.T) {
	for text, want := range map[string]rules.Decimal{
		"100000": "100000", "１００，０００": "100000", "¥1,000": "1000", "￥1000円": "1000",
		"0.5": "0.5", "": "", "abc": "abc", "10万": "100000", "44万": "440000", "1.5億円": "1.5億", "-1": "-1", "1e9": "1e9",
	} {
		expect.Is(t, amountTyped(text), want, "%q", text)
	}
	says := speaker{Texts: web.TextsOf("rules", "ja")}
	for _, x := range [][3]string{{"123456", "JPY", "¥123,456"}, {"0.5", "USD", "0.50 USD"}, {"abc", "JPY", "abc"}} {
		expect.Is(t, says.money(rules.Decimal(x[0]), x[1]), x[2])
	}
}

// What a rule and its stages are called when nobody names them is in the reader's language.
func TestNamesThatNobodyGaveAreInTheReadersLanguage(t *testing.T) {
	ja, en := speaker{Texts: web.TextsOf("rules", "ja")}, speaker{Texts: web.TextsOf("rules", "en")}
	r := rules.Rule{Conditions: rules.Conditions{From: "100000", Currency: yen}}
	r.Name = ja.madeName(&r)
	expect.That(t, en.givenName(&r) == "" && r.Name == "外部への書き込み: ¥100,000以上", "%q", r.Name)
	r.Name = "高額"
	expect.Is(t, en.givenName(&r), "高額")
	who := rules.Who{Channel: true}
	o := rules.Outcome{Stages: []rules.Stage{{Name: "承認 2", Who: who}, {Name: "総務"}, {Name: "経理", Who: who}}}
	all := en.chips(&o)
	expect.That(t, len(all) == 2 && all[0].Text+all[1].Text == "all of Anyone in the channel経理",
		"nobody is chosen for 総務: %v", all)
}

// A bound is said as it is, in each language.
func TestABoundIsSaidAsItIs(t *testing.T) {
	for locale, says := range map[string][3]string{
		"ja": {"¥100,000以上", "¥500,000未満", "¥100,000〜¥500,000未満"},
		"en": {"¥100,000 or more", "Below ¥500,000", "¥100,000 or more, below ¥500,000"},
	} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		for i, c := range []rules.Conditions{{From: "100000"}, {Below: "500000"}, {From: "100000", Below: "500000"}} {
			c.Currency = yen
			expect.Is(t, s.amount(&c), says[i])
		}
	}
}

// Each condition is said: without it the same rule reads otherwise.
func TestEachConditionIsSaid(t *testing.T) {
	all := rules.Conditions{Asks: []rules.Kind{rules.KindCall}, People: []string{"U1"}, Departments: []string{"HQ"},
		Groups: []string{"S1"}, Channels: []string{rules.Direct}, Tools: []rules.Tool{{Name: "send_slack_dm"}}, Only: true,
		From: "1", Below: "100000", Currency: yen, Labels: map[string][]string{"費目": {"旅費"}}}
	for _, locale := range language.All {
		says := func(c rules.Conditions) string {
			group, first, more := speaker{Texts: web.TextsOf("rules", locale)}.asking(&rules.Rule{Conditions: c})
			return fmt.Sprint(group, first, more)
		}
		for i := range reflect.TypeOf(all).NumField() {
			name, less := reflect.TypeOf(all).Field(i).Name, all
			field := reflect.ValueOf(&less).Elem().Field(i)
			expect.That(t, !field.IsZero(), "there is no sample of %s", name)
			field.SetZero()
			expect.That(t, says(less) != says(all), "%s: nothing says %s: %s", locale, name, says(all))
		}
	}
}
