package people

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"ringi/shared/slack/slackapi"
)

// Once is a directory for one piece of work about few people in many places: it asks Slack for each thing once, and keeps
// the answers, errors too. Use it for seconds, not longer.
func Once(d Directory) Directory { return &asked{from: d, of: map[string]*answer{}} }

type asked struct {
	from Directory
	mu   sync.Mutex
	of   map[string]*answer
}

type answer struct {
	once     sync.Once
	user     slackapi.User
	list     []string
	more     bool // than the list has
	channels []slackapi.Channel
	err      error
}

func (a *asked) answer(key string, ask func(*answer)) *answer {
	a.mu.Lock()
	x := a.of[key]
	if x == nil {
		x = &answer{}
		a.of[key] = x
	}
	a.mu.Unlock()
	x.once.Do(func() { ask(x) })
	return x
}

func (a *asked) User(ctx context.Context, id string) (slackapi.User, error) {
	x := a.answer("user "+id, func(x *answer) { x.user, x.err = a.from.User(ctx, id) })
	return x.user, x.err
}

func (a *asked) Channels(ctx context.Context, user string, types ...string) iter.Seq2[slackapi.Channel, error] {
	x := a.answer("channels "+user+" "+strings.Join(types, ","), func(x *answer) {
		for c, err := range a.from.Channels(ctx, user, types...) {
			if err != nil {
				x.err = err
				return
			}
			x.channels = append(x.channels, c)
		}
	})
	return func(yield func(slackapi.Channel, error) bool) {
		for _, c := range x.channels {
			if !yield(c, nil) {
				return
			}
		}
		if x.err != nil {
			yield(slackapi.Channel{}, x.err)
		}
	}
}

func (a *asked) Members(ctx context.Context, channel string, most int) ([]string, bool, error) {
	x := a.answer(fmt.Sprint("members ", channel, " ", most), func(x *answer) { x.list, x.more, x.err = a.from.Members(ctx, channel, most) })
	return x.list, x.more, x.err
}

func (a *asked) UsergroupMembers(ctx context.Context, group string) ([]string, error) {
	x := a.answer("group "+group, func(x *answer) { x.list, x.err = a.from.UsergroupMembers(ctx, group) })
	return x.list, x.err
}
