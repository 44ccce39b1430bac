package people

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// MaxListed is how many people of a workspace can be chosen from a list. They take five calls of users.list, which may
// be made 20 times a minute (Tier 2). Other people are chosen by id.
const MaxListed = 5000

// Listing lists the people and groups of a workspace.
type Listing interface {
	Users
	Users(ctx context.Context) iter.Seq2[slackapi.User, error]
	Usergroups(ctx context.Context) ([]slackapi.Group, error)
}

// Members are the people and user groups of a workspace, sorted by name.
type Members struct {
	Team   string
	People []slackapi.User
	Groups []slackapi.Group
	More   bool // there are more than MaxListed people
}

// Roster lists the members of workspaces, and caches Slack's answers for a minute. The zero value is ready.
type Roster struct {
	known clock.Answers[string, Members] // by team
}

// Of returns the members of a workspace. It returns explain.ErrUnverified when Slack can't be asked.
func (r *Roster) Of(ctx context.Context, slack Listing, team string, now time.Time) (Members, error) {
	return r.known.Ask(team, now, remembered, func() (Members, error) { return list(ctx, slack, team) })
}

func list(ctx context.Context, slack Listing, team string) (Members, error) {
	m := Members{Team: team}
	for u, err := range slack.Users(ctx) {
		if err != nil {
			return m, fmt.Errorf("%w: list the people of %s: %w", explain.ErrUnverified, team, err)
		}
		if m.More = len(m.People) == MaxListed; m.More {
			break
		}
		m.People = append(m.People, u)
	}
	var err error
	if m.Groups, err = slack.Usergroups(ctx); err != nil {
		return m, fmt.Errorf("%w: list the user groups of %s: %w", explain.ErrUnverified, team, err)
	}
	slices.SortFunc(m.People, func(a, b slackapi.User) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(m.Groups, func(a, b slackapi.Group) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return m, nil
}

// Refused returns, by id, the rules that forbid these people and user groups as approvers. It omits those who may be
// chosen. It asks Slack about people who are not listed, and returns explain.ErrUnverified when Slack can't say.
func (m Members) Refused(ctx context.Context, slack Users, users, groups []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range users {
		u, ok := m.Person(id)
		if !ok {
			var err error
			u, err = slack.User(ctx, id)
			if code := slackapi.Code(err); code == slackapi.CodeUserNotFound || code == slackapi.CodeUserNotVisible {
				u, err = slackapi.User{}, nil // belongs to no workspace that Ringi serves
			}
			if err != nil {
				return nil, errors.Join(explain.ErrUnverified, fmt.Errorf("ask who %s is: %w", id, err))
			}
		}
		if rule := m.Rule(u); rule != "" {
			out[id] = rule
		}
	}
	for _, id := range groups {
		if g, ok := m.Group(id); !ok || g.Disabled {
			out[id] = "no_group"
		}
	}
	return out, nil
}

// Stays reports whether somebody is still a full member of a workspace. It returns explain.ErrUnverified when Slack
// can't say.
func Stays(ctx context.Context, slack Users, team, user string) (bool, error) {
	refused, err := Members{Team: team}.Refused(ctx, slack, []string{user}, nil)
	return refused[user] == "", err
}

// Rule returns the rule that forbids a person as approver, or "" for a person who may be chosen.
func (m Members) Rule(u slackapi.User) string {
	switch {
	case u.Bot:
		return "bot"
	case !u.Of(m.Team):
		return "outsider"
	case u.Gone:
		return "gone"
	case u.Guest:
		return "guest"
	}
	return ""
}

// Person finds a listed person by id.
func (m Members) Person(id string) (slackapi.User, bool) {
	return first(m.People, func(u slackapi.User) bool { return u.ID == id })
}

// Group finds a listed user group by id.
func (m Members) Group(id string) (slackapi.Group, bool) {
	return first(m.Groups, func(g slackapi.Group) bool { return g.ID == id })
}

func first[V any](all []V, is func(V) bool) (found V, ok bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return found, false
}

// Find returns the first person whose name contains the text or whose id equals it. It ignores spaces and case.
func (m Members) Find(text string) (slackapi.User, bool) {
	want := folded(strings.TrimLeft(text, "@＠"))
	return first(m.People, func(u slackapi.User) bool {
		return !u.Bot && (strings.Contains(folded(u.Name), want) || strings.EqualFold(u.ID, want))
	})
}

func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

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

// ChannelForm matches a reference to a channel.
var ChannelForm = language.Regexp{Text: `<#[CG][A-Z0-9]{2,40}>`}

// Written returns a text in whose prose people have their names, and public channels that the user is in: it mentions
// nobody.
func (n *Names) Written(ctx context.Context, slack Directory, team, user, text string, now time.Time) string {
	var names []string
	for id, name := range n.Of(ctx, slack, team, now, task.Mentioned(text)...) {
		names = append(names, "<@"+id+">", "@"+name)
	}
	if strings.Contains(text, "<#") {
		for c := range slack.Channels(ctx, user, "public_channel") {
			names = append(names, "<#"+c.ID+">", "#"+c.Name)
		}
	}
	named, out := strings.NewReplacer(names...), ""
	other := language.InEach("#チャンネル", "#channel").In(language.Detect(text, language.All[0]))
	for _, p := range language.MarkdownPieces(text) {
		if p.Kind == language.Prose {
			p.Source = ChannelForm.Get().ReplaceAllString(named.Replace(p.Source), other)
		}
		out += p.Source
	}
	return out
}
