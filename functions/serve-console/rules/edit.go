package rules

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/legible"
)

type edited struct {
	At   string     // number of the rule from 0, "new", or "reads" or "writes" of the last rule
	Rule rules.Rule // of the last rule only its outcome
}

// last reports whether the form is about the last rule, which has neither name nor conditions.
func (e edited) last() bool { return e.At == reads || e.At == writes }

// lastOf returns an outcome of the last rule, or nil if at is another rule.
func lastOf(x *rules.Rules, at string) *rules.Outcome {
	return map[string]*rules.Outcome{reads: &x.Last.Reads, writes: &x.Last.Writes}[at]
}

// edited finds a rule of the draft.
func (a *asked) edited(at string) (edited, bool) {
	x := a.draft.Rules
	if last := lastOf(x, at); last != nil {
		return edited{at, rules.Rule{Outcome: *last}}, true
	}
	i, err := strconv.Atoi(at)
	if err != nil || i < 0 || i >= len(x.Rules) {
		return edited{}, false
	}
	return edited{at, x.Rules[i]}, true
}

// put returns the draft's rules with the edited one in its place, and where that is, as problems say it.
func (a *asked) put(e edited) (*rules.Rules, string) {
	x := *a.draft.Rules
	x.Rules = slices.Clone(x.Rules)
	if last := lastOf(&x, e.At); last != nil {
		*last = e.Rule.Outcome
		return &x, e.At
	}
	i, err := strconv.Atoi(e.At)
	if err != nil || i < 0 || i >= len(x.Rules) {
		i, x.Rules = len(x.Rules), append(x.Rules, rules.Rule{})
	}
	x.Rules[i] = e.Rule
	return &x, strconv.Itoa(i)
}

func (a *asked) edit() error {
	sent := a.r.PostForm
	act, at, _ := strings.Cut(sent.Get("act"), ".")
	if act == "back" || a.draft.Rules == nil {
		return a.list(listState{})
	}
	e, shown := edited{sent.Get("at"), typed(sent)}, sent
	switch route := e.Rule.Route; act {
	case "stage":
		if route != nil && len(route.Stages) < rules.MaxStages {
			route.Stages = append(route.Stages, a.newStage(len(route.Stages)))
		}
	case "up", "down", "delete":
		if i, err := strconv.Atoi(at); err == nil && route != nil {
			route.Stages, shown = staged(arranged(sourcesOf(route), act, i)), nil
		}
	case "keep":
		if e.Rule.Name == "" && !e.last() {
			e.Rule.Name = legible.Clip(a.called(&e.Rule), rules.MaxName)
		}
		return a.keep(e)
	case "try":
		return a.form(e, shown, a.beyond(e.Rule.Route))
	}
	return a.form(e, shown, nil)
}

// keep takes the rule into the draft, unless something is wrong with it: then the form says what.
func (a *asked) keep(e edited) error {
	x, at := a.put(e)
	own := a.beyond(e.Rule.Route)
	for _, p := range a.problems(x, x.Problems(knownOf(a.tools))) {
		if p.Rule == at || p.Rule == "" && p.Field == "rules" {
			p.Label = a.label(p.Field) // the page is about one rule
			own = append(own, p)
		}
	}
	if e.At == reads && a.r.PostForm.Get("outcome") == "refuse" && e.Rule.Refuse == "" {
		// without a text it would be the default, by which the channel approves
		own = append(own, problem{Field: "refuse", Fault: web.Fault{Label: a.label("refuse"),
			Text: a.Problem(aggregate.Problem{Code: "words", Args: []any{rules.MaxRefuse}}, nil)}})
	}
	if len(own) > 0 {
		return a.form(e, a.r.PostForm, own)
	}
	a.draft.Rules = x
	return a.list(listState{})
}

type ruleData struct {
	Draft, ID, At string
	New, Last     bool
	Default       string // of the last rule, what becomes of its requests unless somebody chooses
	Sentence      string
	What          string // it is for
	Chips         []chip
	Further       bool // it has conditions besides what is used for how much
	NoSlack       bool
	Problems      []problem

	Name        string
	Kinds       []web.Choice
	Organised   bool        // an organisation stands
	Unread      bool        // and can't be read
	People      web.Chooser // who ask
	Departments web.Chooser
	Groups      web.Chooser // whose members ask
	Direct      bool        // it takes direct messages
	Channels    web.Chooser
	Use         []web.Choice
	Tools       []web.Box
	Labels      []labelData
	Low, High   string
	Currency    string
	Outcome     string
	Numbered    bool
	Refuse      string
	Stages      []stageData
	More        bool // another stage may be added
	Tells       []web.Choice
}

// Said names what is wrong.
func (d ruleData) Said() []problem {
	return linked(d.Problems, func(p problem) (id, name string) {
		if m := stagePath.Get().FindStringSubmatch(p.Field); m != nil {
			return "stage-" + m[1], p.Label
		}
		for of := p.Field; id == "" && of != ""; of = of[:max(0, strings.LastIndexAny(of, ".["))] {
			id = fieldIDs[of]
		}
		return id, p.Label
	})
}

// Wrong returns what is wrong with a field, or with a part of it.
func (d ruleData) Wrong(field string) (all []problem) {
	for _, p := range d.Problems {
		if rest, ok := strings.CutPrefix(p.Field, field); ok && (rest == "" || rest[0] == '[' || rest[0] == '.') {
			all = append(all, p)
		}
	}
	return together(all)
}

// Exactly returns what is wrong with a field itself.
func (d ruleData) Exactly(field string) []problem {
	return slices.DeleteFunc(d.Wrong(field), func(p problem) bool { return p.Field != field })
}

type stageData struct {
	I           int
	At, Field   string // before the names of its inputs, and of its problems
	Mark        string
	Name, Need  string
	Kinds       []web.Choice
	People      web.Chooser
	Position    web.Chooser
	Group       web.Chooser
	Levels      []web.Choice
	Joins       []web.Choice
	Joined      bool // it is a part of the stage before it, which says how many
	First, Last bool
}

// labelData are the inputs of a condition on a kind.
type labelData struct{ At, Field, Name, List string }

// form shows a rule's form. sent is what was typed, if the stages still have their places.
func (a *asked) form(e edited, sent url.Values, wrong []problem) error {
	r := &e.Rule
	d := ruleData{Draft: packed(a.draft), ID: r.ID, At: e.At, New: e.At == "new", Last: e.last(),
		NoSlack: a.members == nil, Organised: a.org != nil, Unread: a.unread, Problems: wrong, Name: r.Name, Refuse: r.Refuse,
		Outcome: "default", Numbered: r.Numbered}
	if d.Last {
		d.Default, d.What = a.In("default_choices", e.At), a.Say("last_group")
		d.Sentence = a.In("last", e.At) + ": " + a.lastOutcome(e.At, &r.Outcome)
	} else {
		d.Sentence, d.Outcome, d.What = a.rule(r), "refuse", a.called(r)
		a.conditions(&d, &r.When, sent)
	}
	switch {
	case r.Route != nil:
		d.Outcome = "route"
	case r.Refuse != "" || sent.Get("outcome") == "refuse":
		d.Outcome = "refuse"
	}
	a.stages(&d, r.Route, sent)
	d.Chips = a.chips(&r.Outcome)
	title := a.Say("edit_title")
	switch {
	case d.Last:
		title = a.In("last", e.At)
	case d.New:
		title = a.Say("new_title")
	}
	return a.show("rules-rule", title, d, web.Came{Wrong: len(wrong) > 0}.Status())
}

func (a *asked) conditions(d *ruleData, c *rules.Conditions, sent url.Values) {
	requester := cmp.Or(c.Requester, &rules.Requester{})
	d.People = a.peopleChooser("people", requester.People, sent)
	d.Departments = a.ofOrganisation("departments", sent.Get("find.departments"), requester.Departments,
		a.departmentBoxes(), a.department)
	d.Groups = a.groupChooser("groups", requester.Groups, sent)
	var channels []string
	if c.Places != nil {
		channels, d.Direct = c.Places.Channels, c.Places.Direct
	}
	d.Channels = a.channelChooser(channels, sent.Get("find.channels"))
	use := ""
	var listed []rules.Tool
	if c.Tools != nil {
		use, listed = string(c.Tools.Use), c.Tools.List
	}
	d.Kinds = a.options("kind_choices", kindsValue(c.Kinds), forKinds...)
	d.Use = a.options("use_options", use, "", string(rules.UseWriting), string(rules.UseSome), string(rules.UseOnly))
	d.Tools = a.toolBoxes(listed)
	for i, l := range append(slices.Clone(c.Labels), rules.Labelled{}) {
		d.Labels = append(d.Labels, labelData{labelField(i), fmt.Sprintf("when.labels[%d]", i), l.Name,
			strings.Join(l.List, "\n")})
	}
	d.Further = len(c.Kinds) > 0 || c.Places != nil || c.Requester != nil ||
		len(c.Labels) > 0 || sent.Get("find.channels")+sent.Get("find.departments")+sent.Get("find.people") != "" ||
		slices.ContainsFunc([]string{"when.kinds", "when.places", "when.requester", "when.labels"},
			func(field string) bool { return len(d.Wrong(field)) > 0 })
	b := cmp.Or(c.Amount, &rules.Between{Currency: yen})
	d.Low, d.High, d.Currency = commas(b.AtLeast), commas(b.Below), b.Currency
}

// options returns a select's options, named by a table; a value that the form doesn't offer stays chosen.
func (a *asked) options(table, is string, values ...string) []web.Choice {
	if !slices.Contains(values, is) {
		values = append(values, is)
	}
	return web.Each(values, func(value string) web.Choice {
		return web.Choice{Value: value, Text: cmp.Or(a.In(table, value), value), Chosen: value == is}
	})
}

// stages fills in the inputs of a route; beside a refusal, of a first stage, for whoever chooses a route instead.
func (a *asked) stages(d *ruleData, p *rules.Policy, sent url.Values) {
	if p == nil {
		p = &rules.Policy{Stages: []rules.Stage{a.newStage(0)}}
	}
	positions := a.positionBoxes()
	all, stage := sourcesOf(p), -1
	for i, s := range all {
		if !s.joined {
			stage++
		}
		x := a.stageForm(i, &s.Stage, sent, positions)
		x.Mark, x.Field, x.Last = number(stage), fmt.Sprintf("route.stages[%d]", stage), i == len(all)-1
		join := map[bool]string{true: joinAny}[s.joined]
		x.Joins, x.Joined = a.options("join_options", join, "", joinAny), s.joined
		d.Stages = append(d.Stages, x)
	}
	d.More = len(p.Stages) < rules.MaxStages
	d.Tells = a.toTell(p.Tells)
}

// joinAny is how the form says that a source is joined to the one before it.
const joinAny = "any"

func (a *asked) stageForm(i int, s *rules.Stage, sent url.Values, positions []web.Box) stageData {
	x := stageData{I: i, At: stageField(i), Name: s.Name, Need: wholeShown(s.Need), First: i == 0}
	if s.Need < 0 {
		x.Need = sent.Get(x.At + "need")
	}
	kinds := []string{string(rules.WhoPeople), string(rules.WhoGroup), string(rules.WhoChannel)}
	if a.org != nil {
		kinds = []string{string(rules.WhoManager), string(rules.WhoPosition), kinds[0], kinds[1], kinds[2]}
	}
	x.Kinds = a.options("kind_options", string(s.Who.Kind), kinds...)
	x.People = a.peopleChooser(x.At+"people", s.Who.People, sent)
	var chosen []string
	if s.Who.Position != "" {
		chosen = []string{positionValue(s.Who.Department, s.Who.Position)}
	}
	x.Position = a.positionChooser(x.At+"position", chosen, sent.Get("find."+x.At+"position"), positions)
	x.Position.One = true
	x.Group = a.groupChooser(x.At+"group", web.Ticked([]string{s.Who.Group}), sent)
	x.Group.One = true
	for level := 1; level <= rules.MaxLevel; level++ {
		x.Levels = append(x.Levels, web.Choice{Value: strconv.Itoa(level), Text: a.manager(level),
			Chosen: level == max(s.Who.Level, 1)})
	}
	return x
}
