package store

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/store/table"
)

// Objects deletes what stands outside of the table.
type Objects interface {
	// Erase deletes every version of the objects below a prefix, and returns how many that were.
	Erase(ctx context.Context, prefix string) (deleted int, err error)
}

// Erase deletes a conversation or a call that is forgotten, and returns how many rows and objects that were. Of a
// conversation its head stays, and each action that was approved; what that names is below none of the prefixes. A
// call's head goes last: until then the call is due. After an error, or a crash, calling it again deletes the rest.
func (s *Store) Erase(ctx context.Context, results Objects, ref aggregate.Ref) (deleted int, err error) {
	lists, objects := []string{call.Kind.Prefix}, []string(nil)
	switch ref.Kind {
	case call.Kind.Name:
	case conversation.Kind.Name:
		lists, objects = append([]string{conversation.Kind.Prefix}, conversation.Kind.Lists...), conversation.Objects
	default:
		return 0, fmt.Errorf("nothing of %s is ever erased", ref)
	}
	if _, err := s.partition(ref); err != nil {
		return 0, err
	}
	add := func(n int, failed error) { deleted, err = deleted+n, errors.Join(err, failed) }
	for _, prefix := range objects {
		add(results.Erase(ctx, prefix+ref.Tenant+"/"+ref.ID+"/"))
	}
	for _, list := range lists {
		add(s.t.Erase(ctx, list+ref.Tenant+"#"+ref.ID, outlives))
	}
	if ref.Kind == call.Kind.Name && err == nil {
		add(s.t.Erase(ctx, call.Kind.Prefix+ref.Tenant+"#"+ref.ID, nil))
	}
	return deleted, err
}

func outlives(it table.Item) bool {
	typ := table.TextOf(it, "type")
	return typ == "head" || typ == "action" && table.TextOf(it, "approved_by") != ""
}
