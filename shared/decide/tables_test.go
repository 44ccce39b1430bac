package decide

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// city is a city hall: R and others below a 係長, a 課長, a 部長, a 副市長 and the 市長.
const city = `employee_number,name,email,department_code,parent_department,position,rank,employment,post,valid_to
1,市長,m@example.com,CITY,,市長,1,employee,,
2,副市長,f@example.com,CITY,,副市長,2,employee,,
3,総務部長,b@example.com,GA,CITY,部長,3,employee,,
4,契約課長,s@example.com,GA1,GA,課長,4,employee,,
5,契約係長,k@example.com,GA11,GA1,係長,5,employee,,
6,主事,r@example.com,GA11,GA1,主事,,employee,,
7,財政課長,z@example.com,FIN,CITY,課長,4,employee,,
8,部付主幹,o@example.com,GA,CITY,主幹,5,employee,,
9,主査,w@example.com,GA2,GA,主査,,employee,,
10,前課長,v@example.com,GA2,GA,課長,4,employee,,2026-03-31
11,担当課長,q@example.com,GA,CITY,課長,4,employee,concurrent,
11,担当課長,q@example.com,GA1,GA,主査,,employee,,
12,秘書,h@example.com,CITY,,,,employee,,
13,秘書室長,i@example.com,GA3,GA,室長,4,employee,,
14,室員,j@example.com,GA3,GA,主事,,employee,,
`

func cityHall(t *testing.T) *Directory {
	users := strings.Split("M F B S K R Z O W V Q H I J", " ")
	return NewDirectory(matchedWith(t, city, users...), workspace{})
}

// holders are who holds each position over R.
var holders = map[string]string{"係長": "K", "課長": "S", "部長": "B", "副市長": "F", "市長": "M", "財政課長": "Z"}

// line is a line of a table of who decides: a kind of spending, from and below which amount, and who decides in which
// order; /財政課長 is asked beside.
type line struct{ says, kind, from, below, ask string }

// Bounds that include their number are just above it: amounts have six decimals at the most.
const justAbove = ".000001"

var tables = []line{
	// 支出負担行為
	{"消耗品費 30万円未満は課長", "消耗品費", "", "300000", "課長"},
	{"消耗品費 30万円以上100万円未満は部長", "消耗品費", "300000", "1000000", "部長"},
	{"消耗品費 100万円以上は副市長", "消耗品費", "1000000", "", "副市長"},
	{"食糧費 1万円以下は課長", "食糧費", "", "10000" + justAbove, "課長"},
	{"食糧費 1万円を超えるものは部長", "食糧費", "10000" + justAbove, "", "部長"},
	{"印刷製本費 50万円未満は課長", "印刷製本費", "", "500000", "課長"},
	{"印刷製本費 50万円以上300万円未満は部長", "印刷製本費", "500000", "3000000", "部長"},
	{"印刷製本費 300万円以上は副市長", "印刷製本費", "3000000", "", "副市長"},
	{"修繕料 50万円以下は課長", "修繕料", "", "500000" + justAbove, "課長"},
	{"修繕料 50万円を超え250万円以下は部長", "修繕料", "500000" + justAbove, "2500000" + justAbove, "部長"},
	{"修繕料 250万円を超えるものは副市長", "修繕料", "2500000" + justAbove, "", "副市長"},
	{"交際費 5万円以下は部長", "交際費", "", "50000" + justAbove, "部長"},
	{"交際費 5万円を超えるものは市長", "交際費", "50000" + justAbove, "", "市長"},
	{"光熱水費は金額を問わず課長", "光熱水費", "", "", "課長"},
	{"補助金 100万円未満は部長", "補助金", "", "1000000", "部長"},
	{"補助金 100万円以上は副市長、財政課長に合議", "補助金", "1000000", "", "財政課長→副市長"},
	// 契約
	{"工事請負費 130万円以下は課長", "工事請負費", "", "1300000" + justAbove, "課長"},
	{"工事請負費 130万円を超え1,000万円以下は部長", "工事請負費", "1300000" + justAbove, "10000000" + justAbove, "部長"},
	{"工事請負費 1,000万円を超え5,000万円以下は副市長", "工事請負費", "10000000" + justAbove, "50000000" + justAbove,
		"副市長"},
	{"工事請負費 5,000万円を超えるものは市長", "工事請負費", "50000000" + justAbove, "", "市長"},
	{"委託料 50万円以下は課長", "委託料", "", "500000" + justAbove, "課長"},
	{"委託料 50万円を超え500万円以下は部長、財政課長と並行", "委託料", "500000" + justAbove, "5000000" + justAbove,
		"部長/財政課長"},
	{"委託料 500万円を超えるものは副市長", "委託料", "5000000" + justAbove, "", "部長→副市長"},
	{"賃借料 80万円以下は課長", "賃借料", "", "800000" + justAbove, "課長"},
	{"賃借料 80万円を超えるものは部長、財政課長に合議", "賃借料", "800000" + justAbove, "", "財政課長→部長"},
	{"備品購入費 10万円未満は係長", "備品購入費", "", "100000", "係長"},
	{"備品購入費 10万円以上80万円以下は課長", "備品購入費", "100000", "800000" + justAbove, "課長"},
	{"備品購入費 80万円を超えるものは部長", "備品購入費", "800000" + justAbove, "", "部長"},
	{"損害賠償 50万円以下は副市長", "損害賠償", "", "500000" + justAbove, "副市長"},
	{"損害賠償 50万円を超えるものは市長", "損害賠償", "500000" + justAbove, "", "副市長→市長"},
	// 旅費
	{"国内旅費 5万円未満は係長", "国内旅費", "", "50000", "係長"},
	{"国内旅費 5万円以上は課長", "国内旅費", "50000", "", "係長→課長"},
	{"海外旅費は金額を問わず副市長", "海外旅費", "", "", "部長→副市長"},
	// 人事
	{"時間外勤務命令は係長", "時間外勤務命令", "", "", "係長"},
	{"会計年度任用職員の任用は部長", "任用", "", "", "課長→部長"},
	{"職員の採用は市長", "採用", "", "", "部長→副市長→市長"},
	{"休職及び復職は副市長", "休職", "", "", "副市長"},
	// 固定資産
	{"固定資産の取得 20万円未満は課長", "資産取得", "", "200000", "課長"},
	{"固定資産の取得 20万円以上100万円未満は部長", "資産取得", "200000", "1000000", "課長→部長"},
	{"固定資産の取得 100万円以上は市長", "資産取得", "1000000", "", "部長→副市長→市長"},
	{"固定資産の除却 簿価10万円未満は課長", "資産除却", "", "100000", "課長"},
	{"固定資産の除却 簿価10万円以上は部長", "資産除却", "100000", "", "課長→部長"},
	// 稟議規程
	{"広告宣伝費 100万円未満は部長", "広告宣伝費", "", "1000000", "課長→部長"},
	{"広告宣伝費 100万円以上1,000万円未満は副市長", "広告宣伝費", "1000000", "10000000", "部長→副市長"},
	{"広告宣伝費 1,000万円以上は市長", "広告宣伝費", "10000000", "", "部長→副市長→市長"},
	{"寄附金 10万円以下は部長", "寄附金", "", "100000" + justAbove, "部長"},
	{"寄附金 10万円を超えるものは市長", "寄附金", "100000" + justAbove, "", "市長"},
}

// who is a position as a table names it: above the requester, but for the one that names its department.
func who(position string) rules.Who {
	if position == "財政課長" {
		return rules.Who{Kind: rules.WhoPosition, Positions: []string{"課長"}, Department: "FIN"}
	}
	return rules.Who{Kind: rules.WhoPosition, Positions: []string{position}}
}

func (l line) stages() (all []rules.Stage) {
	for ask := range strings.SplitSeq(l.ask, "→") {
		names := strings.Split(ask, "/")
		s := rules.Stage{Name: ask, Who: who(names[0]), Need: 1, Empty: rules.EmptyUp}
		for _, name := range names[1:] {
			s.Beside = append(s.Beside, rules.Source{Who: who(name), Need: 1})
		}
		all = append(all, s)
	}
	return all
}

func (l line) rule(n int) rules.Rule {
	when := rules.Conditions{Labels: []rules.Labelled{{Name: "費目", Is: rules.UseOnly, List: []string{l.kind}}}}
	if l.from+l.below != "" {
		when.Amount = &rules.Between{AtLeast: rules.Decimal(l.from), Below: rules.Decimal(l.below), Currency: "JPY"}
	}
	return rules.Rule{ID: fmt.Sprintf("01JD0000000000000000000%03d", n), Name: l.says, When: when,
		Outcome: rules.Outcome{Route: &rules.Policy{Stages: l.stages()}}}
}

// spending is a request of R for one call of a kind, with a message at the end.
func spending(d *Directory, kind, amount string) *rules.Facts {
	f := &rules.Facts{Kind: rules.KindSteps, Place: rules.Place{Channel: "C9"}, On: day}
	f.Askers = []circulation.Person{d.Person("R")}
	f.Calls = []rules.Call{
		{Tool: rules.Tool{Name: "order"}, Access: aggregate.Write, Labels: map[string][]string{"費目": {kind}},
			Amount: rules.Amount{Value: rules.Decimal(amount), Currency: "JPY"}},
		{Tool: rules.Tool{Name: "send_slack_dm"}, Access: aggregate.Write, Amount: rules.Nothing()},
	}
	AskedBy(f, &rules.Rules{}, d, "R")
	return f
}

// A post that one department has, named without it: everybody elsewhere gets who stands above them, and the stage says
// why, also of who is asked instead. The post isn't vacant. Whoever saves such a rule is told.
func TestAPostOfOneDepartmentNamedWithoutIt(t *testing.T) {
	d := cityHall(t)
	s := rules.Stage{Name: "室長", Need: 1, Empty: rules.EmptyUp, Who: rules.Who{Kind: rules.WhoPosition, Positions: []string{"室長"}}}
	resolved := func(by string, s rules.Stage) circulation.Stage {
		f := spending(d, "消耗品費", "1")
		f.Askers = []circulation.Person{d.Person(by)}
		AskedBy(f, &rules.Rules{}, d, by)
		return expect.Value((&rules.Policy{Stages: []rules.Stage{s}}).Resolve(f, rules.Floor{}, d))(t).Stages[0]
	}
	inside, outside := resolved("J", s), resolved("R", s)
	expect.Same(t, []string{inside.People[0].User, inside.Filled}, []string{"I", ""})
	expect.That(t, outside.People[0].User != "I", "%+v", outside)
	expect.Is(t, outside.Filled, rules.LeftElsewhere)
	instead := s
	instead.Who.Instead = []rules.Who{{Kind: rules.WhoPeople, People: []string{"M"}}}
	of, _, _ := circulation.InsteadOf(resolved("R", instead).People[0])
	expect.That(t, of.Elsewhere && !of.Vacant, "%+v", of)
	left := s
	left.Empty.Vacant = rules.ThenSkip
	held := rules.Stage{Name: "市長", Need: 1, Empty: rules.EmptyUp, Who: who("市長")}
	f := spending(d, "消耗品費", "1")
	route := expect.Value((&rules.Policy{Stages: []rules.Stage{left, held}, Hands: 1}).Resolve(f, rules.Floor{}, d))(t)
	expect.Is(t, route.Stages[0].LeftOut, rules.LeftElsewhere)
}

// 重要なものは部長: whom a stage's people may add stands above them, also where whoever asks stands elsewhere. Nobody is
// offered who stands below whoever asks.
func TestWhomAStageMayAddStandsAboveItsPeople(t *testing.T) {
	d := cityHall(t)
	chief := who("室長")
	chief.Department = "GA3"
	s := rules.Stage{Name: "室長", Need: 1, Empty: rules.EmptyUp, Who: chief,
		Raises: []rules.Raise{{When: "重要なもの", Who: who("部長")}}}
	for by, want := range map[string]string{"J": "B", "Z": "B", "M": rules.LeftBelow} {
		f := spending(d, "消耗品費", "1")
		f.Askers = []circulation.Person{d.Person(by)}
		AskedBy(f, &rules.Rules{}, d, by)
		route := expect.Value((&rules.Policy{Stages: []rules.Stage{s}}).Resolve(f, rules.Floor{}, d))(t)
		to := route.Stages[0].Raises[0]
		expect.Is(t, to.To.User+to.LeftOut, want, by)
	}
}

// plus adds a number to a bound.
func plus(bound, n string) string {
	a, _ := new(big.Rat).SetString(bound)
	b, _ := new(big.Rat).SetString(n)
	return strings.TrimSuffix(strings.TrimRight(a.Add(a, b).FloatString(6), "0"), ".")
}

// Each line of a table is said exactly: it takes amounts below, at and above its limits as it says, and asks whom it
// says.
func TestTablesOfWhoDecides(t *testing.T) {
	expect.That(t, len(tables) >= 40, "%d lines", len(tables))
	d, r := cityHall(t), &rules.Rules{Form: rules.Form, Rev: 1, Floor: rules.Floor{Stamps: 1}}
	for n, l := range tables {
		r.Rules = append(r.Rules, l.rule(n))
	}
	expect.Is(t, len(r.Problems(nil)), 0)
	var only []string
	for _, f := range r.Findings(d, day, "") {
		expect.Is(t, f.Kind, rules.FindingElsewhere, f.String())
		only = append(only, f.Who)
	}
	expect.Same(t, only, []string{"部長 (GA)", "係長 (GA11)"}) // of 課長 there are several; who is at the top is over all
	taken := func(kind, amount string) string { return r.Match(spending(d, kind, amount)).Rule.Name }
	for _, l := range tables {
		least := "1"
		if l.from != "" {
			least = l.from
			expect.That(t, taken(l.kind, plus(l.from, "-1")) != l.says, "%s takes less", l.says)
			expect.That(t, taken(l.kind, plus(l.from, "-0.000001")) != l.says, "%s takes a little less", l.says)
		}
		expect.Is(t, taken(l.kind, least), l.says)
		expect.Is(t, taken(l.kind, plus(least, "1")), l.says)
		if most := "999999999999999"; l.below == "" {
			expect.Is(t, taken(l.kind, most), l.says)
		} else {
			expect.Is(t, taken(l.kind, plus(l.below, "-0.000001")), l.says)
			expect.That(t, taken(l.kind, l.below) != l.says, "%s takes its limit", l.says)
			expect.That(t, taken(l.kind, plus(l.below, "1")) != l.says, "%s takes more", l.says)
		}
		f := spending(d, l.kind, least)
		route, err := r.Match(f).Route.Resolve(f, r.Floor, d)
		expect.NoError(t, err)
		var asks []string
		for _, s := range route.Stages {
			var users []string
			for _, p := range s.People {
				users = append(users, p.User)
			}
			asks = append(asks, strings.Join(users, "/"))
		}
		want := strings.NewReplacer("財政課長", "Z", "副市長", "F", "係長", "K", "課長", "S", "部長", "B", "市長", "M")
		expect.Is(t, strings.Join(asks, "→"), want.Replace(l.ask), l.says)
	}
	other := r.Match(spending(d, "その他", "1"))
	expect.That(t, other.Last && other.Refused, "a kind of which no line says anything")
}

// A position without a department is the nearest above whoever asks: of their own line, never below them.
func TestAPositionIsLookedForFromWhoAsks(t *testing.T) {
	d := cityHall(t)
	own := rules.Empty{Vacant: rules.ThenRefuse, Own: rules.ThenUp, Twice: rules.ThenUp}
	vacant := rules.Empty{Vacant: rules.ThenUp, Own: rules.ThenRefuse, Twice: rules.ThenUp}
	for name, c := range map[string]struct {
		user, position string
		empty          rules.Empty
		want           string
	}{
		"the nearest":                          {"R", "課長", rules.EmptyRefuse, "S (課長 of GA1 as of " + day + ")"},
		"further up":                           {"R", "部長", rules.EmptyRefuse, "B (部長 of GA as of " + day + ")"},
		"at the top":                           {"R", "市長", rules.EmptyRefuse, "M (市長 of CITY as of " + day + ")"},
		"of another line":                      {"Z", "部長", vacant, "M (over 部長 of FIN as of " + day + ")"},
		"a vacant post isn't passed over":      {"W", "課長", vacant, "B (over 課長 of GA2 as of " + day + ")"},
		"a vacant post":                        {"W", "課長", own, "refused: vacant"},
		"who holds it: who stands above":       {"S", "課長", own, "B (manager 1 of S as of " + day + ")"},
		"who holds it":                         {"S", "課長", vacant, "refused: own"},
		"who stands above it":                  {"B", "課長", own, "M (manager 1 of B as of " + day + ")"},
		"who stands above it, otherwise":       {"B", "課長", rules.EmptyRefuse, "refused: own"},
		"another post of theirs doesn't count": {"Q", "課長", rules.EmptyRefuse, "S (課長 of GA1 as of " + day + ")"},
		"directly in a department above": {"O", "課長", rules.EmptyRefuse,
			"Q (課長 of GA as of " + day + ")"},
		"beside the line":                    {"J", "課長", vacant, "B (over 課長 of GA3 as of " + day + ")"},
		"beside who leads":                   {"I", "課長", vacant, "B (over 課長 of GA3 as of " + day + ")"},
		"one of several":                     {"J", "課長/室長", rules.EmptyRefuse, "I (室長 of GA3 as of " + day + ")"},
		"another of several":                 {"R", "課長/室長", rules.EmptyRefuse, "S (課長 of GA1 as of " + day + ")"},
		"the nearest of several":             {"R", "部長/係長", rules.EmptyRefuse, "K (係長 of GA11 as of " + day + ")"},
		"who holds one of several":           {"I", "課長/室長", own, "B (manager 1 of I as of " + day + ")"},
		"above one of several":               {"O", "主事/課長", rules.EmptyRefuse, "Q (課長 of GA as of " + day + ")"},
		"one of several, vacant":             {"W", "室長/課長", vacant, "B (over 課長 of GA2 as of " + day + ")"},
		"of which one is a name of none":     {"J", "室長/館長", rules.EmptySkip, "refused: unknown"},
		"of which one is a name of none, up": {"J", "館長/室長", vacant, "I (室長 of GA3 as of " + day + ")"},
		"without a post in their line":       {"H", "係長", vacant, "M (over 係長 of CITY as of " + day + ")"},
		"a name of none":                     {"R", "グループ長", rules.EmptySkip, "refused: unknown"},
		"a name of none, up":                 {"R", "グループ長", vacant, "S (over グループ長 of GA11 as of " + day + ")"},
		"who is nowhere":                     {"X", "課長", rules.EmptySkip, "refused: above"},
	} {
		f := &rules.Facts{Kind: rules.KindSteps, On: day, Askers: []circulation.Person{d.Person(c.user)}}
		AskedBy(f, &rules.Rules{}, d, c.user)
		s := rules.Stage{Name: "x", Need: 1, Empty: c.empty,
			Who: rules.Who{Kind: rules.WhoPosition, Positions: strings.Split(c.position, "/")}}
		expect.Is(t, askedOn(t, d, f, s), c.want, name)
	}
	expect.Is(t, d.Position(d.Person("Q"), day), "主査")
	expect.Same(t, []bool{d.StandsOver("課長", "GA3", day), d.StandsOver("部長", "GA3", day),
		d.StandsOver("課長", "GA2", day), d.StandsOver("主事", "GA3", day)}, []bool{false, true, true, true})
	expect.Is(t, d.Position(d.Person("X"), day)+NewDirectory(nil, workspace{}).Position(d.Person("R"), day), "")
	expect.Same(t, []bool{d.Outranks(d.Person("B"), "課長", day), d.Outranks(d.Person("S"), "課長", day),
		d.Outranks(d.Person("R"), "課長", day), d.Outranks(d.Person("M"), "主事", day)}, []bool{true, false, false, false})
}

// A manager is counted by who leads, not by departments: one that nobody leads is no step.
func TestManagersAreCountedByPosts(t *testing.T) {
	d := cityHall(t)
	for level, want := range map[int]string{1: "B", 2: "M"} {
		f := &rules.Facts{Kind: rules.KindSteps, On: day, Requester: d.Person("W"),
			Askers: []circulation.Person{d.Person("W")}}
		s := rules.Stage{Name: "x", Who: rules.Who{Kind: rules.WhoManager, Level: level}, Need: 1, Empty: rules.EmptyRefuse}
		expect.That(t, strings.HasPrefix(askedOn(t, d, f, s), want+" "), "%d above W, whose department nobody leads", level)
	}
}

// askedOn writes whom a stage asks of a request, or why nobody.
func askedOn(t *testing.T, d *Directory, f *rules.Facts, s rules.Stage) string {
	t.Helper()
	route, err := (&rules.Policy{Stages: []rules.Stage{s}, Hands: 1}).Resolve(f, rules.Floor{}, d)
	if err != nil {
		return "refused: " + strings.Fields(err.Error())[2]
	}
	return fmt.Sprintf("%s (%s)", route.Stages[0].People[0].User, route.Stages[0].People[0].Via)
}
