package rules_test

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"ringi/functions/serve-console/consoletest"
	console "ringi/functions/serve-console/rules"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// What no rule takes stands below the rules, with which requests these are.
func TestTheListSaysWhatNoRuleTakes(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	for locale, want := range map[string][]string{
		"ja": {"上のどの行にも当てはまらない依頼 読むだけの依頼 金額によらず、外部に何も書き込まないもの チャンネルのだれか 1 人",
			"外部に書き込む依頼 金額によらず、すべての書き込み 断る"},
		"en": {"Requests that no row above fits Requests that only read Of any amount, if nothing is written outside " +
			"one member of the channel", "Requests that write outside Of any amount Decline"},
	} {
		b = b.In(locale)
		b.Post("/console/rules", b.Get("/console/rules").Hidden("act", "begin.empty")).Says(t, 200, want...)
	}
}

// A rule says of which amounts it is, whatever the rules above it take.
func TestTheListSaysTheAmountsOfRules(t *testing.T) {
	w := consoletest.Start(t)
	var x rules.Rules
	for i, least := range []rules.Decimal{"1000000", "100000", ""} {
		one := rules.Rule{ID: aggregate.NewID(), Name: []string{"100万円以上", "中くらい", "少ない額"}[i],
			When: rules.Conditions{Tools: &rules.Tools{Use: rules.UseWriting}},
			Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{{Name: "部長", Need: 1,
				Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki}}}}}}}
		if least != "" {
			one.When.Amount = &rules.Between{AtLeast: least, Currency: "JPY"}
		}
		x.Rules = append(x.Rules, one)
	}
	x.Form = rules.Form
	_, _, err := w.Store.SaveRules(t.Context(), w.Tenant.ID, &x, 0, nil, w.By, w.Now())
	expect.NoError(t, err)
	b := w.As(webapi.Suzuki)
	b.Get("/console/rules").Says(t, 200, "外部への書き込み 100万円以上 金額が読めないものも 部長", "すべて 「少ない額」 部長")
	form := b.Post("/console/rules", b.Get("/console/rules").Hidden("act", "edit.1"))
	form.Holds(t, `<details class="further"><summary>条件を足す`) // nothing further is chosen
	draft := b.Post("/console/rules", b.Get("/console/rules").Hidden("act", "delete.1"))
	b.Post("/console/rules", draft.Hidden("act", "check")).Says(t, 200, "削除 「中くらい」").Lacks(t, `role="region"`)
	// On the list alone nothing asks to be checked.
	b.Get("/console/rules").Lacks(t, `class="buttons save"`)
	b.Post("/console/rules", b.Get("/console/rules").Hidden("act", "up.2")).Holds(t, `class="buttons save"`)
	b.In("en").Get("/console/rules").Says(t, 200, "¥1,000,000 or more “100万円以上” · also if the amount can’t be read")
}

// A rule with one condition is the same after its form is sent as it is shown.
func TestTheFormGivesBackEachCondition(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	for _, when := range console.OneCondition {
		was := rules.Rule{ID: aggregate.NewID(), Name: "x", When: when, Outcome: rules.Outcome{Refuse: "-"}}
		saved(w, &rules.Rules{Form: rules.Form, Rules: []rules.Rule{was}})
		form := b.Post(path, b.Get(path).Hidden("act", "edit.0")).Says(t, 200)
		sent := asShown(t, form)
		sent.Set("act", "keep")
		check := b.Post(path, b.Post(path+"/rule", sent).Says(t, 200).Hidden("act", "check")).Says(t, 200)
		b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
		expect.Same(t, was, stored(w).Rules[0])
	}
}

// asShown returns what a browser sends of the page's form of a rule.
func asShown(t *testing.T, a consoletest.Answer) url.Values {
	f := url.Values{}
	var in *html.Node
	for n := range expect.Value(html.Parse(strings.NewReader(a.Body)))(t).Descendants() {
		if n.Data == "form" && attr(n, "id") == "rule" {
			in = n
		}
	}
	expect.Must(t, in != nil, "no form: %v", a)
	for n := range in.Descendants() {
		_, checked := attrOf(n, "checked")
		kind := attr(n, "type")
		switch name := attr(n, "name"); {
		case name == "" || n.Data == "button" || (kind == "checkbox" || kind == "radio") && !checked:
		case n.Data == "input":
			f.Add(name, attr(n, "value"))
		case n.Data == "textarea" && n.FirstChild != nil:
			f.Add(name, n.FirstChild.Data)
		case n.Data == "select":
			f.Add(name, selected(n))
		}
	}
	return f
}

func selected(of *html.Node) (value string) {
	first := true
	for n := range of.Descendants() {
		if _, is := attrOf(n, "selected"); n.Data == "option" && (first || is) {
			value, first = attr(n, "value"), false
		}
	}
	return value
}

func attr(n *html.Node, name string) string { value, _ := attrOf(n, name); return value }

func attrOf(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}
