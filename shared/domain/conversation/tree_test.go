package conversation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

// The kit's words for a tree and its entries.
type written = expect.Entry

var (
	treeOf  = expect.Tree
	file    = expect.File
	program = expect.Program
	link    = expect.Link
	folder  = expect.Folder
)

// A patch and a pull request are made of two lists of the same changes.
func TestAPatchListsWhatAPullRequestDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		was, is := anyTree(rt, "was"), anyTree(rt, "is")
		c := Commit{Path: rapid.SampledFrom([]string{"", "services/支払"}).Draw(rt, "path")}
		for _, e := range was.Manifest().Entries {
			c.Entries = append(c.Entries, files.Committed{Path: e.Path, Mode: e.Mode})
		}
		lacking := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "d/b"}), rapid.ID).Draw(rt, "lacking")
		for _, p := range lacking {
			c.Entries = append(c.Entries, files.Committed{Path: p, Mode: files.ModeFile})
		}
		pushed, patched := map[string]string{}, map[string]string{}
		for _, x := range c.Changes(was, is) {
			pushed[strings.TrimPrefix(x.Path, c.Path+"/")] = sides(x.Was, x.Is)
		}
		p := files.PatchOf(was.Manifest(), is.Manifest(), c.Entries)
		for _, x := range p.Files {
			patched[x.Path] = sides(x.Was.Side(), x.Is.Side())
		}
		for _, x := range p.Left { // it says of them only that they changed
			if _, twice := patched[x.Path]; twice {
				rt.Fatalf("%s is listed twice", x.Path)
			}
			patched[x.Path] = pushed[x.Path]
		}
		if !maps.Equal(pushed, patched) {
			rt.Fatalf("a pull request has %v, a patch %v", pushed, patched)
		}
	})
}

// sides writes both sides of a change. Git has no folders, so a folder is nothing.
func sides(was, is *files.Side) string {
	side := func(s *files.Side) string {
		if s == nil || s.Kind() == files.KindFolder {
			return "nothing"
		}
		return s.Mode + " " + s.SHA256
	}
	return fmt.Sprint(side(was), " → ", side(is))
}

// anyTree draws files, programs, links and folders of a few names.
func anyTree(rt *rapid.T, of string) *files.Tree {
	var all []written
	taken := map[string]bool{}
	for i := range rapid.IntRange(0, 6).Draw(rt, of) {
		names := []string{"a", "b", "d", "d/a", "d/b", "d/e/f", "日本", ".git/config"}
		name := rapid.SampledFrom(names).Draw(rt, fmt.Sprint(of, i))
		above := slices.ContainsFunc(slices.Collect(maps.Keys(taken)), func(other string) bool {
			return other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/")
		})
		if above {
			continue
		}
		taken[name] = true
		text := rapid.SampledFrom([]string{"", "1\n", "2\n", "\x00"}).Draw(rt, fmt.Sprint(of, i, "text"))
		switch rapid.IntRange(0, 3).Draw(rt, fmt.Sprint(of, i, "kind")) {
		case 0:
			all = append(all, program(name, text))
		case 1:
			all = append(all, link(name, rapid.SampledFrom([]string{"x", "y"}).Draw(rt, fmt.Sprint(of, i, "target"))))
		case 2:
			all = append(all, folder(name))
		default:
			all = append(all, file(name, text))
		}
	}
	return treeOf(rt, all...)
}
