package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// TurnAway adds a card to a closed conversation to which people wrote. It has a button to reopen the conversation,
// because the card about its end may be far above. The messages are answered after that. It returns ErrNotDue if there
// are no such messages.
func (a *Aggregate) TurnAway(now time.Time) (aggregate.Change, error) {
	newest := a.waitsInVain()
	if newest == nil {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	left := mostCards           // somebody who closes and reopens repeatedly can leave many
	for _, x := range a.Cards { // older cards are removed, because people see only the newest
		if x.CardType == CardSession && x.State == aggregate.CardPosted && left > 0 {
			c.Remove(x)
			left--
		}
	}
	c.card(CardSession, SessionSubject+"#"+newest.Message)
	return c.done()
}
