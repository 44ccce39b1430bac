package card_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// textOf writes a message or dialog as its golden file has it: what a person sees, a line each, and what Slack sends
// back. A line's first characters say what it is:
//
//	== name #colour    a card or dialog, and its colour or the callback_id of a view
//	~ text             the text of its notification, or a dialog's title
//	# text             a header
//	> text             a section (>> if Slack shows all of it, : if it is a field)
//	· text             a context line
//	---                a divider
//	@ block_id         buttons; an input's also has its action_id
//	[label] action=value style
//	? title            the dialog that confirms the button above
//	+ …                another one of the same block
//
// Lines that begin with two spaces, or are empty, continue a text. Of more than four equal lines there is one. A date
// is written as a reader in UTC has it. Texts of headers and buttons are plain with emoji, other texts mrkdwn that
// links nothing by itself; whatever is in any other form is written as JSON, so that no two messages have one text.
func textOf(name string, v any) string {
	w := &look{}
	x, _ := v.(map[string]any)
	list, _ := x["attachments"].([]any)
	switch text, is := x["text"].(string); {
	case is && list != nil && has(x, "attachments text") && len(list) == 0:
		w.add("== "+name, "~ "+shown(text))
	case is && list != nil && has(x, "attachments markdown text") && len(list) == 0:
		w.add("== "+name+" markdown", "~ "+shown(text))
		if markdown, _ := x["markdown"].(string); markdown != text {
			w.add("% " + shown(markdown))
		}
	case is && has(x, "attachments text") && len(list) == 1 && has(list[0], "blocks color"):
		a := list[0].(map[string]any)
		w.add(fmt.Sprintf("== %s %s", name, word(a["color"])), "~ "+shown(text))
		w.blocks(a["blocks"])
	case has(x, "blocks callback_id type") && x["type"] == "home":
		w.add(fmt.Sprintf("== %s home %s", name, word(x["callback_id"])))
		w.blocks(x["blocks"])
	case has(x, "blocks callback_id close private_metadata submit? title type") && x["type"] == "modal":
		w.add(fmt.Sprintf("== %s modal %s", name, word(x["callback_id"])), "~ "+said(x["title"], "plain_text"))
		if x["submit"] != nil {
			w.add("[" + label(x["submit"], "plain_text") + "]")
		}
		metadata := asJSON(x["private_metadata"])
		if text, is := x["private_metadata"].(string); is {
			metadata = shown(text)
		}
		w.add("+ ["+label(x["close"], "plain_text")+"]", "= "+metadata)
		w.blocks(x["blocks"])
	default:
		w.add("== "+name, asJSON(v))
	}
	return w.String()
}

type look struct{ strings.Builder }

func (w *look) add(lines ...string) {
	for _, l := range lines {
		w.WriteString(l + "\n")
	}
}

func (w *look) blocks(v any) {
	list, is := v.([]any)
	if !is {
		w.add(asJSON(v))
		return
	}
	for _, b := range list {
		if !w.block(b) {
			w.add(asJSON(b))
		}
	}
}

// block writes a block, unless it isn't in the usual form.
func (w *look) block(v any) bool {
	x, _ := v.(map[string]any)
	switch x["type"] {
	case "divider":
		if has(x, "type") {
			w.add("---")
			return true
		}
	case "header":
		if has(x, "text type") {
			w.add("# " + said(x["text"], "plain_text+"))
			return true
		}
	case "section":
		switch {
		case has(x, "text type"):
			w.add("> " + said(x["text"], "mrkdwn"))
			return true
		case has(x, "expand text type") && x["expand"] == true:
			w.add(">> " + said(x["text"], "mrkdwn"))
			return true
		case has(x, "fields type"):
			return w.each(": ", x["fields"], func(f any) string { return said(f, "mrkdwn") })
		}
	case "context":
		return has(x, "elements type") && w.each("· ", x["elements"], func(e any) string { return said(e, "mrkdwn") })
	case "actions":
		if has(x, "block_id elements type") {
			return w.each("@ "+word(x["block_id"])+"\n+ ", x["elements"], button)
		}
	case "input":
		return has(x, "block_id element hint? label type") && w.input(x)
	}
	return false
}

// each writes the members of a list, the first behind a marker of its own.
func (w *look) each(first string, v any, write func(any) string) bool {
	list, _ := v.([]any)
	for _, e := range list {
		w.add(first + write(e))
		first = "+ "
	}
	return len(list) > 0
}

func button(v any) string {
	x, _ := v.(map[string]any)
	if !has(x, "action_id confirm? style? text type value") || x["type"] != "button" {
		return asJSON(v)
	}
	text := "[" + label(x["text"], "plain_text+") + "] " + word(x["action_id"]) + "=" + word(x["value"])
	if x["style"] != nil {
		text += " " + word(x["style"])
	}
	if x["confirm"] == nil {
		return text
	}
	if !has(x["confirm"], "confirm deny text title") {
		return text + "\n" + asJSON(x["confirm"])
	}
	c := x["confirm"].(map[string]any)
	plain := func(key string) string { return label(c[key], "plain_text") }
	return text + fmt.Sprintf("\n? %s\n  %s\n  [%s] [%s]", plain("title"), plain("text"), plain("confirm"), plain("deny"))
}

func (w *look) input(x map[string]any) bool {
	e, _ := x["element"].(map[string]any)
	at := fmt.Sprintf("@ %s %s", word(x["block_id"]), word(e["action_id"]))
	lines := &look{}
	text := e["type"] == "plain_text_input" && has(e, "action_id max_length? multiline placeholder type")
	switch {
	case text && e["multiline"] == true:
		if most := e["max_length"]; most != nil {
			at += " " + asJSON(most)
		}
		lines.add(at, "? "+said(x["label"], "plain_text"), "_ "+said(e["placeholder"], "plain_text"))
	case has(e, "action_id initial_option options type") && e["type"] == "radio_buttons":
		lines.add(at, "? "+said(x["label"], "plain_text"))
		n := 0
		option := func(v any) string {
			o, _ := v.(map[string]any)
			mark := "( ) "
			if reflect.DeepEqual(v, e["initial_option"]) {
				mark = "(•) "
				n++
			}
			if !has(o, "description text value") {
				return mark + asJSON(v)
			}
			more := label(o["description"], "plain_text")
			return mark + word(o["value"]) + " " + label(o["text"], "plain_text") + "\n  " + more
		}
		if !lines.each("+ ", e["options"], option) || n != 1 {
			return false
		}
	default:
		return false
	}
	if x["hint"] != nil {
		lines.add("· " + said(x["hint"], "plain_text"))
	}
	w.WriteString(lines.String())
	return true
}

// has says whether v has these keys and no others. One with a question mark may be absent, but not null.
func has(v any, keys string) bool {
	x, is := v.(map[string]any)
	n := 0
	for _, k := range strings.Fields(keys) {
		k, optional := strings.CutSuffix(k, "?")
		if value, there := x[k]; there && value != nil {
			n++
		} else if there || !optional {
			return false
		}
	}
	return is && n == len(x)
}

// said returns the text of a text object of a kind; with a plus, one with emoji.
func said(v any, kind string) string {
	x, _ := v.(map[string]any)
	text, is := x["text"].(string)
	kind, emoji := strings.CutSuffix(kind, "+")
	switch usual := is && x["type"] == kind; {
	case usual && kind == "mrkdwn" && has(x, "text type verbatim") && x["verbatim"] == true,
		usual && emoji && has(x, "emoji text type") && x["emoji"] == true,
		usual && kind != "mrkdwn" && !emoji && has(x, "text type"):
		return shown(text)
	}
	return asJSON(v)
}

// label is said on one line, in brackets.
func label(v any, kind string) string {
	return strings.NewReplacer("\n  ", `\n`, "\n", `\n`, "]", `\]`).Replace(said(v, kind))
}

var words = regexp.MustCompile(`^[^\s"{\[=\\]+$`)

// word returns a text that has no spaces and no equals sign, or its JSON.
func word(v any) string {
	if text, is := v.(string); is && words.MatchString(text) && shown(text) == text {
		return text
	}
	return asJSON(v)
}

// asJSON is JSON behind a character with which no text begins.
func asJSON(v any) string {
	var b strings.Builder
	b.WriteString(`\:`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var dates = regexp.MustCompile(`<!date\^(\d{1,10})\^\{date_short_pretty\} \{time\}\|([^<>|]*)>|<\d{4}-`)

// short writes a date as the reader has it. What looks like that, but isn't, gets a backslash.
func short(s string) string {
	m := dates.FindStringSubmatch(s)
	if m[1] == "" {
		return `<\` + s[1:]
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	at := time.Unix(n, 0).UTC()
	if m[1] != strconv.FormatInt(n, 10) || m[2] != at.Format("2006-01-02 15:04 UTC") {
		return s
	}
	return at.Format("<2006-01-02 15:04:05 UTC>")
}

// leading counts the lines that are like the first.
func leading(lines []string) (n int) {
	for n < len(lines) && lines[n] == lines[0] {
		n++
	}
	return n
}

// shown writes a text with its lines indented, its dates short, and what can't be seen spelled out.
func shown(text string) string {
	if text == "" {
		return `\e`
	}
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if n := leading(lines[i:]); i > 0 && n > 4 {
			fmt.Fprintf(&b, "\n\\%d times:", n)
			i += n - 1
		}
		if i > 0 && l != "" {
			b.WriteString("\n  ")
		} else if i > 0 {
			b.WriteString("\n")
		}
		end := len(strings.TrimRight(l, " "))
		for j, r := range l {
			switch {
			case j >= end:
				b.WriteString(`\s`)
			case r == '\\':
				b.WriteString(`\\`)
			case !unicode.IsPrint(r):
				fmt.Fprintf(&b, `\u%04x;`, r)
			default:
				b.WriteRune(r)
			}
		}
	}
	return dates.ReplaceAllStringFunc(b.String(), short)
}
