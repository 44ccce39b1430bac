package main

import (
	"strconv"

	"ringi/shared/domain/aggregate"
)

// earlier is an attempt before the one that is proved.
type earlier struct {
	ID      string `json:"id"`
	Attempt int    `json:"attempt"`
}

// walkSteps checks the route of the steps, if a rule chose one, and that on which people were asked again.
func (p *executed) walkSteps() {
	request := ""
	if p.Request != nil {
		request = p.Request.Text
	}
	p.walk("the steps", p.Steps.Gate, "process", p.Steps.ID, "", "steps", p.Task, strconv.Itoa(p.Steps.Version), p.Policy.Text,
		aggregate.HashOf(p.Steps.Text), request, "")
	in := p.askedIn()
	p.walk("the attempt", p.Again, "process", in.ID, "", "again", p.Task, strconv.Itoa(p.Steps.Version),
		strconv.Itoa(in.Attempt), p.Policy.Text, aggregate.HashOf(p.Steps.Text), request, "")
	p.wrongIf(p.Again != nil && len(p.Writes) > 0 && len(p.all("process.approved", in.ID)) == 0,
		"the attempt: people were asked about it, and no entry says that they settled it")
}

// askedIn returns the attempt about which people were asked again, if they were.
func (p *executed) askedIn() earlier {
	if p.AgainIn != nil {
		return *p.AgainIn
	}
	return earlier{p.ID, p.Attempt}
}
