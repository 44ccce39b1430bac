package people

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// namedFor is how long a person's name is kept.
	namedFor = 10 * time.Minute
	// mostAsked is how many names one page asks Slack for; users.info may be called about 100 times a minute (Tier 4).
	mostAsked = 20
	// namingTime bounds the asking: who has no name by then is shown by id, and asked about by the next page.
	namingTime = 2 * time.Second
	atOnce     = 8
)

// Names says how a workspace calls its people, and keeps for ten minutes what Slack said. The zero value is ready.
type Names struct {
	mu    sync.Mutex
	known map[[2]string]named // by team and user
}

type named struct {
	name  string
	until time.Time
}

// Of are the names of people by their ids. Whom Slack doesn't name, or not in time, has the id as the name.
func (n *Names) Of(ctx context.Context, slack Users, team string, now time.Time, ids ...string) map[string]string {
	out := map[string]string{}
	var ask []string
	n.mu.Lock()
	for _, id := range ids {
		if _, had := out[id]; had || id == "" {
			continue
		}
		out[id] = id
		if k, ok := n.known[[2]string{team, id}]; ok && now.Before(k.until) {
			out[id] = k.name
		} else if len(ask) < mostAsked {
			ask = append(ask, id)
		}
	}
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, namingTime)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, id := range ask {
		all.Go(func() error {
			u, err := slack.User(ctx, id)
			if err != nil {
				slog.WarnContext(ctx, "a person is shown by id", "user", id, "err", err)
			}
			if u.Name != "" {
				n.keep([2]string{team, id}, named{u.Name, now.Add(namedFor)})
			}
			return nil
		})
	}
	all.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ask {
		if k, ok := n.known[[2]string{team, id}]; ok && now.Before(k.until) {
			out[id] = k.name
		}
	}
	return out
}

func (n *Names) keep(who [2]string, is named) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil || len(n.known) >= mostKept {
		n.known = map[[2]string]named{}
	}
	n.known[who] = is
}
