package call

import (
	"fmt"
	"strings"

	"ringi/shared/words/language"
)

// A command line is one text, which people read whole and stamp. So it isn't judged, but for two short lists of usual
// spellings: programs into which more can be typed later, which no stamp binds, and commands that approve in another
// system. They are no fence: what a line quotes, or a script does, isn't read.
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
	// approving is a command by which somebody approves in another system.
	approving = language.Regexp{Text: `^` + before + `(?:` +
		`gh\s(?:.*\s)?pr\s+(?:merge\b|review\s(?:.*\s)?(?:-a|--approve)\b)|` +
		`gh\s+api\s.*(?:/merge\b|=APPROVE\b|/pending_deployments\b)|glab\s(?:.*\s)?mr\s+(?:approve|merge|accept)\b|` +
		`az\s+repos\s+pr\s+set-vote\b|kubectl\s+certificate\s+approve\b|` +
		`aws\s+code\w+\s+(?:put-approval-result|update-pull-request-approval-state|merge-pull-request))`}
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
			switch c = strings.Trim(c, " \t({})"); {
			case interactive.Get().MatchString(c):
				return opens
			case approving.Get().MatchString(c):
				return "approve in another system, which only people do"
			}
		}
	}
	return ""
}
