package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/language"
)

// Limits of what may be asked for.
const (
	MaxArguments = 32 << 10 // bytes: a call's row has them whole
	MaxReason    = 600      // characters: as many as its card shows
)

// Content is what people stamp.
type Content struct {
	Base      string `json:"base"` // a call works on no files
	Key       string `json:"key"`  // its id
	Answers   string `json:"answers"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`       // JSON with sorted members
	Again     string `json:"again,omitempty"` // id of the earlier call that is meant to be made once more
	// Elsewhere says that it runs where the agent runs, and not by Ringi.
	Elsewhere bool `json:"elsewhere,omitempty"`
	conversation.Called
}

// text returns the content as it is stamped.
func (x Content) text() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(x)
	return string(bytes.TrimSpace(b.Bytes())), err
}

// Content reads what the call's stamps are on.
func (x *Call) Content() (c Content, err error) {
	if err = json.Unmarshal([]byte(x.Payload.JSON), &c); err != nil {
		return c, fmt.Errorf("read what call %s is to do: %w", x.CallID, err)
	}
	return c, nil
}

// Payload returns the content as that of an agent's action.
func (x Content) Payload() conversation.Payload {
	return conversation.Payload{Tool: x.Tool, Arguments: x.Arguments,
		Stamped: conversation.Stamped{Base: &x.Base, Called: x.Called}}
}

// Members decodes the arguments of a call. It returns an aggregate.Problem for what is no JSON object, or too long.
func Members(arguments []byte) (members map[string]any, err error) {
	limit := "must be one JSON object"
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	switch {
	case len(arguments) > MaxArguments:
		limit = fmt.Sprintf("must have at most %d bytes, not %d", MaxArguments, len(arguments))
	case json.Valid(arguments) && utf8.Valid(arguments) && d.Decode(&members) == nil && members != nil:
		return members, nil
	}
	return nil, aggregate.Problem{Field: "arguments", Code: limit}
}

// idleOf are the arguments without effect, by the tool of those that run where the agent runs. A model words them anew
// each time.
var idleOf = map[string][]string{"Bash": {"description"}}

// Digest returns arguments as they are stamped and made, and the hash of what of them has effect. idle are arguments of
// the tool that have none.
func Digest(members map[string]any, idle []string) (arguments, effect string, err error) {
	text, err := chain.Canonical(members)
	if err != nil {
		return "", "", err
	}
	some := maps.Clone(members)
	for _, name := range idle {
		delete(some, name)
	}
	acting, err := chain.Canonical(some)
	return string(text), aggregate.HashOf(string(acting)), err
}

// Idle returns those arguments of a tool that have no effect: none of a tool that Ringi calls.
func Idle(tool string, elsewhere bool) []string {
	if !elsewhere {
		return nil
	}
	return idleOf[tool]
}

// A command line is one text, which people read whole and stamp. So it isn't judged, but for the usual spellings
// of programs into which more can be typed later, which no stamp binds. That is no fence: what a line quotes, or a
// script does, isn't read.
var (
	// interactive is a command that opens a program without saying what it is to do.
	interactive = language.Regexp{Text: `^(?:sudo\s+-\w*[is]\b.*|` + before + `(?:\S*/)?(?:` +
		`(?:` + shells + `|pypy[\d.]*|ipython|node|irb|ghci|perl|ruby|php|lua|pwsh|redis-cli)` +
		`(?:\s+-[a-uw-z]+|\s+--login|\s+--interactive)*|` + `(?:` + shells + `)\s+-[a-z]*i[a-z]*\s.*|` +
		`(?:tmux|screen|telnet|ftp)\b.*|su(?:\s+-l?)?(?:\s+\w+)?|sqlite3?(?:\s+\S+)?|` +
		`(?:psql|mysql)(?:\s+-[hpUduPD]\s*\S+|\s+[^\s-]\S*)*|` +
		`ssh\s+-t+\s.*|ssh(?:\s+-[bcDEeFIiJLlmOopQRSWw]\s+\S+|\s+-\w+)*\s+[^\s-]\S*|` +
		`(?:docker|podman|nerdctl|kubectl)\s(?:.*\s)?(?:attach|(?:exec|run)\s(?:.*\s)?` +
		`(?:-[td]*i[td]*|--interactive|--stdin|--tty))(?:\s.*)?` + `))$`}
	// handed are the lines that a shell hands to a command.
	handed = language.Regexp{Text: `(?s)<<.*`}
)

// before is what may stand before the command that is run.
const before = `(?:(?:\w+=\S*|env|exec|nohup|command|time|if|then|else|while|do|!|sudo(?:\s+-u\s+\S+)?|doas|` +
	`timeout\s+\S+|nice)\s+)*`

const shells = `(?:ba|z|da|k|fi|a)?sh|python[\d.]*`

// Unasked returns why people aren't asked about a call in an agent's surroundings, or an empty text.
func Unasked(tool string, members map[string]any) string {
	const opens = "must not open an interactive program: people stamp a command line, and what is typed into it later " +
		"nobody would see"
	if tool == "write_stdin" || tool == "send_keys" {
		return opens
	}
	for _, name := range []string{"command", "cmd", "argv"} {
		line, _ := members[name].(string)
		words, _ := members[name].([]any)
		for _, w := range words {
			line += fmt.Sprint(w) + " "
		}
		line = handed.Get().ReplaceAllString(line, "<<")
		for c := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(";&\n", r) }) {
			if interactive.Get().MatchString(strings.Trim(c, " \t({})")) {
				return opens
			}
		}
	}
	return ""
}
