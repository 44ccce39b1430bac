package teamconfig

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

func TestMistakesAndWarningsAreBoundedEachForItself(t *testing.T) {
	found := []Finding{
		{File: "a.toml", Field: "x", Message: "is wrong"}, {File: "a.toml", Message: "has no effect", Warning: true},
		{File: "b.toml", Message: "is wrong"}, {File: "c.toml", Message: "is wrong"},
	}
	wrong, warned, err := Texts(found, 2, "en")
	expect.NoError(t, err)
	expect.Same(t, []string{"a.toml: x: is wrong", "b.toml: is wrong", "and 1 more"}, wrong)
	expect.Same(t, []string{"a.toml: has no effect"}, warned)
	wrong, _, err = Texts(found, 3, "en")
	expect.That(t, err == nil && len(wrong) == 3, "%q, %v", wrong, err)
	wrong, warned, err = Texts(nil, 1, "en")
	expect.That(t, wrong == nil && warned == nil && err == nil, "%q, %q, %v", wrong, warned, err)
	wrong, warned, _ = Texts([]Finding{{File: "a.toml", Field: "n", Value: `"12"`, Message: "must be 1 to 5"},
		{File: "b.toml", Message: "is required"}, {File: "c.toml", Field: "x",
			Message: "has no effect: write system_instruction", Warning: true}}, 1, "ja")
	expect.Same(t, []string{`a.toml: n: 1〜5 にしてください、実際の値: "12"`, "ほか 1 件"}, wrong)
	expect.Same(t, []string{"c.toml: x: 効果がありません (system_instruction に書いてください)"}, warned)
	found = append(found, Finding{File: "d.toml", Err: explain.ErrUnavailable})
	wrong, warned, err = Texts(found, 2, "en")
	expect.That(t, errors.Is(err, explain.ErrUnavailable) && wrong == nil && warned == nil, "%q, %q, %v", wrong, warned,
		err)
}

func TestFewerRoundsThanAFileSays(t *testing.T) {
	for most, want := range map[int]int{1: 1, 3: 3, 9: 5} {
		expect.Is(t, Contest{MaxRounds: 5}.Within(most).MaxRounds, want)
	}
}

// TestEveryMessageIsSaidInJapanese looks for messages in the source: what is refused, warned of, or ignored and why.
func TestEveryMessageIsSaidInJapanese(t *testing.T) {
	seen := 0
	all, err := parser.ParseDir(token.NewFileSet(), ".",
		func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	expect.NoError(t, err)
	for _, p := range all {
		ast.Inspect(p, func(n ast.Node) bool {
			for _, message := range messagesOf(n) {
				if strings.Trim(message, "%vs") == "" {
					continue // says what another message says
				}
				seen++
				said := verbs.ReplaceAllString(message, "7")
				expect.That(t, in("ja", said) != said, "%q has no Japanese", message)
			}
			return true
		})
	}
	expect.That(t, seen > 48, "only %d messages were found", seen)
}

// messagesOf returns the messages that a call is given. A text that goes on after it ends in ": ".
func messagesOf(n ast.Node) (all []string) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	name, at := "", -1
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if at = map[string]int{"refuse": 2, "warn": 2, "ignored": 1, "Refused": 1}[name]; at == 0 || len(call.Args) < at {
		return nil
	}
	arg := call.Args[at-1]
	ends := ""
	if sum, is := arg.(*ast.BinaryExpr); is {
		arg = sum.X
		if _, text := sum.Y.(*ast.BasicLit); text {
			return nil // tested by itself
		}
		ends = "7"
	}
	if text, is := arg.(*ast.BasicLit); is && text.Kind == token.STRING && !slices.Contains([]string{`""`}, text.Value) {
		if message, err := strconv.Unquote(text.Value); err == nil {
			all = append(all, message+ends)
		}
	}
	return all
}

// kept is a model secret that a function has read before somebody changed it.
type kept struct {
	was, is secret.ModelSecret
	forgot  int
}

func (k *kept) Get(context.Context) (secret.ModelSecret, error) { return k.was, nil }
func (k *kept) Forget()                                         { k.was, k.forgot = k.is, k.forgot+1 }

// Whoever is told that a key is missing, adds it and tries again is not told so for the minutes that a secret is kept.
func TestAKeyThatWasJustAddedIsSeen(t *testing.T) {
	c := Contest{Teams: []Team{{Leader: Leader{Model: "claude-sonnet-4-6"}}, {Leader: Leader{Model: "gpt-5.4"}}}}
	for _, name := range []string{"claude-sonnet-4-6", "gpt-5.4"} {
		c.Named = append(c.Named, Named{File: "t.toml", Model: name, Set: true})
	}
	k := &kept{is: secret.ModelSecret{Anthropic: "sk-ant"}}
	found := expect.Value(Models{Keys: k}.Check(t.Context(), c))(t)
	expect.That(t, len(found) == 1 && k.forgot == 1, "read anew %d times, %+v", k.forgot, found)
}

// What is missing is said: an address only where none is known.
func TestWhatTheModelSecretLacksIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		at   secret.ModelEndpoint
		says string // empty: nothing is missing
	}{
		"grok:grok-4":           {secret.ModelEndpoint{}, "no key for compatible.grok"},
		"grok-responses:grok-4": {secret.ModelEndpoint{Key: "k"}, ""},
		"gemini-2.5-flash": {secret.ModelEndpoint{URL: "https://proxy.example/v1"},
			"no key for compatible.gemini"},
		"google-gla:gemini-2.5-pro":    {secret.ModelEndpoint{Key: "k"}, ""},
		"compatible:box/llama3.2":      {secret.ModelEndpoint{Key: "k"}, "no address for compatible.box"},
		"compatible:box/llama3.2:open": {secret.ModelEndpoint{URL: "https://box.example/v1"}, ""},
		"claude-sonnet-4-6":            {secret.ModelEndpoint{}, "no key for anthropic"},
	} {
		c := Contest{Teams: []Team{{Leader: Leader{Model: name}}}, Named: []Named{{File: "t.toml", Model: name, Set: true}}}
		k := &kept{is: secret.ModelSecret{Compatible: map[string]secret.ModelEndpoint{"grok": tt.at, "gemini": tt.at,
			"box": tt.at}}}
		k.was = k.is
		c.Prices = []tenancy.ModelPrice{{Model: name, Input: "1", Output: "1"}}
		found := expect.Value(Models{Keys: k}.Check(t.Context(), c))(t)
		if tt.says == "" {
			expect.That(t, found == nil, "%s: %+v", name, found)
			continue
		}
		expect.Must(t, len(found) == 1, "%s: %+v", name, found)
		expect.Has(t, found[0].Message, tt.says)
	}
}
