package inbound

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

var unescaping = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// Unescaped reverses Slack's escapes of its three markup characters, which even plain texts have.
func Unescaped(text string) string { return unescaping.Replace(text) }

// shown returns what Slack shows of a text and the blocks beside it: the blocks. If both say the same, it is the text,
// which keeps the marks of bold print, quotes and code. Blocks that this code can't show are named after either.
func shown(text string, blocks any) string {
	s := sight{locale: language.Detect(text, language.English)}
	s.block(blocks)
	unnamed := slices.DeleteFunc(slices.Clone(s.lines), func(line string) bool { return slices.Contains(s.named, line) })
	plain, drawn := strings.TrimSpace(Unescaped(text)), strings.Join(unnamed, "\n")
	if drawn == "" || plain != "" && s.unknown || letters(drawn) == letters(people(reference.Get().ReplaceAllString(plain,
		"<$1>"))) {
		return strings.Join(append(lines(people(plain)), s.named...), "\n")
	}
	return strings.Join(s.lines, "\n")
}

// reference is a person, channel or group with a label, which blocks don't have.
var reference = language.Regexp{Text: `<([@#]\w+|!subteam\^\w+)\|[^<>]*>`}

// letters returns a text's letters and digits.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

type sight struct {
	lines []string
	given bool // of what people type it reads only what they say themselves
	// unknown is set if a line has an element that this code can't show. named are the lines that stand for such blocks.
	unknown bool
	named   []string
	locale  string // of these lines
}

var cantShow = language.InEach("(ここに表示できないもの: %s)", "(something that can't be shown here: %s)")

// cant returns what stands for an element or block of a type that this code can't show.
func (s *sight) cant(kind string) string {
	return fmt.Sprintf(cantShow.In(cmp.Or(s.locale, language.English)), legible.First(legible.OneLine(kind), 40))
}

func (s *sight) add(line string) {
	if line = strings.TrimSpace(line); line != "" {
		s.lines = append(s.lines, line)
	}
}

// attachment reads a legacy attachment: its blocks, or without blocks its fields.
func (s *sight) attachment(a map[string]any) {
	before := len(s.lines)
	if s.block(a["blocks"]); len(s.lines) > before {
		return
	}
	for _, key := range []string{"pretext", "author_name", "title", "text"} {
		s.add(plainOf(a[key]))
	}
	s.fields(a)
	s.add(plainOf(a["footer"]))
	if len(s.lines) == before {
		s.add(plainOf(a["fallback"]))
	}
}

func (s *sight) fields(a map[string]any) {
	for _, f := range objects(a["fields"]) {
		s.add(strings.Trim(plainOf(f["title"])+": "+plainOf(f["value"]), ": "))
	}
}

// shared reads a forwarded message without its author, and without the footer, in which Slack says where it was.
func (s *sight) shared(a map[string]any) {
	var blocks []any
	inner := messages(a)
	for _, m := range inner {
		blocks = append(blocks, m["blocks"])
	}
	text, _ := a["text"].(string)
	if len(inner) == 0 {
		blocks = append(blocks, a["blocks"])
	}
	s.add(plainOf(a["pretext"]))
	s.add(plainOf(a["title"]))
	s.add(shown(text, blocks))
	s.fields(a)
	for _, m := range inner { // what an app attached to it
		for _, x := range objects(m["attachments"]) {
			if x["is_share"] != true && x["from_url"] == nil {
				s.attachment(x)
			}
		}
	}
	if len(s.lines) == 0 && a["files"] == nil {
		s.add(plainOf(a["fallback"]))
	}
}

// plainOf returns a text, which some apps send as a number.
func plainOf(v any) string {
	text, _ := v.(string)
	if n, ok := v.(float64); ok {
		text = strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strings.TrimSpace(Unescaped(text))
}

// unread are the types of elements that people press or fill in, and silent those that may have no text.
var (
	unread = []string{"actions", "button", "context_actions", "divider", "feedback_buttons", "icon_button", "overflow",
		"workflow_button"}
	silent = []string{"context", "header", "input", "markdown", "section", "video"}
)

// parts are the members in which blocks keep their texts, in the order of display.
var parts = []string{
	"title", "subtitle", "text", "body", "fields", "label", "element", "elements", "accessory", "child_blocks", "cards",
	"tasks",
	"details", "output", "description",
}

// block reads a block, an object within a block, or a list of these. Their types may be unknown to this code.
func (s *sight) block(v any) {
	switch v := v.(type) {
	case string:
		s.add(plainOf(v))
	case []any:
		for _, x := range v {
			s.block(x)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		text, plain := v["text"].(string)
		switch {
		case slices.Contains(unread, kind):
		case strings.HasSuffix(kind, "_select") || strings.HasSuffix(kind, "picker") ||
			strings.HasSuffix(kind, "_input"):
			s.chosen(v)
		case strings.HasPrefix(kind, "rich_text"):
			s.rich(v)
		case kind == "image":
			s.block(v["title"])
			s.block(v["alt_text"])
		case kind == "checkboxes" || kind == "radio_buttons":
			s.options(v)
		case kind == "table" || kind == "data_table":
			s.block(v["caption"])
			rows, _ := v["rows"].([]any)
			for _, row := range rows {
				s.add(strings.Join(s.cells(row), " | "))
			}
		case plain && kind != "":
			s.add(plainOf(text))
		default:
			before := len(s.lines)
			for _, key := range parts {
				s.block(v[key])
			}
			if len(s.lines) == before && kind != "" && !slices.Contains(silent, kind) {
				s.named = append(s.named, s.cant(kind))
				s.add(s.cant(kind))
			}
		}
	}
}

// chosen reads what a menu, a picker or a field was given to begin with.
func (s *sight) chosen(v map[string]any) {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(v)) {
		of, initial := strings.CutPrefix(key, "initial_")
		if !initial {
			continue
		}
		values, several := v[key].([]any)
		if !several {
			values = []any{v[key]}
		}
		for _, value := range values {
			var one sight
			text := plainOf(value)
			switch o, _ := value.(map[string]any); {
			case o["type"] == "rich_text":
				one.rich(o)
				text = strings.Join(one.lines, "\n")
			case o != nil:
				one.block(o["text"])
				text = strings.Join(one.lines, " ")
			case strings.HasPrefix(of, "user"):
				text = "<@" + text + ">"
			case strings.HasPrefix(of, "channel"), strings.HasPrefix(of, "conversation") && !strings.HasPrefix(text, "U"):
				text = "<#" + text + ">"
			case strings.HasPrefix(of, "conversation"):
				text = "<@" + text + ">"
			case of == "date_time":
				text = moment(value)
			}
			all = append(all, text)
		}
	}
	s.add(strings.Join(all, ", "))
}

// moment returns a time of Slack's, in seconds, as people of the tenant's zone read it; "" for anything else.
func moment(v any) string {
	n, ok := v.(float64)
	if !ok || n <= 0 || n >= 1<<40 {
		return ""
	}
	return time.Unix(int64(n), 0).In(tenancy.Zone()).Format("2006-01-02 15:04 MST")
}

// options reads what can be ticked, and what is.
func (s *sight) options(v map[string]any) {
	ticked := objects(v["initial_options"])
	if one, ok := v["initial_option"].(map[string]any); ok {
		ticked = append(ticked, one)
	}
	for _, o := range objects(v["options"]) {
		var label sight
		label.block(o["text"])
		label.block(o["description"])
		mark := "☐ "
		if slices.ContainsFunc(ticked, func(t map[string]any) bool { return t["value"] == o["value"] }) {
			mark = "☑ "
		}
		s.add(mark + strings.Join(label.lines, " "))
	}
}

func (s *sight) cells(row any) (out []string) {
	all, _ := row.([]any)
	for _, cell := range all {
		one := sight{locale: s.locale}
		one.block(cell)
		s.unknown = s.unknown || one.unknown
		out = append(out, strings.Join(one.lines, " "))
	}
	return out
}

// rich reads rich text, which people write in Slack's own field, and some apps too. Quotes and code are marked as in
// Slack's texts.
func (s *sight) rich(v map[string]any) {
	bordered := v["type"] == "rich_text_quote" || v["border"] == 1.0
	if s.given && (bordered || v["type"] == "rich_text_preformatted") {
		return
	}
	var line strings.Builder
	indent, item := number(v["indent"]), number(v["offset"])
	for _, e := range objects(v["elements"]) {
		kind, _ := e["type"].(string)
		if !strings.HasPrefix(kind, "rich_text") {
			line.WriteString(s.inlined(kind, e))
			continue
		}
		inner := sight{given: s.given, locale: s.locale}
		inner.rich(e)
		s.unknown = s.unknown || inner.unknown
		if v["type"] != "rich_text_list" || s.given {
			s.lines = append(s.lines, inner.lines...)
			continue
		}
		mark := "•"
		if item++; v["style"] == "ordered" {
			mark = ordinal(item, indent) + "."
		}
		mark = strings.Repeat("    ", indent) + mark
		if bordered {
			mark = "> " + mark
		}
		s.lines = append(s.lines, mark+" "+strings.Join(inner.lines, "\n"))
	}
	text := plainOf(line.String())
	switch {
	case text == "":
	case bordered:
		text = "> " + strings.ReplaceAll(text, "\n", "\n> ")
	case v["type"] == "rich_text_preformatted":
		text = "```\n" + text + "\n```"
	}
	s.add(text)
}

// inlined returns an element of a line. It writes people, channels and marks as Slack's messages do.
func (s *sight) inlined(kind string, e map[string]any) string {
	of := func(key string) string { text, _ := e[key].(string); return text }
	text := of("text")
	switch kind {
	case "user":
		text = "<@" + of("user_id") + ">"
	case "usergroup":
		text = "<!subteam^" + of("usergroup_id") + ">"
	case "channel":
		text = "<#" + of("channel_id") + ">"
	case "emoji":
		text = ":" + of("name") + ":"
		if tone := number(e["skin_tone"]); tone > 0 {
			text += fmt.Sprintf(":skin-tone-%d:", tone)
		}
	case "broadcast":
		text = "<!" + of("range") + ">"
	case "link":
		text = linked(of("url"), of("text"))
	case "date":
		text = cmp.Or(of("fallback"), moment(e["timestamp"]), s.cant(kind))
	case "color":
		text = of("value")
	case "text":
	default:
		if text = cmp.Or(text, of("label"), of("name"), of("title"), of("value"), of("url")); text == "" {
			s.unknown, text = true, s.cant(kind)
		}
	}
	style, _ := e["style"].(map[string]any)
	if s.given && (style["code"] == true || style["strike"] == true) {
		return ""
	}
	for _, mark := range []struct{ of, sign string }{{"code", "`"}, {"strike", "~"}} {
		if style[mark.of] == true && strings.TrimSpace(text) != "" {
			text = mark.sign + text + mark.sign
		}
	}
	return text
}

// linked returns a link with its label, unless that is its address.
func linked(url, label string) string {
	plain := func(s string) string {
		for _, scheme := range []string{"mailto:", "tel:", "https://", "http://"} {
			s = strings.TrimPrefix(s, scheme)
		}
		return strings.ToLower(strings.TrimSuffix(s, "/"))
	}
	if label == "" || plain(label) == plain(url) {
		return cmp.Or(label, url)
	}
	return label + " (" + url + ")"
}

// number returns a small count, such as an indent. Slack's lists have at most 8 levels.
func number(v any) int {
	n, _ := v.(float64)
	return int(max(0, min(n, 10_000)))
}

// ordinal numbers an item of a list as Slack does at a level: 1, a, i, and again.
func ordinal(n, indent int) string {
	switch indent % 3 {
	case 1:
		letters := ""
		for ; n > 0; n = (n - 1) / 26 {
			letters = string(rune('a'+(n-1)%26)) + letters
		}
		return letters
	case 2:
		roman := ""
		for i, sign := range []string{"m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"} {
			of := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}[i]
			roman += strings.Repeat(sign, n/of)
			n %= of
		}
		return roman
	}
	return fmt.Sprint(n)
}
