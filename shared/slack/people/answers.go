package people

import (
	"context"
	"fmt"
	"slices"
)

// Answers is what Slack has said about accounts and user groups. It notes what it must still be asked, and answers for
// the time being that a user group has nobody, and that an account is a full member's.
type Answers struct {
	members *Members // nil: Slack doesn't list them
	full    map[string]bool
	groups  map[string][]string
	lacks   struct{ users, groups []string }
}

// NewAnswers returns what a list of a workspace's members answers; nil lists nobody.
func NewAnswers(m *Members) *Answers {
	return &Answers{members: m, full: map[string]bool{}, groups: map[string][]string{}}
}

func note(list *[]string, id string) {
	if !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

// Full reports whether an account is a full member's. Who isn't in a whole list is none.
func (s *Answers) Full(user string) bool {
	full, known := s.full[user]
	if known {
		return full
	}
	if s.members != nil {
		u, listed := s.members.Person(user)
		if listed || !s.members.More {
			s.full[user] = listed && s.members.Rule(u) == ""
			return s.full[user]
		}
	}
	note(&s.lacks.users, user)
	return true
}

// Members returns who is in a user group; one that is gone or disabled has nobody.
func (s *Answers) Members(id string) []string {
	if s.members != nil {
		if g, listed := s.members.Group(id); !listed || g.Disabled {
			return nil
		}
	}
	members, known := s.groups[id]
	if !known {
		note(&s.lacks.groups, id)
	}
	return members
}

// Handle returns what a user group is mentioned by, or its id.
func (s *Answers) Handle(id string) string {
	if s.members != nil {
		if g, listed := s.members.Group(id); listed && g.Handle != "" {
			return "@" + g.Handle
		}
	}
	return id
}

// InChannel knows nobody: nobody is asked who is in channels.
func (s *Answers) InChannel(string) (members []string, all bool) { return nil, false }

// Lacking returns how many answers are lacking.
func (s *Answers) Lacking() int { return len(s.lacks.users) + len(s.lacks.groups) }

// Ask asks what is lacking: who is in user groups first, because the other questions may be about them.
func (s *Answers) Ask(ctx context.Context, slack Users,
	membersOf func(ctx context.Context, group string) ([]string, error)) error {
	lacks := s.lacks
	s.lacks.users, s.lacks.groups = nil, nil
	for _, id := range lacks.groups {
		members, err := membersOf(ctx, id)
		if err != nil {
			return fmt.Errorf("ask who is in user group %s: %w", id, err)
		}
		s.groups[id] = members
	}
	if len(lacks.groups) > 0 {
		return nil
	}
	refused, err := s.members.Refused(ctx, slack, lacks.users, nil)
	for _, id := range lacks.users {
		s.full[id] = refused[id] == ""
	}
	return err
}
