package infra_test

import (
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// out are words that mean nothing to a stranger, or for which the glossary (infra/design.md) has another word. Pages
// and packages' comments must not use them, except in the phrases in but.
var out = []struct{ word, but, instead string }{
	{`shel(?:f|ves)`, ``, "say what keeps it"},
	{`rooms?`, `meeting rooms?|(?:no|has|for|want of|is|without) room|lets rooms be booked|rooms to book`, "isolation, package or area"},
	{`stor(?:y|ies)|telling`, ``, "say what is shown"},
	{`(?:chat|agents?'?s?|talk) sessions?|sessions? (?:of|with) (?:an )?agents?`, `(?i:managed )session`, "conversation"},
	{`sessions?`, `(?s:.*\b(?i:managed|web|browser|browsers|console|sign(?:s|ed)? in)\b.*)`, "conversation"},
	{`chats?`, `Chat Completions|chat\.\w+`, "conversation"},
	{`(?:a|the|this|every|each|of) talks?`, ``, "conversation"},
	{`of ours`, ``, "Ringi's"},
	{`no sandbox|(?:have|tries) the sandbox|sandbox for agents`, ``, "isolation"},
	{`(?:conversation|agent|action|sample)s?(?:'s|s')? workspaces?|workspace of files`, ``, "files"},
	{`twins?`, ``, "say what is alike"},
}

// literal matches quoted text in pages and comments: code, addresses and indented lines.
var literal = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)|<!-- bench -->.*<!-- /bench -->|(?m:^\t.*$)")

// identifier matches the beginning of a package's comment.
var identifier = regexp.MustCompile(`^(?:Package|Command) \S+`)

// misspoken returns the words of a text that are out, with their paragraph or item.
func misspoken(text string) (found []string) {
	for _, paragraph := range regexp.MustCompile(`\n\s*\n|\n\s*- |\n\| `).Split(literal.ReplaceAllString(text, "…"), -1) {
		said := strings.Join(strings.Fields(paragraph), " ")
		for _, o := range out {
			rest := said
			if o.but != "" {
				rest = regexp.MustCompile(o.but).ReplaceAllString(said, "…")
			}
			if word := regexp.MustCompile(`(?i)\b(?:` + o.word + `)\b`).FindString(rest); word != "" {
				found = append(found, word+" ("+o.instead+"): "+said)
			}
		}
	}
	return found
}

func TestOneWordHasOneMeaning(t *testing.T) {
	for path, text := range pages(t) {
		for _, word := range misspoken(text) {
			t.Errorf("%s: %s", path, word)
		}
	}
	packages := 0
	for path, text := range codeBelow(t, "../shared", "../functions", "../infra") {
		mode := parser.PackageClauseOnly | parser.ParseComments
		f := expect.Value(parser.ParseFile(token.NewFileSet(), path, text, mode))(t)
		if f.Doc == nil {
			continue
		}
		packages++
		for _, word := range misspoken(identifier.ReplaceAllString(f.Doc.Text(), "")) {
			t.Errorf("%s: %s", path, word)
		}
	}
	expect.That(t, packages >= 60, "%d packages have a comment", packages)
}

func TestAWordThatIsOutIsFound(t *testing.T) {
	for text, wrong := range map[string]bool{
		"It leaves the room.": true, "There is no room for it.": false, "a chat\nsession": true, "Chat Completions": false,
		"The session ends.": true, "The managed session ends.": false, "A page reads the web session.": false, "a call of ours": true,
		"People talk with it.": false, "The talk ends.": true, "`story` is code.": false, "This story ends.": true,
	} {
		found := misspoken(text)
		expect.That(t, (len(found) > 0) == wrong, "%q: %q", text, found)
	}
}
