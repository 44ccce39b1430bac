package conversation_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/schema"
)

func TestPayloadsOfEachTypeAreRead(t *testing.T) {
	for typ, text := range map[agent.ActionType]string{
		agent.CodeGenerate: `{"files":[{"path":"src/a.py","content":"print(1)\n"}]}`,
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

func TestWhatIsWrongWithAPayloadIsNamed(t *testing.T) {
	file := func(path string) string { return fmt.Sprintf(`{"files":[{"path":%q,"content":""}]}`, path) }
	for _, tt := range []struct {
		typ        agent.ActionType
		text, says string
	}{
		{agent.CodeGenerate, `{"files":[]}`, "files has 0"},
		{agent.CodeGenerate, `{}`, "files has 0"},
		{agent.CodeGenerate, `{"files":[` + strings.Repeat(`{"path":"a","content":""},`, conversation.MaxFiles) + `{"path":"b","content":""}]}`, "files has 51"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":""},{"path":"a","content":"x"}]}`, "files[1].path is in the list twice"},
		{agent.CodeGenerate, file("../a"), "files[0]"}, {agent.CodeGenerate, file("/etc/passwd"), "files[0]"}, {agent.CodeGenerate, file("a/../../b"), "files[0]"}, {agent.CodeGenerate, file(""), "files[0]"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":"\u0000"}]}`, "files[0].content"},
		{agent.CodeGenerate, `{"files":[],"argv":["x"]}`, "form"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":"","mode":"0777"}]}`, "form"},
		{agent.CodeGenerate, `{"files":[{"path":"a","content":"` + strings.Repeat("x", conversation.MaxPayload) + `"}]}`, "limit is 131072"},
		{agent.TestRun, `{"argv":[],"timeout_seconds":1}`, "argv has 0"},
		{agent.TestRun, `{"argv":["-x"],"timeout_seconds":1}`, "argv[0]"}, {agent.TestRun, `{"argv":[" "],"timeout_seconds":1}`, "argv[0]"},
		{agent.TestRun, `{"argv":["a","b\u0000"],"timeout_seconds":1}`, "argv[1]"},
		{agent.TestRun, `{"argv":"go test","timeout_seconds":1}`, "form"},
		{agent.TestRun, `{"argv":["a"],"timeout_seconds":0}`, "timeout_seconds is 0"}, {agent.TestRun, `{"argv":["a"]}`, "timeout_seconds is 0"},
		{agent.TestRun, `{"argv":["a"],"timeout_seconds":601}`, "timeout_seconds is 601"}, {agent.TestRun, `{"argv":["a"],"timeout_seconds":1.5}`, "form"},
		{agent.TestRun, `{"argv":["` + strings.Repeat("a", conversation.MaxArg+1) + `"],"timeout_seconds":1}`, "4001 characters"},
		{agent.TestRun, `{"argv":["a"` + strings.Repeat(`,"a"`, conversation.MaxArgv) + `],"timeout_seconds":1}`, "argv has 65"},
		{agent.ShellCommand, `{"script":" \n","timeout_seconds":1}`, "script is empty"},
		{agent.ShellCommand, `{"script":"` + strings.Repeat("x", conversation.MaxScript+1) + `","timeout_seconds":1}`, "16001 characters"},
		{agent.ShellCommand, `{"script":"ls","timeout_seconds":1} {}`, "follows"},
		{agent.ShellCommand, `null`, "script is empty"}, {agent.ShellCommand, `[]`, "form"}, {agent.ShellCommand, ``, "form"},
		{"rm", `{}`, "no action of type"},
	} {
		p, problems := conversation.ReadPayload(tt.typ, []byte(tt.text))
		if len(problems) == 0 || !strings.Contains(strings.Join(problems, "; "), tt.says) || p.Files != nil || p.Argv != nil || p.Script != "" {
			t.Errorf("%s %.80s: %q, not %q", tt.typ, tt.text, problems, tt.says)
		}
	}
}
