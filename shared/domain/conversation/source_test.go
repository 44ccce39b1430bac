package conversation

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// Of what is said about a source's files only their names are another's words, however many there are.
func TestOnlyNamesOfASourcesFilesAreQuoted(t *testing.T) {
	tb := lost(t)
	s := *tb.load().Conversation
	s.Source = &Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", Commit: "c0ffee", State: SourceWanted}
	tb.rows[s.Key()] = &s
	f := Fetched{Commit: "c0ffee", Version: "v0"}
	for i := range 1000 {
		f.Files = append(f.Files, fmt.Sprintf("src/number-%03d.py", i))
	}
	for i := range shownLeft + 5 {
		f.Left = append(f.Left, LeftOut{Path: fmt.Sprintf("left-%02d.bin", i), Why: LeftLFS})
	}
	a := tb.load()
	c, err := a.TakeSource(a.Head.Run, f, tb.now)
	expect.NoError(t, err)
	var own, quoted, whole string
	for _, r := range c.Beside {
		m, ok := r.Row.(*Message)
		if !ok {
			continue
		}
		whole += m.Content + "\n"
		for _, p := range m.Pieces() {
			if p.Quoted {
				quoted += p.Text + "\n"
			} else {
				own += p.Text + "\n"
			}
		}
	}
	for _, ringis := range []string{"(Git LFS)", "(15)", "and 5 more", "(1000)"} {
		expect.That(t, strings.Contains(own, ringis) && !strings.Contains(quoted, ringis),
			"%q is quoted, or missing: %s", ringis, own)
	}
	expect.That(t, !strings.Contains(own, ".py") && !strings.Contains(own, ".bin") && !strings.Contains(quoted, "…"),
		"names are Ringi's words: %s", own)
	expect.Has(t, whole, "\nleft-00.bin (Git LFS)\nleft-01.bin (Git LFS)\n")
	expect.That(t, strings.Contains(quoted, "src/number-000.py\nsrc/number-001.py\n") && len(quoted) < mostNamed+1000,
		"%d bytes of names", len(quoted))
}
