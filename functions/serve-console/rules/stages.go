package rules

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
)

// stages fills in the inputs of a route. A form about a refusal has the inputs of a first stage, too, for whoever
// chooses a route instead.
func (a *asked) stages(d *ruleData, p *rules.Policy, sent url.Values) {
	if p == nil {
		p = &rules.Policy{Stages: []rules.Stage{a.newStage(0)}}
	}
	positions := a.positionBoxes()
	for i := range p.Stages {
		x := a.stageForm(i, &p.Stages[i], sent, positions)
		x.Last = i == len(p.Stages)-1
		d.Stages = append(d.Stages, x)
	}
	d.More = len(p.Stages) < rules.MaxStages
	if d.Hands = wholeShown(p.Hands); p.Hands < 0 {
		d.Hands = sent.Get("hands")
	}
	var readers []string
	if p.Readers != nil {
		readers = p.Readers.People
		d.ReaderGroups = list(a.speaker, p.Readers.Groups, a.person, a.Say("and"))
	}
	d.Readers = a.peopleChooser("readers", readers, sent)
}

// stageForm fills in the inputs of a stage.
func (a *asked) stageForm(i int, s *rules.Stage, sent url.Values, positions []web.Box) stageData {
	x := stageData{I: i, At: stageField(i), Field: fmt.Sprintf("route.stages[%d]", i), Mark: number(i), Name: s.Name,
		Need: wholeShown(s.Need), First: i == 0, Others: s.Others}
	if s.Need < 0 {
		x.Need = sent.Get(x.At + "need")
	}
	kinds := []string{string(rules.WhoPeople), string(rules.WhoGroup), string(rules.WhoChannel)}
	up := []string{}
	ofOrganisation := s.Who.Kind == rules.WhoManager || s.Who.Kind == rules.WhoPosition
	if a.org != nil {
		kinds = []string{string(rules.WhoManager), string(rules.WhoPosition), kinds[0], kinds[1], kinds[2]}
		up = append(up, string(rules.ThenUp))
	} else if ofOrganisation {
		x.Kept = a.stage(s)
	}
	x.Kinds = options(func(v string) string { return a.In("kind_options", v) }, string(s.Who.Kind), kinds...)
	x.Empties = a.empties(s.Empty, up)
	x.People = a.peopleChooser(x.At+"people", s.Who.People, sent)
	x.Position = a.positionChooser(x.At+"position", positionValue(s.Who.Department, s.Who.Position),
		sent.Get("find."+x.At+"position"), positions)
	x.Groups = a.groupOptions(s.Who.Group)
	x.Levels = a.levelOptions(s.Who.Level)
	return x
}

// empties are what may happen to a stage for which too few people are left, by cause.
func (a *asked) empties(is rules.Empty, up []string) (all []emptyData) {
	was := newEmpty
	if is != (rules.Empty{}) {
		was = is
	}
	for _, cause := range []struct {
		name string
		is   rules.Then
		of   []rules.Then
	}{
		{"vacant", was.Vacant, []rules.Then{rules.ThenRefuse, rules.ThenSkip}},
		{"own", was.Own, []rules.Then{rules.ThenRefuse, rules.ThenSkip}},
		{"twice", was.Twice, []rules.Then{rules.ThenSkip, rules.ThenAgain}},
	} {
		of := slices.Clone(up)
		for _, t := range cause.of {
			of = append(of, string(t))
		}
		all = append(all, emptyData{cause.name, a.In("stage_empty", cause.name),
			options(func(v string) string { return a.In("empty_options", v) }, string(cause.is), of...)})
	}
	return all
}

// newEmpty is what a new stage says.
var newEmpty = rules.Empty{Vacant: rules.ThenRefuse, Own: rules.ThenRefuse, Twice: rules.ThenSkip}

// levelOptions are the levels of managers above the requester.
func (a *asked) levelOptions(is int) (all []web.Choice) {
	for level := range rules.MaxLevel {
		all = append(all, web.Choice{Value: strconv.Itoa(level + 1), Text: a.manager(level + 1),
			Chosen: level+1 == max(is, 1)})
	}
	return all
}
