package explain

import (
	"embed"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

//go:embed texts
var texts embed.FS

// words are the texts of one language.
type callWords struct {
	Providers map[Provider]string
	Problems  map[Problem]string
}

var callWordsOf = language.Catalog[callWords]{Files: &texts, Folder: "texts/failedcall"}

// Sentence tells people in their language what went wrong and what they can do.
func FailedCall(locale string, p Problem, args ...any) string {
	w := callWordsOf.In(locale)
	text, ok := w.Problems[p]
	if !ok {
		return string(p)
	}
	named := make([]any, len(args))
	for i, a := range args {
		named[i] = a
		if provider, ok := a.(Provider); ok {
			named[i] = provider.name(w.Providers)
		}
	}
	return fmt.Sprintf(text, named...)
}

// Clock formats a time, rounded up to the minute. In Japanese it is in Japan's time zone.
func Clock(locale string, t time.Time) string {
	t = t.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	return language.InEach(
		t.In(tenancy.Zone()).Format("1月2日 15:04 (日本時間)"),
		t.UTC().Format("15:04 UTC on January 2"),
	).In(locale)
}

// Provider is a vendor's name as in integrations.
type Provider string

const (
	Freee  Provider = "freee"
	Google Provider = "google"
	Slack  Provider = "slack"
	GitHub Provider = "github"
)

func (p Provider) name(names map[Provider]string) string {
	if name, ok := names[p]; ok {
		return name
	}
	if server, ok := strings.CutPrefix(string(p), "mcp:"); ok {
		return server + " (MCP)"
	}
	return string(p)
}
