package conversation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func TestAKeptPayloadSaysItsFilesAndWhatItMakesOfThem(t *testing.T) {
	base := treeOf(t, file("edited", "a\nb\n"), file("deleted", "x\n"), file("empty", ""))
	p, problems := conversation.ReadPayload(agent.CodeGenerate, []byte(`{"files":[{"path":"new","content":"x\n"},{"path":"none","content":""},{"path":"empty","content":"y"}],
		"edits":[{"path":"edited","old":"b","new":"B"}],"delete":["deleted"]}`))
	expect.Must(t, problems == nil, "%v", problems)
	kept, problems := p.Complete(agent.CodeGenerate, conversation.On{Base: "v1"}, base)
	expect.Must(t, problems == nil, "%v", problems)
	read, problems := conversation.ReadKept(agent.CodeGenerate, []byte(kept.JSON()))
	expect.Must(t, problems == nil && *read.Base == "v1" && read.Files == nil && read.Edits == nil, "%v %+v", problems, read)
	if diff := cmp.Diff(kept, read); diff != "" {
		t.Error(diff)
	}
	// What the agent is told of it makes the same.
	again, problems := read.Proposed().Complete(agent.CodeGenerate, conversation.On{Base: "v1"}, base)
	expect.Must(t, problems == nil, "%v", problems)
	if diff := cmp.Diff(kept, again); diff != "" {
		t.Error(diff)
	}
	for _, typ := range []agent.ActionType{agent.TestRun, agent.ShellCommand} {
		command := conversation.Payload{Argv: []string{"ls"}, TimeoutSeconds: 1}
		if typ == agent.ShellCommand {
			command = conversation.Payload{Script: "ls", TimeoutSeconds: 1}
		}
		kept, problems := command.Complete(typ, conversation.On{}, nil)
		read, wrong := conversation.ReadKept(typ, []byte(kept.JSON()))
		if problems != nil || wrong != nil || read.Base == nil || *read.Base != "" || read.Proposed().JSON() != command.JSON() {
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
