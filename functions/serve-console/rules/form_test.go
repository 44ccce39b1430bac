package rules

import (
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// sentForm is what the form of a rule with everything sends.
func sentForm(changes ...string) url.Values {
	form := url.Values{"id": {"R1"}, "name": {"旅費"}, "outcome": {"route"}, "positions": {"課長\n係長\n"},
		"departments":   {"", "sales"},
		"labels.0.name": {"費目"}, "labels.0.is": {"only"}, "labels.0.list": {"国内旅費\n海外旅費"}, "labels.1.is": {"only"},
		"labels.2.name": {"日数"}, "labels.2.is": {"some"}, "labels.2.low": {"８"}, "labels.2.high": {"11"},
		"stages.0.was": {"0"}, "stages.0.name": {"所属"}, "stages.0.kind": {"position"},
		"stages.0.position": {positionValue("", "課長")}, "stages.0.also": {"室長"}, "stages.0.label": {" 関係課 "},
		"stages.0.none": {" なし"}, "reader_labels.0.label": {"関係課 "}, "reader_labels.0.positions": {"課長\n室長"},
		"reader_labels.0.none": {"なし"}, "reader_labels.1.label": {""}, "stages.0.need": {"1"}, "stages.0.alone": {"", "1"},
		"stages.0.vacant": {"up"}, "stages.0.own": {"up"}, "stages.0.twice": {"up"},
		"stages.1.was": {"1"}, "stages.1.join": {"beside"}, "stages.1.kind": {"people"}, "stages.1.people": {"", "U1", "U2"},
		"stages.1.need": {"2"},
		"stages.2.was":  {"2"}, "stages.2.name": {"経理"}, "stages.2.kind": {"people"}, "stages.2.people": {"U3"},
		"stages.2.need": {"1"}, "stages.2.role": {"up"}, "stages.2.vacant": {"refuse"}, "stages.2.own": {"refuse"},
		"stages.2.twice": {"skip"}, "readers": {"U4"}, "reader_posts": {"", positionValue("", "局長"),
			positionValue("HQ", "社長", "会長")}}
	for i := 0; i < len(changes); i += 2 {
		form[changes[i]] = []string{changes[i+1]}
	}
	return form
}

func TestTheFormOfARuleSaysAllThatRulesCan(t *testing.T) {
	got := typed(sentForm())
	expect.Same(t, got, rules.Rule{ID: "R1", Name: "旅費", When: rules.Conditions{
		Requester: &rules.Requester{Departments: []string{"sales"}, Positions: []string{"課長", "係長"}},
		Labels: []rules.Labelled{{Name: "費目", Is: rules.UseOnly, List: []string{"国内旅費", "海外旅費"}},
			{Name: "日数", Is: rules.UseSome, AtLeast: "8", Below: "11"}},
	}, Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
		{Name: "所属", Who: rules.Who{Kind: rules.WhoPosition, Positions: []string{"課長", "室長"}, Label: "関係課", None: "なし"}, Need: 1, Empty: rules.EmptyUp, NoStandIns: true,
			Beside: []rules.Source{{Who: rules.Who{Kind: rules.WhoPeople, People: []string{"U1", "U2"}}, Need: 2}}},
		{Name: "経理", Who: rules.Who{Kind: rules.WhoPeople, People: []string{"U3"}}, Need: 1, Empty: newEmpty},
	}, Readers: &rules.Readers{People: []string{"U4"}, Posts: []rules.Who{
		{Kind: rules.WhoPosition, Positions: []string{"局長"}},
		{Kind: rules.WhoPosition, Department: "HQ", Positions: []string{"社長", "会長"}},
		{Kind: rules.WhoPosition, Label: "関係課", Positions: []string{"課長", "室長"}, None: "なし"}}}}}})
	shared := typed(sentForm("stages.1.share", "majority", "stages.2.share", "two_thirds")).Route.Stages
	expect.That(t, shared[0].Share == "" && shared[0].Need == 1 && shared[1].Share == rules.ShareTwoThirds &&
		shared[1].Need == 0, "a share stands in the place of a number: %+v", shared)
	expect.Same(t, shared[0].Beside[0], rules.Source{Who: rules.Who{Kind: rules.WhoPeople, People: []string{"U1", "U2"}},
		Share: rules.ShareMajority})
	expect.Same(t, staged(sourcesOf(&rules.Policy{Stages: shared})), shared)
	all := sourcesOf(got.Route)
	expect.Same(t, staged(all), got.Route.Stages)
	moved := staged(arranged(all, "up", 2)) // 経理 stands between, so who was beside the first is beside it now
	expect.That(t, len(moved) == 2 && moved[1].Name == "経理" && len(moved[1].Beside) == 0 || len(moved[0].Beside) == 0,
		"%+v", moved)
	expect.Is(t, len(staged(arranged(all, "delete", 0))), 2)
}

// The look before saving and the list say each of them, in each language.
func TestSentencesSayAllThatRulesCan(t *testing.T) {
	r := typed(sentForm())
	for locale, says := range map[string][]string{
		"ja": {"salesとその下の部署の、役職が課長か係長の人が、費目が 国内旅費・海外旅費 だけの、日数に 8〜11未満 を含むものを依頼したら",
			"種別「関係課」の部署の課長か室長 (「なし」なら省略)",
			"決まったあとに U4と依頼した人の上の局長とHQの社長か会長と種別「関係課」の部署の課長か室長 (「なし」なら省略) に知らせます。",
			"、同時に並行 (U1・U2) のうち 2 人", "代理は承認できません"},
		"en": {"whose position is 課長 or 係長", "where 費目 is 国内旅費",
			"and where 日数 has 8 to below 11",
			"課長 or 室長 of the department that 関係課 says (nobody if it says なし)",
			"and, at the same time, Beside it: 2 of U1", "nobody stands in",
			"Told afterwards: U4, the nearest 局長 above the requester, 社長 or 会長 of HQ, 課長 or 室長 of the department that 関係課 says (nobody if it says なし)."},
	} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		text := s.rule(&r)
		for _, want := range says {
			expect.That(t, strings.Contains(text, want), "%s lacks %q: %s", locale, want, text)
		}
		_, _, more := s.asking(&r)
		expect.That(t, strings.Contains(strings.Join(more, "|"), "費目"), "%v", more)
	}
	expect.Is(t, len(language.All), 2)
	before := speaker{Texts: web.TextsOf("rules", "ja")}.rule(&r)
	for name, change := range map[string][]string{
		"position": {"positions", "課長"},
		"label":    {"labels.0.name", "区分"}, "values": {"labels.0.list", "国内旅費"}, "how": {"labels.0.is", "some"}, "all but": {"labels.0.is", "not"},
		"from": {"labels.2.low", "9"}, "below": {"labels.2.high", "12"},
		"above": {"labels.2.low_is", "above"}, "at most": {"labels.2.high_is", "at_most"},
		"readers":     {"reader_posts", positionValue("HQ", "社長")},
		"other posts": {"stages.0.also", "館長"}, "whose matter": {"stages.0.label", ""}, "nobody's matter": {"stages.0.none", ""},
		"told of a matter": {"reader_labels.0.label", "x"}, "told of none": {"reader_labels.0.none", ""}, "beside": {"stages.1.need", "1"}, "stand-ins": {"stages.0.alone", ""}, "role": {"stages.2.role", "note"},
		"approves": {"stages.2.role", ""}, "minutes": {"stages.0.minutes", "1"},
		"share": {"stages.0.share", "majority"}, "share beside": {"stages.1.share", "two_thirds"},
	} {
		other := typed(sentForm(change...))
		expect.That(t, speaker{Texts: web.TextsOf("rules", "ja")}.rule(&other) != before, "%s is not said", name)
	}
}

// A bound is said with itself or without, in each language.
func TestABoundIsSaidAsItIs(t *testing.T) {
	for locale, says := range map[string][4]string{
		"ja": {"10万円以上 (または金額不明)", "10万円超 50万円以下", "10万円〜50万円未満", "日数が 8超〜11以下"},
		"en": {"¥100,000 or more (or an unreadable amount)", "more than ¥100,000 and ¥500,000 or less",
			"¥100,000 to below ¥500,000", "日数 is over 8 to 11"},
	} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		band := func(form string, changes ...string) string {
			return s.amount(*typed(sentForm(append(changes, "low", "10万")...)).When.Amount, form)
		}
		expect.Is(t, band(""), says[0])
		expect.Is(t, band("", "high", "500,000", "high_is", "at_most", "low_is", "above"), says[1])
		expect.Is(t, band("band_", "high", "500,000", "high_is", "below"), says[2])
		days := typed(sentForm("labels.2.is", "only", "labels.2.low_is", "above", "labels.2.high_is", "at_most"))
		_, _, more := s.asking(&days)
		expect.That(t, strings.Contains(strings.Join(more, "|"), says[3]), "%q", more)
	}
}

// A source may be the next in the order of who is asked in the place of who is away.
func TestTheFormJoinsWhoIsAskedInstead(t *testing.T) {
	form := sentForm("stages.0.none", "", "stages.1.join", "instead", "stages.2.join", "instead", "stages.3.was", "3", "stages.3.join",
		"beside", "stages.3.kind", "people", "stages.3.people", "U9", "stages.3.need", "1")
	stages := typed(form).Route.Stages
	expect.Must(t, len(stages) == 1 && len(stages[0].Beside) == 1, "%+v", stages)
	who := stages[0].Who
	form.Set("stages.2.join", "any")
	together := typed(form).Route.Stages
	expect.That(t, len(together[0].Who.Instead) == 1, "%+v", together)
	expect.Same(t, together[0].Who.Instead[0], rules.Who{Kind: rules.WhoAny, Any: who.Instead})
	expect.Same(t, staged(sourcesOf(&rules.Policy{Stages: together})), together)
	expect.That(t, strings.Contains(speaker{Texts: web.TextsOf("rules", "ja")}.stage(&together[0]),
		"(不在のときは U1・U2 または U3 が代決)"), "%+v", together)
	expect.That(t, who.Kind == rules.WhoPosition && len(who.Instead) == 2 && len(stages[0].Beside[0].Who.Instead) == 0,
		"%+v", stages)
	expect.Same(t, who.Instead[0], rules.Who{Kind: rules.WhoPeople, People: []string{"U1", "U2"}})
	expect.Same(t, staged(sourcesOf(&rules.Policy{Stages: stages})), stages)
	for locale, says := range map[string]string{"ja": "課長か室長 (不在のときは U1・U2、次に U3 が代決)",
		"en": "says (if away, U1, U2, then U3)"} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		expect.That(t, strings.Contains(s.stage(&stages[0]), says), "%q", s.stage(&stages[0]))
		expect.That(t, strings.Contains(s.chip(&stages[0]).Note, says), "%q", s.chip(&stages[0]).Note)
	}
}

// A source may be another way to the people before it, of whom any is asked: with the number of the first.
func TestTheFormJoinsWhomAnyIsAskedOf(t *testing.T) {
	form := sentForm("stages.0.none", "", "stages.1.join", "any", "stages.2.join", "beside", "stages.3.was", "3", "stages.3.join", "any",
		"stages.3.kind", "manager", "stages.3.level", "2")
	stages := typed(form).Route.Stages
	expect.Must(t, len(stages) == 1 && len(stages[0].Beside) == 1, "%+v", stages)
	people := func(ids ...string) rules.Who { return rules.Who{Kind: rules.WhoPeople, People: ids} }
	expect.Same(t, stages[0].Who, rules.Who{Kind: rules.WhoAny, Any: []rules.Who{{Kind: rules.WhoPosition,
		Positions: []string{"課長", "室長"}, Label: "関係課"}, people("U1", "U2")}})
	expect.Is(t, stages[0].Need, 1)
	expect.Same(t, stages[0].Beside[0].Who.Any, []rules.Who{people("U3"), {Kind: rules.WhoManager, Level: 2}})
	expect.Same(t, staged(sourcesOf(&rules.Policy{Stages: stages})), stages)
	for locale, says := range map[string]string{"ja": "種別「関係課」の部署の課長か室長 または U1・U2", "en": "課長 or 室長 of the department that 関係課 says or U1"} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		text := s.stage(&stages[0])
		expect.That(t, strings.Contains(text, says), "%q", text)
		expect.That(t, strings.Contains(s.chip(&stages[0]).Note, says), "%q", s.chip(&stages[0]).Note)
	}
}

// A source may be whom the people of the stage before may add, in the case that its name says.
func TestTheFormNamesWhomAStageMayAdd(t *testing.T) {
	form := sentForm("stages.2.join", "raise", "stages.2.name", " 特に重要と認めるとき", "stages.3.was", "3",
		"stages.3.join", "beside", "stages.3.kind", "people",
		"stages.3.people", "U9", "stages.3.need", "1",
		"stages.4.was", "4", "stages.4.name", "部長",
		"stages.4.kind", "manager", "stages.4.level", "1")
	stages := typed(form).Route.Stages
	expect.Must(t, len(stages) == 2 && len(stages[0].Beside) == 2 && stages[1].Raises == nil, "%+v", stages)
	expect.Same(t, stages[0].Raises, []rules.Raise{{When: "特に重要と認めるとき", Who: rules.Who{Kind: rules.WhoPeople,
		People: []string{"U3"}}}})
	expect.Same(t, staged(sourcesOf(&rules.Policy{Stages: stages})), stages)
	form.Set("stages.3.join", "instead")
	expect.Is(t, len(typed(form).Route.Stages[0].Raises[0].Who.Instead), 1)
	for locale, says := range map[string]string{"ja": "(「特に重要と認めるとき」は U3 に上げられる)",
		"en": "(may be raised to U3: “特に重要と認めるとき”)"} {
		s := speaker{Texts: web.TextsOf("rules", locale)}
		expect.That(t, strings.Contains(s.stage(&stages[0]), says), "%q", s.stage(&stages[0]))
		for _, out := range []string{"", rules.LeftVacant} {
			x := s.raised(circulation.Raise{When: "緊急", To: circulation.Person{User: "U3"}, LeftOut: out}, "found")
			named := strings.Contains(x.Name, "U3")
			expect.That(t, strings.Contains(x.Name, "緊急") && x.Via != "" && named == (out == ""), "%+v", x)
		}
	}
}
