//go:build linux

package main

import (
	"net/http"
	"strings"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

func tree(t *testing.T, files ...string) []byte {
	t.Helper()
	var all []conversation.File
	for i := 0; i+1 < len(files); i += 2 {
		all = append(all, conversation.File{Path: files[i], Content: files[i+1]})
	}
	return expect.Value(expect.Value((&conversation.Tree{}).Apply(all))(t).Archive())(t)
}

// attached returns an order whose command finds attachments beside its files.
func attached(t *testing.T, script string, files []string, attachments ...string) (*store, isolated.Order) {
	t.Helper()
	s := newStore(t)
	s.archive = tree(t, files...)
	archive := tree(t, attachments...)
	s.Config.Handler.(*http.ServeMux).HandleFunc("GET /attachments",
		func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) })
	o := s.order(script)
	o.Workspace, o.Attachments = s.URL+"/workspace", s.URL+"/attachments"
	return s, o
}

func TestACommandReadsAttachmentsBesideItsFiles(t *testing.T) {
	t.Parallel()
	inBox(t, func(t *testing.T, l level) {
		s, o := attached(t, `cat .ringi/in/a.csv && cp .ringi/in/a.csv report.csv && ls .ringi/in`,
			[]string{"attachments/own.txt", "the source's own"}, "a.csv", "n\n1\n", "b (2).xlsx", "PK")
		got := run(t, l, o)
		expect.NoError(t, got.err)
		expect.That(t, got.end.ExitCode == 0 && len(got.end.Left) == 0, "%+v", got.end)
		expect.Is(t, got.text(), "n\n1\na.csv\nb (2).xlsx", "what it printed")
		expect.Same(t, []string{"attachments/own.txt", "report.csv"}, s.after(t).Paths())
	})
}

// What a command writes to attachments fails, or is dropped; nothing of it is ever in a version.
func TestAttachmentsNeverBecomeFiles(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it writes a file":        `echo x > .ringi/in/new`,
		"it changes one":          `echo x >> .ringi/in/a.csv`,
		"it deletes one":          `rm -f .ringi/in/a.csv`,
		"it changes the modes":    `chmod -R u+w .ringi/in/; echo x > .ringi/in/new`,
		"it replaces the place":   `rm .ringi/in; mkdir .ringi/in; echo x > .ringi/in/a.csv`,
		"it replaces the folder":  `rm -r .ringi; echo x > .ringi`,
		"it makes a link of it":   `rm -r .ringi; ln -s . .ringi`,
		"it moves the folder":     `mv .ringi other`,
		"it makes it by a folder": `rm .ringi/in; mkdir -p sub; mv sub .ringi/in; echo x > .ringi/in/a`,
	} {
		t.Run(name, func(t *testing.T) {
			inBox(t, func(t *testing.T, l level) {
				s, o := attached(t, script+"; echo kept > kept", []string{".ringi/settings", "the source's"}, "a.csv", "n\n1\n")
				got := run(t, l, o)
				expect.NoError(t, got.err)
				expect.That(t, got.end.ExitCode == 0 && got.end.Version != "", "%+v: %s", got.end, got.text())
				for _, p := range s.after(t).Paths() {
					expect.That(t, p == "kept" || p == ".ringi/settings" || p == "other/settings", "the version has %s", p)
				}
				if l != machine && !strings.Contains(script, "rm") && !strings.Contains(script, "mv") {
					expect.That(t, got.text() != "", "writing did not fail")
				}
			})
		})
	}
}

func TestAnActionWhoseAttachmentsAreGoneDoesNotBegin(t *testing.T) {
	s := newStore(t)
	o := s.order("echo x")
	o.Attachments = s.URL + "/nothing"
	got := run(t, namespaces, o)
	expect.Fails(t, got.err, isolated.ErrCannot, "the attachments are gone")
}
