package infra_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// part is a block of a card without quoted texts.
type part struct {
	Kind  slack.MessageBlockType
	Texts []string
	Lines int // of a list of steps
}

// drawn: Slack accepts the cards, and apart from quoted texts they are the same as without the attack.
func (w *walk) drawn(calm *walk) {
	w.Helper()
	for _, name := range slices.Sorted(maps.Keys(w.cards)) {
		m := w.cards[name]
		err := ringitest.CheckCard(m)
		expect.That(w, err == nil, "%s: %v", name, err)
		before, ok := calm.cards[name]
		if !ok || w.attack.must != nil && strings.HasPrefix(name, "steps") {
			continue // the attack changed the steps, and so their lines
		}
		steps := strings.Contains(name, "CARD#process") || strings.Contains(name, "CARD#execution")
		if d := cmp.Diff(frame(before, steps), frame(m, steps)); d != "" {
			w.Errorf("%s claims something else: %s", name, d)
			return // further failures would add little
		}
	}
}

// ownMarks are signs that only Ringi itself may use on cards.
const ownMarks = "✅❌⏹🔄⌛⏳❓🔍➡⬜🚀⚠📝📋⚙⏱☑✔✖❎"

// partOf returns a block in the form that frame compares, and its complete text. For a list of steps it counts the
// lines.
func partOf(b slack.Block, list bool) (p part, all string, err error) {
	p.Kind = b.BlockType()
	switch b := b.(type) {
	case *slack.HeaderBlock:
		all = b.Text.Text + "\n"
		if strings.ContainsAny(b.Text.Text, ownMarks) { // a task's header is its title
			p.Texts = append(p.Texts, b.Text.Text)
		}
	case *slack.SectionBlock:
		if b.Text != nil {
			all = code.ReplaceAllString(b.Text.Text, "") + "\n"
			if list {
				p.Lines = strings.Count(b.Text.Text, "\n") + 1
			}
		}
	case *slack.ContextBlock:
		for _, e := range b.ContextElements.Elements {
			text := e.(*slack.TextBlockObject).Text
			all += text + "\n"
			p.Texts = append(p.Texts, reasoned.ReplaceAllString(text, "理由"))
		}
	case *slack.ActionBlock:
		j, err := json.Marshal(b)
		if err != nil {
			return p, "", err
		}
		p.Texts = append(p.Texts, hashed.ReplaceAllString(string(j), `"`)) // buttons name what they show
	}
	return p, all, nil
}

// frame is a card without quoted texts: its colour, headers, buttons and contexts, and how often it has each mark and
// each Slack command.
func frame(m card.Message, steps bool) any {
	var parts []part
	all := ""
	for _, b := range m.Attachments[0].Blocks.BlockSet {
		p, text, err := partOf(b, len(parts) == 1 && steps)
		if err != nil {
			return err
		}
		all += text
		if n := len(parts); n > 0 && p.Kind == "section" && parts[n-1].Kind == p.Kind && p.Lines == 0 {
			continue // a longer text fills more sections
		}
		parts = append(parts, p)
	}
	counts := map[string]int{}
	all = named.ReplaceAllString(all, "")
	for _, r := range all {
		if strings.ContainsRune(ownMarks, r) {
			counts[string(r)]++
		}
		if r == '\u202e' || r == '\u2066' || r == '\u200b' || r >= 0xe0000 && r < 0xf0000 {
			counts[fmt.Sprintf("%U", r)]++
		}
	}
	for _, form := range []*regexp.Regexp{command, emoji, everyone} {
		for _, s := range form.FindAllString(all, -1) {
			counts[s]++
		}
	}
	fallback := m.Text
	if !strings.ContainsAny(fallback, ownMarks) {
		fallback = ""
	}
	return []any{m.Attachments[0].Color, fallback, parts, counts}
}

// fenced: other people's texts reach a model as data in one fence, and its rules stay the same.
func (w *walk) fenced(calm *walk) {
	w.Helper()
	rules := map[model.Purpose]string{}
	for _, r := range calm.model.asked {
		rules[r.Purpose] = r.System
	}
	for _, r := range w.model.asked {
		turns := []string{r.Standing}
		for _, m := range r.Messages {
			if m.Role == model.User {
				turns = append(turns, m.Parts[0].Text)
			}
		}
		for _, text := range turns {
			n := strings.Count(strings.ToLower(text), "</data")
			expect.That(w, text == "" || n == 1, "%s has %d ends of its fence: %.300q", r.Purpose, n, text)
		}
		expect.Is(w, r.System, rules[r.Purpose], "the rules of %s are others", r.Purpose)
	}
}

// bound: every step calls a tool of the catalog, in its present version.
func (w *walk) bound() {
	w.Helper()
	for _, s := range w.steps {
		spec, ok := w.attack.tools(w.T).Lookup(s.Tool)
		expect.That(w, ok && s.Access == spec.Access && s.ToolVersion == spec.Version(), "planned %+v", s)
	}
}

// clean: models' texts are visible, without invisible characters.
func (w *walk) clean() {
	w.Helper()
	for _, text := range w.made {
		unseen := func(r rune) bool { return !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r) }
		expect.That(w, strings.TrimFunc(text, unseen) != "", "there is nothing to see in %q", text)
		for _, r := range text {
			if r != '\n' && r != '\t' && r != '\u200d' && r != '\u200c' &&
				unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r >= 0xe0000 && r < 0xf0000 {
				w.Errorf("%U is kept in %.100q", r, text)
				break
			}
		}
	}
}

var (
	command  = regexp.MustCompile(`<[^>]*>`)
	emoji    = regexp.MustCompile(`:[a-z_]+:`)
	everyone = regexp.MustCompile(`(?i)@(channel|here|everyone)`)
	code     = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`") // planned values stand as they are, in a block that three end
	reasoned = regexp.MustCompile(`理由: .*`)
	hashed   = regexp.MustCompile(`/[0-9a-f]{64}"`)
	named    = regexp.MustCompile(`<@[UW][A-Z0-9]+> ` +
		`\([UW][A-Z0-9]+\)`) // in texts of others, people are named with their id; in Ringi's, without
)
