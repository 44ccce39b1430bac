package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

// joined is a workspace whose freee and GitHub are connected.
type joined struct{ Store }

func (joined) Integrations(context.Context, string) ([]tenancy.Integration, error) {
	return []tenancy.Integration{{Provider: "freee", Status: tenancy.Connected},
		{Provider: "github", Status: tenancy.Connected}, {Provider: "google", Status: tenancy.Broken}}, nil
}

// wish is what the model proposes to call.
func wish(name, arguments string) model.Call {
	input, _ := json.Marshal(map[string]string{"tool": name, "arguments": arguments, "summary": "looks up who joined"})
	return model.Call{ID: "c1", Name: "tool_call", Input: input}
}

func calling(t *testing.T, says string, change ...func(*tenancy.Settings)) *world {
	t.Helper()
	w := talkingOf(t, inbound(root, "U1", says), codex, change...)
	w.Store, w.Catalog = joined{w.Store}, tool.Builtin
	return w
}

// lists has the settings list the read of employees for these people.
func lists(people ...string) func(*tenancy.Settings) {
	return func(x *tenancy.Settings) {
		x.ListedReads = append(x.ListedReads, listedRead("list_employees", people...))
	}
}

func listedRead(name string, people ...string) tenancy.ListedRead {
	all, _ := tool.Builtin()
	s, _ := all.Lookup(name)
	return tenancy.ListedRead{Agent: "codex", Tool: name, Version: s.Version(), People: people}
}

func TestAnAgentIsOfferedListedReadsByName(t *testing.T) {
	w := calling(t, "who joined in October?", func(x *tenancy.Settings) {
		lists("U1")(x)
		x.ListedReads = append(x.ListedReads, listedRead("calculate_overtime", "U1", "U2"),
			listedRead("list_departments", "U2"), listedRead("send_slack_dm", "U1"), listedRead("read_google_sheet", "U1"))
	})
	expect.Value(w.handle())(t)
	r := w.vendor.requests[0]
	said := r.Messages[0].Parts[0].Text
	for name, there := range map[string]bool{"list_employees": true, "calculate_overtime": true,
		"list_departments":  false, // for somebody else
		"list_positions":    false, // for nobody
		"send_slack_dm":     false, // it writes
		"read_google_sheet": false, // it is not connected
		"open_pull_request": false} {
		expect.Is(t, strings.Contains(said, `"name":"`+name+`"`), there, name)
	}
	expect.That(t, !strings.Contains(r.System, "list_employees"), "a tool's words stand in the system's")
	var offered []string
	for _, x := range r.Tools {
		offered = append(offered, x.Name)
		expect.Is(t, strings.Contains(string(x.Schema), `"list_employees"`), x.Name == "tool_call", x.Name)
	}
	expect.Has(t, strings.Join(offered, " "), "tool_call")

	able := []tenancy.Agent{{ID: "codex", Provider: tenancy.OpenAI, Capabilities: []tenancy.Capability{tenancy.CanCode}}}
	for name, change := range map[string]func(*tenancy.Settings){"nothing is listed": func(*tenancy.Settings) {},
		"without the capability": func(s *tenancy.Settings) { lists("U1")(s); s.Agents = able }} {
		none := calling(t, "hello", change)
		expect.Value(none.handle())(t)
		q := none.vendor.requests[0]
		sent := string(expect.Value(json.Marshal([]any{q.Messages, q.Tools}))(t))
		expect.That(t, !strings.Contains(sent, "tool_call") && !strings.Contains(sent, "list_employees"), "%s: %s",
			name, sent)
	}
}

func TestAListedReadIsMadeWithItsVersion(t *testing.T) {
	w := calling(t, "who joined in October?", lists("U1"))
	w.vendor.says.Calls = []model.Call{wish("list_employees", `{ "status": "all", "department": null }`)}
	expect.Is(t, expect.Value(w.handle())(t).State, conversation.StateCall)
	x := w.Load().Current()
	expect.Must(t, x != nil && x.Status == conversation.ActionApproved && x.ApprovedBy == conversation.ApprovedByAuto,
		"%+v", x)
	expect.That(t, x.Tool == "list_employees" && x.Access == aggregate.Read, "%+v", x)
	p, problems := conversation.ReadKept(conversation.ToolCall, []byte(x.Payload.JSON))
	expect.Is(t, len(problems), 0, problems)
	expect.Is(t, p.Arguments, `{"department":null,"status":"all"}`)
	expect.Is(t, p.ToolVersion, listedRead("list_employees").Version)
}

// refusedOf returns what the model is told of its call, of which nothing may come.
func (w *world) refusedOf(c model.Call) string {
	w.T.Helper()
	w.vendor.says.Calls = []model.Call{c}
	next := expect.Value(w.handle())(w.T)
	expect.That(w.T, w.Load().Current() == nil && next.State != conversation.StateCall, "it is made or asked about")
	return w.results()
}

func TestWhatIsNoListedReadIsRefusedToTheModel(t *testing.T) {
	whole, sales := `{"department":null,"status":"all"}`, `{"department":"営業部","status":"all"}`
	for name, tt := range map[string]struct {
		says string
		call model.Call
		want string
	}{
		"a value of no enumeration": {"x", wish("list_employees", `{"department":null,"status":"some"}`), "status"},
		"a reference": {"x", wish("list_employees", `{"department":{"$ref":"step-1.result"},"status":"all"}`),
			"$ref"},
		"a tool that isn't there": {"x", wish("write_rows_to_google_sheet", `{}`), "tool"},
		"a write": {"welcome Suzuki",
			wish("send_slack_dm", `{"recipient":"U002","text":"welcome","details":[]}`), "tool"},
		"a read that nobody listed": {"x", wish("list_departments", `{}`), "tool"},
		"a word that nobody said":   {"who joined?", wish("list_employees", sales), "word for word"},
		"a part of what was said":   {"「営業部門」の入社は?", wish("list_employees", sales), "word for word"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Has(t, calling(t, tt.says, lists("U1")).refusedOf(tt.call), tt.want)
		})
	}
	for name, arguments := range map[string]string{"choices alone": whole, "a word that the person said": sales} {
		w := calling(t, "「営業部」の入社は?", lists("U1"))
		w.vendor.says.Calls = []model.Call{wish("list_employees", arguments)}
		expect.Is(t, expect.Value(w.handle())(t).State, conversation.StateCall, name)
	}
}

// oneResult is a bucket with one result.
type oneResult struct{ storetest.Rows }

const keptResult = `{"value":{"employees":[{"display_name":"佐藤","entry_date":"2026-10-01"}]},` +
	`"bytes":90000,"shown_bytes":60}`

func (oneResult) Open(_ context.Context, _ aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	if strings.HasPrefix(b.S3Key, "talks/") {
		return json.RawMessage(keptResult), nil
	}
	return json.RawMessage(b.JSON), nil
}

// called has the agent make a listed read, which returns keptResult.
func (w *world) called(name, arguments string) {
	w.T.Helper()
	w.vendor.says.Calls = []model.Call{wish(name, arguments)}
	expect.Value(w.handle())(w.T)
	x := w.Load().Current()
	expect.Must(w.T, x != nil, "nothing was proposed")
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.ClaimCall(a.Head.Run, "i1", w.Now().Add(time.Minute), w.Now())
	})
	w.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded,
		Call: &aggregate.Blob{S3Key: "talks/" + x.ActionID, Bytes: 100}})
}

func TestTheAgentGetsAResultAsTheCallsResult(t *testing.T) {
	w := calling(t, "who joined in October?", lists("U1"))
	w.Payloads = oneResult{}
	for range mostReturned + 1 {
		w.called("list_employees", `{"department":null,"status":"all"}`)
	}
	w.vendor.says.Calls = nil
	expect.Value(w.handle())(t)
	r := w.vendor.requests[len(w.vendor.requests)-1]
	results, text := 0, ""
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				results, text = results+strings.Count(p.Result.Text, "entry_date"), text+p.Result.Text
			} else {
				expect.That(t, !strings.Contains(p.Text, "entry_date"), "a result stands outside of results: %s",
					p.Text)
			}
		}
	}
	expect.Is(t, results, mostReturned)
	expect.Has(t, text, "of its 90,000 bytes, only the first 60 are shown")
	expect.Has(t, text, "is old and no longer shown")
	expect.That(t, !strings.Contains(r.System, "entry_date"), "a result stands in the system's words")
}

// sourced returns a conversation that began with a.py of a repository, in which it has changed since.
func sourced(t *testing.T, ref string, is ...files.File) *world {
	t.Helper()
	source := tenancy.Source{Name: "shop", Repository: "acme/shop", Ref: ref, People: []string{tenancy.Everybody},
		Agents: []string{"codex"}, CI: tenancy.CISkip, RepositoryID: 7}
	w := talkingOf(t, inbound(root, "U1", "please open a pull request"),
		conversation.Opening{AgentID: "codex", Locale: "en", Source: conversation.SourceOf(source)},
		func(s *tenancy.Settings) { s.Sources = []tenancy.Source{source} })
	kept := &trees{all: map[string]*files.Tree{}}
	put := func(list []files.File) string {
		tree := expect.Value((&files.Tree{}).Apply(list))(t)
		version := files.Sum(expect.Value(tree.Archive())(t))
		kept.all[version] = tree
		return version
	}
	w.Store, w.Catalog, w.Files = joined{w.Store}, tool.Builtin, kept
	first := put([]files.File{{Path: "a.py", Content: "1\n"}})
	run, commit, now := w.Load().Head.Run, strings.Repeat("c", 40), time.Now()
	for _, decide := range []conversation.Decision{
		func(a *conversation.Aggregate) (aggregate.Change, error) { return a.TrySource(run, now) },
		func(a *conversation.Aggregate) (aggregate.Change, error) { return a.FixSource(run, commit, now) },
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.TakeSource(run, conversation.Fetched{Commit: commit, Version: first}, now)
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
	w := sourced(t, "heads/main", files.File{Path: "a.py", Content: "2\n"}, files.File{Path: "new.py"})
	w.vendor.says.Calls = []model.Call{pull("Mend it")}
	expect.Value(w.handle())(t)
	x := w.Load().Current()
	expect.Must(t, x != nil && x.Pushed != nil, "%+v", x)
	expect.That(t, x.Pushed.Repository == "acme/shop" && x.Pushed.Base == strings.Repeat("c", 40) &&
		x.Pushed.Commit == "", "%+v", x.Pushed)
	p, problems := conversation.ReadKept(conversation.ToolCall, []byte(x.Payload.JSON))
	expect.Must(t, problems == nil && p.Push != nil, "%v", problems)
	expect.Same(t, conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7,
		Commit: strings.Repeat("c", 40), Into: "main", CI: tenancy.CISkip}, *p.Push)
	expect.Is(t, len(p.Changes), 2)
	expect.Is(t, *p.Base, w.Load().Conversation.WorkspaceVersion)
	expect.That(t, strings.Contains(w.vendor.requests[0].Messages[0].Parts[0].Text, "open_pull_request"),
		"the tool is not offered")
}

// Each of these goes back to the model, and no action is proposed.
func TestAPullRequestThatCantBeMadeIsSaidToTheModel(t *testing.T) {
	for title, tt := range map[string]struct{ is, want string }{
		"Fixes #1": {"2\n", "title has '#'"}, // which says something to GitHub
		"Mend":     {"1\n", "nothing has changed since the commit"},
	} {
		w := sourced(t, "heads/main", files.File{Path: "a.py", Content: tt.is})
		expect.Has(t, w.refusedOf(pull(title)), tt.want)
	}
}

// Only a conversation that began from a branch can have a pull request.
func TestOnlyABranchsFilesAreOfferedAPullRequest(t *testing.T) {
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
	expect.Is(t, offered(sourced(t, "tags/v1", files.File{Path: "a.py"})), false, "of a tag")
	expect.Is(t, offered(sourced(t, "heads/main", files.File{Path: "a.py"})), true, "of a branch")
	w := talking(t)
	w.Store, w.Catalog = joined{w.Store}, tool.Builtin
	expect.Is(t, offered(w), false, "without a source")
}
