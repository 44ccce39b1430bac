package main

import (
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func TestMessagesAboutQuestions(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"go to whose request it is, and the answer to who asked": testQuestionTold,
		"go to all whose request it is":                          testQuestionToAll,
		"and copies follow who is added":                         testAddedCopies,
		"go to who answers by now for an agent's key":            testQuestionToWhoAnswers,
		"say that it is over":                                    testQuestionOver,
	})
}

// asking has Sato be the one whose request the steps are, along a route.
func (w *world) asking(askers []string, stages ...circulation.Stage) {
	w.T.Helper()
	w.onRoute(stages...)
	w.changed(func(g *aggregate.Gate) {
		g.Askers = nil
		for _, user := range askers {
			g.Askers = append(g.Askers, circulation.Person{User: user})
		}
	})
	w.drawn()
}

// newest returns the last of the bot's direct messages to somebody, of so many.
func (w *world) newest(user string, n int) string {
	w.T.Helper()
	all := w.direct(user)
	expect.Must(w.T, len(all) == n, "%s has %d messages: %v", user, len(all), all)
	return all[n-1]
}

func testQuestionToWhoAnswers(t *testing.T, w *world) {
	w.asking([]string{webapi.Sato}, desk("経理", 1, webapi.Tanaka))
	w.changed(func(g *aggregate.Gate) { g.Answers = &circulation.Person{User: webapi.Alex} })
	sato, alex := len(w.direct(webapi.Sato)), len(w.direct(webapi.Alex))
	w.acts(circulation.Ask, 1, webapi.Tanaka)
	w.drawn()
	expect.Has(t, w.newest(webapi.Alex, alex+1), "answer_process")
	expect.Is(t, len(w.direct(webapi.Sato)), sato)
	w.shows("", "", webapi.Alex+"\\u003e さんの回答待ち")
}

func testQuestionTold(t *testing.T, w *world) {
	w.asking([]string{webapi.Sato}, desk("経理", 1, webapi.Tanaka, webapi.Alex))
	before := len(w.direct(webapi.Sato))
	w.acts(circulation.Ask, 1, webapi.Tanaka)
	w.drawn()
	told := w.newest(webapi.Sato, before+1)
	for _, text := range []string{"ask 0", "answer_process", `"` + w.Ref.ID + `/1/`, "/archives/" + webapi.HR} {
		expect.Has(t, told, text, "the question")
	}
	w.shows("", "", "ask 0")
	w.shows("", "", "answer_process")
	w.drawn()
	expect.Is(t, len(w.queue.sent), 0, "messages asked for when nothing changed")
	w.acts(circulation.Answer, 1, webapi.Sato)
	w.drawn()
	told = w.newest(webapi.Sato, before+1)
	expect.That(t, strings.Contains(told, "answer 1") && !strings.Contains(told, "answer_process"), "%s", told)
	told = w.newest(webapi.Tanaka, 2) // beside their copy
	expect.That(t, strings.Contains(told, "ask 0") && strings.Contains(told, "answer 1"), "%s", told)
	expect.Is(t, len(w.direct(webapi.Alex)), 1, "messages of who didn't ask")
	w.acts(circulation.Ask, 1, webapi.Alex)
	w.drawn()
	expect.Has(t, w.newest(webapi.Sato, before+2), "ask 2", "the next question")
	w.acts(circulation.Stamp, 1, webapi.Tanaka)
	w.drawn()
	expect.That(t, !strings.Contains(w.newest(webapi.Sato, before+2), "answer_process"), "an answer to what is settled")
}

func testQuestionToAll(t *testing.T, w *world) {
	w.asking([]string{webapi.Sato, webapi.Suzuki}, desk("経理", 1, webapi.Tanaka))
	w.acts(circulation.Ask, 1, webapi.Tanaka)
	w.drawn()
	expect.Has(t, w.newest(webapi.Suzuki, 1), "answer_process", "another whose request it is")
	w.acts(circulation.Answer, 1, webapi.Suzuki)
	w.drawn()
	expect.That(t, !strings.Contains(w.newest(webapi.Suzuki, 1), "answer_process"), "an answer to what is answered")
}

func testAddedCopies(t *testing.T, w *world) {
	w.asking([]string{webapi.Sato}, desk("課長", 1, webapi.Suzuki), desk("部長", 1, webapi.Tanaka))
	w.changed(func(g *aggregate.Gate) {
		suzuki := circulation.Person{User: webapi.Suzuki}
		*g = expect.Value(g.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Add, Hand: suzuki,
			Principal: suzuki, At: w.Now(), Stage: 1, Hash: g.AskedSum, Surface: "slack", Text: "見てください",
			To: &circulation.Person{User: webapi.Alex, Via: "x"}, As: circulation.AsConsult,
			Found: circulation.Found{Resolved: "x"}}))(t)
	})
	w.owing("added", 1, webapi.Suzuki)
	w.acts(circulation.Stamp, 1, webapi.Suzuki)
	w.owing("who is added", 3, webapi.Alex)
	w.acts(circulation.Stamp, 3, webapi.Alex)
	w.owing("the next stage", 2, webapi.Tanaka)
}

func testQuestionOver(t *testing.T, w *world) {
	w.asking([]string{webapi.Sato}, desk("課長", 1, webapi.Suzuki))
	w.acts(circulation.Ask, 1, webapi.Suzuki)
	w.drawn()
	before := len(w.direct(webapi.Sato))
	w.Later(time.Minute)
	w.Cancel()
	w.drawn()
	expect.That(t, !strings.Contains(w.direct(webapi.Sato)[before-1], "answer_process"), "an answer to what is cancelled")
}
