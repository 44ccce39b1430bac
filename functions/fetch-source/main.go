// Command fetch-source fetches the files with which a conversation begins from their repository at GitHub.
package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool/github"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Results
	boot.Credentials
	GitHubURL string `env:"GITHUB_API_URL,optional" doc:"GitHub's API, for sources; only the local stack sets it"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenConversations(cfg, env.Table)
	held := vault.New(store.TasksOf(rows.KindStore.Store), vault.EnvelopeAt(cfg, env.CredentialsKeyID))
	files := large.OpenVersions(cfg, env.ResultsBucket)
	return &Handler{
		Store: rows, App: held.App, GitHub: github.At(env.GitHubURL), Files: files, Now: time.Now,
	}, nil
}

// fetchWithin bounds one try.
const fetchWithin = 2 * time.Minute

// Files stores workspaces. *large.Versions implements it.
type Files interface {
	Put(ctx context.Context, of aggregate.Ref, t *files.Tree) (version string, err error)
}

type Handler struct {
	Store  *store.ConversationStore
	App    func(ctx context.Context, tenant string) (github.App, error)
	GitHub github.Config
	Files  Files
	Now    func() time.Time
}

// Handle fetches the source that the conversation waits for, if it does, and returns the run's next state. What GitHub
// refuses for good gives the source up; other errors are tried again.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := pipeline.Load(ctx, h.Store, in)
	if err != nil {
		return aggregate.Next{}, err
	}
	if next := a.Next(h.Now()); next.State != conversation.StateFetch {
		return next, nil
	}
	if a, err = h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.TrySource(in.Run, h.Now())
	}); err != nil {
		return aggregate.Next{}, err
	}
	if next := a.Next(h.Now()); next.State != conversation.StateFetch { // there were too many tries
		return next, nil
	}
	a, err = h.fetch(ctx, in, a)
	if why := given(err); why != "" {
		slog.WarnContext(ctx, "a source is given up", "session_id", in.ID, "why", why, "err", err)
		a, err = h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.FailSource(in.Run, why, h.Now())
		})
	}
	if _, called := errors.AsType[*explain.CallError](err); called {
		return aggregate.Next{}, fmt.Errorf("%w: %w", explain.ErrUnavailable, err)
	}
	if err != nil {
		return aggregate.Next{}, err
	}
	return a.Next(h.Now()), nil
}

// decide commits a decision. Where nothing is to be fetched any more it returns the rows as they are.
func (h *Handler) decide(ctx context.Context, in pipeline.Input, decide conversation.Decision) (
	*conversation.Aggregate, error) {
	a, err := h.Store.Decide(ctx, in.Ref(), decide)
	if errors.Is(err, aggregate.ErrMoved) {
		a, err = h.Store.Load(ctx, in.Ref())
	}
	if err != nil {
		return nil, fmt.Errorf("record what became of the source: %w", err)
	}
	if a.Head.Run != in.Run {
		return nil, aggregate.ErrSuperseded
	}
	return a, nil
}

// fetch fetches the source's files and commits them.
func (h *Handler) fetch(ctx context.Context, in pipeline.Input, a *conversation.Aggregate) (
	*conversation.Aggregate, error) {
	within, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	repo, err := h.open(within, in.Tenant, a.Conversation)
	if err != nil {
		return nil, err
	}
	if a, err = h.fix(within, in, a, repo); err != nil {
		return nil, err
	}
	if a.Next(h.Now()).State != conversation.StateFetch {
		return a, nil
	}
	imported, err := unpacked(within, repo, a.Conversation.Source)
	if err != nil {
		return nil, err
	}
	version, err := h.Files.Put(within, in.Ref(), imported.Tree)
	if err != nil {
		return nil, err
	}
	slog.InfoContext(ctx, "source_fetched", "session_id", in.ID, "version", version, "files", len(imported.Tree.Paths()),
		"left_out", len(imported.Left)+imported.More)
	return h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.TakeSource(in.Run, conversation.Fetched{Commit: a.Conversation.Source.Commit, Version: version,
			Left: imported.Left, More: imported.More}, h.Now())
	})
}

// open returns the repository, as the App with rights to read that one alone.
func (h *Handler) open(ctx context.Context, tenant string, s *conversation.Conversation) (*github.Client, error) {
	settings, err := h.Store.Settings(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	if !s.Lists(settings.Sources) {
		return nil, errGone
	}
	app, err := h.App(ctx, tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, errNoApp
	}
	if err != nil {
		return nil, fmt.Errorf("open the App: %w", err)
	}
	repo := h.GitHub.Open(app, s.Source.Repository, int64(s.Source.RepositoryID), github.Reads())
	found, err := repo.Repository(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	if found.ID != int64(s.Source.RepositoryID) {
		return nil, errOther
	}
	return repo, nil
}

// fix commits which commit is fetched, unless an earlier try did.
func (h *Handler) fix(ctx context.Context, in pipeline.Input, a *conversation.Aggregate, repo *github.Client) (
	*conversation.Aggregate, error) {
	if a.Conversation.Source.Commit != "" {
		return a, nil
	}
	commit, err := repo.Resolve(ctx, a.Conversation.Source.Ref)
	if err != nil {
		return nil, fmt.Errorf("find the commit: %w", err)
	}
	return h.decide(ctx, in, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.FixSource(in.Run, commit, h.Now())
	})
}

var (
	errGone  = errors.New("the settings don't list the source any more")
	errOther = errors.New("the name is another repository's")
	errNoApp = errors.New("GitHub is not connected")
)

// given returns why a source is given up, or "" for an error that another try may mend.
func given(err error) aggregate.Reason {
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return ""
	case errors.Is(err, errGone):
		return conversation.ReasonSourceGone
	case errors.Is(err, errOther):
		return conversation.ReasonSourceOther
	case errors.Is(err, files.ErrRefused):
		return conversation.ReasonSourceTooLarge
	case errors.Is(err, errNoApp), github.Refuses(err):
		return conversation.ReasonSourceRefused
	}
	return ""
}

// unpacked reads the commit's archive. A read that breaks off is tried again, an archive that can't be read is not.
func unpacked(ctx context.Context, repo *github.Client, s *conversation.Source) (*files.Imported, error) {
	body, err := repo.Archive(ctx, s.Commit)
	if err != nil {
		return nil, fmt.Errorf("fetch the archive: %w", err)
	}
	defer body.Close()
	counted := &noting{Reader: body}
	unzipped, err := gzip.NewReader(counted)
	if err == nil {
		var m *files.Imported
		if m, err = files.Import(ctx, unzipped, s.Path); err == nil {
			return m, nil
		}
	}
	if counted.err != nil && !errors.Is(counted.err, io.EOF) || !errors.Is(err, files.ErrRefused) {
		return nil, fmt.Errorf("%w: the archive broke off", explain.ErrUnavailable) // the error may quote the address
	}
	return nil, err
}

// noting notes the error of its reader.
type noting struct {
	io.Reader
	err error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	if err != nil {
		n.err = err
	}
	return k, err
}
