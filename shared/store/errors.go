package store

import (
	"errors"

	"ringi/shared/domain/aggregate"
)

var (
	// ErrExists is aggregate.ErrExists.
	ErrExists = aggregate.ErrExists
	// ErrStale: a wait of a newer state, run or retry is there.
	ErrStale = errors.New("a newer wait is there")
	// ErrClaimed: the card's message is another's to post, or the row names another message.
	ErrClaimed = errors.New("the card is another's")
)
