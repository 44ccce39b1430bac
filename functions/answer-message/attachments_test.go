package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/slackapi"
)

// kept are the versions of attachments.
type kept struct {
	trees
	puts int
	full error
}

func (k *kept) Put(_ context.Context, _ aggregate.Ref, t *files.Tree) (string, error) {
	k.puts++
	if k.full != nil {
		return "", k.full
	}
	version := files.Sum(expect.Value(t.Archive())(&testing.T{}))
	k.all[version] = t
	return version, nil
}

// attaching is a conversation in which files are attached, with Slack's files by their ids.
type attaching struct {
	*world
	*kept
	slack map[string][]byte
	asked []string // of Slack
	reads []string // by read-file
	down  error    // read-file's error
	texts map[string]isolated.FileText
}

// attachedTo returns a conversation whose first message has these files, as "name content" by id.
func attachedTo(t *testing.T, list ...string) *attaching {
	t.Helper()
	a := &attaching{kept: &kept{trees: trees{all: map[string]*files.Tree{}}}, slack: map[string][]byte{},
		texts: map[string]isolated.FileText{}}
	in := inbound(root, "U1", "look")
	in.Attachments = a.files(list...)
	a.world = talkingOf(t, in, codex)
	a.Attachments = a.kept
	a.File = func(_ context.Context, _ aggregate.Ref, id string, most int) (slackapi.File, error) {
		a.asked = append(a.asked, id)
		body, there := a.slack[id]
		switch {
		case !there:
			return slackapi.File{}, errors.New("no answer")
		case len(body) > most:
			return slackapi.File{}, fmt.Errorf("it has %d bytes, the limit is %d: %w", len(body), most,
				slackapi.ErrFile)
		}
		return slackapi.File{Body: body}, nil
	}
	a.Text = func(_ context.Context, _ aggregate.Ref, file []byte) (isolated.FileText, error) {
		name := ""
		for id, body := range a.slack {
			if string(body) == string(file) {
				name = id[1:]
			}
		}
		a.reads = append(a.reads, name)
		if a.down != nil {
			return isolated.FileText{}, a.down
		}
		return a.texts[name], nil
	}
	return a
}

var kinds = map[string]string{"csv": "text/csv", "txt": "text/plain", "png": "image/png",
	"xlsx": "application/vnd.openxmlformats"}

// files returns attachments, as Slack tells of them, of pairs of names and contents; their ids are F and the name.
func (a *attaching) files(pairs ...string) (all []conversation.Attachment) {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, body := pairs[i], []byte(pairs[i+1])
		a.slack["F"+name] = body
		all = append(all, conversation.Attachment{Kind: unread, Name: name,
			Type: kinds[name[strings.LastIndex(name, ".")+1:]], FileID: "F" + name, Bytes: int64(len(body))})
	}
	return all
}

func (a *attaching) tells(ts string, pairs ...string) {
	a.T.Helper()
	in := inbound(ts, "U1", "and this")
	in.Attachments = a.files(pairs...)
	a.Deliver(in)
}

func (a *attaching) answered() *conversation.Conversation {
	a.T.Helper()
	if a.Load().Head.Resting {
		a.Wake()
	}
	expect.Value(a.handle())(a.T)
	return a.Load().Conversation
}

// system returns what Ringi said.
func (a *attaching) system() (all []string) {
	a.T.Helper()
	for _, m := range expect.Value(a.Rows.Messages(a.T.Context(), a.Ref.Tenant, a.Ref.ID, ""))(a.T) {
		if m.Sender == conversation.FromSystem {
			all = append(all, m.Content)
		}
	}
	return all
}

// What anybody attaches lies where commands run, and nobody has approved it: no rule lets a test run beside it, unless
// it says so.
func TestNoRuleApprovesATestBesideAttachments(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		want  conversation.ActionStatus
	}{
		"nothing is attached": {nil, conversation.ActionApproved},
		"a test is attached":  {[]string{"test_x.txt", "import os"}, conversation.ActionPending},
	} {
		a := attachedTo(t, tt.files...)
		s := expect.Value(a.Store.Settings(t.Context(), a.Ref.Tenant))(t)
		byRule("D1", "pytest", ".ringi/in")(&s)
		a.Store = settled{a.Rows, s}
		a.vendor.says.Calls = tests(`["pytest",".ringi/in"]`)
		a.answered()
		x := a.Load().Current()
		expect.That(t, x != nil && x.Status == tt.want && (x.AttachmentsVersion != "") == (tt.files != nil),
			"%s: %+v", name, x)
	}
}

func TestAttachmentsAreLaidOnce(t *testing.T) {
	a := attachedTo(t, "data.csv", "n,m\n1,2\n", "book.xlsx", "PK\x00", "shot.png", "\x89PNG")
	a.texts["book.xlsx"] = isolated.FileText{Form: isolated.Sheets, Text: "--- sheet ---\n売上\t1\n"}
	s := a.answered()
	tree := a.kept.all[s.AttachmentsVersion]
	expect.Must(t, tree != nil && s.WorkspaceVersion == "" && len(s.Attached) == 3, "%+v", s)
	expect.Same(t, []string{"book.xlsx", "book.xlsx.txt", "data.csv", "shot.png"}, tree.Paths())
	expect.Same(t, []string{"Fdata.csv", "Fbook.xlsx", "Fshot.png"}, a.asked)
	expect.Same(t, []string{"book.xlsx"}, a.reads)
	told := a.told()
	for _, part := range []string{`n,m\\n1,2`, `売上\\t1`, `\"lies_at\":\".ringi/in/book.xlsx\"`,
		`\"text_at\":\".ringi/in/book.xlsx.txt\"`, "the image is attached"} {
		expect.Has(t, told, part)
	}
	// Later turns ask neither Slack nor read-file again, and move nothing.
	a.Tell(second, "U1", "and?")
	before := s.AttachmentsVersion
	s = a.answered()
	expect.That(t, s.AttachmentsVersion == before && len(a.asked) == 3 && len(a.reads) == 1 && a.puts == 1,
		"%+v, asked %v", s, a.asked)
	expect.Has(t, a.told(), `売上\\t1`)
	// Another file makes another version; the earlier ones stay as they are.
	a.tells(third, "data.csv", "n,m\n1,2\n")
	a.tells(fourth, "more.txt", "more")
	s = a.answered()
	expect.That(t, s.AttachmentsVersion != before && len(s.Attached) == 4 && len(a.asked) == 4,
		"%+v, asked %v", s.Attached, a.asked)
	expect.Is(t, len(a.system()), 0, "what Ringi said")
}

// A crash before the commit lays the same again; the answer that is committed is the only one that moves the version.
func TestARetryLaysTheSame(t *testing.T) {
	a := attachedTo(t, "data.csv", "1")
	a.vendor.err = errors.New("down")
	_, err := a.handle()
	expect.That(t, err != nil && a.Load().Conversation.AttachmentsVersion == "" && a.puts == 1, "%v", err)
	a.vendor.err = nil
	s := a.answered()
	expect.That(t, len(s.Attached) == 1 && len(a.kept.all) == 1 && a.kept.all[s.AttachmentsVersion] != nil,
		"%+v of %d versions", s.Attached, len(a.kept.all))
}

// What can't be laid or read is said once in the thread, and named to the agent.
func TestWhatCantBeReadIsSaid(t *testing.T) {
	a := attachedTo(t, "plan.pdf", "%PDF\x00", "big.csv", strings.Repeat("x", isolated.MaxFile+1),
		"secret.xlsx", "PK\x00", "lost.txt", "", "macro.xlsx", "PK\x00\x00")
	delete(a.slack, "Flost.txt")
	a.texts = map[string]isolated.FileText{"plan.pdf": {Why: isolated.PDF}, "secret.xlsx": {Why: isolated.Encrypted},
		"macro.xlsx": {Form: isolated.Sheets, Text: "x", Remarks: []isolated.FileRemark{isolated.HasMacros}}}
	s := a.answered()
	expect.Is(t, len(s.Attached), 3, "laid files")
	said := a.system()
	expect.Must(t, len(said) == 1, "%q", said)
	for i, part := range []string{"About", "plan.pdf: PDF", "big.csv: Too large", "secret.xlsx: It is password",
		"lost.txt: Couldn't get it from Slack", "macro.xlsx: Its macros"} {
		expect.Has(t, strings.Split(said[0], "\n")[i], part)
	}
	var quoted []string // of what Ringi says, names alone are others' words
	for _, m := range expect.Value(a.Rows.Messages(t.Context(), a.Ref.Tenant, a.Ref.ID, ""))(t) {
		for _, p := range m.Pieces() {
			if m.Sender == conversation.FromSystem && p.Quoted {
				quoted = append(quoted, p.Text)
			}
		}
	}
	expect.Same(t, []string{"plan.pdf", "big.csv", "secret.xlsx", "lost.txt", "macro.xlsx"}, quoted)
	expect.Has(t, a.told(), "its text can't be read (encrypted); a command can use the file")
	a.slack["Flost.txt"] = []byte("found")
	a.Tell(second, "U1", "again")
	s = a.answered()
	expect.That(t, len(s.Attached) == 4 && len(a.system()) == 1, "%+v, said %q", s.Attached, a.system())
	expect.Has(t, a.told(), "found")
}

func TestMoreThanAConversationHoldsIsSaid(t *testing.T) {
	var pairs []string
	for i := range conversation.MaxAttached {
		pairs = append(pairs, fmt.Sprintf("%02d.txt", i), fmt.Sprint(i))
	}
	a := attachedTo(t, pairs...)
	expect.Is(t, len(a.answered().Attached), conversation.MaxAttached, "laid files")
	a.tells(second, "more.txt", "the 21st")
	s := a.answered()
	expect.Is(t, len(s.Attached), conversation.MaxAttached, "laid files")
	said := a.system()
	expect.That(t, len(said) == 1 && strings.Contains(said[0],
		"• more.txt: This conversation has reached its limit of 20 attachments"),
		"%q", said)
	expect.Has(t, a.told(), "holds 20 attachments")
	a.Tell(third, "U1", "and?")
	a.answered()
	expect.Is(t, len(a.system()), 1, "said once")
}

// Files beyond those that are read of one message are said, for each message once, and nobody asks Slack for them.
func TestFilesBeyondThoseOfAMessageAreSaid(t *testing.T) {
	a := attachedTo(t, "a.txt", "1")
	a.answered()
	for _, ts := range []string{second, third} {
		in := inbound(ts, "U1", "and these")
		in.Attachments = []conversation.Attachment{{Kind: unread, Name: "+5", FileID: "beyond " + ts,
			Why: conversation.Beyond}}
		a.Deliver(in)
		expect.Is(t, len(a.answered().Attached), 1, "laid files")
	}
	said := a.system()
	expect.That(t, len(said) == 2 && strings.Contains(said[1], "• +5: At most 20 files of one message are read."), "%q",
		said)
	expect.Has(t, a.told(), conversation.Beyond)
}

// A function that is down keeps nobody from an answer; the next turn has the file read.
func TestAFileIsReadLaterIfNobodyReadsItNow(t *testing.T) {
	a := attachedTo(t, "book.xlsx", "PK\x00")
	a.down = errors.New("no capacity")
	s := a.answered()
	expect.That(t, len(s.Attached) == 1 && s.Attached[0].Why == conversation.NotNow && s.Attached[0].Text == "",
		"%+v", s.Attached)
	a.down, a.texts["book.xlsx"] = nil, isolated.FileText{Form: isolated.Sheets, Text: "in the cells"}
	a.Tell(second, "U1", "again")
	s = a.answered()
	expect.That(t, s.Attached[0].Text == "book.xlsx.txt" && s.Attached[0].Why == "" && len(a.asked) == 1,
		"%+v", s.Attached)
	expect.Has(t, a.told(), "in the cells")
	// The bucket is down: nothing moves, and the agent is told.
	a.tells(third, "now.txt", "now")
	a.kept.full = errors.New("no answer")
	before := s.AttachmentsVersion
	s = a.answered()
	expect.That(t, s.AttachmentsVersion == before && len(s.Attached) == 1, "%+v", s.Attached)
	expect.Has(t, a.told(), conversation.NotNow)
}

// Attachments that are gone are laid again from Slack.
func TestAttachmentsThatAreGoneAreLaidAgain(t *testing.T) {
	a := attachedTo(t, "data.csv", "1")
	before := a.answered().AttachmentsVersion
	clear(a.kept.all)
	a.tells(second, "more.csv", "2")
	s := a.answered()
	expect.That(t, s.AttachmentsVersion != before && len(s.Attached) == 2 &&
		len(a.kept.all[s.AttachmentsVersion].Paths()) == 2, "%+v", s.Attached)
}

// The agent finds attachments beside the files by its tools, and a proposal names them.
func TestTheAgentReadsAttachmentsByItsTools(t *testing.T) {
	a := attachedTo(t, "data.csv", "部署,金額\n営業,1200\n")
	list := &trees{all: map[string]*files.Tree{}}
	list.holds("attachments/own.txt", "the source's")
	a.Files = list
	a.version("v1")
	a.answers(reading(callOf("list_files", `{"path":""}`)), reading(callOf("search", `{"text":"営業","path":""}`)),
		reading(callOf("read_file", `{"path":".ringi/in/data.csv","from":1,"to":0}`)),
		model.Response{Text: "done", Calls: []model.Call{callOf("shell_command",
			`{"script":"cat .ringi/in/data.csv","timeout_seconds":60,"summary":"shows it"}`)}})
	s := a.answered()
	told := a.told()
	for _, part := range []string{`"path":".ringi/in/data.csv","bytes":26,"lines":2`, `"path":"attachments/own.txt"`,
		`"path":".ringi/in/data.csv","line":2,"text":"営業,1200"`, `1: 部署,金額`} {
		expect.Has(t, strings.ReplaceAll(told, `\"`, `"`), part)
	}
	expect.Is(t, list.got, 1, "the archive was opened")
	x := a.Load().Current()
	expect.Must(t, x != nil && x.AttachmentsVersion == s.AttachmentsVersion && x.Base == "v1", "%+v", x)
	expect.Has(t, string(x.Payload.JSON), `"attachments_version":"`+s.AttachmentsVersion)
	// A file that is posted while people decide moves the conversation's attachments, and not the action's.
	a.answers(model.Response{Text: "seen"})
	a.tells(second, "more.csv", "2")
	s = a.answered()
	y := a.Load().Current()
	expect.That(t, s.AttachmentsVersion != y.AttachmentsVersion && y.AttachmentsVersion == x.AttachmentsVersion,
		"%+v", y)
	needed := a.Load().Versions()
	for _, v := range []string{s.AttachmentsVersion, x.AttachmentsVersion} {
		expect.That(t, strings.Contains(strings.Join(needed, " "), v), "%s may expire: %v", v, needed)
	}
}
