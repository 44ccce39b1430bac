package pipelinetest

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Along returns an opening along these stages, for what the askers ask.
func Along(askers []string, hands int, stages ...circulation.Stage) aggregate.Opening {
	o := aggregate.Opening{
		Rule:  circulation.Rule{ID: "01KS000000000000000000000A", Name: "すべて", Revision: 1},
		Route: circulation.Route{Form: circulation.Form, Hands: hands, Stages: stages},
	}
	for _, user := range askers {
		o.Askers = append(o.Askers, circulation.Person{User: user})
	}
	return o
}

// Desk returns a stage that needs stamps of some of these people.
func Desk(name string, need int, users ...string) circulation.Stage {
	s := circulation.Stage{Name: name, Mode: circulation.ModePeople, Need: need}
	for _, user := range users {
		s.People = append(s.People, circulation.Person{User: user, Via: "named by the rule"})
	}
	return s
}
