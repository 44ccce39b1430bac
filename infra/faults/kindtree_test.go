package faults

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

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
		"shared/store/kinds.go": {
			after("\t\"ringi/shared/runtime/boot\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("aggregate.Kinds{TaskKind()", ", note.Kind"),
			after("task.Kind.Name: env.StateMachineARN", ", note.Kind.Name: env.NotesARN"),
		},
		"shared/runtime/boot/config.go": {
			after("type Effects struct {\n", "\tNotesARN string `env:\"NOTES_ARN\" doc:\"the state machine of notes\"`\n"),
		},
		"shared/slack/card/dialogs.go": {
			after("\t\"ringi/shared/domain/conversation\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("switch a := a.(type) {\n", "\tcase *note.Aggregate:\n\t\treturn noteDialogs{a}\n"),
		},
		"shared/slack/card/homeline.go": {
			after("\t\"ringi/shared/domain/conversation\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("\ttitle := \"\"\n\tswitch a := x.Of.(type) {\n", "\tcase *note.Aggregate:\n\t\ttitle = escape(a.Note.Text)\n"),
		},
		"functions/update-card/main.go": {
			after("\t\"ringi/shared/store\"\n", "\t\"ringi/shared/domain/note\"\n"),
			after("Kinds: map[string]Kind{", "note.Kind.Name: noteCards{}, "),
		},
		"infra/local/sandbox/ui/rows.js": {
			after("    case \"HEAD\": return t(\"rowHead\");\n", "    case \"NOTE\": return t(\"rowNote\");\n"),
		},
		"infra/local/sandbox/ui/i18n.js": {
			after(" rowHead: \"現在の状態\",", " rowNote: \"メモ\","),
			after(" rowHead: \"Current state\",", " rowNote: \"Note\","),
		},
		"functions/README.md": {
			before("| `OPENAI_BASE_URL` |", "variables.md"),
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
	"KeepNoteFunction": "keep-note", "ReceiveInteractionFunction": "receive-interaction", "RelayChangesFunction": "relay-changes", "UpdateCardFunction": "update-card",
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
		cmd.Env, cmd.Dir = append(os.Environ(), "CGO_ENABLED=0"), root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	const tags, flags = "-tags=lambda.norpc,nethttpomithttp2", "-ldflags=-s -w"
	run("list", "-trimpath", "-export", tags, "./functions/...")
	folder := filepath.Join(root, ".artifacts")
	for id, name := range met {
		run("build", "-trimpath", "-buildvcs=false", tags, flags, "-o", filepath.Join(folder, id, "bootstrap"), "./functions/"+name)
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
		{"./infra", "-skip", "TestRunsGoWhereTheRowsSay|TestRulesNoticeMistakes"}, {"./infra/local/sandbox", "-run", "TestThePanelHasAWord"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-trimpath", "-timeout=20m"}, args...)...)
		cmd.Env = append(os.Environ(), "CI=", "RINGI_LONG=")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
