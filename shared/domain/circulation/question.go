package circulation

import (
	"slices"
	"time"
)

// Bounds of questions.
const (
	MaxQuestions = 10             // on a gate
	MostWait     = 72 * time.Hour // for which the first question stops the clock of its stage
)

// Question is what somebody whose turn it was asked the askers of a gate.
type Question struct {
	Asked    *Act
	Answered *Act // nil: it is open
}

// Open returns the question that waits for an answer, or nil.
func (st *State) Open() *Question {
	if n := len(st.Questions); n > 0 && st.Questions[n-1].Answered == nil {
		return &st.Questions[n-1]
	}
	return nil
}

// answered returns the newest answer if no question is open, or nil.
func (st *State) answered() *Act {
	if n := len(st.Questions); n > 0 {
		return st.Questions[n-1].Answered
	}
	return nil
}

// ask checks that a question may be asked by somebody who owes the present stage something.
func (st *State) ask() Why {
	switch {
	case st.Open() != nil:
		return WhyOpenQuestion
	case len(st.Questions) >= MaxQuestions:
		return WhyBounds
	}
	return ""
}

// answer checks that one of the askers, or who answers now for an outside agent's key, answers the open question in
// their own name. They do nothing else on a route, so an answer by which somebody whom it asks would turn out to be an
// asker is none, nor is one for a key by who has stamped.
func (st *State) answer(g *Gate, act *Act) Why {
	q := st.Open()
	switch {
	case !act.Found.Answers && !st.asks(g, &act.Hand) || !st.who.same(&act.Hand, &act.Principal):
		return WhyNotAsker
	case q == nil:
		return WhyNoQuestion
	case act.Stage != q.Asked.Stage:
		return WhyStage
	case act.Found.Answers && slices.ContainsFunc(st.Stages, func(s StageState) bool {
		return st.who.stamped(&s, &act.Hand)
	}):
		return WhyFound
	case st.joined || st.lacks(g, act, &st.Stages[act.Stage-1]) != "":
		return WhyFound
	}
	return ""
}

// question adds a question. The first one of a gate stops the clock of its stage, unless that has run out.
func (st *State) question(g *Gate, act *Act) {
	if s := st.CurrentStage(); len(st.Questions) == 0 && act.At.Before(*s.DecideBy) {
		s.stopped, s.rest = act, MostWait
		s.due(g)
	}
	st.Questions = append(st.Questions, Question{Asked: act})
}

// answers closes the open question, and makes who answers for a key one of the askers. The clock of its stage, if that
// is still asked since then, goes on.
func (st *State) answers(g *Gate, act *Act) {
	q := st.Open()
	q.Answered = act
	if act.Found.Answers && !st.asks(g, &act.Hand) {
		st.answerers = append(slices.Clip(st.answerers), act.Hand)
		for i := range st.Stages {
			st.Stages[i].leave(st.who, &act.Hand)
		}
	}
	if s := &st.Stages[act.Stage-1]; s.stopped == q.Asked {
		s.rest = max(0, min(MostWait, act.At.Sub(q.Asked.At)))
		s.due(g)
	}
}

// opens has a stage asked since a time.
func (s *StageState) opens(g *Gate, at time.Time) {
	s.OpenedAt, s.stopped, s.rest = &at, nil, 0
	s.due(g)
}

// closes has a stage asked no more.
func (s *StageState) closes() { s.OpenedAt, s.DecideBy, s.stopped, s.rest = nil, nil, nil, 0 }

// due says until when a stage is to be decided.
func (s *StageState) due(g *Gate) {
	by := s.OpenedAt.Add(time.Duration(g.Hours)*time.Hour + s.rest)
	if last := g.AskedAt.Add(MostTime); by.After(last) && g.Rule != nil {
		by = last
	}
	s.DecideBy = &by
}
