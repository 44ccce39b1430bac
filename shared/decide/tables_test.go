package decide

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

// city is a city hall: R and others below a 係長, a 課長, a 部長, a 副市長 and the 市長.
const city = `m@example.com,CITY,市長,yes
f@example.com,CITY,副市長
b@example.com,CITY/GA,部長,yes
s@example.com,CITY/GA/GA1,課長,yes
k@example.com,CITY/GA/GA1/GA11,係長,yes
r@example.com,CITY/GA/GA1/GA11,主事
z@example.com,CITY/FIN,課長,yes
e@example.com,CITY/FIN,主事
o@example.com,CITY/GA,主幹
w@example.com,CITY/GA/GA2,主査
v@example.com,CITY/GA/GA2,課長,yes
q@example.com,CITY/GA,課長,,,
q@example.com,CITY/GA/GA1,主査,,,yes
h@example.com,CITY
i@example.com,CITY/GA/GA3,室長,yes
j@example.com,CITY/GA/GA3,主事
y@example.com,CITY/GA/GA4,主査
`

func cityHall(t *testing.T) *Directory {
	w, all := &workspaceRows{gone: "V "}, &people.Members{Team: "T1"}
	for user := range strings.FieldsSeq("M F B S K R Z E O W V Q H I J Y X") {
		all.People = append(all.People, w.account(user))
	}
	o, wrong := organisation.Read([]byte("email,department,position,head,manager,main\n" + city))
	expect.NoError(t, wrong.Err())
	return (&Places{Team: "T1", Listed: all, Organisation: o}).directory()
}

// A position without a department is the nearest above whoever asks: of their own line, never below them.
func TestAPositionIsLookedForFromWhoAsks(t *testing.T) {
	d := cityHall(t)
	for name, c := range map[string]struct{ user, position, want string }{
		"the nearest":                          {"R", "課長", "S (課長 of CITY/GA/GA1)"},
		"further up":                           {"R", "部長", "B (部長 of CITY/GA)"},
		"at the top":                           {"R", "市長", "M (市長 of CITY)"},
		"of another line":                      {"Z", "部長", "M (over 部長 of CITY/FIN)"},
		"of a line whose head is lower":        {"E", "部長", "M (over 部長 of CITY/FIN)"},
		"a gone one's isn't passed over":       {"W", "課長", "B (over 課長 of CITY/GA/GA2)"},
		"who holds it: who stands above":       {"S", "課長", "B (over 課長 of CITY/GA/GA1)"},
		"who stands above it":                  {"B", "課長", "M (manager 1 of B)"},
		"another post of theirs doesn't count": {"Q", "課長", "S (課長 of CITY/GA/GA1)"},
		"directly in a department above":       {"O", "課長", "Q (課長 of CITY/GA)"},
		"beside who leads":                     {"I", "室長", "B (over 室長 of CITY/GA/GA3)"},
		"without a post in their line":         {"H", "係長", "M (over 係長 of CITY)"},
		"a name of none":                       {"R", "グループ長", "refused: unknown"},
		"who is nowhere":                       {"X", "課長", "refused: above"},
	} {
		f := &rules.Facts{Kind: rules.KindSteps, Askers: []circulation.Person{{User: c.user}}}
		AskedBy(f, &rules.Rules{}, d, c.user)
		s := rules.Stage{Name: "x", Need: 1, Who: rules.Who{Position: c.position}}
		expect.Is(t, askedOn(t, d, f, s), c.want, name)
	}
}

// Who heads a department is asked, and where they ask themselves, or nobody does, who heads the one above.
func TestTheHeadOfADepartmentIsAsked(t *testing.T) {
	d := cityHall(t)
	for _, c := range [][3]string{{"R", "CITY/GA/GA1", "S (head of CITY/GA/GA1)"},
		{"S", "CITY/GA/GA1", "B (over head of CITY/GA/GA1)"},
		{"R", "CITY/GA/GA4", "B (over head of CITY/GA/GA4)"}, {"R", "XX", "refused: unknown"}} {
		f := &rules.Facts{Kind: rules.KindSteps, Askers: []circulation.Person{{User: c[0]}}}
		AskedBy(f, &rules.Rules{}, d, c[0])
		expect.Is(t, askedOn(t, d, f, rules.Stage{Name: "x", Need: 1, Who: rules.Who{Department: c[1]}}), c[2])
	}
}

// A manager is counted by who leads, not by departments: one that nobody leads is no step.
func TestManagersAreCountedByPosts(t *testing.T) {
	d := cityHall(t)
	for level, want := range map[int]string{1: "B", 2: "M"} {
		f := &rules.Facts{Kind: rules.KindSteps, Requester: "Y",
			Askers: []circulation.Person{{User: "Y"}}}
		s := rules.Stage{Name: "x", Who: rules.Who{Superior: level}, Need: 1}
		expect.That(t, strings.HasPrefix(askedOn(t, d, f, s), want+" "), "%d above Y, whose department nobody leads", level)
	}
}

// askedOn writes whom a stage asks of a request, or why nobody.
func askedOn(t *testing.T, d *Directory, f *rules.Facts, s rules.Stage) string {
	t.Helper()
	route, err := (&rules.Outcome{Stages: []rules.Stage{s}}).Resolve(f, d)
	if err != nil {
		return "refused: " + strings.Fields(err.Error())[2]
	}
	return fmt.Sprintf("%s (%s)", route.Stages[0].People[0].User, route.Stages[0].People[0].Via)
}
