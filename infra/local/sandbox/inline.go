package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// leaf is an element of rich text, and what stands for it in a message's text, without the marks of its styles.
type leaf struct {
	of    map[string]any
	text  string
	style []string
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// marks are the characters of styles in a text, the outermost first.
var marks = []struct{ style, sign string }{{"bold", "*"}, {"italic", "_"}, {"strike", "~"}, {"code", "`"}}

// urlRune is a character of an address: no space, and no bracket or full stop of full width.
const urlRune = `[^\s<>|"\x{3000}-\x{303F}\x{FF00}-\x{FF65}]`

// between matches a text between two marks, without a space beside these.
func between(mark string) string {
	return mark + `([^\s` + mark + `](?:[^` + mark + `\n]*[^\s` + mark + `])?)` + mark
}

// What begins at a place in a typed text.
var (
	coded     = regexp.MustCompile("^`([^`\n]+)`")
	styled    = regexp.MustCompile(`^(?:` + between(`\*`) + "|" + between("_") + "|" + between("~") + ")")
	reference = regexp.MustCompile(`^<([@#!]|https?://|mailto:|tel:)([^|<>\n]+)(?:\|([^<>\n]*))?>`)
	shortcode = regexp.MustCompile(`^:([a-z0-9_+-]+):(?::skin-tone-([2-6]):)?`)
	address   = regexp.MustCompile(`^https?://` + urlRune + `+`)
	email     = regexp.MustCompile(`^[A-Za-z0-9._%+-]+@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})`)
	domain    = regexp.MustCompile(`^((?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,})(?:/` + urlRune + `*)?`)
	broadcast = regexp.MustCompile(`^(?:here|channel|everyone)$`)
)

// inline returns the elements of a text in one container.
func inline(text string, style []string) (all []leaf) {
	from := 0
	for at := 0; at < len(text); {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		found, n := begins(text[at:], before, style)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(text[at:])
			at += n
			continue
		}
		all = append(append(all, literal(text[from:at], style)), found...)
		at += n
		from = at
	}
	return merged(append(all, literal(text[from:], style)))
}

// begins returns what a text begins with, and its length: 0 if it is nothing but a character.
func begins(text string, before rune, style []string) ([]leaf, int) {
	word := before < utf8.RuneSelf && (unicode.IsLetter(before) || unicode.IsDigit(before) ||
		strings.ContainsRune("@._%+-/", before))
	switch text[0] {
	case '`':
		if m := coded.FindStringSubmatch(text); m != nil {
			return inCode(m[1], with(style, "code")), len(m[0])
		}
	case '<':
		if m := reference.FindStringSubmatch(text); m != nil {
			return referred(m, style)
		}
	case '*', '_', '~':
		return emphasised(text, before, style)
	case ':':
		if m := shortcode.FindStringSubmatch(text); m != nil && emoji.code[m[1]] != "" {
			return []leaf{pictured(m[1], m[2], style)}, len(m[0])
		}
	}
	if l, n := character(text, style); n > 0 {
		return []leaf{l}, n
	}
	if !word {
		if l, n := linked(text, style); n > 0 {
			return []leaf{l}, n
		}
	}
	return nil, 0
}

// inCode returns a text in which only people and channels are more than characters.
func inCode(text string, style []string) (all []leaf) {
	at := 0
	for _, m := range regexp.MustCompile(`<[@#][^<>\n]+>`).FindAllStringIndex(text, -1) {
		of, _ := referred(reference.FindStringSubmatch(text[m[0]:m[1]]), style)
		all = append(append(all, literal(text[at:m[0]], style)), of...)
		at = m[1]
	}
	return merged(append(all, literal(text[at:], style)))
}

// emphasised reads a text between marks, which stand at the edges of words.
func emphasised(text string, before rune, style []string) ([]leaf, int) {
	m := styled.FindStringSubmatch(text)
	if m == nil || unicode.IsLetter(before) || unicode.IsDigit(before) {
		return nil, 0
	}
	if after, _ := utf8.DecodeRuneInString(text[len(m[0]):]); unicode.IsLetter(after) || unicode.IsDigit(after) {
		return nil, 0
	}
	for i, inner := range m[1:] {
		if inner != "" {
			return inline(inner, with(style, marks[i].style)), len(m[0])
		}
	}
	return nil, 0
}

// referred returns what Slack's format writes between < and >.
func referred(m []string, style []string) ([]leaf, int) {
	whole, kind, id, label := m[0], m[1], m[2], m[3]
	switch group, is := strings.CutPrefix(id, "subteam^"); {
	case kind == "@":
		return []leaf{element("user", style, "<@"+id+">", "user_id", id)}, len(whole)
	case kind == "#":
		return []leaf{element("channel", style, whole, "channel_id", id)}, len(whole)
	case kind == "!" && is:
		return []leaf{element("usergroup", style, whole, "usergroup_id", group)}, len(whole)
	case kind == "!" && broadcast.MatchString(id):
		return []leaf{element("broadcast", style, "<!"+id+">", "range", id)}, len(whole)
	case kind == "!":
		return nil, 0 // nobody can type it
	}
	return []leaf{link(kind+id, label, style)}, len(whole)
}

// linked reads a web address, a mail address or a word that ends as a domain does.
func linked(text string, style []string) (leaf, int) {
	if of := address.FindString(text); of != "" {
		of = strings.TrimRight(of, ".,:;!?')")
		return link(of, "", style), len(of)
	}
	if m := email.FindStringSubmatch(text); m != nil && registered(m[1]) {
		return link("mailto:"+m[0], m[0], style), len(m[0])
	}
	m := domain.FindStringSubmatch(text)
	if m == nil || !registered(m[1]) {
		return leaf{}, 0
	}
	of := strings.TrimRight(m[0], ".,:;!?')")
	next, _ := utf8.DecodeRuneInString(text[len(of):])
	if next == '@' || next == '-' || next == '_' || next < utf8.RuneSelf && (unicode.IsLetter(next) ||
		unicode.IsDigit(next)) {
		return leaf{}, 0
	}
	return link("http://"+of, of, style), len(of)
}

// registered reports whether a domain ends as the Internet's do. So do the names of some files: report.md, main.py.
func registered(domain string) bool {
	suffix, icann := publicsuffix.PublicSuffix(strings.ToLower(domain))
	return icann && len(suffix) < len(domain)
}

// emoji are Slack's: code are the characters of a name in hexadecimal, name the first name of characters.
var emoji = func() (out struct{ code, name map[string]string }) {
	out.code, out.name = map[string]string{}, map[string]string{}
	var all map[string]string
	raw, err := ui.ReadFile("ui/emoji.json")
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		panic("the file is embedded: " + err.Error())
	}
	for of, names := range all {
		for i, name := range strings.Fields(names) {
			if i == 0 {
				out.name[of] = name
			}
			out.code[name] = hexadecimal(of)
		}
	}
	return out
}()

func hexadecimal(characters string) string {
	var out []string
	for _, r := range characters {
		out = append(out, fmt.Sprintf("%04x", r))
	}
	return strings.Join(out, "-")
}

const mostCharacters = 10 // of an emoji

// character reads an emoji that was typed as such, with its tone of skin.
func character(text string, style []string) (leaf, int) {
	if text[0] < utf8.RuneSelf && !strings.Contains(text[:min(len(text), 8)], "\u20E3") {
		return leaf{}, 0
	}
	tone, whole, size, found := "", "", 0, leaf{}
	for i, r := range text {
		if i > 0 && utf8.RuneCountInString(whole) >= mostCharacters {
			break
		}
		n := i + utf8.RuneLen(r)
		if r >= 0x1F3FB && r <= 0x1F3FF && i > 0 {
			tone = fmt.Sprint(r - 0x1F3FB + 2)
		} else {
			whole += string(r)
		}
		if name := emoji.name[whole]; name != "" {
			found, size = pictured(name, tone, style), n
		} else if r == '\uFE0F' && size == n-utf8.RuneLen(r) {
			size = n
		}
	}
	return found, size
}

// pictured is an emoji. Tones of skin begin at 2.
func pictured(name, tone string, style []string) leaf {
	l := element("emoji", style, ":"+name+":", "name", name)
	l.of["unicode"] = emoji.code[name]
	if tone != "" {
		n := int(tone[0] - '0')
		l.text += ":skin-tone-" + tone + ":"
		l.of["unicode"], l.of["skin_tone"] = fmt.Sprintf("%s-%x", emoji.code[name], 0x1F3FB+n-2), n
	}
	return l
}

func literal(text string, style []string) leaf {
	said := unescape.Replace(text)
	return element("text", style, escape.Replace(said), "text", said)
}

func link(url, label string, style []string) leaf {
	url, label = unescape.Replace(url), unescape.Replace(label)
	l := element("link", style, "<"+escape.Replace(url)+">", "url", url)
	if label != "" {
		l.of["text"], l.text = label, "<"+escape.Replace(url)+"|"+escape.Replace(label)+">"
	}
	return l
}

func element(kind string, style []string, text, member, value string) leaf {
	of := map[string]any{"type": kind, member: value}
	if len(style) > 0 {
		styles := map[string]any{}
		for _, s := range style {
			styles[s] = true
		}
		of["style"] = styles
	}
	return leaf{of, text, style}
}

func with(style []string, more string) []string {
	out := append(slices.Clone(style), more)
	slices.Sort(out)
	return slices.Compact(out)
}

// merged joins texts of one style that follow each other.
func merged(leaves []leaf) (out []leaf) {
	for _, l := range leaves {
		if l.of["type"] == "text" && l.text == "" {
			continue
		}
		if n := len(out) - 1; n >= 0 && l.of["type"] == "text" && out[n].of["type"] == "text" && slices.Equal(out[n].style,
			l.style) {
			of := maps.Clone(out[n].of)
			of["text"] = of["text"].(string) + l.of["text"].(string)
			out[n] = leaf{of, out[n].text + l.text, l.style}
			continue
		}
		out = append(out, l)
	}
	return out
}

// marked returns the text of leaves, with the marks of their styles around those that share them.
func marked(leaves []leaf) string {
	var out strings.Builder
	var open []string // signs, the outermost first
	to := func(signs []string) {
		keep := 0
		for keep < min(len(open), len(signs)) && open[keep] == signs[keep] {
			keep++
		}
		for _, sign := range slices.Backward(open[keep:]) {
			out.WriteString(sign)
		}
		out.WriteString(strings.Join(signs[keep:], ""))
		open = signs
	}
	for _, l := range leaves {
		var signs []string
		for _, m := range marks {
			if slices.Contains(l.style, m.style) {
				signs = append(signs, m.sign)
			}
		}
		to(signs)
		out.WriteString(l.text)
	}
	to(nil)
	return out.String()
}
