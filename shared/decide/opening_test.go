package decide

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// office is a directory in which an organisation stands.
type office struct {
	ids
	departments map[string][]string // by account
	groups      map[string][]string
}

func (office) Organised() bool { return true }

func (office) Person(user string) string { return user }

func (o office) Members(group string) []string { return o.groups[group] }

func (o office) Departments(user string) []string { return o.departments[user] }

// ids is a directory of accounts, of which no organisation and no user group says anything.
type ids struct{}

func (ids) Organised() bool                 { return false }
func (ids) Person(string) string            { return "" }
func (ids) Account(person string) string    { return person }
func (ids) MayStamp(user string) bool       { return user != "" }
func (ids) Members(string) []string         { return nil }
func (ids) Handle(group string) string      { return group }
func (ids) Above(string) ([]string, bool)   { return nil, true }
func (ids) Over(string, string) []string    { return nil }
func (ids) Knows(string, string) bool       { return true }
func (ids) Holders(string, string) []string { return nil }
func (ids) Departments(string) []string     { return nil }

func (ids) Empty(string, []circulation.Person) bool { return false }

// askersOf is a request of Sato's in C1, whose form Ito filled in again, for these steps; of none, for a write.
func askersOf(steps ...task.Step) *About {
	a := &task.Aggregate{Head: task.Head{Head: aggregate.Head{Requester: "SATO"}},
		Request: &task.Request{User: "SATO", Channel: "C1", ChannelType: "channel"},
		Prompts: []*task.Prompt{{EditedBy: "ITO"}}}
	calls, _ := CallsOf("T1", steps, nil)
	if steps == nil {
		calls = []rules.Call{{Access: aggregate.Write}}
	}
	return AboutSteps(a, calls, nil, tenancy.Settings{Locale: "en"})
}

// in is a rule for these channels, or for all if there are none.
func in(o rules.Outcome, channels ...string) rules.Rule {
	r := rules.Rule{ID: "01KS00000000000000000000A" + string(rune('A'+len(channels))), Name: "rule", Outcome: o}
	if len(channels) > 0 {
		r.Channels = channels
	}
	return r
}

func refuses(why string) rules.Outcome { return rules.Outcome{Refuse: why} }

func asks(users ...string) rules.Outcome {
	return rules.Outcome{Stages: []rules.Stage{{Name: "desk", Who: rules.Who{People: users}, Need: 1}}}
}

func of(all ...rules.Rule) *rules.Rules { return &rules.Rules{Rev: 3, Rules: all} }

// Whose own request it is is never asked.
func TestNoAskerIsAsked(t *testing.T) {
	x := askersOf()
	for _, d := range []rules.Directory{ids{}, office{}} {
		found := expect.Value(x.By(of(in(asks("TANAKA", "ITO"))), d))(t)
		expect.Must(t, found.Opening != nil && len(found.Opening.Route.Stages[0].People) == 1, "%+v", found)
		expect.Same(t, found.Opening.Askers, []circulation.Person{{User: "SATO"}, {User: "ITO"}})
	}
}

// A gate keeps what the rules saw of it: the amount, if it is known, and the requester's department.
func TestAGateKeepsWhatTheRulesSaw(t *testing.T) {
	answer := rules.Answer{Outcome: rules.Outcome{Stages: []rules.Stage{{Name: "desk", Need: 1,
		Who: rules.Who{People: []string{"TANAKA"}}}}}}
	for name, c := range map[string]struct {
		amount rules.Amount
		want   aggregate.Seen
	}{
		"an amount":      {rules.Amount{Value: "298000", Currency: "JPY"}, aggregate.Seen{Amount: "298000", Currency: "JPY"}},
		"nothing":        {rules.Nothing(), aggregate.Seen{Amount: "0"}},
		"an unknown one": {rules.Unknown(rules.WhyNotNumber), aggregate.Seen{Why: "not_number"}},
		"one not given":  {rules.Unknown(rules.WhyMissing), aggregate.Seen{Why: "missing"}},
	} {
		f := &rules.Facts{Kind: rules.KindSteps, Askers: []circulation.Person{{User: "SATO"}},
			Departments: []string{"営業部", "本社"}, Calls: []rules.Call{{Access: aggregate.Read, Amount: c.amount}}}
		c.want.Department = "営業部"
		found, err := resolve(of(), answer, f, ids{})
		expect.That(t, err == nil && *found.Opening.Seen == c.want, "%s: %+v, %v", name, found.Opening, err)
		answer.Rule.ID, c.want.ByAmount = "by_amount", true
		x := rules.Rule{ID: answer.Rule.ID, Conditions: rules.Conditions{From: "1"}}
		found, err = resolve(&rules.Rules{Rules: []rules.Rule{x}}, answer, f, ids{})
		expect.That(t, err == nil && *found.Opening.Seen == c.want, "%s by a rule: %+v, %v", name, found.Opening, err)
		answer.Rule.ID = ""
	}
}

func TestARequestOfAnUnknownKindIsToldSo(t *testing.T) {
	dear := in(asks("TANAKA"), "C1")
	dear.Channels, dear.Labels = nil, map[string][]string{"費目": {"交際費"}}
	for locale, want := range map[string]string{
		"ja": "「費目」の値が分からないか、どのルールにも挙がっていないため、承認する人を決められません。「費目」を確かめて、もう一度依頼してください。",
		"en": "“費目” isn’t known, or no rule lists its value, so it can’t be said who has to approve. Check it, and " +
			"ask again.",
	} {
		x := askersOf()
		x.Locale = locale
		x.Calls = []rules.Call{{Access: aggregate.Write, Labels: map[string][]string{"費目": nil}}}
		found := expect.Value(x.By(of(dear, in(asks("SUZUKI"), "C1")), ids{}))(t)
		expect.Must(t, found.Refused != nil, "%+v", found)
		expect.Same(t, *found.Refused, aggregate.Refusal{Why: task.ReasonRuleRefuses, Detail: want,
			Rule: circulation.Rule{ID: dear.ID, Name: "rule", Revision: 3}})
	}
}

// Where no rule fits, or a rule refuses without a word, who asks is told what to do.
func TestARefusalWithoutWordsSaysWhatToDo(t *testing.T) {
	for locale, says := range map[string][2]string{
		"ja": {"そのほか|「回覧ルール」で、この内容を受け付けるルールを加えるよう", "rule|「回覧ルール」でこのルールを見直すよう"},
		"en": {"Everything else|No other rule fits. Ask an administrator to add a rule for it",
			"rule|ask an administrator to change this rule in the console under “Routing rules”"},
	} {
		for i, r := range []*rules.Rules{of(), of(in(refuses("")))} {
			x := askersOf()
			x.Locale = locale
			x.Calls = []rules.Call{{Access: aggregate.Write}}
			no := expect.Value(x.By(r, ids{}))(t).Refused
			name, next, _ := strings.Cut(says[i], "|")
			expect.Must(t, no != nil && no.Why == task.ReasonRuleRefuses, "%+v", no)
			expect.Is(t, no.Rule.Name, name)
			expect.Has(t, no.Detail, next)
		}
	}
}

// Why a stage finds nobody is told with the refusal, and above whom nobody stands.
func TestARefusalSaysWhatIsLacking(t *testing.T) {
	for lacks, c := range map[string]struct {
		who rules.Who
		of  string
	}{rules.LeftVacant: {rules.Who{Superior: 1}, "SATO"}, rules.LeftAlone: {rules.Who{Channel: true}, ""}} {
		x := askersOf(task.Step{Tool: "list_employees", Access: aggregate.Read})
		x.Place.Direct = true
		reads := in(rules.Outcome{Stages: []rules.Stage{{Name: "上長", Need: 1, Who: c.who}}})
		reads.Tools = []rules.Tool{{Name: "list_employees"}}
		no := expect.Value(x.By(of(reads), ids{}))(t).Refused
		expect.That(t, no != nil && no.Why == task.ReasonNoRoute && no.Lacks == lacks && no.Of == c.of, "%+v", no)
	}
}

// settledBy are steps that these people stamped at the last stage, by the rule that in makes.
func settledBy(people ...circulation.Person) *task.Settled {
	return &task.Settled{Rule: circulation.Rule{ID: in(rules.Outcome{}).ID, Name: "old", Revision: 1},
		Desk:   circulation.Stage{Name: "desk", Mode: circulation.ModePeople, Need: 1, People: people},
		Askers: []circulation.Person{{User: "SATO"}, {User: "BEFORE"}}}
}

func account(user string) circulation.Person {
	return circulation.Person{User: user, Via: task.ViaStamped}
}

func (s staff) MayStamp(user string) bool { return slices.Contains(s.may, user) }

// The rule by which steps were settled asks once more about one of them, if it still takes the request.
func TestTheSameRuleAsksWhoStampedTheSteps(t *testing.T) {
	head := of(in(asks("HEAD")))
	tanaka, kato := account("TANAKA"), account("KATO")
	for name, c := range map[string]struct {
		settled *task.Settled
		rules   *rules.Rules
		d       rules.Directory
		want    string
	}{
		"it asks who stamped":        {settledBy(tanaka, kato), head, ids{}, "TANAKA KATO"},
		"steps are asked about anew": {nil, head, ids{}, "HEAD"},
		"another rule takes it":      {settledBy(tanaka), of(in(asks("HEAD"), "C1")), ids{}, "HEAD"},
		"the rule refuses by now":    {settledBy(tanaka), of(in(refuses("no"))), ids{}, "no"},
		"an asker is not asked":      {settledBy(account("ITO"), kato), head, ids{}, "KATO"},
		"only askers stamped":        {settledBy(account("ITO")), head, ids{}, "HEAD"},
		"who stamped may still":      {settledBy(tanaka), head, staff{may: []string{"TANAKA", "HEAD"}}, "TANAKA"},
		"who stamped may no more":    {settledBy(tanaka), head, staff{may: []string{"HEAD"}}, "HEAD"},
	} {
		x := askersOf()
		x.Calls, x.Settled = []rules.Call{{Access: aggregate.Write}}, c.settled
		found := expect.Value(x.By(c.rules, c.d))(t)
		var got []string
		if o := found.Opening; o != nil {
			for _, p := range o.Route.Stages[0].People {
				got = append(got, p.User)
			}
			expect.That(t, o.Rule.Revision == 3, "%s: %+v", name, o)
		} else {
			got = []string{found.Refused.Detail}
		}
		expect.Is(t, strings.Join(got, " "), c.want, name)
	}
}

// Those whose own request the steps were count as askers still.
func TestTheSameRuleKeepsTheAskersOfTheSteps(t *testing.T) {
	x := askersOf()
	x.Settled = settledBy(account("TANAKA"))
	found := expect.Value(x.By(of(in(asks("HEAD"))), ids{}))(t)
	expect.Same(t, found.Opening.Askers, []circulation.Person{{User: "SATO"}, {User: "ITO"}, {User: "BEFORE"}})
}

// staff is an office in which only these people may stamp.
type staff struct {
	office
	may []string
}
