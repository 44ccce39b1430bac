package people

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"ringi/shared/slack/slackapi"
)

// Once wraps a directory for one piece of work that asks about the same few people repeatedly. It asks Slack for each
// fact once and caches the answer, even an error, so keep it for seconds only.
func Once(d Directory) Directory { return &asked{from: d, of: map[string]func() (any, error){}} }

type asked struct {
	from Directory
	mu   sync.Mutex
	of   map[string]func() (any, error)
}

// once returns the result of the first call of ask for a key.
func once[V any](a *asked, key string, ask func() (V, error)) (V, error) {
	a.mu.Lock()
	said := a.of[key]
	if said == nil {
		said = sync.OnceValues(func() (any, error) { return ask() })
		a.of[key] = said
	}
	a.mu.Unlock()
	v, err := said()
	return v.(V), err
}

func (a *asked) User(ctx context.Context, id string) (slackapi.User, error) {
	return once(a, "user "+id, func() (slackapi.User, error) { return a.from.User(ctx, id) })
}

func (a *asked) Channels(ctx context.Context, user string, types ...string) iter.Seq2[slackapi.Channel, error] {
	key := "channels " + user + " " + strings.Join(types, ",")
	channels, err := once(a, key, func() (all []slackapi.Channel, err error) {
		for c, err := range a.from.Channels(ctx, user, types...) {
			if err != nil {
				return all, err
			}
			all = append(all, c)
		}
		return all, nil
	})
	return func(yield func(slackapi.Channel, error) bool) {
		for _, c := range channels {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(slackapi.Channel{}, err)
		}
	}
}

// listed is a list that may be incomplete.
type listed struct {
	ids  []string
	more bool
}

func (a *asked) Members(ctx context.Context, channel string, most int) ([]string, bool, error) {
	said, err := once(a, fmt.Sprint("members ", channel, " ", most), func() (l listed, err error) {
		l.ids, l.more, err = a.from.Members(ctx, channel, most)
		return l, err
	})
	return said.ids, said.more, err
}

func (a *asked) UsergroupMembers(ctx context.Context, group string) ([]string, error) {
	return once(a, "group "+group, func() ([]string, error) { return a.from.UsergroupMembers(ctx, group) })
}
