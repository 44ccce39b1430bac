package model

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// Of the reasons why no step can do something that a request needs, those of administrators.
const (
	lackForbidden  = "forbidden"  // an administrator forbids the tool
	lackConstraint = "constraint" // an administrator's constraint leaves it out
)

// LackData is the model's claim that no step can do something that the approved policy needs.
type LackData struct {
	What string `json:"what"`
	Tool string `json:"tool"` // empty where no tool is to blame
	Why  string `json:"why"`
}

// maxWhat bounds the description of one missing thing, in characters, and maxLacks how many things people are told of.
// Together they fit into the head row.
const (
	maxWhat    = 60
	maxLacks   = 2
	maxAllowed = 40 // characters of the values of one constraint
)

// LackError says that a request can't be planned. Then there are no steps, not even for a part of the request.
type LackError struct {
	Lacks   []LackData
	locale  string
	allowed map[string]string // the values that the constraints allow, by the tool's name
}

// Error returns only a number, none of the content.
func (e *LackError) Error() string { return fmt.Sprintf("%d things can't be planned", len(e.Lacks)) }

// never reports whether something is missing that no administrator can permit.
func (e *LackError) never() bool {
	return slices.ContainsFunc(e.Lacks, func(l LackData) bool { return l.Tool == "" })
}

func (e *LackError) sentence() string {
	w, said := lackWords.In(e.locale), []string(nil)
	for _, l := range e.Lacks[:min(len(e.Lacks), maxLacks)] {
		said = append(said, strings.NewReplacer("{what}", language.Clip(l.What, maxWhat), "{tool}",
			language.Clip(l.Tool, maxWhat), "{constraints}", e.allowed[l.Tool]).Replace(w.Lacks[l.Why]))
	}
	if left := len(e.Lacks) - maxLacks; left > 0 {
		said = append(said, fmt.Sprintf(w.More, left))
	}
	return strings.Join(said, " ")
}

// lackTexts are the sentences about what is missing, by why, and what people call the constraints, with their values.
type lackTexts struct {
	Lacks  map[string]string
	More   string
	Limits map[tenancy.Constraint]string
}

//go:embed texts/*.json
var texts embed.FS

var lackWords = language.Catalog[lackTexts]{Files: &texts, Folder: "texts"}

// allowed returns, for each tool whose constraints are in the way, the constraints and their allowed values, so that
// people know what to ask for instead.
func allowed(lacks []LackData, tools *tool.Catalog, locale string) map[string]string {
	out, limits := map[string]string{}, lackWords.In(locale).Limits
	for _, l := range lacks {
		spec, _ := tools.Lookup(l.Tool)
		var said []string
		for _, name := range spec.Knows() {
			switch list := spec.Bounds.Listed(name); {
			case len(list) > 0:
				said = append(said, fmt.Sprintf(limits[name], language.Clip(strings.Join(list, ", "), maxAllowed)))
			case name == tenancy.MaxRows && spec.Bounds.MaxRows > 0:
				said = append(said, fmt.Sprintf(limits[name], fmt.Sprint(spec.Bounds.MaxRows)))
			}
		}
		if len(said) > 0 && l.Why == lackConstraint {
			out[l.Tool] = strings.Join(said, " · ")
		}
	}
	return out
}

// readLacks checks the model's claims about missing things against its input. A tool that it may use can't be called
// forbidden, and a tool without constraints can't be called constrained.
func readLacks(said []LackData, in PlanInput) (lacks []LackData, problems []string) {
	for i, l := range said {
		at := fmt.Sprintf("missing.%d", i)
		l.What, l.Tool = line(l.What), line(l.Tool)
		problems = append(problems, bounded(at+".what", l.What, MaxTitle)...)
		spec, offered := in.Tools.Lookup(l.Tool)
		switch {
		case l.Why == lackForbidden && !slices.Contains(in.Forbidden, l.Tool):
			problems = append(problems, fmt.Sprintf("%s.tool: %.100q is none of the forbidden tools", at, l.Tool))
		case l.Why == lackConstraint && (!offered || spec.Bounds.None()):
			problems = append(problems, fmt.Sprintf("%s.tool: %.100q is no tool with constraints", at, l.Tool))
		case l.Why != lackForbidden && l.Why != lackConstraint && l.Tool != "":
			problems = append(problems, fmt.Sprintf("%s.tool must be empty where why is %s", at, l.Why))
		}
		lacks = append(lacks, l)
	}
	return lacks, problems
}
