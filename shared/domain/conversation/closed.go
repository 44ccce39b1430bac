package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// TurnAway answers what was written to a conversation that is closed by a card of its own, with a button to begin anew:
// the card of its end may be far above. The messages stay, and are answered after that. It returns ErrNotDue when there
// are none.
func (a *Aggregate) TurnAway(now time.Time) (aggregate.Change, error) {
	newest := a.waitsInVain()
	if newest == nil {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	left := mostCards           // of one who closes and begins anew again and again there may be many
	for _, x := range a.Cards { // the newest is the one that people see
		if x.CardType == CardSession && x.State == aggregate.CardPosted && left > 0 {
			c.Remove(x)
			left--
		}
	}
	c.card(CardSession, SessionSubject+"#"+newest.Message)
	return c.done()
}
