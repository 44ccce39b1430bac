package faults

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
)

const (
	reader = "ReadFileFunction"
	// layPoints is how many crash points of the process that lays attachments are tried.
	layPoints = 1
)

// attaches has somebody write to the agent with two files, and then again with one. Kills are of what comes after the
// first such message.
func (b *harness) attaches(t driver.T, kills ...point) *talk {
	t.Helper()
	k := b.says(t, "hello")
	k.answered(t, 1)
	k.anew(kills...)
	d := k.dialogue(t)
	file := func(name, body string) webapi.File {
		return webapi.File{Name: name, MIMEType: "text/plain", Body: []byte(body)}
	}
	d.Attach("<@"+webapi.Bot+"> read .ringi/in/staff.csv", file("staff.csv", "name,hours\nSato,8\n"),
		file("sjis.txt", "\x8e\x52\x93\x63\n"))
	k.answered(t, 2)
	d.Attach("<@"+webapi.Bot+"> list the files", file("staff.csv", "name,hours\nSato,9\n"))
	k.answered(t, 3)
	return k
}

// answered waits until so many messages of people are answered.
func (k *talk) answered(t driver.T, messages int) {
	t.Helper()
	k.until(t, "each message answered", func(*conversation.Aggregate) bool {
		said := expect.Value(k.rows.Messages(context.Background(), k.ref.Tenant, k.ref.ID, ""))(t)
		said = slices.DeleteFunc(said, func(m conversation.Message) bool { return m.Sender != conversation.FromUser })
		return len(said) >= messages && k.rests(k.load(t)) // which is read after the messages
	})
}

// laid checks that each attachment lies once below its own path, beside files that are as they were, and that a command
// which people approve next finds them. A file whose reader died has no text, which people are told.
func (k *talk) laid(t driver.T) {
	t.Helper()
	s := k.load(t).Conversation
	want := map[string]string{
		"staff.csv": "name,hours\nSato,8\n", "staff (2).csv": "name,hours\nSato,9\n", "sjis.txt": "\x8e\x52\x93\x63\n",
		"sjis.txt.txt": "山田\n",
	}
	of := large.VersionsOf{Tenant: k.ref.Tenant, ID: k.ref.ID}
	d := k.dialogue(t)
	for _, x := range s.Attached {
		// a file may have ended it
		if x.Why == string(isolated.TooComplex) && len(k.dead()) > 0 && k.dead()[0].function == reader {
			delete(want, x.Path+".txt")
			d.Shows(x.Path, explain.Unread("ja", x.Why))
		}
	}
	tree := expect.Value(large.OpenVersions(k.AWS, k.BucketName).Attached().Get(context.Background(), of,
		s.AttachmentsVersion))(t)
	for p, content := range want {
		if got, _ := tree.Content(p); string(got) != content {
			driver.Failf("session %s: %s is %q; %v lie there", k.ref.ID, p, got, tree.Paths())
		}
	}
	ids := map[string]bool{}
	for _, x := range s.Attached {
		ids[x.FileID] = true
	}
	if len(tree.Paths()) != len(want) || len(s.Attached) != 3 || len(ids) != 3 || s.WorkspaceVersion != "" {
		driver.Failf("session %s: %v lie there, of %+v, beside files %q", k.ref.ID, tree.Paths(), s.Attached,
			s.WorkspaceVersion)
	}
	d.Reply("<@" + webapi.Bot + "> run: cat '.ringi/in/staff (2).csv'")
	if x := k.end(t); x.Status != conversation.ActionSucceeded || x.AttachmentsVersion != s.AttachmentsVersion {
		driver.Failf("session %s: the command is %s (%s), on %q", k.ref.ID, x.Status, x.Error, x.AttachmentsVersion)
	}
	d.Shows("Action #1 done", "Sato,9")
}

// TestACrashWhileAttachmentsAreLaidLaysEachOnce kills the process that reads and lays attachments at each of its
// points, and others' at some: each attachment lies once, and the command after that finds them.
func TestACrashWhileAttachmentsAreLaidLaysEachOnce(t *testing.T) {
	t.Parallel()
	b := running
	first := b.attaches(t)
	all := first.points()
	first.laid(t)
	reads := slices.ContainsFunc(all, func(p point) bool { return strings.HasPrefix(p.kind, "GET /files-pri/") })
	expect.Must(t, reads, "no file is read in %v", all)
	trials := trialsIn(sender, all, layPoints)
	var never unmet
	sideBySide(t, trials, func(try driver.T, _ int, kills []point) {
		k := b.attaches(try, kills...)
		k.laid(try)
		never.count(t, k.trace, kills)
	})
	never.few(t, len(trials))
	t.Logf("%d of %d points; seed %d", len(trials), len(all), seed)
}

const (
	sender   = "AnswerMessageFunction"
	share    = "POST /api/files.completeUploadExternal"
	fileInfo = "POST /api/files.info"
)

// sends has an action write two files, and a person press the button that sends them into the thread. Kills are of what
// comes after the press.
func (b *harness) sends(t driver.T, before func(k *talk), kills ...point) (*talk, *conversation.Sending) {
	t.Helper()
	k := b.says(t, "make a file")
	if x := k.end(t); x.Status != conversation.ActionSucceeded {
		driver.Failf("session %s: the files are %s (%s)", k.ref.ID, x.Status, x.Error)
	}
	k.anew(kills...)
	before(k)
	return k, k.pressesSend(t)
}

// pressesSend has a person press the button until the press is a commit, and returns what became of the files.
func (k *talk) pressesSend(t driver.T) *conversation.Sending {
	t.Helper()
	d := k.dialogue(t)
	on := d.Shows("Send files")
	d.Eventually("the press is taken", func() bool {
		if s := k.load(t).Actions[0].Sending; s != nil && s.State != conversation.SendingFailed {
			return true
		}
		_ = k.Sandbox.Click(webapi.Sato, webapi.HR, on.TS, card.SendFiles)
		return false
	})
	k.until(t, "the files' sending ended", func(a *conversation.Aggregate) bool {
		s := a.Actions[0].Sending
		return s.State == conversation.SendingDone || s.State == conversation.SendingFailed
	})
	return k.end(t).Sending
}

// anew forgets what was met, so that what comes next has moments and kills of its own.
func (k *talk) anew(kills ...point) {
	dying := k.dying
	k.trace = newTrace(kills...)
	k.recorded = len(kills) == 0
	k.dying = dying
	k.injector.knows(k.ref.ID, k.trace)
}

func (k *talk) dialogue(t driver.T) *driver.Dialogue {
	return &driver.Dialogue{
		T: t, S: k.Stack, User: webapi.Sato, Channel: webapi.HR, Root: k.thread, Timeout: stepTimeout,
	}
}

// inThread returns the messages with files that the app wrote.
func (k *talk) inThread() []webapi.Message {
	return slices.DeleteFunc(k.Sandbox.Messages(webapi.HR, k.thread), func(m webapi.Message) bool {
		return m.User != webapi.Bot || len(m.Files) == 0
	})
}

// standOnce checks that the files stand in the thread in one message, as they were approved, and that row, card and
// audit log say so.
func (k *talk) standOnce(t driver.T, s *conversation.Sending) {
	t.Helper()
	said := k.inThread()
	if s == nil || s.State != conversation.SendingDone || s.Ended == nil || len(said) != 1 || len(said[0].Files) != 2 {
		driver.Failf("session %s: %+v, the thread has %+v", k.ref.ID, s, said)
	}
	a := k.load(t)
	of := large.VersionsOf{Tenant: k.ref.Tenant, ID: k.ref.ID}
	tree := expect.Value(large.OpenVersions(k.AWS, k.BucketName).Get(context.Background(), of, a.Actions[0].Version))(t)
	for i, f := range said[0].Files {
		want, _ := tree.Content(s.Files[i].Path)
		if f.ID != s.Files[i].FileID || f.Title != s.Files[i].Path || string(f.Body) != string(want) || len(want) == 0 {
			driver.Failf("session %s: the thread has %s %s %q, the row %+v", k.ref.ID, f.ID, f.Title, f.Body, s.Files[i])
		}
	}
	d := k.dialogue(t)
	shown := d.Shows("Action #1 done", "sent the files")
	if _, faces := d.Faces(); strings.Contains(strings.Join(faces, "\n"), "Send files") || shown.TS == "" {
		driver.Failf("session %s: the card still has its button", k.ref.ID)
	}
	d.T = t
	if n := len(d.Audit(conversation.AuditFilesSent)); n != 1 {
		driver.Failf("session %s: the audit log has %d presses", k.ref.ID, n)
	}
}

// TestACrashWhileFilesAreSentSharesThemOnce kills the process that sends files at some of its points, and others' that
// take the press and draw the card at some: the files stand in the thread once.
func TestACrashWhileFilesAreSentSharesThemOnce(t *testing.T) {
	expect.AtNight(t) // TestSlackLosesTheAnswerThatFilesAreShared is a sample
	t.Parallel()
	b := running
	nothing := func(*talk) {}
	first, s := b.sends(t, nothing)
	first.standOnce(t, s)
	all := first.points()
	expect.Must(t, first.made(sender, share) == 1 && first.made(sender, fileInfo) == 1, "%v", all)
	trials := trialsOf(all)
	var never unmet
	sideBySide(t, trials, func(try driver.T, _ int, kills []point) {
		k, s := b.sends(try, nothing, kills...)
		k.standOnce(try, s)
		never.count(t, k.trace, kills)
	})
	never.few(t, len(trials))
	t.Logf("%d of %d points; seed %d", len(trials), len(all), seed)
}

// TestSlackLosesTheAnswerThatFilesAreShared answers the call that shares files with Slack's errors, made or not: what
// files.info says decides, and the files stand in the thread once.
func TestSlackLosesTheAnswerThatFilesAreShared(t *testing.T) {
	t.Parallel()
	b := running
	for _, made := range []bool{true, false} {
		if !made && !expect.Long() {
			break
		}
		k, s := b.sends(t, func(k *talk) {
			at := point{function: sender, kind: share, ordinal: 1}
			k.answers(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if made {
					b.Sandbox.Handler().ServeHTTP(httptest.NewRecorder(), r)
				}
				http.Error(w, "bad gateway", http.StatusBadGateway)
			}))
		})
		k.standOnce(t, s)
		want := map[bool]int{true: 1, false: 2}[made]
		expect.Is(t, k.met(sender, share), want, fmt.Sprintf("shared before the answer was lost: %v", made))
	}
}

// TestFilesOfWhichNobodyKnowsAreLookedForFirst loses the process after Slack has shared files, and gives up: the next
// press finds them, and shares nothing.
func TestFilesOfWhichNobodyKnowsAreLookedForFirst(t *testing.T) {
	expect.AtNight(t) // TestSlackLosesTheAnswerThatFilesAreShared is a sample
	t.Parallel()
	b := running
	lost := point{function: sender, kind: share, ordinal: 1, kill: lambda.After}
	k, s := b.sends(t, func(k *talk) {
		dying := k.dying
		k.dying = func(c lambda.Call) {
			dying(c)
			expect.Value(k.rows.Decide(context.Background(), k.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				return a.GiveUp(a.Head.Run, conversation.ReasonRunFailed, time.Now())
			}))(t)
		}
	}, lost)
	expect.Must(t, s.State == conversation.SendingFailed && s.Error == conversation.ReasonNotShared &&
		len(s.Files) == 2, "%+v", s)
	expect.Is(t, len(k.inThread()), 1)
	k.dialogue(t).Shows("Action #1 done", "We couldn't confirm that Slack received the files")
	s = k.pressesSend(t)
	expect.Is(t, s.State, conversation.SendingDone)
	expect.Is(t, len(k.inThread()), 1)
	expect.Is(t, k.met(sender, share), 1)
}
