package tenancy

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
)

// DecideTool is the tool that records a decision. No model plans it: see task.Matter.
const DecideTool = "record_decision"

// MessageTool sends a message.
const MessageTool = "send_slack_dm"

// MatterLabel is the label by which rules tell decisions apart by their kind, in all languages.
const MatterLabel = "区分"

var matterLabels = language.InEach(MatterLabel, "Matter for decision")

// LabelIn returns what a label is called in a language. Rules have it as in the first one.
func LabelIn(locale, name string) string {
	if slices.Contains(matterLabels, name) {
		return matterLabels.In(locale)
	}
	return name
}

//go:embed tools/*.json
var toolFiles embed.FS

// OwnTool is the file of a tool that comes with Ringi: its schemas, whether it writes, and all its texts in each
// language.
type OwnTool struct {
	Name        string           `json:"name"`
	Title       language.Texts   `json:"title"`
	About       language.Texts   `json:"about"`       // what the tool does, for the administrator who allows it
	Description string           `json:"description"` // for the model that plans steps
	Effect      aggregate.Access `json:"effect"`
	Provider    string           `json:"provider"` // provider of the credentials that it needs; empty: none
	// Sourced says that only conversations with a source may call the tool. Plans of tasks never have it.
	Sourced bool `json:"sourced"`
	Limits  struct {
		TimeoutSeconds int `json:"timeout_seconds"`
		MaxRows        int `json:"max_rows"` // rows of the longest list in its input or output
		MaxBytes       int `json:"max_bytes"`
		MaxMessage     int `json:"max_message"` // characters of the message that its arguments for people make
	} `json:"limits"`
	// Constraints maps each constraint to the argument that it limits, or to "" if only the vendor can check it.
	Constraints map[string]string `json:"constraints"`
	Destination []string          `json:"destination"` // arguments that name the target of a write
	Said        []string          `json:"said"`        // arguments of a write that contain text for people
	Input       json.RawMessage   `json:"input"`       // a JSON Schema, as Output is
	Output      json.RawMessage   `json:"output"`

	// Line is a card's sentence about a call, with {name} for an argument. It is empty if shared/explain builds
	// the sentence in code.
	Line      language.Texts          `json:"line"`
	Arguments map[string]ToolArgument `json:"arguments"` // arguments of Line that need their own wording

	// Headings name, by locale, members of the result and, behind a dot, of a list's rows.
	Headings map[string]map[string]string `json:"headings"`

	// Shown says how people are shown a call of a tool that writes; of one that reads, what its arguments are called.
	// It is no part of the tool's version.
	Shown ToolShown `json:"shown"`

	Demo *ToolDemo `json:"demo"` // nil if the demo model needs code to plan with this tool
}

// ToolShown says of Ringi's own tool what an administrator's mark says of others.
type ToolShown struct {
	Act   rules.Act                 `json:"act"`
	Party string                    `json:"party"`
	Item  string                    `json:"item"`
	Words string                    `json:"words"`
	Names map[string]language.Texts `json:"names"` // by pointer
}

// ToolArgument says how Line words one argument. A value without a case is shown unchanged.
type ToolArgument struct {
	Absent language.Texts            `json:"absent"`
	Null   language.Texts            `json:"null"`
	Is     map[string]language.Texts `json:"is"`     // by the argument's text
	Number map[string]language.Texts `json:"number"` // by the argument's number
	Other  language.Texts            `json:"other"`  // {name} is replaced by the argument
}

// Heading returns what people call a member of the tool's result, or of the rows of a list in it, or "".
func (f OwnTool) Heading(locale, path string) string {
	if h := f.Headings[locale][path]; h != "" || f.Demo == nil {
		return h
	}
	member, deeper := strings.CutPrefix(path, f.Demo.Rows+".")
	switch w := f.Demo.Words[locale]; {
	case path == f.Demo.Rows:
		return w.Things
	case deeper:
		return w.Columns[member]
	}
	return ""
}

// ToolDemo is an example from which the demo model plans a list: one call whose rows go to a sheet and are counted.
type ToolDemo struct {
	Request language.Texts       `json:"request"` // an example request
	Asks    string               `json:"asks"`    // regular expression that matches requests for this list
	Input   map[string]any       `json:"input"`   // example arguments; a department in the request replaces this one
	Columns []string             `json:"columns"` // members of the rows that become columns of the sheet
	Rows    string               `json:"rows"`    // member of the result that contains the list
	Words   map[string]DemoWords `json:"words"`   // by locale
}

// DemoWords are one language's words for a list.
type DemoWords struct {
	From    string            `json:"from"`    // where the list is read
	Things  string            `json:"things"`  // the things in the list
	Tab     string            `json:"tab"`     // title of the sheet's tab
	Handled string            `json:"handled"` // the kind of information in the list
	Columns map[string]string `json:"columns"` // column titles by member
	Forms   map[string]string `json:"forms"`   // sentences that replace the demo's general ones, by name
}

// OwnTools returns the files of all tools, sorted by name. The error names the file that can't be read.
var OwnTools = sync.OnceValues(func() (all []OwnTool, err error) {
	entries, err := toolFiles.ReadDir("tools")
	if err != nil {
		return nil, fmt.Errorf("read the tool catalog: %w", err)
	}
	for _, e := range entries {
		text, err := toolFiles.ReadFile("tools/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the tool catalog: %w", err)
		}
		var f OwnTool
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, fmt.Errorf("read the tool catalog: %s: %w", e.Name(), err)
		}
		all = append(all, f)
	}
	return all, nil
})

// OwnToolNamed returns the file of one of Ringi's tools, and false if it has none.
func OwnToolNamed(name string) (OwnTool, bool) {
	all, _ := OwnTools() // the error can be ignored: a test reads every file
	for _, f := range all {
		if f.Name == name {
			return f, true
		}
	}
	return OwnTool{}, false
}
