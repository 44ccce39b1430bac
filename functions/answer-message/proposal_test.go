package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// readOnly keeps no version.
type readOnly struct{}

func (readOnly) Put(context.Context, aggregate.Ref, *files.Tree) (string, error) {
	return "", errors.New("nothing is kept here")
}

// trees has versions in memory.
type trees struct {
	readOnly
	all map[string]*files.Tree
	err error
	got int
}

func (s *trees) Get(_ context.Context, _ aggregate.Ref, version string) (*files.Tree, error) {
	s.got++
	switch {
	case s.err != nil:
		return nil, s.err
	case version == "":
		return &files.Tree{}, nil
	case s.all[version] == nil:
		return nil, large.ErrGone
	}
	return s.all[version], nil
}

// working returns a conversation whose files are a.txt.
func working(t *testing.T, server *storetest.Server, content string) (w *world, list *trees, version string) {
	t.Helper()
	w = talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
	tree := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "a.txt", Content: content}}))(t)
	version = files.Sum(expect.Value(tree.Archive())(t))
	w.moves(version)
	list = &trees{all: map[string]*files.Tree{version: tree}}
	w.Files = list
	return w, list, version
}

// moves gives the conversation other files.
func (w *world) moves(version string) {
	w.T.Helper()
	w.Rewrite(func(s *conversation.Conversation) { s.WorkspaceVersion = version })
}

func code(input string) []model.Call {
	return []model.Call{{ID: "c1", Name: "code_generate", Input: json.RawMessage(input)}}
}

const edits = `{"files":[],"edits":[{"path":"a.txt","old":"two","new":"2"}],"delete":[],"summary":"numbers"}`

func TestAProposalNamesItsFilesAndWhatItMakesOfThem(t *testing.T) {
	server := storetest.Start(t)
	w, _, version := working(t, server, "one\ntwo\n")
	w.vendor.says.Calls = code(edits)
	expect.Value(w.handle())(t)
	x := w.Load().Current()
	expect.Must(t, x != nil && x.Base == version, "%+v", x)
	p, problems := conversation.ReadKept(x.ActionType, []byte(x.Payload.JSON))
	expect.That(t, problems == nil && *p.Base == version && len(p.Changes) == 1 && p.Edits == nil &&
		strings.Join(p.Changes[0].Hunks[0].Lines, "") == " one\n-two\n+2\n", "%v %s", problems, x.Payload.JSON)
	expect.That(t, p.Changes[0].Was.SHA256 == files.Sum([]byte("one\ntwo\n")) &&
		p.Changes[0].Is.SHA256 == files.Sum([]byte("one\n2\n")), "%s", x.Payload.JSON)

	// Later the agent is shown its own proposal, in the form in which it makes them.
	w.vendor.says.Calls = nil
	w.says("1775034001.000100", "what did you propose?")
	said := string(expect.Value(json.Marshal(w.vendor.requests[1].Messages))(t))
	expect.That(t, strings.Contains(said, `"edits":[{"path":"a.txt","old":"one\ntwo\n","new":"one\n2\n"`) &&
		!strings.Contains(said, "sha256"), "%s", said)
}

// A rule of a source approves a test while the files are the source's. Once the agent has changed one, whatever it is
// called, a person is asked, unless the rule says that it holds then, too.
func TestARuleOfASourceHoldsWhileTheFilesAreTheSources(t *testing.T) {
	server, fetched := storetest.Start(t), strings.Repeat("a", 64)
	shop := agent.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7, Ref: "heads/main",
		People: []string{agent.Everybody}, Agents: []string{"codex"}, CI: agent.CISkip}
	for name, tt := range map[string]struct {
		rule    agent.AutoRule
		version string
		change  func(s *agent.Source)
		want    conversation.ActionStatus
	}{
		"the source's files": {agent.AutoRule{Source: "shop", Place: "D1"}, fetched, nil, conversation.ActionApproved},
		"a file was changed": {agent.AutoRule{Source: "shop", Place: "D1"}, strings.Repeat("b", 64), nil,
			conversation.ActionPending},
		"a file was changed, and it may": {agent.AutoRule{Source: "shop", Place: "D1", Changed: true},
			strings.Repeat("b", 64), nil, conversation.ActionApproved},
		"the name is another's now": {agent.AutoRule{Source: "shop", Place: "D1"}, fetched,
			func(s *agent.Source) { s.RepositoryID = 8 }, conversation.ActionPending},
	} {
		tt.rule.Type, tt.rule.Argv = agent.TestRun, []string{"npm", "test"}
		listed := shop
		if tt.change != nil {
			tt.change(&listed)
		}
		w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, func(s *tenancy.Settings) {
			s.AutoActions, s.Sources = []agent.AutoRule{tt.rule}, []agent.Source{listed}
		})
		w.Rewrite(func(s *conversation.Conversation) {
			s.WorkspaceVersion, s.Source = tt.version, conversation.SourceOf(shop)
			s.Source.State, s.Source.Version, s.Source.Commit = conversation.SourceThere, fetched, "c"
		})
		w.vendor.says.Calls = []model.Call{{ID: "c1", Name: "test_run",
			Input: json.RawMessage(`{"argv":["npm","test"],"timeout_seconds":60,"summary":"tests"}`)}}
		expect.Value(w.handle())(t)
		x := w.Load().Current()
		expect.That(t, x != nil && x.Status == tt.want, "%s: %+v", name, x)
	}
}

func TestACommandNamesItsFilesWithoutReadingThem(t *testing.T) {
	w, files, version := working(t, storetest.Start(t), "x")
	w.vendor.says.Calls = []model.Call{{ID: "c1", Name: "shell_command",
		Input: json.RawMessage(`{"script":"ls","timeout_seconds":60,"summary":"lists"}`)}}
	expect.Value(w.handle())(t)
	x := w.Load().Current()
	expect.That(t, x.Base == version && strings.Contains(string(x.Payload.JSON), `"base":"`+version+`"`) &&
		files.got == 0,
		"%s after %d reads", x.Payload.JSON, files.got)
}

// What can't be proposed the model is told in the same turn, by field and limit.
func TestWhatCantBeProposedTheModelIsTold(t *testing.T) {
	server := storetest.Start(t)
	for says, input := range map[string]string{
		`.old is not in \\\"a.txt\\\"`: strings.Replace(edits, "two", "three", 1),
		"the limit is 2000": `{"files":[{"path":"long","content":"` + strings.Repeat("x",
			2001) + `"}],"edits":[],"delete":[],"summary":"long"}`,
		"only in case": `{"files":[{"path":"A.txt","content":""}],"edits":[],"delete":[],"summary":"case"}`,
	} {
		w, files, _ := working(t, server, "one\ntwo\n")
		w.vendor.says.Calls = code(input)
		w.vendor.asked = func() {
			if len(w.vendor.requests) == 2 {
				w.vendor.says.Calls = code(edits)
			}
		}
		expect.Value(w.handle())(t)
		again := string(expect.Value(json.Marshal(w.vendor.requests[1].Messages))(t))
		expect.That(t, strings.Contains(again, says), "it is told %s, want %s", again, says)
		expect.That(t, w.Load().Current() != nil && files.got == 1, "what it mends is not taken, after %d reads",
			files.got)
	}
}

func TestFilesThatAreLostAreSaid(t *testing.T) {
	w, files, _ := working(t, storetest.Start(t), "one\n")
	clear(files.all)
	whole := `{"files":[{"path":"a.txt","content":"x"}],"edits":[],"delete":[],"summary":"again"}`
	w.vendor.says.Calls = code(whole)
	expect.Value(w.handle())(t)
	a := w.Load()
	x := a.Current()
	expect.Must(t, x != nil && x.Base == "" && a.Conversation.WorkspaceVersion == "", "%+v, %+v", x, a.Conversation)
	again := string(expect.Value(json.Marshal(w.vendor.requests[1].Messages))(t))
	expect.That(t, strings.Contains(again, "were deleted when their time was over"), "the model is told %s", again)
	all := expect.Value(w.Rows.Newest(t.Context(), w.Ref.Tenant, w.Ref.ID, "", 5))(t)
	told := false
	for _, m := range all {
		told = told || m.Sender == conversation.FromSystem && strings.Contains(m.Content,
			"continues with an empty folder")
	}
	expect.That(t, told, "people are not told: %+v", all)
}

func TestFilesThatCantBeReadProposeNothing(t *testing.T) {
	w, files, version := working(t, storetest.Start(t), "one\ntwo\n")
	files.err = errors.New("no answer")
	w.vendor.says.Calls = code(edits)
	expect.Value(w.handle())(t)
	a := w.Load()
	expect.That(t, a.Current() == nil && a.Conversation.WorkspaceVersion == version, "%+v", a.Conversation)
	again := string(expect.Value(json.Marshal(w.vendor.requests[1].Messages))(t))
	expect.That(t, strings.Contains(again, "can't be read at the moment"), "the model is told %s", again)
}

// The files move while the model answers.
func TestAProposalForOtherFilesIsMadeAnew(t *testing.T) {
	w, _, _ := working(t, storetest.Start(t), "one\ntwo\n")
	w.vendor.says.Calls = code(edits)
	w.vendor.asked = func() {
		w.vendor.asked = nil
		w.moves(strings.Repeat("b", 64))
	}
	next := expect.Value(w.handle())(t)
	a := w.Load()
	expect.That(t, a.Current() == nil && next.State == conversation.StateAnswer &&
		w.Newest().Content == wordsIn("en").moved && len(a.Inbox) == 1, "%+v, then %s, said %q", a.Current(),
		next.State,
		w.Newest().Content)
}

func (w *world) settings() tenancy.Settings {
	w.T.Helper()
	return expect.Value(w.Store.Settings(context.Background(), w.Ref.Tenant))(w.T)
}
