package settings

import (
	"strings"

	"ringi/functions/serve-console/web"
)

type toolsTexts struct{ web.Texts }

// unfit maps parts of an error message to the keys of their texts.
var unfit = [][2]string{
	{"there twice", "twice"}, {"it can't be read", "unreadable"}, {"x-mcp-header", "headers"},
	{"its name is not", "name"}, {"title is over", "long_title"},
	{"description is over", "long_description"},
	{"schema of it is over", "large_schema"}, {"arguments are no object", "no_object"},
	{"arguments can't be checked", "arguments"},
	{"result can't be checked", "result"}, {"all allowed tools of servers", "large_total"},
	{"allowed as one that writes", "writes"},
	{"which is the limit", "most"}, {"none that the server has", "gone"},
}

// unfit says why a tool can't be allowed.
func (t toolsTexts) unfit(problem string) string {
	if problem == "" {
		return ""
	}
	for _, one := range unfit {
		if strings.Contains(problem, one[0]) {
			return t.In("unfit", one[1])
		}
	}
	return t.Say("not_fit")
}
