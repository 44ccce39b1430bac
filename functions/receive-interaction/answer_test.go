package main

import (
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// besideQuestion brings the task to a question of Suzuki's, and opens a choice for a message of this person in the
// thread.
func (w *world) besideQuestion(user, text string) (p *task.Process, reply aggregate.Ref) {
	w.T.Helper()
	p = w.onRoute(webapi.Suzuki)
	form := w.opens(webapi.Suzuki, circulation.Ask, p.ID, "/1")
	w.quiet(w.sendView(webapi.Suzuki, form, reason("何社?")), webapi.Suzuki)
	b, _ := w.Load().OpenGateBeside()
	b.Question = w.Load().QuestionTo(user, b.ID)
	return p, w.reply(user, text, b)
}

// answers are the texts of the answers that the process has.
func (w *world) answers() (all []string) {
	for _, act := range w.Load().Process().Acts {
		if act.Kind == circulation.Answer {
			all = append(all, act.Hand.User+": "+act.Text)
		}
	}
	return all
}

// A reply of whoever asked is taken as the answer by one button, once, as the form of an answer does.
func TestAReplyIsTakenAsTheAnswer(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"by its author": func(t *testing.T, w *world) {
			_, reply := w.besideQuestion(webapi.Sato, "3社です")
			expect.That(t, w.of(reply).Choice.Gate.Question == 1 && w.of(reply).Choice.Gate.Ruled, "%+v", w.of(reply).Choice)
			for range 2 {
				w.chooses(webapi.Sato, card.TakeAsAnswer, reply)
			}
			expect.Same(t, []string{webapi.Sato + ": 3社です"}, w.answers())
			e := w.of(reply).Head.Ended
			expect.That(t, e != nil && e.As == task.TaskAnswered && e.Reason == task.ReasonBecameAnswer && e.By == webapi.Sato &&
				w.of(reply).Choice.As == task.AsAnswer, "%+v", e)
			expect.Is(t, w.Load().Process().Status, aggregate.PendingApproval, "no stamp")
		},
		"by nobody else": func(t *testing.T, w *world) {
			_, reply := w.besideQuestion(webapi.Sato, "3社です")
			w.chooses(webapi.Tanaka, card.TakeAsAnswer, reply)
			told := w.slack.Ephemerals(webapi.Tanaka)
			expect.That(t, len(told) == 1 && strings.Contains(told[0].Text, "依頼した"), "%+v", told)
			expect.That(t, len(w.answers()) == 0 && w.of(reply).Choosing() != nil, "%v", w.answers())
		},
		"not where another answer was given": func(t *testing.T, w *world) {
			p, reply := w.besideQuestion(webapi.Sato, "3社です")
			form := w.opens(webapi.Sato, circulation.Answer, p.ID, "/1")
			w.quiet(w.sendView(webapi.Sato, form, reason("2社です")), webapi.Sato)
			w.chooses(webapi.Sato, card.TakeAsAnswer, reply)
			expect.Same(t, []string{webapi.Sato + ": 2社です"}, w.answers())
			told := w.slack.Ephemerals(webapi.Sato)
			expect.That(t, len(told) > 0 && w.of(reply).Choosing() != nil, "%+v", told)
		},
		"not of somebody who may not answer": func(t *testing.T, w *world) {
			_, reply := w.besideQuestion(webapi.Tanaka, "3社です")
			expect.Is(t, w.of(reply).Choice.Gate.Question, 0)
			w.chooses(webapi.Tanaka, card.TakeAsAnswer, reply)
			expect.That(t, len(w.answers()) == 0 && w.of(reply).Choosing() != nil, "%v", w.answers())
		},
	})
}
