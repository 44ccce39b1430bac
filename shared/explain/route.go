package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Route is where a gate stands, in the words of a surface. Everything of it follows from circulation.Walk. It has no
// stages while people are looked up.
type Route struct {
	circulation.State
	Gate     *aggregate.Gate
	Open     bool // people are asked now
	ByClick  bool // it has no stages: the settings say at each click who decides
	Of       aggregate.Origin
	Settings tenancy.Settings
	Number   string // that the decision got when it began to run
	Rounds
	on    Surface
	Words *RouteWords
}

// Rounds are the versions of steps before a gate that were sent back.
type Rounds struct {
	Round   int             // 1, or one more for each of them
	Before  *aggregate.Gate // the last one; nil: there is none
	Further int             // how many versions may be made after it
}

// RoundsOf returns the rounds before the last of some versions.
func RoundsOf(all []*task.Process) Rounds {
	r := Rounds{Round: 1}
	for _, p := range all[:len(all)-1] {
		if p.SentBack() {
			r = Rounds{Round: r.Round + 1, Before: &p.Gate}
		}
	}
	return r
}

// Standing is how a stage stands.
type Standing string

const (
	Done     Standing = "done"
	Present  Standing = "present"
	Later    Standing = "later"
	SentBack Standing = "sent_back"
	Denied   Standing = "denied"
	Unasked  Standing = "unasked" // the gate was over before the stage was done
)

// Mark is the emoji of a standing.
func (s Standing) Mark() string {
	return cmp.Or(map[Standing]string{Done: "✅", Present: "🔵", SentBack: "↩️", Denied: "❌"}[s], "⬜")
}

// RouteWords are the texts about where a gate under a rule stands.
type RouteWords struct {
	Looking, Unknown, NoName                                                   string
	States                                                                     map[Standing]string
	Path, PathAgain, PathDone, PathNumbered, Number, Folded                    string
	Amount, AmountUnknown, AmountUnmarked, AmountCounts, Askers, SendBacks     string
	And, Others, Need, NeedAll, StandsIn, StandIn, Members, Owes, Waits        string
	Before, Now, NowAny, NowNobody, Yours, YoursFor, Rule, OneDenies, OneStops string
	OneSendsBack, NotCarried, Left, LeftOut, SetStandIn, Stage, Place          string
	Decided, Closed, Numbers, Tells, TellsGroup                                string
}

var routeWordsOf = language.Catalog[RouteWords]{Files: &texts, Folder: "texts/routes"}

// RouteOf returns the texts of a language.
func RouteOf(locale string) *RouteWords { return routeWordsOf.In(locale) }

// Route returns where a gate stands.
func (s Surface) Route(g *aggregate.Gate, open bool, of aggregate.Origin, set tenancy.Settings) Route {
	r := Route{Gate: g, Open: open, ByClick: !g.Ruled(), Of: of, Settings: set, on: s, Words: routeWordsOf.In(s.Locale)}
	if !r.ByClick && (open || g.Route != nil) { // what waits without a route is of a later release's form
		r.State = circulation.Walk(g.Circulating())
	}
	return r
}

// Is says how the stage with this index stands.
func (r *Route) Is(i int) Standing {
	switch ended := r.Ended(); {
	case ended != "" && r.Last.Stage == i+1:
		return map[bool]Standing{true: SentBack, false: Denied}[ended == circulation.SendBack]
	case r.Stages[i].Owed == 0:
		return Done
	case !r.Open:
		return Unasked
	case r.State.Present == i+1:
		return Present
	}
	return Later
}

// Name is what a stage is called.
func (r *Route) Name(s *circulation.StageState) string {
	return r.stage(s.Name)
}

func (r *Route) stage(name string) string { return cmp.Or(r.on.stage(name), r.Words.NoName) }

func (s Surface) stage(name string) string { return s.Marks.Text(StageName(s.Locale, name), maxStage) }

// NewStage is the name that a rule's n-th stage has until somebody gives it one.
func NewStage(locale string, n int) string { return fill(routeWordsOf.In(locale).Stage, "n", n) }

// StageName is what a stage is called, in the reader's language if nobody has named it.
func StageName(locale, name string) string {
	for n := range rules.MaxStages {
		for _, saved := range language.All {
			if name == NewStage(saved, n+1) {
				return NewStage(locale, n+1)
			}
		}
	}
	return name
}

// Given is a stage's name, "" if nobody has named it: then each language calls it otherwise.
func Given(name string) string {
	if StageName(language.All[0], name) != StageName(language.English, name) {
		return ""
	}
	return language.OneLine(name)
}

const maxStage = 40 // characters of a stage's or a rule's name

// RuleName is what the gate's rule is called.
func (r *Route) RuleName() string {
	if r.Gate.Terms.Rule == nil {
		return r.Words.NoName
	}
	return cmp.Or(r.on.Marks.Text(r.Gate.Terms.Rule.Name, maxStage), r.Words.NoName)
}

// Need says how many of a stage's people have to stamp, with those whose earlier stamps count there; of one person it
// goes without saying.
func (r *Route) Need(s *circulation.StageState) string {
	text, all, need := r.Words.Need, len(s.People)+len(s.Before), s.Need+len(s.Before)
	switch {
	case s.Mode == circulation.ModeChannel:
		return r.members()
	case all < 2:
		return ""
	case need == all:
		text = r.Words.NeedAll
	}
	if len(s.Before) > 0 {
		text += " · " + r.Words.Before
	}
	return fill(text, "people", all, "need", need, "who", r.People(s.Before, mostHands))
}

func (r *Route) members() string {
	if name := r.on.Marks.Channel(r.Of.Channel); name != "" {
		return fill(r.Words.Members, "channel", name)
	}
	return refusalWordsOf.In(r.on.Locale).MembersOfIt
}

// Hand names who acted. A stand-in is named before whom they stood in for, since the other order reads either way.
func (r *Route) Hand(act *circulation.Act) string {
	hand, principal := r.on.Marks.Person(act.Hand.User), r.on.Marks.Person(act.Principal.User)
	if act.Hand.User == act.Principal.User {
		return hand
	}
	return fill(r.Words.StandIn, "hand", hand, "principal", principal)
}

const mostHands = 3 // named at a stage

// hands names who gave these stamps, and whose earlier ones count; further ones are counted.
func (r *Route) hands(acts []*circulation.Act, most int, before ...circulation.Person) string {
	var names []string
	for _, act := range acts {
		names = append(names, r.Hand(act))
	}
	for _, p := range before {
		names = append(names, r.on.Marks.Person(p.User))
	}
	return few(slices.Compact(names), most, r.Words.And, r.Words.Others)
}

// Stage is a stage in a line: who stamped, or how many have to.
func (r *Route) Stage(i int) string {
	s, is := &r.Stages[i], r.Is(i)
	text := is.Mark() + " " + r.Name(s)
	switch is {
	case Done:
		text += " " + r.hands(s.Stamps, mostHands, s.Before...)
		if r.Open && len(s.Stamps) > 0 {
			text += " " + r.on.Marks.Time(s.Stamps[len(s.Stamps)-1].At)
		}
	case SentBack, Denied:
		text += " " + r.Hand(r.Last) + " " + r.on.Marks.Time(r.Last.At)
	case Present:
		if all := s.Need + len(s.Before); all > 1 {
			text += fmt.Sprintf(" %d/%d", all-s.Owed, all)
		}
	case Later:
		if need := r.Need(s); need != "" && s.Mode != circulation.ModeChannel {
			text += " (" + need + ")"
		}
	}
	if given := r.hands(s.Stamps, mostHands, s.Before...); given != "" && (is == Present || is == Unasked) {
		text += " (" + Done.Mark() + " " + given + ")"
	}
	return text
}

// Path is all stages in their order, up to one that said no, if that fits so many characters; else the settled ones are
// counted.
func (r *Route) Path(most int) string {
	var all, others []string
	var settled []*circulation.Act
	n := 0
	for i := range r.Stages {
		all = append(all, r.Stage(i))
		is := r.Is(i)
		if is == Done {
			settled, n = append(settled, r.Stages[i].Stamps...), n+1
		} else {
			others = append(others, all[i])
		}
		if is == SentBack || is == Denied { // no further stage is asked
			break
		}
	}
	line := strings.Join(all, " → ")
	if n == 0 || len([]rune(line)) <= most {
		return line
	}
	folded := fill(r.Words.Folded, "n", n, "who", r.hands(settled, 1))
	return strings.Join(append([]string{folded}, others...), " → ")
}

// Asks says which stage asks, and how many stamps it owes, or whom the settings allow.
func (r *Route) Asks() string {
	if r.ByClick {
		return r.Waits(maxNamed)
	}
	return cmp.Or(r.Owes(), r.Words.Unknown)
}

// Owes says at which stage people are asked, and how many stamps that owes; "" at none.
func (r *Route) Owes() string {
	s := r.CurrentStage()
	if s == nil {
		return ""
	}
	return fill(r.Words.Owes, "stage", r.Name(s), "n", s.Owed)
}

// Owing names who is asked now, up to most of them.
func (r *Route) Owing(most int) string {
	if s := r.CurrentStage(); s != nil && s.Mode == circulation.ModeChannel {
		return r.members()
	}
	return r.People(r.State.Owes(), most)
}

// People names people, up to most of them.
func (r *Route) People(people []circulation.Person, most int) string {
	var names []string
	for _, p := range people {
		names = append(names, r.on.Marks.Person(p.User))
	}
	return few(names, most, r.Words.And, r.Words.Others)
}

// Waits says in a line for whom a gate waits.
func (r *Route) Waits(most int) string {
	switch {
	case r.Refused != nil:
		return r.Words.Unknown
	case r.ByClick && r.Open:
		return r.on.Deciders(r.Settings, r.Of, r.askers()...)
	case r.CurrentStage() == nil:
		return ""
	}
	return fill(r.Words.Waits, "owes", r.Owes(), "who", r.Owing(most))
}

// Amount says what the rules saw of the amount: nothing if no money is moved, or of plain, which moves none that a mark
// could say, unless a rule asks how much it is.
func (r *Route) Amount(plain bool) string {
	seen := r.Gate.Seen
	if seen == nil || seen.Amount == "" && plain && !seen.ByAmount || seen.Amount == "0" && seen.Currency == "" {
		return ""
	}
	amount := rules.Amount{Value: rules.Decimal(seen.Amount), Currency: seen.Currency, Why: rules.Why(seen.Why)}
	text, counts := r.Words.Amount, ""
	switch {
	case amount.Unmarked() && !seen.ByAmount:
		return ""
	case amount.Unmarked():
		text = r.Words.AmountUnmarked
	case !amount.Known() && seen.ByAmount:
		text, counts = r.Words.AmountUnknown, r.Words.AmountCounts
	case !amount.Known():
		text = r.Words.AmountUnknown
	}
	return fill(text, "amount", r.on.Marks.Text(Money(r.on.Locale, amount), maxStage)+counts)
}

// askers are the accounts whose own request it is.
func (r *Route) askers() (users []string) {
	for _, p := range r.Gate.Askers {
		users = append(users, p.User)
	}
	return users
}

// LeftOut names the rule's stages that the route leaves out, and why.
func (r *Route) LeftOut() string {
	var names []string
	for _, name := range r.Gate.Route.LeftOut {
		names = append(names, r.stage(name))
	}
	if names == nil {
		return ""
	}
	return fill(r.Words.LeftOut, "stages", strings.Join(names, r.Words.And))
}

// Carried says of a version that was made after a rejection that it doesn't have the stamps before that.
func (r *Route) Carried() string {
	if r.Before == nil {
		return ""
	}
	st := circulation.Walk(r.Before.Circulating())
	acts := st.Stamps()
	if len(acts) == 0 {
		return ""
	}
	return fill(r.Words.NotCarried, "who", r.hands(acts, maxNamed), "round", r.Round-1)
}

// AskedToo names who else asked, filled in the form or picked the draft.
func (r *Route) AskedToo() string {
	if len(r.Gate.Askers) < 2 {
		return ""
	}
	return fill(r.Words.Askers, "who", r.People(r.Gate.Askers[1:], maxNamed))
}

// Away says who stamps for those whose turn it is while they are away, with dates; gone are who has left, for whom
// nobody stands in.
func (r *Route) Away(all []circulation.StandIn, gone func(user string) bool) (lines []string) {
	g := r.Gate.Circulating()
	for _, x := range r.StoodFor(&g, all) {
		if gone(x.Principal.User) || len(lines) == maxNamed/2 {
			continue
		}
		lines = append(lines, fill(r.Words.StandsIn, "hand", r.on.Marks.Person(x.Hand.User), "principal",
			r.on.Marks.Person(x.Principal.User), "from", tenancy.DateOf(x.Begins.In(tenancy.Zone())),
			"until", tenancy.DateOf(x.Ends.Add(-1).In(tenancy.Zone()))))
	}
	return lines
}
