package faults

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
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

const sender = "AnswerMessageFunction"

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
