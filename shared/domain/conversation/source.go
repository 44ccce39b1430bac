package conversation

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Source is where the conversation's first files come from: a commit of a repository.
type Source struct {
	Name         string      `json:"name"`       // as in the settings
	Repository   string      `json:"repository"` // owner/name
	RepositoryID int         `json:"repository_id"`
	Ref          string      `json:"ref"`
	Path         string      `json:"path,omitempty"`
	Commit       string      `json:"commit,omitempty"` // fixed before a download, so that each try fetches the same
	Tries        int         `json:"tries,omitempty"`
	State        SourceState `json:"state"`
	// Error says why there are no files.
	Error   aggregate.Reason `json:"error_code,omitempty"`
	Version string           `json:"version,omitempty"` // of the files as they were fetched
	Left    []string         `json:"left,omitempty"`    // paths of the first entries that the files don't have
	More    int              `json:"more,omitempty"`    // how many others they don't have
}

// SourceState says whether the source's files are there.
type SourceState string

const (
	SourceWanted SourceState = "wanted"
	SourceThere  SourceState = "there"
	SourceFailed SourceState = "failed" // the conversation goes on without files
)

const (
	// MaxSourceTries is how often a source's files are tried to be fetched.
	MaxSourceTries = 3
	// shownLeft is how many entries that were left out are named in the conversation.
	shownLeft = 10
)

// ReasonSourceThere marks the message that says where the files are from; the others say why a source has none.
const (
	ReasonSourceThere     aggregate.Reason = "source_there"
	ReasonSourceGone      aggregate.Reason = "source_gone"      // it is not listed any more
	ReasonSourceRefused   aggregate.Reason = "source_refused"   // GitHub does not give it to the App
	ReasonSourceOther     aggregate.Reason = "source_other"     // the name is another repository's now
	ReasonSourceTooLarge  aggregate.Reason = "source_too_large" // a limit of Import
	ReasonSourceUnfetched aggregate.Reason = "source_unfetched" // all tries failed
)

// Audit actions of sources.
const (
	AuditSourceFetched aggregate.Action = "source.fetched"
	AuditSourceFailed  aggregate.Action = "source.failed"
)

// SourceOf returns the source of a new conversation.
func SourceOf(s tenancy.Source) *Source {
	return &Source{Name: s.Name, Repository: s.Repository, RepositoryID: s.RepositoryID, Ref: s.Ref, Path: s.Path,
		State: SourceWanted}
}

// Lists reports whether the settings still have the source as it was when the conversation began, for its opener and
// agent.
func (s *Conversation) Lists(sources []tenancy.Source) bool {
	x, ok := tenancy.SourceNamed(sources, s.Source.Name, s.Opener, s.AgentID)
	return ok && x.Repository == s.Source.Repository && x.RepositoryID == s.Source.RepositoryID && x.Path == s.Source.Path
}

// wants reports whether the source's files must be fetched before the agent answers.
func (s *Conversation) wants() bool { return s.Source != nil && s.Source.State == SourceWanted }

// Where says for rules that approve actions where the conversation is, and whether its files are still its source's.
// What the commands of a conversation with a source do depends on the repository, so rules have to name that.
func (s *Conversation) Where(sources []tenancy.Source) tenancy.AutoScope {
	if s.Source == nil {
		return tenancy.AutoScope{Place: s.Channel}
	}
	w := tenancy.AutoScope{Sourced: true, Place: s.Channel}
	if s.Source.State == SourceThere && s.Lists(sources) {
		w.Source, w.Changed = s.Source.Name, s.WorkspaceVersion != s.Source.Version
	}
	return w
}

// Names the files' origin for people: repository, commit and folder.
func (s Source) String() string {
	name := "github.com/" + s.Repository
	if s.Commit != "" {
		name += "@" + s.Commit
	}
	if s.Path != "" {
		name += "/" + s.Path
	}
	return name
}

// URL is the address of the commit's files on GitHub, or "" before the commit is known.
func (s Source) URL() string {
	if s.Commit == "" {
		return ""
	}
	path := strings.TrimSuffix("/"+s.Repository+"/tree/"+s.Commit+"/"+s.Path, "/")
	return (&url.URL{Scheme: "https", Host: "github.com", Path: path}).String()
}

// Short names the repository and the beginning of the commit's hash.
func (s Source) Short() string { return s.Repository + "@" + s.Commit[:min(len(s.Commit), 7)] }

// fetching begins a Change about the source whose files the run fetches.
func (a *Aggregate) fetching(run int, now time.Time) (*change, *Source, error) {
	if err := a.working(run); err != nil {
		return nil, nil, err
	}
	if !a.Conversation.wants() {
		return nil, nil, aggregate.ErrMoved
	}
	c, s := a.begin(now), *a.Conversation.Source
	c.Conversation.Source = &s
	return c, &s, nil
}

// TrySource counts a try of fetching the source. After MaxSourceTries it gives the source up. It returns ErrMoved if
// nothing is to be fetched.
func (a *Aggregate) TrySource(run int, now time.Time) (aggregate.Change, error) {
	c, s, err := a.fetching(run, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	if s.Tries >= MaxSourceTries {
		return a.FailSource(run, ReasonSourceUnfetched, now)
	}
	s.Tries++
	return c.done()
}

// FixSource fixes the commit that is fetched. Once it is fixed, another is not taken.
func (a *Aggregate) FixSource(run int, commit string, now time.Time) (aggregate.Change, error) {
	c, s, err := a.fetching(run, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	if s.Commit != "" {
		return aggregate.Change{}, nil
	}
	s.Commit = commit
	return c.done()
}

// Fetched is what was fetched of a source.
type Fetched struct {
	Commit  string
	Version string
	Left    []string
	More    int
}

// TakeSource makes the fetched files the conversation's. People and the agent are told where they are from, which are
// left out. It returns ErrMoved if another commit was fixed.
func (a *Aggregate) TakeSource(run int, f Fetched, now time.Time) (aggregate.Change, error) {
	c, s, err := a.fetching(run, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	if s.Commit != f.Commit || f.Commit == "" {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	s.State, s.Version, s.Left, s.More = SourceThere, f.Version, f.Left, f.More
	c.Conversation.WorkspaceVersion, c.Conversation.WorkspacePath = f.Version, s.String()
	c.progress()
	c.active()
	w := wordsOf.In(c.Conversation.Locale).Source
	m := Message{Sender: FromSystem, Reason: ReasonSourceThere}
	m.own(w.There)
	m.quote(s.String())
	if n := len(s.Left) + s.More; n > 0 {
		m.own(fmt.Sprintf(w.Left, n))
		m.named(wordsOf.In(c.Conversation.Locale), s.Left[:min(len(s.Left), shownLeft)], n)
	}
	c.post(m)
	c.Record(&c.Head, aggregate.System(), AuditSourceFetched, "session", c.Conversation.ID, map[string]any{
		"source": s.Name, "repository": s.Repository, "repository_id": s.RepositoryID, "commit": s.Commit,
		"version": s.Version,
	})
	return c.done()
}

// FailSource lets the conversation go on without files. People and the agent are told why.
func (a *Aggregate) FailSource(run int, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	c, s, err := a.fetching(run, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	s.State, s.Error = SourceFailed, why
	c.progress()
	c.active()
	m := Message{Sender: FromSystem, Reason: why}
	m.own(SourceWords(c.Conversation.Locale, why))
	m.quote(s.String())
	c.post(m)
	c.Record(&c.Head, aggregate.System(), AuditSourceFailed, "session", c.Conversation.ID, map[string]any{
		"source": s.Name, "repository": s.Repository, "commit": s.Commit, "error": why,
	})
	return c.done()
}

// SourceWords says why a source has no files.
func SourceWords(locale string, why aggregate.Reason) string {
	w := wordsOf.In(locale).Source.Failed
	return cmp.Or(w[why], w[ReasonSourceUnfetched])
}

// LeftWords names what the files don't have, one entry a line.
func (s Source) LeftWords(locale string) string {
	names := strings.Join(s.Left, "\n")
	if s.More > 0 {
		names += "\n" + fmt.Sprintf(wordsOf.In(locale).More, s.More)
	}
	return names
}
