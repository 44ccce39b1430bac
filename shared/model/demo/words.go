package demo

import (
	"embed"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

//go:embed words/*.json
var files embed.FS

// words are the texts of one language. A test holds the names in the code against them.
type words struct {
	Locale  string
	Say     map[string]string
	Steps   map[string]step
	List    map[string]string            // forms of all lists; {things}, {tab}, {from} and {handled} are of the list's file
	Topics  map[string]map[string]string // forms and words of the topics that are no lists
	Columns map[string]string            // titles of columns, by the rows' member; lists have their own
	Agent   map[string]string
	Teams   struct {
		Reviews                []string
		Good, Mend             map[string]string // by metric
		ScoredBy, GoOn, Enough string
	}
}

type step struct{ Title, Description, Expected string }

// of returns the step for one of several tables.
func (s step) of(about string) step {
	s.Title += about
	return s
}

var spoken = language.Catalog[words]{Files: &files, Folder: "words"}

func (t words) month(m month) string {
	return strings.NewReplacer("{year}", strconv.Itoa(m.year()), "{month}", strconv.Itoa(int(m.name())), "{name}",
		m.name().String()).Replace(t.Say["month"])
}

func has(text string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(text, s) })
}

// oneLine joins a text into one line, short enough for a title.
func oneLine(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 60 {
		r = append(r[:59], '…')
	}
	return string(r)
}
