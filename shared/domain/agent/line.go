package agent

import "strings"

// Line formats a command on one line; empty elements and those with a space are in double quotes.
func Line(argv []string) string {
	var out []string
	for _, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\"") {
			a = `"` + strings.ReplaceAll(a, `"`, `""`) + `"`
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

// Words splits a line that Line wrote.
func Words(text string) (argv []string) {
	var one strings.Builder
	open, begun := false, false
	end := func() {
		if begun {
			argv = append(argv, one.String())
		}
		one.Reset()
		begun = false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && open && i+1 < len(text) && text[i+1] == '"':
			one.WriteByte(c)
			i++
		case c == '"':
			open, begun = !open, true
		case !open && (c == ' ' || c == '\t'):
			end()
		default:
			one.WriteByte(c)
			begun = true
		}
	}
	end()
	return argv
}
