// Package catalog holds one file for each tool that comes with Ringi, and reads them: what the tool takes and gives,
// whether calling it twice matters, and every text that people read of it, in each language. Nothing else names a
// tool's texts.
package catalog

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

//go:embed *.json
var files embed.FS

// File is what one file says of a tool.
type File struct {
	Name        string           `json:"name"`
	Title       language.Texts   `json:"title"`
	About       language.Texts   `json:"about"`       // what it does, for the administrator who allows it
	Description string           `json:"description"` // for the model that plans
	Effect      aggregate.Access `json:"effect"`
	Provider    string           `json:"provider"` // whose credentials it needs; empty: nobody's
	Limits      struct {
		TimeoutSeconds int `json:"timeout_seconds"`
		MaxRows        int `json:"max_rows"` // of the longest list that it takes or gives
		MaxBytes       int `json:"max_bytes"`
	} `json:"limits"`
	// Beside names the tools of its provider that there were before it, where it came with a later release than the first.
	Beside []string `json:"beside"`
	// Constraints maps each constraint to the argument that it holds, to "" where only the vendor can tell.
	Constraints map[string]string `json:"constraints"`
	Destination []string          `json:"destination"` // the arguments that say where a write goes
	Said        []string          `json:"said"`        // the arguments of a write whose words reach people
	Input       json.RawMessage   `json:"input"`       // a JSON Schema, as is Output
	Output      json.RawMessage   `json:"output"`

	// Line is what a card says that a call would do; {name} is where an argument stands. It is empty for a tool whose line
	// shared/explain/line makes in code.
	Line      language.Texts      `json:"line"`
	Arguments map[string]Argument `json:"arguments"` // those of Line that are said in words of their own

	Demo *Demo `json:"demo"` // nil where the demo model needs code to plan with it
}

// Argument is how a line says one argument. What none of its cases is for stands as it is.
type Argument struct {
	Absent language.Texts            `json:"absent"`
	Null   language.Texts            `json:"null"`
	Is     map[string]language.Texts `json:"is"`    // by the text that it is
	Other  language.Texts            `json:"other"` // {name} is the argument itself
}

// Demo is an example from which the demo model plans a list: one call, whose rows go to a sheet and whose count is
// told.
type Demo struct {
	Request language.Texts       `json:"request"` // which is planned with the tool
	Asks    string               `json:"asks"`    // a regular expression of the words that ask for the list
	Input   map[string]any       `json:"input"`   // a department that the request names takes the place of the one here
	Columns []string             `json:"columns"` // members of the rows that the sheet shows
	Rows    string               `json:"rows"`    // the member of the result that is the list
	Words   map[string]ListWords `json:"words"`   // by locale
}

// ListWords are how one language speaks of a list.
type ListWords struct {
	From    string            `json:"from"`    // where it is read
	Things  string            `json:"things"`  // what it lists
	Tab     string            `json:"tab"`     // of the sheet
	Handled string            `json:"handled"` // the information that it has
	Columns map[string]string `json:"columns"` // titles by the rows' members
	Forms   map[string]string `json:"forms"`   // in place of the demo's sentences about any list, by their names
}

// Files are all of them, by name. An error says which file can't be read.
var Files = sync.OnceValues(func() (all []File, err error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("read the tool catalog: %w", err)
	}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the tool catalog: %w", err)
		}
		var f File
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, fmt.Errorf("read the tool catalog: %s: %w", e.Name(), err)
		}
		all = append(all, f)
	}
	return all, nil
})

// Of is the file of a tool; false for one that has none.
func Of(name string) (File, bool) {
	all, _ := Files() // a test reads every file
	for _, f := range all {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}
