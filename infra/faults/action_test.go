package faults

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// asked counts how often call-tool asked freee for employees.
func (k *talk) asked() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, times := range k.left {
		if strings.HasPrefix(key, "CallToolFunction ") && strings.Contains(key, "/employees") {
			n += times
		}
	}
	return n
}

// TestACrashInACallOfAToolCallsNothingTwice kills call-tool anywhere while it reads: the action is done and names what
// was returned, or it failed and did nothing, and the tool was called by one claim.
func TestACrashInACallOfAToolCallsNothingTwice(t *testing.T) {
	t.Parallel()
	b := running
	driver.Settings(t, b.Stack, func(s *tenancy.Settings) { driver.ListEmployees(s, "codex", webapi.Sato) })
	begin := func(t driver.T, kills ...point) *talk { return b.says(t, "list the employees", kills...) }
	first := begin(t)
	if x := first.end(t); x.Status != conversation.ActionSucceeded || x.CallResult == nil {
		t.Fatalf("undisturbed, the call is %s (%s %s): %v", x.Status, x.Error, x.ErrorDetail, first.counts)
	}
	once := first.asked()
	points := slices.DeleteFunc(first.points(), func(p point) bool { return p.function != "CallToolFunction" })
	expect.Must(t, len(points) != 0, "call-tool has no crash point")
	trials := byDay(trialsOf(points))
	sideBySide(t, trials, func(t driver.T, _ int, kills []point) {
		k := begin(t, kills...)
		x := k.end(t)
		done := x.Status == conversation.ActionSucceeded && x.CallResult != nil
		nothing := x.Status == conversation.ActionFailed && x.Outcome == "" && x.CallResult == nil
		if !done && !nothing || k.asked() > once {
			driver.Failf("the call is %s (%s %q) after %d of %d requests", x.Status, x.Error, x.Outcome, k.asked(), once)
		}
	})
	t.Logf("%d points of call-tool, %d requests each; seed %d", len(trials), once, seed)
}

// script leaves traces in the files.
const script = "run: echo one >> log.txt; sleep 0.5; echo two >> log.txt; echo three >> log.txt; cat log.txt"

// runs has people approve a command, and returns it when it is over. Kills are of what comes after the approval.
func (b *harness) runs(t driver.T, kills ...point) (*talk, *conversation.Action) {
	t.Helper()
	k := b.says(t, script)
	k.until(t, "the command proposed", func(a *conversation.Aggregate) bool { return a.Current() != nil && k.rests(a) })
	k.anew(kills...)
	return k, k.end(t)
}

// ranOnce checks that the command ran once at most, and that row, files and card say what is known: it has succeeded,
// or nobody knows.
func (k *talk) ranOnce(t driver.T, x *conversation.Action) {
	t.Helper()
	s, d := k.load(t).Conversation, k.dialogue(t)
	log := ""
	if s.WorkspaceVersion != "" {
		of := k.ref
		tree := expect.Value(large.OpenVersions(k.AWS, k.BucketName).Get(context.Background(), of, s.WorkspaceVersion))(t)
		content, _ := tree.Content("log.txt")
		log = string(content)
	}
	succeeded := x.ExitCode != nil && *x.ExitCode == 0
	switch {
	case k.started() > 1:
		driver.Failf("session %s: the command was started %d times", k.ref.ID, k.started())
	case x.Status == conversation.ActionSucceeded && succeeded && x.Version == s.WorkspaceVersion &&
		log == "one\ntwo\nthree\n":
		d.Shows("Action #1 done", "three")
	case x.Status == conversation.ActionSucceeded && succeeded && x.NotTaken && log == "": // its claim had ended
		d.Shows("Action #1 done", "three", "did not become the conversation's")
	case x.Status == conversation.ActionFailed && x.Outcome == conversation.OutcomeUnknown && log == "":
		d.Shows("Action #1: outcome unknown")
	default:
		driver.Failf("session %s: the command is %s (%s %q %q), its files %q say %q",
			k.ref.ID, x.Status, x.Error, x.ErrorDetail, x.Outcome, s.WorkspaceVersion, log)
	}
}

// outsideTheCommand reports whether a point is not between the first two writes of run-action. The first is its claim.
func outsideTheCommand(p point) bool {
	claimed := p.ordinal == 1 && p.kill == lambda.After || p.ordinal == 2 && p.kill == lambda.Before
	return p.function != "RunActionFunction" || p.kind != "DynamoDB.TransactWriteItems" || !claimed
}

// TestACrashInACommandRunsItOnce kills the process that runs a command anywhere, by day between its claim and its end:
// a command that may have begun is not begun again, and nobody is told that it has not run.
func TestACrashInACommandRunsItOnce(t *testing.T) {
	t.Parallel()
	b := running
	first, x := b.runs(t)
	first.ranOnce(t, x)
	all := first.points()
	expect.Must(t, x.Status == conversation.ActionSucceeded && first.started() == 1, "undisturbed, the command is %+v", x)
	trials := trialsOf(all)
	ends := map[conversation.ActionStatus]int{}
	if !expect.Long() {
		trials = sample(trialsOf(slices.DeleteFunc(slices.Clone(all), outsideTheCommand)), 1)
		ends[x.Status]++ // nothing is killed before the command
	}
	var never unmet
	sideBySide(t, trials, func(try driver.T, _ int, kills []point) {
		k, x := b.runs(try, kills...)
		k.ranOnce(try, x)
		never.count(t, k.trace, kills)
		never.mu.Lock()
		defer never.mu.Unlock()
		ends[x.Status]++
	})
	never.few(t, len(trials))
	expect.That(t, ends[conversation.ActionFailed] != 0 && ends[conversation.ActionSucceeded] != 0,
		"no crash was before, or none in the command: %v", ends)
	t.Logf("%d of %d points: %v; seed %d", len(trials), len(all), ends, seed)
}

// TestACrashWhileARequestIsMadeMakesOneTask kills processes between the agent's offer, the person's press and the task.
func TestACrashWhileARequestIsMadeMakesOneTask(t *testing.T) {
	t.Parallel()
	b := running
	const text = "従業員一覧を取得して。これは稟議にします"
	first := b.says(t, text)
	first.makesRequest(t)
	all := trialsOf(first.points())
	trials := byDay(all)
	sideBySide(t, trials, func(t driver.T, _ int, kills []point) { b.says(t, text, kills...).makesRequest(t) })
	t.Logf("%d of %d points; seed %d", len(trials), len(all), seed)
}

// makesRequest presses the button of the agent's offer, and waits until its task is made once and the session is idle.
func (k *talk) makesRequest(t driver.T) {
	t.Helper()
	k.until(t, "the request offered", func(a *conversation.Aggregate) bool { return a.OpenOffer() != nil && k.rests(a) })
	d := k.dialogue(t)
	on := d.Shows("The agent wants to make this request.")
	var id string
	k.until(t, "the task made", func(a *conversation.Aggregate) bool {
		expect.Must(t, len(a.Offered) == 1, "session %s offers %d requests", k.ref.ID, len(a.Offered))
		if id = a.Offered[0].TaskID; id == "" {
			_ = k.Sandbox.Click(webapi.Sato, webapi.HR, on.TS, card.MakeRequest)
		}
		return a.Offered[0].Done && k.rests(a)
	})
	made := expect.Value(store.NewTasks(k.db, k.TableName).Load(context.Background(), task.RefOf(k.ref.Tenant, id)))(t)
	r := made.Request
	expect.That(t, r.EventID == "session:"+k.ref.ID && r.ThreadTS == k.thread && r.MessageTS == k.thread &&
		r.Text == "従業員一覧を取得して。", "the task's request is %+v", r)
}

const reader = "ReadFileFunction"

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
	of := k.ref
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
	trials := trialsIn(sender, all)
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
	return &driver.Dialogue{T: t, S: k.Stack, User: webapi.Sato, Channel: webapi.HR, Root: k.thread, Timeout: stepTimeout}
}
