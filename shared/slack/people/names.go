package people

import (
	"context"
	"log/slog"
	"ringi/shared/runtime/clock"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// namedFor is how long a person's name is cached.
	namedFor = 10 * time.Minute
	// mostAsked is how many names one page asks Slack for; users.info may be called about 100 times a minute (Tier 4).
	mostAsked = 20
	// namingTime bounds the calls for one page. The page shows ids for names that came too late, and the next page asks
	// again.
	namingTime = 2 * time.Second
	atOnce     = 8
)

// Names looks up people's names in their workspace, and caches them for namedFor. The zero value is ready.
type Names struct {
	known clock.Answers[place, string]
}

// Of returns people's names by id. A person whose name Slack doesn't give in time is named by the id.
func (n *Names) Of(ctx context.Context, slack Users, team string, now time.Time, ids ...string) map[string]string {
	out := map[string]string{}
	var ask []string
	for _, id := range ids {
		if _, had := out[id]; had || id == "" {
			continue
		}
		out[id] = id
		if name, ok := n.known.Known(place{team, id}, now); ok {
			out[id] = name
		} else if len(ask) < mostAsked {
			ask = append(ask, id)
		}
	}
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
				n.known.Keep(place{team, id}, u.Name, now, namedFor)
			}
			return nil
		})
	}
	all.Wait()
	for _, id := range ask {
		if name, ok := n.known.Known(place{team, id}, now); ok {
			out[id] = name
		}
	}
	return out
}
