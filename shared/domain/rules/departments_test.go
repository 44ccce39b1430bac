package rules_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// A call may say by a label whose matter it is. If nobody knows that, nobody is asked.
func TestALabelMaySayTheDepartmentOfAPost(t *testing.T) {
	post := stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}, Label: "関係部"}, 1, refuse)
	upwards, skipped := post, post
	upwards.Empty, skipped.Empty = up, skip
	says := func(values ...string) change {
		return func(c *company, f *rules.Facts) {
			c.unknown = []string{"部長 of 総務部", "総務部", "部長 of 関係部", "関係部"}
			f.Calls[0].Labels = map[string][]string{"関係部": values}
		}
	}
	vacant := func(c *company, f *rules.Facts) { says("営業部")(c, f); c.holders = nil }
	lost := func(values ...string) change {
		return func(c *company, f *rules.Facts) { says(values...)(c, f); c.holders = nil }
	}
	resolveEach(t, map[string]resolving{
		"by name":                       {policy(0, post), says("営業部"), "D/1 hands 1"},
		"by code":                       {policy(0, post), says("sales"), "D/1 hands 1"},
		"any of it":                     {policy(0, either(people(1, refuse, "X"), post.Who)), says("sales"), "X,D/1 hands 1"},
		"a vacant post":                 {policy(0, upwards), vacant, "P/1 hands 1"},
		"an unknown department":         {policy(0, post), lost("総務部"), "refused 1 unknown"},
		"an unknown one, who is above?": {policy(0, upwards), lost("総務部"), "refused 1 unknown"},
		"no value":                      {policy(0, upwards), lost(), "refused 1 unknown"},
		"an unknown one to leave out":   {policy(1, people(1, refuse, "X"), skipped), lost("総務部"), "refused 2 unknown"},
		"no value, to leave out":        {policy(1, people(1, refuse, "X"), skipped), lost(), "refused 2 unknown"},
		"a vacant one to leave out":     {policy(1, people(1, refuse, "X"), skipped), vacant, "X/1 -vacant hands 1"},
		"one of two is unknown":         {policy(0, upwards), lost("営業部", "総務部"), "refused 1 unknown"},
	})
	expect.Same(t, policy(0, people(1, refuse, "X"), either(people(1, refuse, "X"), post.Who)).Labels(), []string{"関係部"})
	both := of(rule(1, writing(), post))
	both.Rules[0].Route.Stages[0].Who.Department = "sales"
	both.Rules[0].Route.Readers = &rules.Readers{Posts: []rules.Who{post.Who}}
	expect.Same(t, fieldsOf(both.Problems(known)), []string{"rules[0].route.stages[0].who.label"})
}

// byLabel asks the head of each department that a label says, unless it says none.
func byLabel(then rules.Empty, none string) rules.Stage {
	return stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}, Label: "関係部", None: none}, 1, then)
}

// A label may say that no department is concerned, by the value that the rule names: then its stage is left out, and
// needs no hand. What nobody knows never leaves it out.
func TestALabelMaySayThatNoDepartmentIsConcerned(t *testing.T) {
	says := func(calls ...[]string) change {
		return func(c *company, f *rules.Facts) {
			c.unknown, c.holders = []string{"総務部", "なし", "なしです", "関係部"}, map[string][]string{"部長 of sales": {"D"}}
			for i, values := range calls {
				if i > 0 {
					f.Calls = append(f.Calls, writes(pay, yen("1")))
				}
				f.Calls[i].Labels = map[string][]string{"関係部": values}
			}
		}
	}
	none, x := says([]string{"なし"}), people(1, refuse, "X")
	one := byLabel(refuse, "なし")
	deputy := one
	deputy.Who.Instead = []rules.Who{{Kind: rules.WhoPosition, Positions: []string{"次長"}, Label: "関係部"}}
	others := beside(byLabel(refuse, "なし"), rules.Source{Who: ofUsers("X"), Need: 1})
	named := func(c *company, f *rules.Facts) { none(c, f); f.Calls[0].Labels["関係部"] = []string{"営業部"} }
	resolveEach(t, map[string]resolving{
		"none":                      {policy(0, x, one), none, "X/1 -none hands 1"},
		"of an order":               {policy(0, x, deputy), none, "X/1 -none hands 1"},
		"as many hands as it says":  {policy(2, x, one), none, "refused 2 hands"},
		"however wide it is":        {policy(0, x, byLabel(refuse, "ナシ")), says([]string{" ﾅｼ"}), "X/1 -none hands 1"},
		"a department":              {policy(0, x, one), says([]string{"営業部"}), "X/1 D/1 hands 2"},
		"a department beside none":  {policy(0, x, one), says([]string{"なし", "営業部"}), "X/1 D/1 hands 2"},
		"none of one call of two":   {policy(0, x, one), says([]string{"なし"}, []string{"営業部"}), "X/1 D/1 hands 2"},
		"unknown of one call":       {policy(0, x, one), says([]string{"なし"}, nil), "refused 2 unknown"},
		"unknown":                   {policy(0, x, one), says(nil), "refused 2 unknown"},
		"something like it":         {policy(0, x, one), says([]string{"なしです"}), "refused 2 unknown"},
		"without the label":         {policy(0, x, one), says(), "refused 2 unknown"},
		"without the word for it":   {policy(0, x, byLabel(skip, "")), none, "refused 2 unknown"},
		"a department of that name": {policy(0, x, byLabel(refuse, "営業部")), named, "X/1 D/1 hands 2"},
		"nobody else":               {policy(0, one), none, "refused 1 none"},
		"beside others":             {policy(0, beside(x, rules.Source{Who: one.Who, Need: 1})), none, "X/1 hands 1"},
		"before others":             {policy(0, others), none, "X/1 hands 1"},
	})
	least := policy(0, x, one)
	expect.That(t, least.AllHands() == 2 && least.LeastHands() == 1, "%d, %d", least.AllHands(), least.LeastHands())
	bare := one
	bare.Who.Label = ""
	at := "rules[0].route.stages[0].who"
	for stage, wrong := range map[*rules.Stage][]string{
		&one: nil, &bare: {at + ".none"}, {Name: "x", Who: rules.Who{Kind: rules.WhoPeople, People: []string{"UX"}, None: "x"},
			Need: 1, Empty: refuse}: {at},
	} {
		expect.Same(t, fieldsOf(of(rule(1, only(read), *stage)).Problems(known)), wrong)
	}
	either := either(people(1, refuse, "UX"), one.Who)
	expect.Same(t, fieldsOf(of(rule(1, only(read), either)).Problems(known)), []string{at + ".any[1].none"})
	findEach(t, map[string]finding{"hands that it would give": {staffed(func(*company) {}), rules.Rule{ID: id(2), Name: "x",
		When: writing(), Outcome: rules.Outcome{Route: policy(2, people(1, refuse, "A"), one)}},
		[]rules.Finding{{Kind: rules.FindingHands, Rule: id(2)}}}})
}

// Whoever writes a label drops nobody by one that nobody knows, whoever else is found.
func TestALabelThatNobodyKnowsRefusesWhereverItStands(t *testing.T) {
	label := byLabel(refuse, "").Who
	for name, c := range map[string]struct {
		stage      rules.Stage
		away, head string
	}{
		"all of several":     {either(people(0, refuse, "X"), label), "", "X,D/2 hands 1"},
		"a share of several": {share(either(people(0, refuse, "X"), label, ofUsers("Y")), rules.ShareTwoThirds), "", "X,D,Y/2 hands 1"},
		"in an order":        {insteadOf(people(1, refuse, "X"), label, ofUsers("Q")), "X", "D/1 hands 1"},
		"in both": {insteadOf(people(1, refuse, "X"), rules.Who{Kind: rules.WhoAny, Any: []rules.Who{ofUsers("Q"),
			label}}), "X", "Q,D/1 hands 1"},
	} {
		for _, says := range [][]string{{"営業部"}, {"zzz"}, {"営業部", "zzz"}, nil} {
			d, f := staff(), asked(writes(pay, yen("1")))
			d.unknown, d.holders = []string{"zzz", "関係部"}, map[string][]string{"部長 of sales": {"D"}}
			away(c.away)(d, f)
			f.Calls[0].Labels = map[string][]string{"関係部": says}
			want := "refused 1 unknown"
			if len(says) == 1 && says[0] == "営業部" {
				want = c.head
			}
			expect.Is(t, resolved(policy(0, c.stage), f, rules.Floor{Stamps: 1}, d), want, name, says)
		}
	}
	order := policy(0, insteadOf(people(1, refuse, "X"), label, ofUsers("Q")))
	expect.Is(t, resolved(order, asked(writes(pay, yen("1"))), rules.Floor{}, staff()), "X/1 hands 1", "nobody is away")
}

// 合議部課へ写しを送る: whoever is told afterwards may be found as stages are. A department that nobody knows refuses.
func TestALabelMaySayWhoIsTold(t *testing.T) {
	p := policy(0, people(1, refuse, "X"))
	p.Readers = &rules.Readers{People: []string{"W"}, Posts: []rules.Who{byLabel(refuse, "なし").Who}}
	for name, c := range map[string]struct {
		says []string
		told string
	}{
		"a department": {[]string{"営業部"}, "[W D]"}, "several": {[]string{"営業部", "east"}, "[W D E]"}, "none": {[]string{"なし"}, "[W]"},
		"unknown": {nil, "関係部"}, "no department": {[]string{"総務部"}, "総務部"},
	} {
		d, f := staff(), asked(writes(pay, yen("1")))
		d.unknown = []string{"総務部", "なし", "関係部"}
		d.holders = map[string][]string{"部長 of sales": {"D"}, "部長 of east": {"E"}, "": {"V"}}
		f.Calls[0].Labels = map[string][]string{"関係部": c.says}
		route, err := p.Resolve(f, rules.Floor{}, d)
		told := fmt.Sprint(usersOf(route.Readers))
		if no, is := errors.AsType[*rules.Unresolved](err); is {
			told = no.What
			expect.That(t, no.Stage == 0 && no.Why == rules.LeftUnknown, "%+v", no)
		}
		expect.Is(t, told, c.told, name)
	}
	expect.Same(t, p.Labels(), []string{"関係部"})
}

// Where a label says several departments, each is asked: whoever heads two of them, or has stamped before, stamps once,
// and a post that would be left out alone goes up.
func TestALabelMaySaySeveralDepartments(t *testing.T) {
	post := func(then rules.Empty, need int) rules.Stage {
		return stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}, Label: "関係部"}, need, then)
	}
	says := func(heads map[string][]string) change {
		return func(c *company, f *rules.Facts) {
			c.holders = maps.Clone(heads)
			f.Calls[0].Labels = map[string][]string{"関係部": slices.Sorted(maps.Keys(heads))}
		}
	}
	two := says(map[string][]string{"east": {"A", "B"}, "west": {"X", "Y"}})
	both := says(map[string][]string{"east": {"A"}, "west": {"A"}})
	shared := says(map[string][]string{"east": {"A", "B"}, "west": {"A"}})
	same := says(map[string][]string{"east": {"A", "B"}, "west": {"B", "A"}})
	head := says(map[string][]string{"east": {"X"}})
	deputy := func(c *company, f *rules.Facts) {
		two(c, f)
		c.holders["部長 of east"], c.holders["次長 of east"] = nil, []string{"D"}
	}
	instead := post(refuse, 1)
	instead.Who.Instead = []rules.Who{{Kind: rules.WhoPosition, Positions: []string{"次長"}, Label: "関係部"}}
	own := says(map[string][]string{"east": {"R"}, "west": {"X"}})
	resolveEach(t, map[string]resolving{
		"each with stamps of its own": {policy(0, post(refuse, 1)), two, "A,B,X,Y/2 hands 1"},
		"any deputy of the vacant one": {policy(0, insteadOf(post(refuse, 1), rules.Who{Kind: rules.WhoAny,
			Any: []rules.Who{instead.Who.Instead[0], ofUsers("Q")}})), deputy, "D,Q,X,Y/2 hands 1"},
		"any of them": {policy(0, either(people(1, refuse, "Z"), post(refuse, 1).Who)), two,
			"Z,A,B,X,Y/1 hands 1"},
		"all of each": {policy(0, post(refuse, 0)), two, "A,B,X,Y/4 hands 1"},
		"beside others": {policy(0, beside(people(1, noSkip, "Z"), rules.Source{Who: post(noSkip, 1).Who, Need: 1})), two,
			"Z,A,B,X,Y/3 hands 1"},
		"two of one person":          {policy(0, post(rules.EmptyRefuse, 1)), both, "A/1 hands 1"},
		"stamped before":             {policy(0, people(0, refuse, "X"), post(skip, 0)), own, "X/1 A/1 hands 2"},
		"all stamped before":         {policy(0, people(0, refuse, "A"), post(skip, 1)), both, "A/1 -twice hands 1"},
		"a deputy of the vacant one": {policy(0, instead), deputy, "D,X,Y/2 hands 1"},
		"beside its head": {policy(0, beside(people(1, refuse, "X"), rules.Source{Who: post(refuse, 1).Who, Need: 1})), head,
			"refused 1 twice"},
		"one head and two":           {policy(0, post(refuse, 1)), shared, "A,B/2 hands 1"},
		"one head and two, skipping": {policy(0, post(skip, 1)), shared, "A,B/2 hands 1"},
		"the same two":               {policy(0, post(refuse, 1)), same, "A,B/1 hands 1"},
		"two of two and of three": {policy(0, post(refuse, 2)), says(map[string][]string{"east": {"A", "B", "D"}, "west": {"A", "C"}}),
			"A,C,B,D/4 hands 1"},
		"one's own of two is refused": {policy(0, post(rules.Empty{Vacant: rules.ThenSkip, Own: rules.ThenRefuse,
			Twice: rules.ThenAgain}, 1)), own, "refused 1 own"},
		"one's own goes up": {policy(0, post(skip, 1)), own, "A,X/2 hands 1"},
	})
	d, f := staff(), asked(writes(pay, yen("1")))
	two(d, f)
	route := expect.Value(policy(0, post(refuse, 1)).Resolve(f, rules.Floor{}, d))(t)
	expect.Same(t, route.Stages[0].Parts, []circulation.Part{{N: 2, Of: 1}, {N: 2, Of: 1}})
}

// What other askers write in the thread drops no part of a stage: X heads west beside A, who stamps for east.
func TestOthersWordsDropNoPartOfAStage(t *testing.T) {
	for then, want := range map[rules.Empty]string{refuse: "refused 1 askers", skip: "A,X,P/2 hands 1", up: "A,X,P/2 hands 1"} {
		d, f := staff(), asked(writes(pay, yen("1")))
		d.holders = map[string][]string{"east": {"A"}, "west": {"X", "A"}}
		d.over["部長 of west"] = "P"
		f.Calls[0].Labels = map[string][]string{"関係部": {"east", "west"}}
		expect.Is(t, resolved(policy(0, byLabel(then, "")), f, rules.Floor{}, d), "A,X/2 hands 1", then)
		alsoAsk("X")(d, f)
		expect.Is(t, resolved(policy(0, byLabel(then, "")), f, rules.Floor{}, d), want, then)
	}
}

// Who must stamp beside a label's departments must, whatever it says, also if they head one of them with somebody else.
func TestAFurtherDepartmentDropsNobodyBeside(t *testing.T) {
	label, all := byLabel(noSkip, ""), byLabel(noSkip, "")
	all.Need = 0
	for name, c := range map[string]struct {
		stage rules.Stage
		want  [3]string // of east, of both and of west
	}{
		"all beside": {beside(label, ofPeople(0, "X", "Y")), [3]string{"A,X,Y/3", "A,X,Y/3", "X,Y/2"}},
		"or one of others": {beside(either(people(1, noSkip, "D"), label.Who), ofPeople(0, "X", "Y")),
			[3]string{"D,A,X,Y/3", "D,A,Q,X,Y/3", "D,Q,X,Y/3"}},
		"all heads": {beside(all, ofPeople(0, "X", "Y")), [3]string{"A,X,Y/3", "A,Q,X,Y/4", "Q,X,Y/3"}},
	} {
		for i, says := range [][]string{{"east"}, {"east", "west"}, {"west"}} {
			d, f := staff(), asked(writes(pay, yen("1")))
			d.holders = map[string][]string{"east": {"A"}, "west": {"X", "Q"}}
			f.Calls[0].Labels = map[string][]string{"関係部": says}
			expect.Is(t, resolved(policy(0, c.stage), f, rules.Floor{}, d), c.want[i]+" hands 1", name, says)
		}
	}
}

// settles reports whether a route is settled once all of these have stamped at each stage that asks them.
func settles(route circulation.Route, by []string) bool {
	for _, s := range route.Stages {
		parts, from := s.Parts, 0
		if parts == nil {
			parts = []circulation.Part{{N: len(s.People), Of: s.Need}}
		}
		for _, part := range parts {
			stamps := 0
			for _, p := range s.People[from : from+part.N] {
				if slices.Contains(by, p.User) {
					stamps++
				}
			}
			if from += part.N; stamps < part.Of {
				return false
			}
		}
	}
	return true
}

// Nobody can settle with one department more what they can't settle without it, unless who stands above was asked in
// the place of somebody who stamps for the other. Beside others, no fewer stamps are asked, and who must stamp there must
// still.
func TestMoreDepartmentsAskNoLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		users := []string{"A", "B", "C", "D", "X"}
		some := func(label string, least int) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(users), least, 3, rapid.ID).Draw(t, label)
		}
		then := rapid.SampledFrom([]rules.Then{rules.ThenUp, rules.ThenSkip, rules.ThenRefuse})
		twice := rapid.SampledFrom([]rules.Then{rules.ThenUp, rules.ThenSkip, rules.ThenAgain})
		post := stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}, Label: "関係部"},
			rapid.IntRange(0, 2).Draw(t, "need"), rules.Empty{Vacant: then.Draw(t, "vacant"), Own: then.Draw(t, "own"),
				Twice: twice.Draw(t, "twice")})
		others, form := ofPeople(rapid.IntRange(0, 1).Draw(t, "of others"), some("others", 1)...), rapid.IntRange(0, 3).Draw(t, "form")
		for _, then := range []*rules.Then{&post.Empty.Vacant, &post.Empty.Own, &post.Empty.Twice} {
			if form < 3 && *then == rules.ThenSkip { // which can't be saved
				*then = rules.ThenUp
			}
		}
		switch form {
		case 0:
			post = beside(post, others)
		case 1:
			post = beside(either(post, ofUsers(some("or", 1)...)), others)
		case 2:
			label := rules.Source{Who: post.Who, Need: post.Need}
			post.Who, post.Need = others.Who, others.Need
			post = beside(post, label)
		}
		p := policy(1, people(rapid.IntRange(0, 1).Draw(t, "least"), refuse, some("before", 1)...), post)
		heads := map[string][]string{"east": some("east", 0), "west": some("west", 0)}
		of := func(departments ...string) (circulation.Route, error) {
			d, f := staff(), asked(writes(pay, yen("1")))
			d.over, d.holders = map[string]string{"部長 of east": "P", "部長 of west": "P"}, heads
			f.Calls[0].Labels = map[string][]string{"関係部": departments}
			return p.Resolve(f, rules.Floor{Stamps: 1}, d)
		}
		west, err := of("west")
		both, failed := of("east", "west")
		up := func(s circulation.Stage) bool { return s.Filled != "" }
		if err != nil || failed != nil {
			return
		}
		all := append(slices.Clone(users), "P", "Q")
		if form < 3 {
			for _, user := range others.Who.People[:len(others.Who.People)*(1-others.Need)] {
				but := slices.DeleteFunc(slices.Clone(all), func(u string) bool { return u == user })
				expect.That(t, settles(west, but) || !settles(both, but), "%s: %s, %s", user, drawn(west), drawn(both))
			}
			if slices.ContainsFunc(slices.Concat(west.Stages, both.Stages), up) {
				return
			}
			more := both.Stages[len(both.Stages)-1].Need >= west.Stages[len(west.Stages)-1].Need
			expect.That(t, more, "%s, %s", drawn(west), drawn(both))
			return
		}
		for bits := range 1 << len(all) {
			var by []string
			for i, user := range all {
				if bits>>i&1 == 1 {
					by = append(by, user)
				}
			}
			expect.That(t, !settles(both, by) || settles(west, by), "%v: %s, %s", by, drawn(west), drawn(both))
		}
	})
}
