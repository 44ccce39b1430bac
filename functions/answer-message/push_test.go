package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

func (s *shelf) Commit(context.Context, large.VersionsOf, string) (conversation.Commit, error) {
	return conversation.Commit{}, large.ErrGone
}

// Commit names the files of trees that have a file "commit".
func (s *trees) Commit(_ context.Context, _ large.VersionsOf, version string) (c conversation.Commit, err error) {
	if s.all[version] == nil {
		return c, large.ErrGone
	}
	c = conversation.Commit{SHA: strings.Repeat("c", 40)}
	for _, e := range s.all[version].Manifest().Entries {
		if e.Kind == conversation.KindFile {
			c.Entries = append(c.Entries, conversation.Committed{Path: e.Path, Mode: e.Mode})
		}
	}
	return c, nil
}

// hubbed is a workspace whose GitHub is connected.
type hubbed struct{ Store }

func (hubbed) Integrations(context.Context, string) ([]tenancy.Integration, error) {
	return []tenancy.Integration{{Provider: "github", Status: tenancy.Connected}}, nil
}

// sourced returns a conversation that began with a.py of a repository, in which it has changed since.
func sourced(t *testing.T, server *storetest.Server, ref string, is ...conversation.File) *world {
	t.Helper()
	source := agent.Source{Name: "shop", Repository: "acme/shop", Ref: ref, People: []string{agent.Everybody},
		Agents: []string{"codex"},
		CI:     agent.CISkip, RepositoryID: 7}
	w := talkingOf(t, server, inbound(root, "U1", "please open a pull request"),
		conversation.Opening{AgentID: "codex", Locale: "en", Source: conversation.SourceOf(source)},
		func(s *tenancy.Settings) { s.Sources = []agent.Source{source} })
	files := &trees{all: map[string]*conversation.Tree{}}
	put := func(list []conversation.File) string {
		tree := expect.Value((&conversation.Tree{}).Apply(list))(t)
		version := conversation.Version(expect.Value(tree.Archive())(t))
		files.all[version] = tree
		return version
	}
	w.Store, w.Catalog, w.Files = hubbed{w.Store}, tool.Builtin, files
	first := put([]conversation.File{{Path: "a.py", Content: "1\n"}})
	run, commit, now := w.Load().Head.Run, strings.Repeat("c", 40), time.Now()
	for _, decide := range []conversation.Decision{
		func(a *conversation.Aggregate) (aggregate.Change, error) { return a.TrySource(run, 0, now) },
		func(a *conversation.Aggregate) (aggregate.Change, error) { return a.FixSource(run, commit, now) },
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.TakeSource(run, conversation.Fetched{Commit: commit, Version: first, Files: []string{"a.py"}}, now)
		},
	} {
		expect.Value(w.Rows.Decide(t.Context(), w.Ref, decide))(t)
	}
	w.version(put(is))
	return w
}

func pull(title string) model.Call {
	return wish("open_pull_request", `{"title":"`+title+`","body":"why"}`)
}

func TestAPullRequestNamesAllThatHasChanged(t *testing.T) {
	server := storetest.Start(t)
	w := sourced(t, server, "heads/main", conversation.File{Path: "a.py", Content: "2\n"},
		conversation.File{Path: "new.py"})
	w.vendor.says.Calls = []model.Call{pull("Mend it")}
	expect.Value(w.handle())(t)
	x := w.Load().Current()
	expect.Must(t, x != nil && x.Pushed != nil, "%+v", x)
	expect.That(t, x.Pushed.Repository == "acme/shop" && x.Pushed.Base == strings.Repeat("c", 40) &&
		x.Pushed.Commit == "", "%+v", x.Pushed)
	p, problems := conversation.ReadKept(conversation.ToolCall, []byte(x.Payload.JSON))
	expect.Must(t, problems == nil && p.Push != nil, "%v", problems)
	expect.Same(t, conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7,
		Commit: strings.Repeat("c", 40), Into: "main",
		CI: agent.CISkip}, *p.Push)
	expect.Is(t, len(p.Changes), 2)
	expect.Is(t, *p.Base, w.Load().Conversation.WorkspaceVersion)
	expect.That(t, strings.Contains(w.vendor.requests[0].Messages[0].Parts[0].Text, "open_pull_request"),
		"the tool is not offered")
}

// The stamp covers who changed each path before, also where the files are a folder of the repository.
func TestAPullRequestOfAFolderSaysWhoChangedItsPathsBefore(t *testing.T) {
	w := sourced(t, storetest.Start(t), "heads/main", conversation.File{Path: "a.py", Content: "2\n"})
	want := []conversation.Maker{{Action: 1}}
	w.Files.(*trees).made = conversation.Made{Paths: map[string][]conversation.Maker{"a.py": want}}
	w.Files = below{w.Files}
	w.settings().Sources[0].Path = "services/pay"
	w.Rewrite(func(s *conversation.Conversation) {
		of := *s.Source
		of.Path, s.Source, s.FilesBy = "services/pay", &of, 1
	})
	w.vendor.says.Calls = []model.Call{pull("Mend it")}
	expect.Value(w.handle())(t)
	x := w.Load().Current()
	expect.Must(t, x != nil, "nothing is proposed: %+v", w.vendor.requests)
	p, problems := conversation.ReadKept(conversation.ToolCall, []byte(x.Payload.JSON))
	expect.Must(t, problems == nil && len(p.Changes) == 1 && p.Changes[0].Path == "services/pay/a.py",
		"%v %+v", problems, p.Changes)
	expect.Same(t, want, p.Changes[0].By)
}

// below are files of a repository's folder.
type below struct{ Files }

func (b below) Commit(ctx context.Context, of large.VersionsOf, version string) (conversation.Commit, error) {
	c, err := b.Files.Commit(ctx, of, version)
	c.Path = "services/pay"
	return c, err
}

// Each of these goes back to the model, and no action is proposed.
func TestAPullRequestThatCantBeMadeIsSaidToTheModel(t *testing.T) {
	server := storetest.Start(t)
	is := []conversation.File{{Path: "a.py", Content: "2\n"}}
	for name, tt := range map[string]struct {
		title string
		files []conversation.File
		want  string
	}{
		"a title that says something to GitHub": {"Fixes #1", is, "title has '#'"},
		"nothing has changed": {"Mend", []conversation.File{{Path: "a.py", Content: "1\n"}},
			"nothing has changed since the commit"},
		"an action of the repository": {"Mend", []conversation.File{{Path: ".github/workflows/x.yml", Content: "on: push\n"}},
			"can't be changed by a pull request"},
		"what a run left": {"Mend", []conversation.File{{Path: "a.bin", Content: "\xff"}}, "propose to delete them first"},
	} {
		w := sourced(t, server, "heads/main", tt.files...)
		w.vendor.says.Calls = []model.Call{pull(tt.title)}
		_, _ = w.handle()
		said := ""
		for _, r := range w.vendor.requests {
			for _, m := range r.Messages {
				for _, p := range m.Parts {
					if p.Result != nil {
						said += p.Result.Text
					}
				}
			}
		}
		expect.That(t, strings.Contains(said, tt.want), "%s: %q", name, said)
		expect.That(t, w.Load().Current() == nil, "%s: it is proposed", name)
	}
}

// Only a conversation that began from a branch can have a pull request.
func TestOnlyABranchsFilesAreOfferedAPullRequest(t *testing.T) {
	server := storetest.Start(t)
	offered := func(w *world) bool {
		w.T.Helper()
		expect.Value(w.handle())(w.T)
		for _, x := range w.vendor.requests[0].Tools {
			if x.Name == "tool_call" && strings.Contains(string(x.Schema), "open_pull_request") {
				return true
			}
		}
		return false
	}
	expect.Is(t, offered(sourced(t, server, "tags/v1", conversation.File{Path: "a.py"})), false, "of a tag")
	expect.Is(t, offered(sourced(t, server, "heads/main", conversation.File{Path: "a.py"})), true, "of a branch")
	w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, unchanged)
	w.Store, w.Catalog = hubbed{w.Store}, tool.Builtin
	expect.Is(t, offered(w), false, "without a source")
}
