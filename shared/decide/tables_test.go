package decide

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// city is a city hall: R and others below a 係長, a 課長, a 部長, a 副市長 and the 市長.
const city = `employee_number,name,email,department_code,parent_department,position,rank,employment,post
1,市長,m@example.com,CITY,,市長,1,employee,
2,副市長,f@example.com,CITY,,副市長,2,employee,
3,総務部長,b@example.com,GA,CITY,部長,3,employee,
4,契約課長,s@example.com,GA1,GA,課長,4,employee,
5,契約係長,k@example.com,GA11,GA1,係長,5,employee,
6,主事,r@example.com,GA11,GA1,主事,,employee,
7,財政課長,z@example.com,FIN,CITY,課長,4,employee,
8,部付主幹,o@example.com,GA,CITY,主幹,5,employee,
9,主査,w@example.com,GA2,GA,主査,,employee,
10,前課長,v@example.com,GA2,GA,課長,4,employee,
11,担当課長,q@example.com,GA,CITY,課長,4,employee,concurrent
11,担当課長,q@example.com,GA1,GA,主査,,employee,
12,秘書,h@example.com,CITY,,,,employee,
13,秘書室長,i@example.com,GA3,GA,室長,4,employee,
14,室員,j@example.com,GA3,GA,主事,,employee,
15,係員,y@example.com,GA4,GA,主査,,employee,
`

func cityHall(t *testing.T) *Directory {
	users := strings.Split("M F B S K R Z O W V Q H I J Y", " ")
	return NewDirectory(matchedWith(t, city, users...), workspace{gone: "V "})
}

// A position without a department is the nearest above whoever asks: of their own line, never below them.
func TestAPositionIsLookedForFromWhoAsks(t *testing.T) {
	d := cityHall(t)
	for name, c := range map[string]struct{ user, position, want string }{
		"the nearest":                          {"R", "課長", "S (課長 of GA1)"},
		"further up":                           {"R", "部長", "B (部長 of GA)"},
		"at the top":                           {"R", "市長", "M (市長 of CITY)"},
		"of another line":                      {"Z", "部長", "M (over 部長 of FIN)"},
		"a gone one's isn't passed over":       {"W", "課長", "B (over 課長 of GA2)"},
		"who holds it: who stands above":       {"S", "課長", "B (over 課長 of GA1)"},
		"who stands above it":                  {"B", "課長", "M (manager 1 of B)"},
		"another post of theirs doesn't count": {"Q", "課長", "S (課長 of GA1)"},
		"directly in a department above":       {"O", "課長", "Q (課長 of GA)"},
		"beside who leads":                     {"I", "室長", "B (over 室長 of GA3)"},
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
	for _, c := range [][3]string{{"R", "GA1", "S (head of GA1)"}, {"S", "GA1", "B (over head of GA1)"},
		{"R", "GA4", "B (over head of GA4)"}, {"R", "XX", "refused: unknown"}} {
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
