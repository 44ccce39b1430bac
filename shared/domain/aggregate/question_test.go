package aggregate_test

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// The copy of a question has a key of its own, by gate, number and person, and no other subject is read as one.
func TestTheCopyOfAQuestion(t *testing.T) {
	subject := aggregate.QuestionSubject("GATE#0001#001#04", 2)
	gate, n := aggregate.QuestionOf(subject)
	expect.That(t, gate == "GATE#0001#001#04" && n == 2, "%q, %d", gate, n)
	c := aggregate.Card{CardType: aggregate.CardQuestion, Subject: subject, User: "U1"}
	expect.Is(t, c.Key(), "CARD#question#2#GATE#0001#001#04@U1")
	for _, other := range []string{"", "OUTCOME", "PROCESS#0001", "DECLINED#1", "QUESTION#", "QUESTION#x#PROCESS#0001"} {
		if _, n := aggregate.QuestionOf(other); n != 0 {
			t.Errorf("%q is question %d", other, n)
		}
	}
}
