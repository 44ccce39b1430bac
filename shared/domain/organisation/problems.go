package organisation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rule is what a row of the file breaks.
type Rule string

// Rules for the file and its header.
const (
	RuleBytes         Rule = "bytes"       // the file has more than Limit bytes
	RuleRows          Rule = "rows"        // more than Limit rows, the header not counted
	RulePeople        Rule = "people"      // more than Limit employee numbers
	RuleDepartments   Rule = "departments" // more than Limit department codes
	RuleEmpty         Rule = "empty"       // no row below the header
	RuleEncoding      Rule = "encoding"    // not UTF-8: Value is the first byte that isn't
	RuleForm          Rule = "form"        // a workbook, not CSV
	RuleQuotes        Rule = "quotes"      // quotation marks that don't fit; rows below aren't read
	RuleTwice         Rule = "twice"       // two headers name the same column
	RuleMissingColumn Rule = "missing_column"
	RuleExtraCell     Rule = "extra_cell" // a cell that has no header
)

// Rules for one cell.
const (
	RuleRequired   Rule = "required"
	RuleLength     Rule = "length"     // more than Limit characters
	RuleMails      Rule = "mails"      // more than Limit e-mail addresses
	RuleMail       Rule = "mail"       // not the form of an e-mail address
	RuleFormula    Rule = "formula"    // what a spreadsheet shows for a formula without a value: #N/A, or 0 for a name
	RuleDamaged    Rule = "damaged"    // a character that the file's encoding doesn't have
	RuleExponent   Rule = "exponent"   // a number that a spreadsheet changed, such as 1.2E+10 or 101.0
	RuleCharacters Rule = "characters" // invisible characters, or blanks inside of a number or code
	RuleRank       Rule = "rank"       // not a whole number from 1 to Limit
	RuleNoPosition Rule = "no_position"
	RulePost       Rule = "post" // neither main nor concurrent
	RuleKind       Rule = "kind"
)

// Rules that several rows break together. Other is one of the other rows, 0 if there is none.
const (
	RuleConflict Rule = "conflict" // Other says something else
	RuleMailUsed Rule = "mail_used"
	RuleTwoMains Rule = "two_mains" // a second main post
	RuleNoMain   Rule = "no_main"   // no main post
	RuleSamePost Rule = "same_post" // Other says the same post
	RuleTwoRanks Rule = "two_ranks" // Other gives the position another rank
	RuleUnknown  Rule = "unknown"   // no such person or department
	RuleCycle    Rule = "cycle"     // it stands above itself
	RuleDepth    Rule = "depth"     // more than Limit stand above each other
)

// Problem is a rule that a row breaks. It is data so that each reader sees it in their own language.
type Problem struct {
	Row    int    `json:"row"` // as a spreadsheet counts: the header is row 1; 0 is the whole file
	Column Column `json:"column,omitempty"`
	Rule   Rule   `json:"what"`
	Limit  int    `json:"limit,omitempty"`
	Value  string `json:"value,omitempty"` // the beginning of what stands there
	Other  int    `json:"other_row,omitempty"`
}

// Error says in English what is wrong, for logs and commands.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Row > 0 {
		fmt.Fprintf(&b, "row %d: ", p.Row)
	}
	if p.Column != "" {
		fmt.Fprintf(&b, "%s: ", p.Column)
	}
	b.WriteString(cmp.Or(said[p.Rule], string(p.Rule)))
	if p.Limit > 0 {
		fmt.Fprintf(&b, " (limit %d)", p.Limit)
	}
	if p.Value != "" {
		fmt.Fprintf(&b, ": %q", p.Value)
	}
	if p.Other > 0 {
		fmt.Fprintf(&b, ", see row %d", p.Other)
	}
	return b.String()
}

var said = map[Rule]string{
	RuleBytes: "the file has too many bytes", RuleRows: "there are too many rows", RulePeople: "there are too many people",
	RuleDepartments: "there are too many departments", RuleEmpty: "there are no rows", RuleEncoding: "it is not UTF-8",
	RuleForm: "it is a workbook, not CSV",

	RuleExponent: "a spreadsheet has changed the number",
	RuleFormula:  "it is what a spreadsheet shows for a formula without a value",
	RuleDamaged:  "it has a character that can't be read",
	RuleQuotes:   "quotation marks don't fit, the rest is not read",
	RuleTwice:    "the column stands there twice", RuleMissingColumn: "the column is missing",
	RuleExtraCell: "the cell has no header", RuleRequired: "it must not be empty", RuleLength: "it is too long",
	RuleMails: "there are too many addresses", RuleMail: "it is no e-mail address",
	RuleCharacters: "it has invisible characters, or blanks or # in a number or code",
	RuleRank:       "it must be a whole number from 1 to the limit",
	RuleNoPosition: "there is no position that could have it", RulePost: "it must be main or concurrent",
	RuleKind:     "it must be employee, contractor or temporary",
	RuleConflict: "another row says something else",
	RuleMailUsed: "the address is another person's", RuleTwoMains: "the person has two main posts",
	RuleNoMain: "the person has no main post", RuleSamePost: "the post stands there twice",
	RuleTwoRanks: "the position has another rank", RuleUnknown: "the file has no such number or department",
	RuleCycle: "it stands above itself", RuleDepth: "too many stand above each other",
}

// Rules returns all rules, by name.
func Rules() []Rule { return slices.Sorted(maps.Keys(said)) }

// MaxProblems is how many problems of a file are listed.
const MaxProblems = 200

// Problems are what is wrong with a file, row by row. More is the number of problems that are not listed.
type Problems struct {
	Listed []Problem `json:"listed"`
	More   int       `json:"more,omitempty"`
}

// Error has a line for each listed problem.
func (p Problems) Error() string {
	var lines []string
	for _, x := range p.Listed {
		lines = append(lines, x.Error())
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", p.More))
	}
	return strings.Join(lines, "\n")
}

// maxValue is how many characters of a cell a problem quotes.
const maxValue = 40

// add adds a problem. It keeps only the first ones by row, so that a broken file needs no memory.
func (p *Problems) add(x Problem) {
	if runes := []rune(x.Value); len(runes) > maxValue {
		x.Value = string(runes[:maxValue])
	}
	if p.Listed = append(p.Listed, x); len(p.Listed) >= 4*MaxProblems {
		p.cut()
	}
}

// cut sorts the problems, drops repeated ones and keeps the first.
func (p *Problems) cut() {
	slices.SortFunc(p.Listed, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row),
			cmp.Compare(a.Column.order(), b.Column.order()),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Other, b.Other), cmp.Compare(a.Value, b.Value))
	})
	p.Listed = slices.Compact(p.Listed)
	if n := len(p.Listed) - MaxProblems; n > 0 {
		p.Listed, p.More = p.Listed[:MaxProblems:MaxProblems], p.More+n
	}
}

// err returns the problems as an error, or nil if there are none.
func (p *Problems) err() error {
	if p.cut(); len(p.Listed) == 0 {
		return nil
	}
	return *p
}
