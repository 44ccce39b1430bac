package store

import (
	"errors"
	"fmt"

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

// ErrNewerSchema says that an item was written by a release that this one does not know.
type ErrNewerSchema struct {
	Item    string // its keys
	Version int
}

func (e ErrNewerSchema) Error() string {
	return fmt.Sprintf("item %s has schema_version %d, this release reads up to %d", e.Item, e.Version, schemaVersion)
}
