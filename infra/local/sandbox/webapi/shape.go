package webapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// rule checks one value. at is the value's JSON pointer.
type rule func(c *checker, at string, v any)

// shape lists an object's fields. A name that starts with "!" is required.
// The field "type" is always allowed.
type shape struct {
	fields map[string]rule
	also   func(c *checker, at string, m map[string]any)
}

func (c *checker) object(at string, m map[string]any, s shape) {
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		key, required := strings.CutPrefix(name, "!")
		v, present := m[key]
		if !present || v == nil {
			if required {
				c.add(at, "missing required field: %s", key)
			}
			continue
		}
		s.fields[name](c, at+"/"+key, v)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		_, optional := s.fields[key]
		_, required := s.fields["!"+key]
		if !optional && !required && key != "type" {
			c.add(at, "invalid additional property: %s", key)
		}
	}
	if s.also != nil {
		s.also(c, at, m)
	}
}

// str is a string whose length, as Units counts it, is between least and most.
func str(least, most int) rule {
	return func(c *checker, at string, v any) {
		s, ok := v.(string)
		if !ok {
			c.add(at, "must provide a string")
			return
		}
		n := Units(s)
		if n < least {
			c.add(at, "must be more than %d characters", least-1)
		}
		if n > most {
			c.add(at, "must be less than %d characters", most+1)
		}
	}
}

// text is a text object of one of the kinds, with at most most characters.
func text(most int, kinds ...string) rule {
	return func(c *checker, at string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			c.add(at, "must provide an object")
			return
		}
		kind, _ := m["type"].(string)
		if !slices.Contains(kinds, kind) {
			c.add(at+"/type", "must be a valid enum value: %s", strings.Join(kinds, ", "))
			return
		}
		fields := map[string]rule{"!text": str(1, most)}
		if kind == "plain_text" {
			fields["emoji"] = boolean
		} else {
			fields["verbatim"] = boolean
		}
		c.object(at, m, shape{fields: fields})
	}
}

func plain(most int) rule { return text(most, "plain_text") }
func rich(most int) rule  { return text(most, "plain_text", "mrkdwn") }

func boolean(c *checker, at string, v any) {
	if _, ok := v.(bool); !ok {
		c.add(at, "must be a boolean")
	}
}

func number(least, most int) rule {
	return func(c *checker, at string, v any) {
		f, ok := v.(float64)
		if !ok || f != float64(int(f)) {
			c.add(at, "must be an integer")
			return
		}
		if int(f) < least {
			c.add(at, "must be greater than or equal to %d", least)
		}
		if int(f) > most {
			c.add(at, "must be less than or equal to %d", most)
		}
	}
}

func enum(values ...string) rule {
	return func(c *checker, at string, v any) {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			c.add(at, "must be a valid enum value: %s", strings.Join(values, ", "))
		}
	}
}

// list is an array of least to most items, each of which must satisfy item.
func list(least, most int, item rule) rule {
	return func(c *checker, at string, v any) {
		items, ok := v.([]any)
		if !ok {
			c.add(at, "must be an array")
			return
		}
		if len(items) < least {
			c.add(at, "no fewer than %d items allowed", least)
		}
		if len(items) > most {
			c.add(at, "no more than %d items allowed", most)
			return
		}
		for i, e := range items {
			item(c, fmt.Sprintf("%s/%d", at, i), e)
		}
	}
}

// obj is an object with the fields of a shape.
func obj(s shape) rule {
	return func(c *checker, at string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			c.add(at, "must provide an object")
			return
		}
		c.object(at, m, s)
	}
}

// element is an interactive element of one of the kinds.
func element(kinds ...string) rule {
	return func(c *checker, at string, v any) {
		all, allowed := elementShapes(), map[string]shape{}
		for _, k := range kinds {
			allowed[k] = all[k]
		}
		c.typed(at, v, allowed, "element")
	}
}

const (
	maxText        = 40000 // chat.postMessage truncates longer texts
	maxUpdateText  = 4000  // chat.update refuses longer texts
	maxAttachments = 100
)

// content is what a message shows, after checks.
type content struct {
	text        string
	blocks      []any
	attachments []any
	metadata    map[string]any
}

// readContent checks blocks, attachments and metadata as Slack does. Fields that the call does not set are nil.
func readContent(p params) (content, error) {
	c := content{text: p.str("text")}
	var err error
	if c.blocks, err = p.list("blocks", "invalid_blocks"); err != nil {
		return c, err
	}
	if c.attachments, err = p.list("attachments", "invalid_attachments"); err != nil {
		return c, err
	}
	if c.metadata, err = p.object("metadata", "invalid_metadata_format"); err != nil {
		return c, err
	}
	if found := Blocks(c.blocks, "/blocks", MaxMessageBlocks); len(found) > 0 {
		return c, invalid("invalid_blocks", found)
	}
	if len(c.attachments) > maxAttachments {
		return c, refuse("too_many_attachments")
	}
	for i, a := range c.attachments {
		if err := checkAttachment(i, a); err != nil {
			return c, err
		}
	}
	if Characters(c.blocks)+Characters(c.attachments) > MaxCharacters {
		return c, refuse("msg_blocks_too_long")
	}
	return c, checkMetadata(c.metadata)
}

func checkAttachment(i int, a any) error {
	at := fmt.Sprintf("/attachments/%d", i)
	m, ok := a.(map[string]any)
	if !ok {
		return invalid("invalid_attachments", []Problem{{Message: "must provide an object", Pointer: at}})
	}
	blocks, ok := m["blocks"].([]any)
	if !ok && m["blocks"] != nil {
		return invalid("invalid_attachments", []Problem{{Message: "must be an array", Pointer: at + "/blocks"}})
	}
	if found := Blocks(blocks, at+"/blocks", MaxAttachmentBlocks); len(found) > 0 {
		return invalid("invalid_attachments", found)
	}
	return nil
}

// checkMetadata requires a type and a payload. An empty object is no metadata, nor is what slack-go sends for "none".
func checkMetadata(m map[string]any) error {
	kind, _ := m["event_type"].(string)
	payload, ok := m["event_payload"].(map[string]any)
	if len(m) == 0 || kind == "" && m["event_payload"] == nil {
		return nil
	}
	if kind == "" || !ok {
		return refuse("invalid_metadata_format")
	}
	for _, v := range payload {
		if _, nested := v.([]any); nested {
			continue
		}
		if _, nested := v.(map[string]any); nested {
			return refuse("invalid_metadata_schema")
		}
	}
	return nil
}

// readSomeContent reads the content of a new message, which must not be empty.
func readSomeContent(p params) (content, error) {
	c, err := readContent(p)
	if err == nil && c.text == "" && len(c.blocks) == 0 && len(c.attachments) == 0 {
		err = refuse("no_text")
	}
	return c, err
}

// Reading is what a person sees of a message, and whom it calls.
type Reading struct {
	Shown string
	Calls []string // user ids, group ids, and here, channel and everyone
}

// Read reads a message's text as Slack documents it: <…> is a reference, and &amp;, &lt; and &gt; stand for the control
// characters. In formatted text, which is the default, marks of formatting and names of emoji aren't seen either.
func Read(text string, formatted bool) (r Reading) {
	var b strings.Builder
	rest := text
	for rest != "" {
		before, after, found := strings.Cut(rest, "<")
		inside, left, closed := strings.Cut(after, ">")
		if !found || !closed {
			b.WriteString(marks(rest, formatted))
			break
		}
		b.WriteString(marks(before, formatted) + r.reference(inside))
		rest = left
	}
	r.Shown = b.String()
	return r
}

var signs = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// formatting are pairs of marks, each with what they enclose, and names of emoji.
var formatting = []*regexp.Regexp{
	regexp.MustCompile("`([^`\n]+)`"), regexp.MustCompile(`\*([^*\n]+)\*`), regexp.MustCompile(`_([^_\n]+)_`),
	regexp.MustCompile(`~([^~\n]+)~`), regexp.MustCompile(`:[a-z0-9_+-]+:()`), regexp.MustCompile(`(?m)^&gt;(.*)`),
}

func marks(s string, formatted bool) string {
	if formatted {
		for _, f := range formatting {
			s = f.ReplaceAllString(s, "$1")
		}
	}
	return signs.Replace(s)
}

// reference returns what is seen of a <…>.
func (r *Reading) reference(inside string) string {
	target, label, _ := strings.Cut(inside, "|")
	switch {
	case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "!"):
		if !strings.HasPrefix(target, "!date^") {
			r.Calls = append(r.Calls, strings.TrimPrefix(target[1:], "subteam^"))
		}
		return "@" + target[1:]
	case label != "":
		return signs.Replace(label)
	}
	return signs.Replace(target)
}

// ReadBlocks reads rich_text blocks. Their texts are shown as they are: formatting, mentions and emoji are elements of
// their own. A line end stands before each item of a list and before what follows a list or precedes one.
func ReadBlocks(blocks []any) (r Reading) {
	var b strings.Builder
	for _, block := range blocks {
		r.elements(&b, block, "")
	}
	r.Shown = b.String()
	return r
}

func (r *Reading) elements(b *strings.Builder, v any, before string) {
	m, _ := v.(map[string]any)
	all, _ := m["elements"].([]any)
	b.WriteString(before)
	for i, e := range all {
		element, _ := e.(map[string]any)
		switch kind, _ := element["type"].(string); kind {
		case "rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote":
			before := ""
			switch {
			case m["type"] == "rich_text_list":
				before = "\n• "
			case i > 0 && kind != "rich_text_list":
				before = "\n"
			}
			r.elements(b, e, before)
		default:
			b.WriteString(r.leaf(kind, element))
		}
	}
}

func (r *Reading) leaf(kind string, e map[string]any) string {
	of := func(name string) string { s, _ := e[name].(string); return s }
	switch kind {
	case "text":
		return of("text")
	case "link":
		if of("text") != "" {
			return of("text")
		}
		return of("url")
	case "user", "usergroup":
		r.Calls = append(r.Calls, of(kind+"_id"))
		return "@" + of(kind+"_id")
	case "broadcast":
		r.Calls = append(r.Calls, of("range"))
		return "@" + of("range")
	}
	return ""
}
