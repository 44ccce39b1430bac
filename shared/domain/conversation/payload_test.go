package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func TestPayloadsOfEachTypeAreRead(t *testing.T) {
	for typ, text := range map[tenancy.ActionType]string{
		tenancy.CodeGenerate: `{"files":[{"path":"src/a.py","content":"print(1)\n"}],"edits":[` +
			`{"path":"a","old":"x","new":"y"},{"path":"a","old":"z","new":""}],"delete":["b"]}`,
		tenancy.TestRun:      `{"argv":["go","test",""],"timeout_seconds":600}`,
		tenancy.ShellCommand: `{"script":"ls\n","timeout_seconds":1}`,
	} {
		p, problems := conversation.ReadPayload(typ, []byte(text))
		expect.That(t, problems == nil && p.JSON() == text, "%s: %v, %s", typ, problems, p.JSON())
		shape := expect.Value(tool.CompileSchema(string(typ), string(expect.Value(conversation.Schema(typ))(t))))(t)
		found := shape.Check(expect.Value(tool.Decode([]byte(text)))(t))
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
	typ        tenancy.ActionType
	text, says string
}

func wrongFiles() []wrongPayload {
	file := func(path string) string { return fmt.Sprintf(`{"files":[{"path":%q,"content":""}]}`, path) }
	return []wrongPayload{
		{tenancy.CodeGenerate, `{"files":[],"edits":[],"delete":[]}`, "files, edits and delete are empty"},
		{tenancy.CodeGenerate, `{}`, "files, edits and delete are empty"},
		{tenancy.CodeGenerate, `{"edits":[{"path":"../a","old":"x","new":"y"}]}`, "edits[0].workspace: path"},
		{tenancy.CodeGenerate, `{"edits":[{"path":"a","old":"","new":"y"}]}`, "edits[0].old is empty"},
		{tenancy.CodeGenerate, `{"edits":[{"path":"a","new":"y"}]}`, "edits[0].old is empty"},
		{tenancy.CodeGenerate, `{"edits":[{"path":"a","old":"x","from":1,"to":1,"new":"y"}]}`, "form"},
		{tenancy.CodeGenerate, `{"edits":[{"path":"a","old":"x","new":"\u0000"}]}`, "edits[0].new is no text"},
		{tenancy.CodeGenerate, `{"edits":[{"path":"a","old":"x","new":"y","mode":"0755"}]}`, "form"},
		{tenancy.CodeGenerate, `{"edits":[` + strings.Repeat(`{"path":"a","old":"x","new":"y"},`, files.MaxEdits) +
			`{"path":"a","old":"x","new":"y"}]}`, "edits has 101 entries, the limit is 100"},
		{tenancy.CodeGenerate, `{"delete":["a/"]}`, "delete[0].workspace: path"},
		{tenancy.CodeGenerate, `{"delete":["a","a"]}`, "delete[1] \"a\" is in delete, too"},
		{tenancy.CodeGenerate, `{"files":[{"path":"a","content":""}],"delete":["a"]}`, "delete[0] \"a\" is in files, too"},
		{tenancy.CodeGenerate, `{"edits":[{"path":"a","old":"x","new":"y"}],"delete":["a"]}`,
			"delete[0] \"a\" is in edits, too"},
		{tenancy.CodeGenerate, `{"files":[{"path":"a","content":""}],"edits":[{"path":"a","old":"x","new":"y"}]}`,
			"in files and in edits"},
		{tenancy.CodeGenerate, `{"delete":[` + manyPaths(files.MaxFiles+1) + `]}`, "have 51 paths, the limit is 50"},
		{tenancy.CodeGenerate, `{"files":[` + strings.Repeat(`{"path":"a","content":""},`, files.MaxFiles) +
			`{"path":"b","content":""}]}`, "files has 51"},
		{tenancy.CodeGenerate, `{"files":[{"path":"a","content":""},{"path":"a","content":"x"}]}`,
			"files[1].path is in the list twice"},
		{tenancy.CodeGenerate, file("../a"), "files[0]"}, {tenancy.CodeGenerate, file("/etc/passwd"),
			"files[0]"}, {tenancy.CodeGenerate, file("a/../../b"), "files[0]"}, {tenancy.CodeGenerate, file(""), "files[0]"},
		{tenancy.CodeGenerate, `{"files":[{"path":"a","content":"\u0000"}]}`, "files[0].content"},
		{tenancy.CodeGenerate, `{"files":[],"argv":["x"]}`, "form"},
		{tenancy.CodeGenerate, `{"files":[{"path":"a","content":"","mode":"0777"}]}`, "form"},
		{tenancy.CodeGenerate, `{"files":[{"path":"a","content":"` + strings.Repeat("x", conversation.MaxPayload) + `"}]}`,
			"limit is 131072"},
	}
}

func wrongCommands() []wrongPayload {
	return []wrongPayload{
		{tenancy.TestRun, `{"argv":[],"timeout_seconds":1}`, "argv has 0"},
		{tenancy.TestRun, `{"argv":["-x"],"timeout_seconds":1}`, "argv[0]"}, {tenancy.TestRun,
			`{"argv":[" "],"timeout_seconds":1}`, "argv[0]"},
		{tenancy.TestRun, `{"argv":["a","b\u0000"],"timeout_seconds":1}`, "argv[1]"},
		{tenancy.TestRun, `{"argv":"go test","timeout_seconds":1}`, "form"},
		{tenancy.TestRun, `{"argv":["a"],"timeout_seconds":0}`, "timeout_seconds is 0"}, {tenancy.TestRun, `{"argv":["a"]}`,
			"timeout_seconds is 0"},
		{tenancy.TestRun, `{"argv":["a"],"timeout_seconds":601}`, "timeout_seconds is 601"}, {tenancy.TestRun,
			`{"argv":["a"],"timeout_seconds":1.5}`, "form"},
		{tenancy.TestRun, `{"argv":["` + strings.Repeat("a", conversation.MaxArg+1) + `"],"timeout_seconds":1}`,
			"4001 characters"},
		{tenancy.TestRun, `{"argv":["a"` + strings.Repeat(`,"a"`, conversation.MaxArgv) + `],"timeout_seconds":1}`,
			"argv has 65"},
		{tenancy.ShellCommand, `{"script":" \n","timeout_seconds":1}`, "script is empty"},
		{tenancy.ShellCommand, `{"script":"` + strings.Repeat("x", conversation.MaxScript+1) + `","timeout_seconds":1}`,
			"16001 characters"},
		{tenancy.ShellCommand, `{"script":"ls","timeout_seconds":1} {}`, "follows"},
		{tenancy.ShellCommand, `null`, "script is empty"},
		{tenancy.ShellCommand, `[]`, "form"}, {tenancy.ShellCommand, ``, "form"},
		{tenancy.ShellCommand, `{"commands":[{"script":"ls","timeout_seconds":1}]}`, "form"},
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
	p, problems := conversation.ReadPayload(tenancy.CodeGenerate, []byte(`{"files":[
		{"path":"new","content":"x\n"},{"path":"none","content":""},
		{"path":"empty","content":"y"}],
		"edits":[{"path":"edited","old":"b","new":"B"}],"delete":["deleted"]}`))
	expect.Must(t, problems == nil, "%v", problems)
	kept, problems := p.Complete(tenancy.CodeGenerate, conversation.On{Base: "v1"}, base)
	expect.Must(t, problems == nil, "%v", problems)
	read, problems := conversation.ReadKept(tenancy.CodeGenerate, []byte(kept.JSON()))
	expect.Must(t, problems == nil && *read.Base == "v1" && read.Files == nil && read.Edits == nil, "%v %+v", problems,
		read)
	expect.Same(t, kept, read)
	// What the agent is told of it makes the same.
	again, problems := read.Proposed().Complete(tenancy.CodeGenerate, conversation.On{Base: "v1"}, base)
	expect.Must(t, problems == nil, "%v", problems)
	expect.Same(t, kept, again)
	for _, typ := range []tenancy.ActionType{tenancy.TestRun, tenancy.ShellCommand} {
		command := conversation.Payload{Argv: []string{"ls"}, TimeoutSeconds: 1}
		if typ == tenancy.ShellCommand {
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
	for text, typ := range map[string]tenancy.ActionType{
		`{"base":"v1"}`: tenancy.CodeGenerate,
		`{"base":null,"script":"ls","timeout_seconds":1}`:                                        tenancy.ShellCommand,
		`{"base":1,"script":"ls","timeout_seconds":1}`:                                           tenancy.ShellCommand,
		`{"base":"","script":"ls","timeout_seconds":1,"later":1}`:                                tenancy.ShellCommand,
		`{"base":"","script":"ls","timeout_seconds":1,"changes":[]}`:                             tenancy.ShellCommand,
		`{"base":"","changes":[]}`:                                                               tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `}],"files":[]}`:                      tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"../a","is":` + side + `}]}`:                              tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a"}]}`:                                                   tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `},{"path":"a","is":` + side + `}]}`:  tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":{"mode":"120000","sha256":"x"}}]}`:               tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":{"mode":"040000"}}]}`:                            tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `,"unshown":"large"}]}`:               tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `,"hunks":[{"lines":["+a\nb\n"]}]}]}`: tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","is":` + side + `,"hunks":[{"lines":["*a\n"]}]}]}`:    tenancy.CodeGenerate,
		`{"base":"","changes":[{"path":"a","was":` + side + `,"is":` + side + `}]}`:              tenancy.CodeGenerate,
		`{"script":"ls","timeout_seconds":1}`:                                                    tenancy.ShellCommand,
		`{"base":"` + strings.Repeat("x", 2<<20) + `","script":"ls","timeout_seconds":1}`:        tenancy.ShellCommand,
	} {
		_, problems := conversation.ReadKept(typ, []byte(text))
		expect.That(t, problems != nil, "%.80s is taken for a %s", text, typ)
	}
}
