package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/schema"
)

func TestPayloadsOfEachTypeAreRead(t *testing.T) {
	for typ, text := range map[agent.ActionType]string{
		agent.CodeGenerate: `{"files":[{"path":"src/a.py","content":"print(1)\n"}],"edits":[` +
			`{"path":"a","old":"x","new":"y"},{"path":"a","old":"z","new":""}],"delete":["b"]}`,
		agent.TestRun:      `{"argv":["go","test",""],"timeout_seconds":600}`,
		agent.ShellCommand: `{"script":"ls\n","timeout_seconds":1}`,
	} {
		p, problems := conversation.ReadPayload(typ, []byte(text))
		expect.That(t, problems == nil && p.JSON() == text, "%s: %v, %s", typ, problems, p.JSON())
		shape := expect.Value(schema.Compile(string(typ), string(expect.Value(conversation.Schema(typ))(t))))(t)
		found := shape.Check(expect.Value(schema.Decode([]byte(text)))(t))
		expect.That(t, len(found) == 0, "%s: its schema says %v", typ, found)
	}
}

// manyPaths lists n paths as JSON.
func manyPaths(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%q", fmt.Sprint("f", i))
	}
	return strings.Join(list, ",")
}

// wrongPayload is a payload, and a part of what is said of it.
type wrongPayload struct {
	typ        agent.ActionType
	text, says string
}

func wrongFiles() []wrongPayload {
	file := func(path string) string { return fmt.Sprintf(`{"files":[{"path":%q,"content":""}]}`, path) }
	return []wrongPayload{
		{agent.CodeGenerate, `{"files":[],"edits":[],"delete":[]}`, "files, edits and delete are empty"},
		{agent.CodeGenerate, `{}`, "files, edits and delete are empty"},
		{agent.CodeGenerate, `{"edits":[{"path":"../a","old":"x","new":"y"}]}`, "edits[0].workspace: path"},
		{agent.CodeGenerate, `{"edits":[{"path":"a","old":"","new":"y"}]}`, "edits[0].old is empty"},
		{agent.CodeGenerate, `{"edits":[{"path":"a","new":"y"}]}`, "edits[0].old is empty"},
		{agent.CodeGenerate, `{"edits":[{"path":"a","old":"x","from":1,"to":1,"new":"y"}]}`, "form"},
		{agent.CodeGenerate, `{"edits":[{"path":"a","old":"x","new":"\u0000"}]}`, "edits[0].new is no text"},
		{agent.CodeGenerate, `{"edits":[{"path":"a","old":"x","new":"y","mode":"0755"}]}`, "form"},
		{agent.CodeGenerate, `{"edits":[` + strings.Repeat(`{"path":"a","old":"x","new":"y"},`, files.MaxEdits) +
			`{"path":"a","old":"x","new":"y"}]}`, "edits has 101 entries, the limit is 100"},
		{agent.CodeGenerate, `{"delete":["a/"]}`, "delete[0].workspace: path"},
		{agent.CodeGenerate, `{"delete":["a","a"]}`, "delete[1] \"a\" is in delete, too"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":""}],"delete":["a"]}`, "delete[0] \"a\" is in files, too"},
		{agent.CodeGenerate, `{"edits":[{"path":"a","old":"x","new":"y"}],"delete":["a"]}`,
			"delete[0] \"a\" is in edits, too"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":""}],"edits":[{"path":"a","old":"x","new":"y"}]}`,
			"in files and in edits"},
		{agent.CodeGenerate, `{"delete":[` + manyPaths(files.MaxFiles+1) + `]}`, "have 51 paths, the limit is 50"},
		{agent.CodeGenerate, `{"files":[` + strings.Repeat(`{"path":"a","content":""},`, files.MaxFiles) +
			`{"path":"b","content":""}]}`, "files has 51"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":""},{"path":"a","content":"x"}]}`,
			"files[1].path is in the list twice"},
		{agent.CodeGenerate, file("../a"), "files[0]"}, {agent.CodeGenerate, file("/etc/passwd"),
			"files[0]"}, {agent.CodeGenerate, file("a/../../b"), "files[0]"}, {agent.CodeGenerate, file(""), "files[0]"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":"\u0000"}]}`, "files[0].content"},
		{agent.CodeGenerate, `{"files":[],"argv":["x"]}`, "form"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":"","mode":"0777"}]}`, "form"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":"` + strings.Repeat("x", conversation.MaxPayload) + `"}]}`,
			"limit is 131072"},
	}
}

func wrongCommands() []wrongPayload {
	return []wrongPayload{
		{agent.TestRun, `{"argv":[],"timeout_seconds":1}`, "argv has 0"},
		{agent.TestRun, `{"argv":["-x"],"timeout_seconds":1}`, "argv[0]"}, {agent.TestRun,
			`{"argv":[" "],"timeout_seconds":1}`, "argv[0]"},
		{agent.TestRun, `{"argv":["a","b\u0000"],"timeout_seconds":1}`, "argv[1]"},
		{agent.TestRun, `{"argv":"go test","timeout_seconds":1}`, "form"},
		{agent.TestRun, `{"argv":["a"],"timeout_seconds":0}`, "timeout_seconds is 0"}, {agent.TestRun, `{"argv":["a"]}`,
			"timeout_seconds is 0"},
		{agent.TestRun, `{"argv":["a"],"timeout_seconds":601}`, "timeout_seconds is 601"}, {agent.TestRun,
			`{"argv":["a"],"timeout_seconds":1.5}`, "form"},
		{agent.TestRun, `{"argv":["` + strings.Repeat("a", conversation.MaxArg+1) + `"],"timeout_seconds":1}`,
			"4001 characters"},
		{agent.TestRun, `{"argv":["a"` + strings.Repeat(`,"a"`, conversation.MaxArgv) + `],"timeout_seconds":1}`,
			"argv has 65"},
		{agent.ShellCommand, `{"script":" \n","timeout_seconds":1}`, "script is empty"},
		{agent.ShellCommand, `{"script":"` + strings.Repeat("x", conversation.MaxScript+1) + `","timeout_seconds":1}`,
			"16001 characters"},
		{agent.ShellCommand, `{"script":"ls","timeout_seconds":1} {}`, "follows"},
		{agent.ShellCommand, `null`, "script is empty"}, {agent.ShellCommand, `[]`, "form"}, {agent.ShellCommand, ``, "form"},
		{agent.ShellCommand, `{"commands":[{"script":"ls","timeout_seconds":1}]}`, "form"},
		{"rm", `{}`, "no action of type"},
	}
}

func TestWhatIsWrongWithAPayloadIsNamed(t *testing.T) {
	for _, tt := range slices.Concat(wrongFiles(), wrongCommands()) {
		p, problems := conversation.ReadPayload(tt.typ, []byte(tt.text))
		expect.That(t, len(problems) != 0 && strings.Contains(strings.Join(problems, "; "), tt.says) && p.Files == nil &&
			p.Argv == nil && p.Script == "", "%s %.80s: %q, not %q", tt.typ, tt.text, problems, tt.says)
	}
}

func TestAKeptPayloadSaysItsFilesAndWhatItMakesOfThem(t *testing.T) {
	base := expect.Value((&files.Tree{}).Apply([]files.File{
		{Path: "edited", Content: "a\nb\n"}, {Path: "deleted", Content: "x\n"}, {Path: "empty"},
	}))(t)
	p, problems := conversation.ReadPayload(agent.CodeGenerate, []byte(`{"files":[
		{"path":"new","content":"x\n"},{"path":"none","content":""},
		{"path":"empty","content":"y"}],
		"edits":[{"path":"edited","old":"b","new":"B"}],"delete":["deleted"]}`))
	expect.Must(t, problems == nil, "%v", problems)
	kept, problems := p.Complete(agent.CodeGenerate, conversation.On{Base: "v1"}, base)
	expect.Must(t, problems == nil, "%v", problems)
	read, problems := conversation.ReadKept(agent.CodeGenerate, []byte(kept.JSON()))
	expect.Must(t, problems == nil && *read.Base == "v1" && read.Files == nil && read.Edits == nil, "%v %+v", problems,
		read)
	expect.Same(t, kept, read)
	// What the agent is told of it makes the same.
	again, problems := read.Proposed().Complete(agent.CodeGenerate, conversation.On{Base: "v1"}, base)
	expect.Must(t, problems == nil, "%v", problems)
	expect.Same(t, kept, again)
	for _, typ := range []agent.ActionType{agent.TestRun, agent.ShellCommand} {
		command := conversation.Payload{Argv: []string{"ls"}, TimeoutSeconds: 1}
		if typ == agent.ShellCommand {
			command = conversation.Payload{Script: "ls", TimeoutSeconds: 1}
		}
		kept, problems := command.Complete(typ, conversation.On{}, nil)
		read, wrong := conversation.ReadKept(typ, []byte(kept.JSON()))
		if problems != nil || wrong != nil || read.Base == nil || *read.Base != "" ||
			read.Proposed().JSON() != command.JSON() {
			t.Errorf("%s: %v %v %s", typ, problems, wrong, read.JSON())
		}
		expect.That(t, strings.Contains(kept.JSON(), `"base":""`), "no files at all are left out: %s", kept.JSON())
	}
}

func TestAKeptPayloadOfAnotherFormIsRefused(t *testing.T) {
	const side = `{"mode":"100644","sha256":"x"}`
	for text, typ := range map[string]agent.ActionType{
		`{"base":"v1"}`: agent.CodeGenerate,
		`{"base":null,"script":"ls","timeout_seconds":1}`:                                        agent.ShellCommand,
		`{"base":1,"script":"ls","timeout_seconds":1}`:                                           agent.ShellCommand,
		`{"base":"","script":"ls","timeout_seconds":1,"later":1}`:                                agent.ShellCommand,
		`{"base":"","script":"ls","timeout_seconds":1,"changes":[]}`:                             agent.ShellCommand,
		`{"base":"","changes":[]}`:                                                               agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `}],"files":[]}`:                      agent.CodeGenerate,
		`{"base":"","changes":[{"path":"../a","is":` + side + `}]}`:                              agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a"}]}`:                                                   agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `},{"path":"a","is":` + side + `}]}`:  agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":{"mode":"120000","sha256":"x"}}]}`:               agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":{"mode":"040000"}}]}`:                            agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `,"unshown":"large"}]}`:               agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `,"hunks":[{"lines":["+a\nb\n"]}]}]}`: agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `,"hunks":[{"lines":["*a\n"]}]}]}`:    agent.CodeGenerate,
		`{"base":"","changes":[{"path":"a","was":` + side + `,"is":` + side + `}]}`:              agent.CodeGenerate,
		`{"script":"ls","timeout_seconds":1}`:                                                    agent.ShellCommand,
		`{"base":"` + strings.Repeat("x", 2<<20) + `","script":"ls","timeout_seconds":1}`:        agent.ShellCommand,
	} {
		_, problems := conversation.ReadKept(typ, []byte(text))
		expect.That(t, problems != nil, "%.80s is taken for a %s", text, typ)
	}
}
