package faults

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/faults/testdata/kind/shared/domain/note"
	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// mostEdited is how many existing files a new kind may have to change.
const mostEdited = 8

// noteRun is one note from start to end, and what its functions did.
type noteRun struct {
	*harness
	*trace
	notes  store.KindStore[*note.Aggregate]
	ref    aggregate.Ref
	thread string
}

// kept is a note's result.
type kept struct {
	Kept  bool
	Cards []string // the messages of its thread
	Audit []string
	Runs  []string
}

// TestANewKindNeedsFewFiles adds a kind to a copy of this module, with its own prefix, state machine, function and
// card. At night it compiles the copy and kills the kind's processes as a task's.
func TestANewKindNeedsFewFiles(t *testing.T) {
	root, edited := withNewKind(t)
	t.Logf("a new kind touches %d files that are there: %v", len(edited), edited)
	expect.That(t, len(edited) <= mostEdited, "more than %d", mostEdited)
	if !expect.Long() {
		return
	}
	rulesHold(t, root)
	b := expect.Value(open(t.Context(), filepath.Join(root, "template.yaml"), binaries(t, root)))(t)
	t.Cleanup(b.Close)
	var base kept
	var all []trial
	if !t.Run("undisturbed", func(t *testing.T) {
		k := b.begin(t)
		base = k.end(t)
		want := kept{
			Kept: true, Cards: []string{"kept: milk"}, Audit: []string{"note.begun", "note.approved",
				"note.kept"}, Runs: []string{"SUCCEEDED"},
		}
		if diff := cmp.Diff(want, base); diff != "" {
			t.Fatal(diff)
		}
		for _, p := range k.points() {
			all = append(all, trial{scenario: scenario{name: "note"}, kills: []point{p}})
		}
	}) {
		return
	}
	t.Run("a crash anywhere", func(t *testing.T) {
		b.notesSurvive(t, base, all, len(all))
	})
	t.Run("what the relay never gets, the sweeper finds", func(t *testing.T) {
		k := b.begin(t, func(k *noteRun) { k.sweeperOnly = true })
		if diff := cmp.Diff(base, k.end(t)); diff != "" || k.met("RelayChangesFunction", lambda.KindStart) > 0 {
			t.Error("the relay was not left out, or:", diff)
		}
	})
	t.Run("deliveries that are repeated, late and in another order", func(t *testing.T) {
		over := b.delivery.disturb(seed)
		b.notesSurvive(t, base, make([]trial, 6), 6)
		if n := over(); n == 0 {
			t.Error("every delivery was as it should be")
		}
	})
}

// notesSurvive runs a note for each trial, concurrently, and compares the results with the undisturbed one.
func (b *harness) notesSurvive(t *testing.T, base kept, trials []trial, of int) {
	t.Helper()
	begun := time.Now()
	var never unmet
	sideBySide(t, trials, func(try driver.T, _ int, kills []point) {
		k := b.begin(try, func(k *noteRun) { k.kills = slices.Clone(kills) })
		if diff := cmp.Diff(base, k.end(try)); diff != "" {
			driver.Failf("note %s: %s", k.ref.ID, diff)
		}
		never.count(t, k.trace, kills)
	})
	t.Logf("%d of %d points; %s; seed %d", len(trials), of, time.Since(begun).Round(time.Second), seed)
	never.few(t, len(trials))
}

// begin makes a note of a person's message.
func (b *harness) begin(t driver.T, prepare ...func(*noteRun)) *noteRun {
	t.Helper()
	ref := note.RefOf(aggregate.TenantID(b.Sandbox.TeamID()), note.NewID())
	k := &noteRun{harness: b, trace: newTrace(), ref: ref,
		notes: store.KindStore[*note.Aggregate]{Store: store.New(b.db, b.TableName, note.Kind)}}
	for _, p := range prepare {
		p(k)
	}
	k.recorded = len(k.kills) == 0
	k.dying = func(c lambda.Call) {
		if c.Function == "UpdateCardFunction" {
			k.pass(t, "CARD#note", "SET claimed_at = :past", "attribute_exists(claimed_at)")
		}
	}
	b.injector.knows(strings.TrimPrefix(ref.ID, "note-"), k.trace)
	var err error
	if k.thread, err = b.Sandbox.Say(webapi.Sato, webapi.HR, "milk"); err != nil {
		t.Fatal(err)
	}
	n := note.Note{Text: "milk", TeamID: b.Sandbox.TeamID(), UserID: webapi.Sato, Channel: webapi.HR, ThreadTS: k.thread}
	begun := expect.Value(note.Begin(ref, n, time.Now()))(t)
	expect.NoError(t, k.notes.Create(context.Background(), ref, begun))
	return k
}

// pass makes time pass for one of the note's rows if the condition holds.
func (k *noteRun) pass(t driver.T, sk, update, condition string) {
	pk, _ := aggregate.Kinds{note.Kind}.Partition(k.ref)
	_, err := k.db.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &k.TableName, UpdateExpression: &update, ConditionExpression: &condition,
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk},
			"SK": &types.AttributeValueMemberS{Value: sk}},
		ExpressionAttributeValues: map[string]types.AttributeValue{":past": &types.AttributeValueMemberS{Value: driver.Moment(time.Now().Add(-2 * time.Minute))}},
	})
	var moved *types.ConditionalCheckFailedException
	expect.That(t, err == nil || errors.As(err, &moved), "change %s: %v", sk, err)
}

func (k *noteRun) sweep(t driver.T) {
	k.pass(t, aggregate.HeadKey, "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)")
	k.clock.mu.Lock()
	defer k.clock.mu.Unlock()
	if _, err := k.Fire(context.Background(), sweeper); err != nil {
		t.Fatal("sweep:", err)
	}
}

// approve has a person press the button on the note's card, if there is one.
func (k *noteRun) approve() {
	for _, m := range k.Sandbox.Messages(webapi.HR, k.thread) {
		if m.TS != k.thread {
			_ = k.Sandbox.Click(webapi.Suzuki, webapi.HR, m.TS, "approve_note") // who isn't heard presses it again
		}
	}
}

// end waits until the note is approved, kept and shown, sweeps once more, and returns the result.
func (k *noteRun) end(t driver.T) (out kept) {
	t.Helper()
	k.rest(t)
	k.sweep(t)
	a := k.rest(t)
	out.Kept = a.Note.KeptAt != nil
	for _, m := range k.Sandbox.Messages(webapi.HR, k.thread) {
		if m.TS != k.thread {
			out.Cards = append(out.Cards, m.Text)
		}
	}
	page := expect.Value(k.notes.Audit(context.Background(), k.ref.Tenant, store.AuditFilter{Resource: k.ref.ID}, "",
		100))(t)
	for _, x := range slices.Backward(page.Items) {
		out.Audit = append(out.Audit, string(x.Action))
	}
	view := expect.Value(k.Task(context.Background(), k.ref.ID))(t)
	for _, run := range view.Runs {
		out.Runs = append(out.Runs, run.Status)
	}
	return out
}

// rest polls until nothing is left to do. If that takes long it sweeps, and a person presses the button again.
func (k *noteRun) rest(t driver.T) (a *note.Aggregate) {
	t.Helper()
	nudge, press := time.Now().Add(3*time.Second), time.Now()
	for end := time.Now().Add(stepTimeout); time.Now().Before(end); {
		var err error
		if a, err = k.notes.Load(context.Background(), k.ref); err != nil {
			t.Fatal(err)
		}
		view, err := k.Task(context.Background(), k.ref.ID)
		open := slices.ContainsFunc(view.Runs, func(r stack.RunView) bool { return r.Status == "RUNNING" })
		if err == nil && !open && a.Note.KeptAt != nil && a.Head.ShownRev >= a.Head.Rev {
			return a
		}
		if shown := a.Head.ShownRev >= a.Head.Rev; shown && a.IsOpen(k.ref.ID) && time.Now().After(press) {
			k.approve()
			press = time.Now().Add(2 * time.Second)
		}
		if time.Now().After(nudge) {
			k.sweep(t)
			nudge = time.Now().Add(3 * time.Second)
		}
		_ = clock.Sleep(context.Background(), 40*time.Millisecond)
	}
	t.Fatalf("note %s does not come to an end: %+v %+v", k.ref.ID, a.Head, a.Note)
	return nil
}

// newKind has the files that the kind of notes adds, except its part of template.yaml.
const newKind = "testdata/kind"

// edits returns the kind's changes of existing files: by file, pairs of old and new text.
func edits(t *testing.T) map[string][][2]string {
	after := func(anchor, text string) [2]string { return [2]string{anchor, anchor + text} }
	before := func(anchor, file string) [2]string {
		text := expect.Value(os.ReadFile(filepath.Join(newKind, file)))(t)
		return [2]string{anchor, string(text) + anchor}
	}
	return map[string][][2]string{
		"shared/store/store.go": {
			after("\t\"ringi/shared/runtime/boot\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("aggregate.Kinds{TaskKind()", ", note.Kind"),
			after("task.Kind.Name: env.StateMachineARN", ", note.Kind.Name: env.NotesARN"),
		},
		"shared/runtime/boot/boot.go": {
			after("type Effects struct {\n", "\tNotesARN string `env:\"NOTES_ARN\" doc:\"the state machine of notes\"`\n"),
		},
		"shared/slack/card/dialogs.go": {
			after("\t\"ringi/shared/domain/conversation\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("switch a := a.(type) {\n", "\tcase *note.Aggregate:\n\t\treturn noteDialogs{a}\n"),
		},
		"shared/slack/card/homeline.go": {
			after("\t\"ringi/shared/domain/conversation\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("\ttitle := \"\"\n\tswitch a := x.Of.(type) {\n",
				"\tcase *note.Aggregate:\n\t\ttitle = escape(a.Note.Text)\n"),
		},
		"functions/update-card/main.go": {
			after("\t\"ringi/shared/store\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("Kinds: map[string]Kind{", "note.Kind.Name: noteCards{}, "),
		},
		"infra/local/sandbox/ui/run.js": {
			after("    case \"HEAD\": return t(\"rowHead\");\n", "    case \"NOTE\": return t(\"rowNote\");\n"),
		},
		"infra/local/sandbox/ui/i18n.js": {
			after(" rowHead: \"現在の状態\",", " rowNote: \"メモ\","),
			after(" rowHead: \"Current state\",", " rowNote: \"Note\","),
		},
		"template.yaml": {
			after("          STATE_MACHINE_ARN: !Ref Pipeline\n", "          NOTES_ARN: !Ref Notes\n"),
			before("  # ---- from rows to effects", "resources.yaml"),
			before("  # ---- logs and alarms", "roles.yaml"),
		},
	}
}

// withNewKind returns a copy of this module with the kind of notes, and the files that were edited for it.
func withNewKind(t *testing.T) (root string, edited []string) {
	t.Helper()
	module := expect.Value(process.ModuleRoot())(t)
	root = t.TempDir()
	copyTree(t, module, root)
	changes := edits(t)
	edited = slices.Sorted(maps.Keys(changes))
	for _, name := range edited {
		path := filepath.Join(root, name)
		text := expect.Value(os.ReadFile(path))(t)
		for _, e := range changes[name] {
			if !strings.Contains(string(text), e[0]) {
				t.Fatalf("%s has no %q any more: where does a kind's part go now?", name, e[0])
			}
			text = []byte(strings.ReplaceAll(string(text), e[0], e[1]))
		}
		expect.NoError(t, os.WriteFile(path, text, 0o600))
	}
	for _, dir := range []string{"shared", "functions", "infra"} {
		copyTree(t, filepath.Join(newKind, dir), filepath.Join(root, dir))
	}
	return root, edited
}

// copyTree copies files that don't exist yet, except hidden ones.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	expect.NoError(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch hidden := name != "." && strings.HasPrefix(entry.Name(), "."); {
		case hidden && entry.IsDir():
			return filepath.SkipDir
		case hidden, !entry.IsDir() && !entry.Type().IsRegular():
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out, err := os.OpenFile(filepath.Join(to, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
		return out.Close()
	}))
}

// met are the functions that handle notes, by logical id. The others are compiled to check that they compile, but not
// linked if RINGI_ARTIFACTS has them: linking takes most of the time.
var met = map[string]string{
	"KeepNoteFunction": "keep-note", "ReceiveInteractionFunction": "receive-interaction",
	"RelayChangesFunction": "relay-changes", "UpdateCardFunction": "update-card",
	"SweepTasksFunction": "sweep-tasks", "SealAuditFunction": "seal-audit",
}

// binaries returns a folder with the copy's binaries, or "" if the stack is to build them.
func binaries(t *testing.T, root string) string {
	if os.Getenv("RINGI_ARTIFACTS") == "" {
		return ""
	}
	others := expect.Value(filepath.Abs(os.Getenv("RINGI_ARTIFACTS")))(t)
	run := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	const flags = "-ldflags=-s -w"
	run("list", "-export", "./functions/...")
	folder := filepath.Join(root, ".artifacts")
	for id, name := range met {
		run("build", "-buildvcs=false", flags, "-o", filepath.Join(folder, id, "bootstrap"),
			"./functions/"+name)
	}
	for _, other := range expect.Value(os.ReadDir(others))(t) {
		if met[other.Name()] == "" {
			expect.NoError(t, os.Symlink(filepath.Join(others, other.Name()), filepath.Join(folder, other.Name())))
		}
	}
	return folder
}

// rulesHold runs the tests of template, permissions, imports, documents and the sandbox's texts in a copy of this
// module: they would fail for a kind that needs changes in other files. It leaves out the rules' own tests, and those
// that need tools that a copy lacks.
func rulesHold(t *testing.T, root string) {
	t.Helper()
	for _, args := range [][]string{
		{"./infra", "-skip", "TestRunsGoWhereTheRowsSay|TestRulesNoticeMistakes"}, {"./infra/local/sandbox", "-run",
			"TestThePanelHasAWord"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-trimpath", "-timeout=20m"}, args...)...)
		cmd.Env = append(os.Environ(), "CI=", "RINGI_LONG=")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
