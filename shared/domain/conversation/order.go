package conversation

import (
	"cmp"
	"slices"
)

// InOrder returns messages in the order in which the agent is shown them. Once an answer is made, what it was shown
// keeps its order, so that what vendors have cached of a request is the beginning of the next. Before each answer stand
// what the system had said by then and, last, the messages that it answers; what came while it was made comes after it,
// although it has an earlier key. now are the messages that are answered now.
func InOrder(before, now []Message) []Message {
	all := slices.Concat(before, now)
	slices.SortFunc(all, func(a, b Message) int { return cmp.Compare(a.Key(), b.Key()) })
	answered, answers := map[string]string{}, []Message(nil) // by key, the key of the answer
	for _, m := range now {
		answered[m.Key()] = LastKey
	}
	for _, m := range all {
		if !m.answers() {
			continue
		}
		answers = append(answers, m)
		for _, key := range slices.Concat(m.Answers, m.Late) {
			answered[key] = m.Key()
		}
	}
	type place struct {
		turn string // key of the answer with which its turn ends
		rank int
	}
	places := map[string]place{}
	for _, m := range all {
		key := m.Key()
		switch by := answered[key]; {
		case by != "":
			places[key] = place{by, 1}
		case m.answers():
			places[key] = place{key, 2}
		default:
			places[key] = place{turnOf(m, answers), 0}
		}
	}
	slices.SortStableFunc(all, func(a, b Message) int {
		x, y := places[a.Key()], places[b.Key()]
		return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.rank, y.rank))
	})
	return all
}

// LastKey is greater than any message's key: it stands for the answer that is made now.
const LastKey = "~"

// answers reports whether a message answers others: the agent's do, and those of the system that say what they answer.
func (m Message) answers() bool { return m.Sender == FromAgent || m.Answers != nil }

// turnOf returns the key of the first answer that was made after a message was said.
func turnOf(m Message, answers []Message) string {
	for _, x := range answers {
		if m.Key() <= cmp.Or(x.Shown, x.Key()) {
			return x.Key()
		}
	}
	return LastKey
}
