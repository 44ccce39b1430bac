package store

import (
	"errors"

	"ringi/shared/domain/aggregate"
)

var (
	// ErrExists is aggregate.ErrExists.
	ErrExists = aggregate.ErrExists
	// ErrStale: the row is of a wait in a newer state, run or retry.
	ErrStale = errors.New("a newer wait is there")
	// ErrClaimed: another caller may post the card's message, or the row names another message.
	ErrClaimed = errors.New("the card is another's")
)
