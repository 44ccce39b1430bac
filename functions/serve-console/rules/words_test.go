package rules

import (
	"bytes"
	"reflect"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A mistake that is made at several places is said once, with all of them. The list of what is wrong leads there.
func TestAMistakeIsSaidOnceWhereItIs(t *testing.T) {
	of := func(rule, field, label, text string) problem {
		return problem{Rule: rule, Of: "R" + rule, Field: field, Fault: web.Fault{Label: label, Text: text}}
	}
	said := func(all []problem) string {
		return web.Joined(all, func(p problem) string { return p.At + " " + p.Label + " " + p.Text }, "\n")
	}
	all := []problem{of("0", "name", "Name", "long"), of("0", "when.amount.at_least", "Amount", "none"),
		of("writes", "route.stages[1].who.people", "People", "long"), of("", "rules", "Rules", "many")}
	expect.Same(t, " Name · People long\n Amount none\n Rules many", said(together(all)))
	expect.Same(t, "#r-1 R0 \n#r-writes Rwrites \n Rules many",
		said(listData{Problems: all}.Said()))
	expect.Same(t, "#name Name \n#low Amount \n#stage-1 People \n Rules many",
		said(ruleData{Problems: all}.Said()))
}

// Whoever looks at rules before they are saved sees another sentence if anything is other than in those that stand.
func TestTheLookBeforeSavingHidesNoDifference(t *testing.T) {
	own, foreign := rules.Tool{Name: "send_slack_dm"}, rules.Tool{Address: "https://mcp.evil.example", Name: "pay"}
	pinned := tenancy.ToolPermission{ToolName: "evil.pay", Pin: &tenancy.Pin{URL: foreign.Address, Title: "完了通知"}}
	with := func(people, of []string, tool rules.Tool) *rules.Rules {
		return &rules.Rules{Rules: []rules.Rule{{ID: "R1", Name: "支払い",
			When: rules.Conditions{Tools: &rules.Tools{Use: rules.UseOnly, List: []rules.Tool{tool}},
				Labels: []rules.Labelled{{Name: "費目", List: of}}},
			Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
				{Name: "経理", Who: rules.Who{Kind: rules.WhoPeople, People: people}, Need: 1}}}}}}}
	}
	five := []string{"U1", "U2", "U3", "U4", "U5"}
	renamed := with(five, five, own)
	renamed.Rules[0].Name = "経費"
	for _, locale := range language.All {
		a := &asked{speaker: speaker{Texts: web.TextsOf("rules", locale), names: map[string]string{
			"U1": "佐藤 花子", "U2": "B", "U3": "C", "U4": "D", "U5": "E", "U6": "Mallory", "U7": "佐藤 花子",
			"U8": "佐藤 花子 (U7)"}}}
		a.tools = []knownTool{{Known: rules.Known{Tool: own}, Title: "完了通知"},
			{Known: rules.Known{Tool: foreign}, Title: titled(pinned)}}
		web.Distinct(a.names)
		for what, is := range map[string]*rules.Rules{
			"another fifth person":   with([]string{"U1", "U2", "U3", "U4", "U6"}, five, own),
			"another of their name":  with([]string{"U7", "U2", "U3", "U4", "U5"}, five, own),
			"who is written as they": with([]string{"U8", "U2", "U3", "U4", "U5"}, five, own),
			"another value":          with(five, []string{"U1", "U2", "U3", "U4", "evil@example.com"}, own),
			"another tool":           with(five, five, foreign),
			"another name":           renamed,
		} {
			c := a.changes(with(five, five, own), is)
			expect.That(t, len(c) == 1 && c[0].Was.Says != c[0].Is.Says, "%s, %s: %+v", locale, what, c)
		}
		seven, eight := a.person("U7"), a.person("U8")
		expect.That(t, seven != eight, "%s", seven)
	}
}

func TestAmountsAsPeopleTypeThem(t *testing.T) {
	for text, want := range map[string]rules.Decimal{
		"100000": "100000", "１００，０００": "100000", "10万": "100000", "10万円": "100000", "¥1,000": "1000", "￥1000": "1000",
		"1.5億": "1.5億", "3億円": "300000000",
		"0.5": "0.5", "": "", "abc": "abc", "万": "万", "-1": "-1", "1e9": "1e9",
	} {
		expect.Is(t, amountTyped(text), want, "%q", text)
	}
	for _, x := range []struct {
		n          rules.Decimal
		currency   string
		inJa, inEn string
	}{
		{"100000", "JPY", "10万円", "¥100,000"}, {"123456", "JPY", "123,456円", "¥123,456"}, {"12340000", "JPY", "1,234万円",
			"¥12,340,000"}, {"300000000", "JPY", "3億円", "¥300,000,000"},
		{"0.5", "USD", "0.5 USD", "0.5 USD"}, {"1000", "USD", "1,000 USD", "1,000 USD"}, {"abc", "JPY", "abc", "abc"}, {"0",
			"JPY", "0円", "¥0"},
	} {
		expect.Is(t, speaker{Texts: web.TextsOf("rules", "ja")}.money(x.n, x.currency), x.inJa, "%s", x.n)
		expect.Is(t, speaker{Texts: web.TextsOf("rules", "en")}.money(x.n, x.currency), x.inEn, "%s", x.n)
	}
}

// filled sets every field below a value, whatever it is, but for lists within so many others.
func filled(v reflect.Value, lists int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i), lists)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), lists)
	case reflect.Slice:
		if lists > 0 {
			v.Set(reflect.MakeSlice(v.Type(), max(1, lists-2), 2))
		}
		for i := range v.Len() {
			filled(v.Index(i), lists-1)
		}
	case reflect.String:
		v.SetString("no: # 1\n- x"[:map[bool]int{true: 11, false: 7}[lists > 1]]) // of one line, deep within
	case reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// A field that rules gain travels in their file, and in the page's draft.
func TestEveryFieldOfRulesTravels(t *testing.T) {
	var all rules.Rules
	filled(reflect.ValueOf(&all).Elem(), 4)
	for name, is := range map[string]rules.Rules{"all fields": all, "none": *blank()} {
		is.Rev = 0
		text := expect.Value(file.Write(is, "x\nrev: 3", func(string) string { return "佐藤\n- U0EVIL" }))(t)
		var back rules.Rules
		_, faults := file.Read(text, &back)
		expect.That(t, len(faults) == 0 && same(is, back), "%s: %+v in\n%s", name, faults, text)
		again := expect.Value(draftOf(packed(draft{Rev: 4, Rules: &is})))(t)
		expect.That(t, again.Rev == 4 && same(is, again.Rules), "%s: %+v", name, again)
	}
}

// OneCondition has a sample of each condition, alone, by its field's name.
var OneCondition = map[string]rules.Conditions{
	"Kinds":     {Kinds: []rules.Kind{rules.KindCall}},
	"Places":    {Places: &rules.Places{Direct: true}},
	"Requester": {Requester: &rules.Requester{People: []string{"U012ABCDEF"}}},
	"Tools":     {Tools: &rules.Tools{Use: rules.UseSome, List: []rules.Tool{{Name: "send_slack_dm"}}}},
	"Amount":    {Amount: &rules.Between{Below: "100000", Currency: yen}},
	"Labels":    {Labels: []rules.Labelled{{Name: "費目", List: []string{"旅費"}}}},
}

// Each condition is said. The form gives it back, too: see
// TestTheFormGivesBackEachCondition.
func TestEachConditionIsSaid(t *testing.T) {
	all := reflect.TypeFor[rules.Conditions]()
	for i := range all.NumField() {
		name := all.Field(i).Name
		when, has := OneCondition[name]
		expect.That(t, has && !reflect.ValueOf(when).Field(i).IsZero(), "OneCondition has no sample of %s", name)
		route := rules.Outcome{Refuse: "-"}
		one, none := rules.Rule{ID: "1", Outcome: route, When: when}, rules.Rule{ID: "2", Outcome: route}
		for _, locale := range language.All {
			s := speaker{Texts: web.TextsOf("rules", locale)}
			expect.That(t, s.rule(&one) != s.rule(&none), "%s: no sentence says %s: %s", locale, name, s.rule(&one))
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("rules:\n- name: x\n  route: {stages: [{name: y, who: {kind: people, people: [U1]}}]}\n"))
	f.Add([]byte("last: {reads: {route: null}}\nrules: [{when: {amount: {at_least: 1}}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		is, back := *blank(), *blank()
		if _, faults := file.Read(text, &is); len(faults) > 0 {
			return
		}
		nobody := func(string) string { return "" }
		again := expect.Value(file.Write(is, "", nobody))(t)
		_, faults := file.Read(again, &back)
		third := expect.Value(file.Write(back, "", nobody))(t)
		expect.That(t, len(faults) == 0 && bytes.Equal(again, third), "%v of %q, then %q", faults, text, again)
	})
}
