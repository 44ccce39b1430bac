package rules

import (
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// sentForm is what the form of a rule with everything sends.
func sentForm(changes ...string) url.Values {
	form := url.Values{"id": {"R1"}, "name": {"旅費"}, "outcome": {"route"}, "people": {"", "U7"},
		"departments": {"", "sales"}, "groups": {"", "S1"}, "labels.0.name": {"費目"}, "labels.0.list": {"国内旅費\n海外旅費"},
		"stages.0.was": {"0"}, "stages.0.name": {"所属"}, "stages.0.kind": {"position"},
		"stages.0.position": {positionValue("", "課長")}, "stages.0.need": {"２"},
		"stages.1.was": {"1"}, "stages.1.join": {"any"}, "stages.1.kind": {"people"}, "stages.1.people": {"", "U1", "U2"},
		"stages.2.was": {"2"}, "stages.2.name": {"経理"}, "stages.2.kind": {"people"}, "stages.2.people": {"U3"},
		"stages.2.need": {"1"}, "stages.3.was": {"3"}, "stages.3.name": {"上長"}, "stages.3.kind": {"manager"},
		"stages.3.level": {"2"}, "tells": {"C4"}}
	for i := 0; i < len(changes); i += 2 {
		form[changes[i]] = []string{changes[i+1]}
	}
	return form
}

func TestTheFormOfARuleSaysAllThatRulesCan(t *testing.T) {
	got := typed(sentForm())
	people := func(ids ...string) rules.Who { return rules.Who{Kind: rules.WhoPeople, People: ids} }
	expect.Same(t, got, rules.Rule{ID: "R1", Name: "旅費", When: rules.Conditions{
		Requester: &rules.Requester{People: []string{"U7"}, Departments: []string{"sales"}, Groups: []string{"S1"}},
		Labels:    []rules.Labelled{{Name: "費目", List: []string{"国内旅費", "海外旅費"}}},
	}, Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
		{Name: "所属", Who: rules.Who{Kind: rules.WhoAny, Any: []rules.Who{{Kind: rules.WhoPosition, Position: "課長"},
			people("U1", "U2")}}, Need: 2},
		{Name: "経理", Who: people("U3"), Need: 1},
		{Name: "上長", Who: rules.Who{Kind: rules.WhoManager, Level: 2}, Need: 1},
	}, Tells: "C4"}}})
	all := sourcesOf(got.Route)
	expect.Same(t, staged(all), got.Route.Stages)
	moved := staged(arranged(all, "up", 2)) // 経理 stands between, so who was joined to the first is joined to it now
	expect.That(t, len(moved) == 3 && moved[1].Name == "経理" && len(moved[1].Who.Any) == 2, "%+v", moved)
	expect.Is(t, len(staged(arranged(all, "delete", 0))), 3)
}

// The look before saving and the list say each of them, in each language.
func TestSentencesSayAllThatRulesCan(t *testing.T) {
	r := typed(sentForm())
	for locale, says := range map[string][]string{
		"ja": {"費目が 国内旅費・海外旅費 の", "salesとその下の部署", "依頼した人の上の課長 または U1・U2", "のうち 2 人",
			"決まったあとに C4 に知らせます。"},
		"en": {"in sales and below", "where 費目 is 国内旅費", "the nearest 課長 above the requester or U1", "2 of",
			"Told at the end: C4."},
	} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		text := s.rule(&r)
		for _, want := range says {
			expect.That(t, strings.Contains(text, want), "%s lacks %q: %s", locale, want, text)
		}
		_, _, more := s.asking(&r)
		expect.That(t, strings.Contains(strings.Join(more, "|"), "費目"), "%v", more)
		expect.Has(t, s.chip(&r.Route.Stages[0]).Note, "U1")
	}
	expect.Is(t, len(language.All), 2)
	before := speaker{Texts: web.TextsOf("rules", "ja")}.rule(&r)
	for name, change := range map[string][]string{
		"who asks": {"people", ""}, "department": {"departments", "hr"}, "group": {"groups", ""},
		"label": {"labels.0.name", "区分"}, "values": {"labels.0.list", "国内旅費"}, "amount": {"low", "1"},
		"position": {"stages.0.position", positionValue("HQ", "課長")}, "number": {"stages.0.need", ""},
		"either": {"stages.1.join", ""}, "level": {"stages.3.level", "1"}, "told": {"tells", ""},
	} {
		other := typed(sentForm(change...))
		expect.That(t, speaker{Texts: web.TextsOf("rules", "ja")}.rule(&other) != before, "%s is not said", name)
	}
}

// A bound is said as it is, in each language.
func TestABoundIsSaidAsItIs(t *testing.T) {
	for locale, says := range map[string][3]string{
		"ja": {"10万円以上 (または金額不明)", "10万円以上 50万円未満", "10万円〜50万円未満"},
		"en": {"¥100,000 or more (or an unreadable amount)", "¥100,000 or more and less than ¥500,000",
			"¥100,000 to below ¥500,000"},
	} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		bounds := func(form string, changes ...string) string {
			return s.amount(*typed(sentForm(append(changes, "low", "10万")...)).When.Amount, form)
		}
		expect.Is(t, bounds(""), says[0])
		expect.Is(t, bounds("", "high", "500,000"), says[1])
		expect.Is(t, bounds("glance_", "high", "500,000"), says[2])
	}
}
