package files_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

func edit(path, old, to string) files.Edit { return files.Edit{Path: path, Old: old, New: to} }

// after returns what a file's only change makes of it.
func after(was string, c files.Change) string {
	var b strings.Builder
	at, old := 0, strings.SplitAfter(was, "\n")
	for _, h := range c.Hunks {
		for ; at < h.From-1; at++ {
			b.WriteString(old[at])
		}
		for _, line := range h.Lines {
			if line[0] != '+' {
				at++
			}
			if line[0] != '-' {
				b.WriteString(line[1:])
			}
		}
	}
	return b.String() + strings.Join(old[min(at, len(old)):], "")
}

// A file that is written whole keeps its byte order mark and its line ends, so that only what is meant differs.
func TestAFileWrittenWholeKeepsItsEncoding(t *testing.T) {
	for was, want := range map[string]string{
		"\ufeffa,1\r\nb,2\r\n": "\ufeffa,1\r\nb,3\r\n", "a,1\r\nb,2\r\n": "a,1\r\nb,3\r\n",
		"\ufeffa,1\nb,2\n": "\ufeffa,1\nb,3\n",
		"a,1\nb,2\r\n":     "a,1\nb,3\n", "a,1\nb,2\n": "a,1\nb,3\n",
	} {
		for _, written := range []string{"a,1\nb,3\n", want} {
			changes, problems := treeOf(t, file("f",
				was)).Changes(files.Writing{Files: []files.File{{Path: "f", Content: written}}})
			expect.Must(t, problems == nil && len(changes) == 1, "%q: %+v %v", was, changes, problems)
			expect.Is(t, after(was, changes[0]), want, "%q written as %q", was, written)
			if added, removed := changes[0].Count(); strings.Count(was, "\r\n") != 1 {
				expect.That(t, added == 1 && removed == 1, "%q: +%d −%d lines", was, added, removed)
			}
		}
	}
}

func TestEditsReplaceWhatTheyName(t *testing.T) {
	for _, tt := range []struct {
		was, is string
		edits   []files.Edit
	}{
		{"a\nb\nc\n", "a\nB\nc\n", []files.Edit{edit("f", "b", "B")}},
		{"a\nb\nc\n", "A\nb\nC\n", []files.Edit{edit("f", "c", "C"), edit("f", "a", "A")}},
		{"ab", "AB", []files.Edit{edit("f", "a", "A"), edit("f", "b", "B")}}, // they touch
		{"a\r\nb\r\nc\r\n", "a\r\nB\r\nB2\r\nc\r\n", []files.Edit{edit("f", "b\n", "B\nB2\n")}},
		{"a\r\nb\r\n", "a\r\nB\r\n", []files.Edit{edit("f", "\r\nb\r\n", "\r\nB\r\n")}},
		{"a\nb\nc\n", "a\nx\ny\n", []files.Edit{edit("f", "b\nc\n", "x\ny\n")}},
		{"a\nb\nc\n", "a\nc\n", []files.Edit{edit("f", "b\n", "")}},
		{"a\nb", "a\nB", []files.Edit{edit("f", "b", "B")}},
		{"a\nb", "a\nB\n", []files.Edit{edit("f", "b", "B\n")}},
		{"a\r\nb\r\nc", "a\r\nB\r\nC", []files.Edit{edit("f", "b", "B"), edit("f", "c", "C")}},
		{"\ufeffa\nb\n", "\ufeffa\nB\n", []files.Edit{edit("f", "b", "B")}},
		{"\ufeffa\nb\n", "\ufeffA\nb\n", []files.Edit{edit("f", "\ufeffa\n", "A\n")}},
		{"a\n", "", []files.Edit{edit("f", "a\n", "")}},
	} {
		changes, problems := treeOf(t, program("f", tt.was)).Changes(files.Writing{Edits: tt.edits})
		if problems != nil || len(changes) != 1 || after(tt.was, changes[0]) != tt.is {
			t.Errorf("%q by %+v: %+v %v, want %q", tt.was, tt.edits, changes, problems, tt.is)
			continue
		}
		expect.That(t, changes[0].Is.Mode == files.ModeExecutable, "its mode became %s", changes[0].Is.Mode)
		expect.Is(t, changes[0].Is.SHA256, files.Sum([]byte(tt.is)), "the hash")
	}
}

func TestFilesEditsAndDeletionsAreOneChange(t *testing.T) {
	base := treeOf(t, file("edited", "a\n"), file("whole", "a\n"), file("dir/deleted", "a\n"), file("stays", "a\n"))
	changes, problems := base.Changes(files.Writing{
		Files: []files.File{{Path: "whole", Content: "b\n"}, {Path: "new/x", Content: ""},
			{Path: "stays", Content: "a\n"}},
		Edits: []files.Edit{edit("edited", "a", "b")}, Delete: []string{"dir/deleted"},
	})
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprint(c.Path, c.Kinds()))
	}
	expect.That(t, problems == nil &&
		strings.Join(got, " ") == "new/x[added] edited[changed] whole[changed] dir/deleted[deleted]",
		"%v %v", got, problems)
}

func TestAnEditThatCantBeMadeIsRefusedByName(t *testing.T) {
	base := treeOf(t, file("aaa", "aaaa\n"), file("mixed", "a\r\nb\n"), file("cr", "a\rb\n"), file("binary", "\xff\n"),
		link("link", "aaa"), file("dir/x", "x\n"), file("Makefile", "x\n"), file("lines", "1\n2\n3\n"), file("Café/x", "x"))
	for says, p := range map[string]files.Writing{
		`edits[0] .old is in "aaa" 3 times`: {Edits: []files.Edit{edit("aaa", "aa", "b")}},
		`edits[0] .old is not in "aaa"`:     {Edits: []files.Edit{edit("aaa", "A", "b")}},
		`edits[0] changes nothing`:          {Edits: []files.Edit{edit("lines", "1", "1")}},
		`edits[1] .old is not in "lines"`: {Edits: []files.Edit{edit("lines", "2\n3", "x"),
			edit("lines", "1\n2", "x")}},
		`edits[0] .new has a CR without LF`:               {Edits: []files.Edit{edit("lines", "1", "a\rb")}},
		`"mixed" has line ends of several kinds`:          {Edits: []files.Edit{edit("mixed", "a", "x")}},
		`"cr" has line ends of several kinds`:             {Edits: []files.Edit{edit("cr", "a", "x")}},
		`edits: "binary" is no UTF-8 text`:                {Edits: []files.Edit{edit("binary", "\n", "x")}},
		`edits: "link" is a link`:                         {Edits: []files.Edit{edit("link", "a", "x")}},
		`edits: "dir" is a folder`:                        {Edits: []files.Edit{edit("dir", "a", "x")}},
		`edits: "none" is not there`:                      {Edits: []files.Edit{edit("none", "a", "x")}},
		`delete[0]: "none" is not there`:                  {Delete: []string{"none"}},
		`delete[0]: "link" is a link`:                     {Delete: []string{"link"}},
		`delete[0]: "dir" is a folder`:                    {Delete: []string{"dir"}},
		`delete[0]: "binary" is no UTF-8 text`:            {Delete: []string{"binary"}},
		`files: "binary" is no UTF-8 text`:                {Files: []files.File{{Path: "binary"}}},
		`"link" is a folder or a link`:                    {Files: []files.File{{Path: "link"}}},
		`"aaa" is no folder`:                              {Files: []files.File{{Path: "aaa/x"}}, Delete: []string{"aaa"}},
		`path "makefile" differs from "Makefile" only in`: {Files: []files.File{{Path: "makefile"}}},
		`path "dir/Ｘ" differs from "dir/x" only in`:       {Files: []files.File{{Path: "dir/Ｘ"}}},
		`path "DIR" differs from "dir" only in`:           {Files: []files.File{{Path: "DIR/y"}}},
		`path "Cafe` + "\u0301" + `" differs`:             {Files: []files.File{{Path: "Cafe\u0301/y"}}},
		`nothing changes`:                                 {Files: []files.File{{Path: "aaa", Content: "aaaa\n"}}},
		`people must be able to read it whole`: {Files: []files.File{{Path: "long",
			Content: strings.Repeat("x", 2001)}}},
	} {
		changes, problems := base.Changes(p)
		text := strings.Join(problems, "; ")
		expect.That(t, changes == nil && strings.Contains(text, says), "%q, want %q", text, says)
	}
	// Two names that are confused may be told apart again.
	both := treeOf(t, file("Makefile", "x\n"), file("makefile", "y\n"))
	_, problems := both.Changes(files.Writing{Delete: []string{"makefile"}})
	expect.That(t, problems == nil, "one of two is not deleted: %v", problems)
}

// Whatever a model writes, the change is refused, or it is exactly what applying it to the files makes.
func TestChangesAreWhatIsMadeOfThem(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", "a\n", "b\n", "a\r\nb\r\n", "a\nb\nc\n", "aa", "日本\n", "\ufeff", "\r",
		"\u202e", "a\nb"})
	paths := rapid.SampledFrom([]string{"a", "b", "A", "d/a", "d", "l", "x", "..", "ａ"})
	rapid.Check(t, func(rt *rapid.T) {
		base := treeOf(rt, file("a", texts.Draw(rt, "a")+"a\n"), file("d/a", "x\ny\n"), link("l", "a"),
			program("x", texts.Draw(rt, "x")+"\xff"))
		var p files.Writing
		for range rapid.IntRange(0, 2).Draw(rt, "files") {
			p.Files = append(p.Files, files.File{Path: paths.Draw(rt, "path"), Content: texts.Draw(rt, "content")})
		}
		for range rapid.IntRange(0, 3).Draw(rt, "edits") {
			p.Edits = append(p.Edits, files.Edit{Path: paths.Draw(rt, "path"), Old: texts.Draw(rt, "old"),
				New: texts.Draw(rt, "new")})
		}
		p.Delete = rapid.SliceOfN(paths, 0, 2).Draw(rt, "delete")
		if p.Check() != nil {
			return
		}
		before := expect.Value(base.Archive())(rt)
		changes, problems := base.Changes(p)
		expect.Must(rt, bytes.Equal(before, expect.Value(base.Archive())(rt)), "the base has changed")
		if problems != nil {
			return
		}
		next, err := base.Make(changes)
		expect.Must(rt, err == nil, "%v", err)
		diff := cmp.Diff(changes, files.Difference(base, next))
		expect.Must(rt, diff == "", "what is made of it differs otherwise: %s", diff)
	})
}

func TestChangesAreMadeOnWhatTheyNameOnly(t *testing.T) {
	base := treeOf(t, file("f", "a\nb\n"), program("run", "x\n"), link("l", "f"))
	made := func(change func(c *files.Change)) error {
		changes, problems := base.Changes(files.Writing{Edits: []files.Edit{edit("f", "b", "B")}})
		expect.Must(t, problems == nil, "%v", problems)
		change(&changes[0])
		_, err := base.Make(changes)
		return err
	}
	expect.NoError(t, made(func(*files.Change) {}))
	for name, change := range map[string]func(c *files.Change){
		"another path":          func(c *files.Change) { c.Path = "run" },
		"a path that leads out": func(c *files.Change) { c.Path = "../f" },
		"a link":                func(c *files.Change) { c.Path = "l" },
		"a path that is new":    func(c *files.Change) { c.Was = nil },
		"another content":       func(c *files.Change) { c.Was.SHA256 = c.Is.SHA256 },
		"another mode":          func(c *files.Change) { c.Is.Mode = files.ModeExecutable },
		"a link to be":          func(c *files.Change) { c.Is.Mode, c.Is.Target = files.ModeLink, "f" },
		"another result":        func(c *files.Change) { c.Is.SHA256 = c.Was.SHA256 },
		"another line":          func(c *files.Change) { c.Hunks[0].Lines[2] = "+C\n" },
		"a line it hasn't":      func(c *files.Change) { c.Hunks[0].Lines[0] = " A\n" },
		"no sign":               func(c *files.Change) { c.Hunks[0].Lines[0] = "" },
		"another sign":          func(c *files.Change) { c.Hunks[0].Lines[0] = "?a\n" },
		"beyond its end":        func(c *files.Change) { c.Hunks[0].From = 9 },
		"before its beginning":  func(c *files.Change) { c.Hunks[0].From = 0 },
		"no lines":              func(c *files.Change) { c.Hunks = nil },
		"a deletion":            func(c *files.Change) { c.Is = nil },
	} {
		expect.Fails(t, made(change), files.ErrRefused, "%s", name)
	}
}
