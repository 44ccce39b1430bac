package decide

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

const company = `employee_number,name,email,department_code,parent_department,position,rank,employment
1,President,a@example.com,HQ,,社長,1,employee
2,Head,b@example.com,SALES,HQ,部長,2,employee
3,Requester,r@example.com,SALES,HQ,,,employee
4,Contractor,c@example.com,SALES,HQ,主任,3,contractor
5,Nobody here,,SALES,HQ,主任,3,employee
`

// workspace says who is a guest or gone, and who is in the group S1.
type workspace struct {
	gone    string
	members []string
}

func (w workspace) Full(user string) bool   { return !strings.Contains(w.gone, user+" ") }
func (w workspace) Members(string) []string { return w.members }
func (w workspace) Handle(g string) string  { return g }

func organised(t *testing.T) *Organisation {
	t.Helper()
	o := expect.Value(organisation.Read([]byte(company)))(t)
	m := o.Match(accounts("A", "B", "R", "C", "X"))
	m.Accounts["3"] = []organisation.Matched{{ID: "R"}, {ID: "R2"}} // an administrator said that both are theirs
	m.Accounts["2"] = []organisation.Matched{{ID: "B0"}, {ID: "B"}}
	return &Organisation{Version: "v1", People: o, Accounts: m.Kept()}
}

// accounts has one of each address: A of a@example.com.
func accounts(users ...string) (all []organisation.Account) {
	for _, user := range users {
		all = append(all, organisation.Account{ID: user, Mail: strings.ToLower(user) + "@example.com"})
	}
	return all
}

// matchedWith reads a file, with the accounts of these people.
func matchedWith(t *testing.T, file string, users ...string) *Organisation {
	t.Helper()
	o := expect.Value(organisation.Read([]byte(file)))(t)
	return &Organisation{Version: "v1", People: o, Accounts: o.Match(accounts(users...)).Kept()}
}

// found resolves a stage for R, and writes whom it asks or why nobody.
func found(t *testing.T, d *Directory, s rules.Stage) string {
	t.Helper()
	s.Name, s.Need = "x", 1
	f := &rules.Facts{Kind: rules.KindSteps, Requester: "R", Askers: []circulation.Person{{User: "R"}}}
	route, err := (&rules.Outcome{Stages: []rules.Stage{s}}).Resolve(f, d)
	if no, is := errors.AsType[*rules.Unresolved](err); is {
		return "refused: " + no.Why
	}
	expect.NoError(t, err)
	var out []string
	for _, x := range route.Stages[0].People {
		out = append(out, fmt.Sprintf("%s (%s)", x.User, x.Via))
	}
	return strings.Join(out, ", ")
}

func (w workspace) InChannel(channel string) ([]string, bool) { return w.members, channel == "C1" }

func TestAChannelIsEmptyIfNobodyElseThereMayStamp(t *testing.T) {
	w := workspace{"BOT ", []string{"R", "BOT"}}
	askers := []circulation.Person{{User: "R"}}
	expect.That(t, NewDirectory(nil, w).Empty("C1", askers), "the asker and a bot")
	expect.That(t, !NewDirectory(nil, w).Empty("C2", askers), "there may be more")
	expect.That(t, !NewDirectory(nil, workspace{"BOT ", []string{"R", "X"}}).Empty("C1", askers), "X is there")
}

func TestAnOrganisationSaysWhoIsAsked(t *testing.T) {
	w := workspace{"B0 ", []string{"R", "C", "X", "A"}}
	manager := func(n int) rules.Stage {
		return rules.Stage{Who: rules.Who{Superior: n}}
	}
	position := func(name string) rules.Stage {
		return rules.Stage{Who: rules.Who{Position: name, Department: "SALES"}}
	}
	group := rules.Stage{Who: rules.Who{Group: "S1"}}
	for name, c := range map[string]struct {
		stage rules.Stage
		want  string
	}{
		"the manager, by the account that is left":   {manager(1), "B (manager 1 of R)"},
		"the manager's manager":                      {manager(2), "A (manager 2 of R)"},
		"a position":                                 {position("部長"), "B (部長 of SALES)"},
		"of people without an account who may, over": {position("主任"), "B (over 主任 of SALES)"},
		"no stranger or contractor":                  {group, "A (group S1)"},
	} {
		got := found(t, NewDirectory(organised(t), w), c.stage)
		expect.That(t, got == c.want, "%s: %q, want %q", name, got, c.want)
	}
	w.gone = "A "
	expect.Is(t, found(t, NewDirectory(organised(t), w), group), "B0 (manager 1 of R)", "who is gone")
}

func TestFactsKnowWhoAsks(t *testing.T) {
	x := &rules.Rules{Rules: []rules.Rule{
		{Conditions: rules.Conditions{Groups: []string{"S1"}}}, {},
		{Conditions: rules.Conditions{Groups: []string{"S1"}, Departments: []string{"HQ"}}},
	}}
	f := rules.Facts{}
	AskedBy(&f, x, NewDirectory(organised(t), workspace{members: []string{"R"}}), "R")
	expect.Same(t, f, rules.Facts{Requester: "R", Organised: true,
		Departments: []string{"SALES", "HQ"}, Department: "SALES", Groups: []string{"S1"}})

	d := NewDirectory(organised(t), workspace{})
	anybody := &rules.Rules{Rules: []rules.Rule{{Outcome: rules.Outcome{Stages: []rules.Stage{{Name: "x"}}}}}}
	for user, here := range map[string]bool{"B": true, "X": false} {
		f := rules.Facts{Askers: []circulation.Person{{User: user}}, Calls: []rules.Call{{}}}
		AskedBy(&f, x, d, "R")
		expect.That(t, (f.Stranger == "") == here && anybody.Match(&f).Refused == !here, "%s", user)
	}

	none := NewDirectory(nil, workspace{members: []string{"R"}})
	f = rules.Facts{}
	AskedBy(&f, x, none, "R")
	expect.Same(t, f, rules.Facts{Requester: "R", Groups: []string{"S1"}})
	above, top := none.Above("R")
	expect.That(t, above == nil && !top && none.Holders("SALES", "部長") == nil && none.Org() == "",
		"there is no organisation")
	expect.That(t, none.MayStamp("R"), "a full member")
}

const firm = `employee_number,name,email,department_code,parent_department,position,rank,employment
1,President,a@example.com,HQ,,社長,1,employee
2,Director,b@example.com,DIV,HQ,本部長,2,employee
3,Head,h@example.com,SALES,DIV,部長,3,employee
4,Chief,c@example.com,SEC,SALES,課長,4,employee
5,Requester,r@example.com,SEC,SALES,,,employee
6,Clerk,,SALES,DIV,,,employee
`

// The 部長 of SALES has no account any more, and the requester's own superior is a 課長 below: who stands over the post
// takes the place.
func TestAPostWhoseHolderIsGoneGoesToWhoStandsOverIt(t *testing.T) {
	org := matchedWith(t, firm, "A", "B", "H", "C", "R", "X")
	post := func(of, name string) rules.Stage {
		return rules.Stage{Who: rules.Who{Position: name, Department: of}}
	}
	for name, c := range map[string]struct {
		gone  string
		stage rules.Stage
		want  string
	}{
		"held":                   {"", post("SALES", "部長"), "H (部長 of SALES)"},
		"gone":                   {"H ", post("SALES", "部長"), "B (over 部長 of SALES)"},
		"and who stands over it": {"H B ", post("SALES", "部長"), "A (manager 1 of B)"},
		"a post nobody ever had": {"", post("SEC", "係長"), "refused: unknown"},
		"typed in wide letters":  {"", post("ＳＡＬＥＳ", "部長"), "H (部長 of ＳＡＬＥＳ)"},
		"of no department":       {"", post("NONE", "部長"), "refused: unknown"},
		"at the top":             {"A ", post("HQ", "社長"), "refused: standing"},
	} {
		got := found(t, NewDirectory(org, workspace{gone: c.gone}), c.stage)
		expect.Is(t, got, c.want, name)
	}
}

// The rank of a post that the file never ranks isn't known: who leads its department may stand below it, and is then
// the asker's own superior, and so may who leads the department of a holder whose account is disabled. A department may
// have had nobody but who held the post.
func TestAPostNeverGoesBelowIt(t *testing.T) {
	const header = "employee_number,name,email,department_code,parent_department,position,rank,employment\n"
	const above = "2,Director,b@example.com,DIV,,本部長,2,employee\n"
	const chief = "4,Chief,c@example.com,SALES,DIV,課長,4,employee\n"
	const gone = "3,Head,h@example.com,SALES,DIV,部長,,employee\n"
	const section = "4,Chief,c@example.com,SEC,SALES,課長,4,employee\n"
	const want = "B (over 部長 of SALES)"
	for name, c := range map[string][2]string{
		"nobody ever had it":          {above + chief, "refused: unknown"},
		"another department has it":   {above + chief + "3,Other,,OTHER,DIV,部長,3,employee\n", "refused: unknown"},
		"no rank, a chief in it":      {above + chief + gone, want},
		"without rank, a chief in it": {above + chief + gone + "8,Other,,OTHER,DIV,部長,,employee\n", want},
		"its rank is another's":       {above + chief + gone + "8,Other,,OTHER,DIV,部長,3,employee\n", want},
		"who is gone was all of it":   {above + section + "3,Head,h@example.com,SALES,DIV,部長,3,employee\n", want},
		"the same, and it was ranked": {above + chief + "3,Head,h@example.com,SALES,DIV,部長,3,employee\n", want},
		"its holder can't stamp":      {above + chief + "3,Head,h@example.com,SALES,DIV,部長,,employee\n", want},
		"nor can, and nobody is over": {strings.ReplaceAll(chief+"3,Head,h@example.com,SALES,DIV,部長,,employee\n", "DIV", ""),
			"refused: standing"},
	} {
		d := NewDirectory(matchedWith(t, header+c[0], "B", "H", "C"), workspace{gone: "H "})
		expect.Is(t, found(t, d, rules.Stage{Who: rules.Who{Position: "部長", Department: "SALES"}}),
			c[1], name)
	}
}

// A rule asks the 部長 of 0010. However a new file writes either, the head is still there: the stage asks them, or nobody
// can say that the post is vacant, and the request is refused with the name of what the file doesn't have.
func TestAPostThatTheFileDoesNotHaveIsNotVacant(t *testing.T) {
	const head = "employee_number,name,email,department_code,parent_department,position,rank,employment\n" +
		"1,President,a@example.com,HQ,,社長,1,employee\n5,Requester,r@example.com,HQ,,,,employee\n"
	const unknown = "unknown 部長 (0010)"
	for name, c := range map[string][2]string{
		"as it is":             {"0010,HQ,部長,2,employee", "B"},
		"with a blank":         {"0010,HQ,部　長,2,employee", "B"},
		"copied from a PDF":    {"0010,HQ,部\u2ed1,2,employee", "B"},
		"with blanks":          {"0010 ,HQ, 部 長　,2,employee", "B"},
		"in full width":        {"００１０,HQ,部長,2,employee", "B"},
		"Excel took the zeros": {"10,HQ,部長,2,employee", "unknown 0010"},
		"a longer name":        {"0010,HQ,営業部長,2,employee", unknown},
		"another post":         {"0010,HQ,部長代理,2,employee", unknown},
		"moved elsewhere":      {"0020,HQ,部長,2,employee\n9,Clerk,,0010,HQ,,,employee", unknown},
	} {
		org := matchedWith(t, head+"2,Head,b@example.com,"+c[0]+"\n", "A", "B", "R")
		expect.Is(t, asked(t, NewDirectory(org, workspace{})), c[1], name)
	}
	expect.Is(t, asked(t, NewDirectory(nil, workspace{})), "unknown 0010", "no organisation")
}

// That nobody stands above the requester only the file can say.
func TestAManagerWhomTheFileDoesNotTellIsNotVacant(t *testing.T) {
	const head = "employee_number,name,email,department_code,parent_department,position,rank,manager,employment\n"
	const top = "1,President,a@example.com,HQ,,社長,1,,employee\n"
	level := func(n int) rules.Who { return rules.Who{Superior: n} }
	for name, c := range map[string]struct {
		rows  string
		level int
		want  string
	}{
		"above the top": {top + "5,Req,r@example.com,SALES,HQ,,,,employee\n", 2, "A"},
		"the top asks": {"5,Req,r@example.com,HQ,,社長,1,,employee\n1,A,a@example.com,HQ,,,,,employee\n", 1,
			"vacant "},
		"named": {"1,A,a@example.com,HQ,,,,,employee\n5,Req,r@example.com,HQ,,,,1,employee\n", 2, "A"},
	} {
		d := NewDirectory(matchedWith(t, head+c.rows, "A", "R"), workspace{})
		expect.Is(t, askedOf(t, d, level(c.level)), c.want, name)
	}
	expect.Is(t, askedOf(t, NewDirectory(nil, workspace{}), level(1)), "above ", "no organisation")
}

// asked resolves a route of the head of 0010, and writes whom it asks or why nobody.
func asked(t *testing.T, d *Directory) string {
	t.Helper()
	return askedOf(t, d, rules.Who{Position: "部長", Department: "0010"})
}

func askedOf(t *testing.T, d *Directory, who rules.Who) string {
	t.Helper()
	f := &rules.Facts{Requester: "R", Askers: []circulation.Person{{User: "R"}}}
	route, err := (&rules.Outcome{Stages: []rules.Stage{{Name: "x", Need: 1, Who: who}}}).Resolve(f, d)
	if no, is := errors.AsType[*rules.Unresolved](err); is {
		return no.Why + " " + no.What
	}
	expect.NoError(t, err)
	return route.Stages[0].People[0].User
}
