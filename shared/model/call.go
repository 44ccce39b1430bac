package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Call adds a piece of a call, and returns the call's index in the response. index is the vendor's; empty: none. Pieces
// belong together by their id, else by their index, because some servers count it on within a call (agno-agi/agno#8880)
// or begin to count late; without either, and without a name, to the last call. A new name begins a call: some servers
// number all of them 0. A changed id does not: others make one for each piece.
func (h *Hearing) Call(index, id, name, input string) int {
	i, known := h.callOf(index, id, name)
	if was := h.out.Calls; known && name != "" && was[i].Name != "" {
		if joined := h.joined(was[i], id, name); joined != "" {
			was[i].Name = joined
		} else {
			known = was[i].Name == name && (id != "" && id == was[i].ID || !json.Valid(was[i].Input))
		}
	}
	if !known {
		return h.begin(index, id, name, input)
	}
	if index != "" {
		h.at[index] = i
	}
	call := &h.out.Calls[i]
	if call.ID == "" {
		call.ID = id
	}
	if call.Name == "" {
		call.Name = name
	}
	h.goOn(i, input)
	return i
}

// joined returns the name of a call of which another piece came, empty if it is none: servers send it in pieces
// (continuedev/continue#5849), or in each all of it so far. It is put together only as far as a tool has it.
func (h *Hearing) joined(was Call, id, piece string) string {
	if len(was.Input) > 0 || id != "" && id != was.ID || piece == was.Name {
		return ""
	}
	named := func(is func(name string) bool) bool {
		return slices.ContainsFunc(h.asked.Tools, func(t Tool) bool { return is(t.Name) })
	}
	whole := func(name string) bool { return named(func(n string) bool { return n == name }) }
	if whole(was.Name) && whole(piece) {
		return ""
	}
	for _, name := range []string{was.Name + piece, piece} {
		if strings.HasPrefix(name, was.Name) && named(func(n string) bool { return strings.HasPrefix(n, name) }) {
			return name
		}
	}
	return ""
}

// goOn adds a piece of a call's arguments. Behind whole ones nothing follows: servers send {} before the arguments
// (microsoft/autogen#6843), and the same once more (Soju06/codex-lb#284).
func (h *Hearing) goOn(i int, piece string) {
	call, next := &h.out.Calls[i], strings.TrimSpace(piece)
	h.said += len(piece)
	if next == "" {
		call.Input = append(call.Input, piece...)
		return
	}
	h.repeats[i] = h.repeats[i].before(piece)
	if next[0] == '{' && bytes.HasSuffix(call.Input, []byte("}")) && isObject(call.Input) {
		switch was := string(bytes.TrimSpace(call.Input)); was {
		case next:
			return
		case "{}":
			call.Input = nil
		}
	}
	call.Input = append(call.Input, piece...)
}

// repeating is what shows whether each piece of a call's arguments repeats all before it, as some servers send them
// (NousResearch/hermes-agent#35592).
type repeating struct {
	newest string
	once   bool // one did not
}

func (r repeating) before(piece string) repeating {
	return repeating{piece, r.once || !strings.HasPrefix(piece, r.newest)}
}

// Begins begins a call at an index of the vendor's, with the arguments that came at once. It needs Ends.
func (h *Hearing) Begins(index, id, name, input string) {
	if strings.TrimSpace(input) == "{}" { // the vendor's beginning of each
		input = ""
	}
	h.Call(index, id, name, input)
	h.unended[index] = true
}

// Piece adds arguments of the call that began at the index. Without one they are lost, and with them what some call
// asks for.
func (h *Hearing) Piece(index, input string) {
	if _, begun := h.at[index]; begun {
		h.Call(index, "", "", input)
	} else if input != "" {
		h.Lose("arguments of a call that did not begin")
	}
}

// Ends says that nothing more comes at the index.
func (h *Hearing) Ends(index string) { delete(h.unended, index) }

// Lose says what the answer lacks, whatever reason to stop follows.
func (h *Hearing) Lose(what string) { h.lost = cmp.Or(h.lost, what) }

// WholeCall adds a call that came in one piece.
func (h *Hearing) WholeCall(id, name, input string) int { return h.begin("", id, name, input) }

func (h *Hearing) begin(index, id, name, input string) int {
	call := Call{ID: id, Name: name}
	if h.thoughts != nil {
		call.Opaque, h.thoughts = Hang(h.from, h.thoughts), nil
	}
	h.out.Calls, h.repeats = append(h.out.Calls, call), append(h.repeats, repeating{})
	i := len(h.out.Calls) - 1
	if index != "" {
		h.at[index] = i
	}
	h.goOn(i, input)
	return i
}

func (h *Hearing) callOf(index, id, name string) (i int, known bool) {
	at, numbered := h.at[index]
	if numbered && (id == "" || h.out.Calls[at].ID == id) {
		return at, true
	}
	last := len(h.out.Calls) - 1
	for i := last; i >= 0 && id != ""; i-- {
		if h.out.Calls[i].ID == id {
			return i, true
		}
	}
	if numbered {
		return at, true
	}
	return last, last >= 0 && (index == "" || id == "" && name == "")
}

// complete completes a call, and returns what can't be read of it. Such a call goes nowhere: what a person would decide
// about, or a tool do, would be another one than the model meant.
func (h *Hearing) complete(i int) (unreadable string) {
	call, pieces := &h.out.Calls[i], h.repeats[i]
	if newest := []byte(pieces.newest); !pieces.once && isObject(newest) && !isObject(call.Input) {
		call.Input = newest
	}
	if call.Input = unquoted(call.Input); h.Vendor != "" {
		h.unwrap(call)
	}
	switch name := cmp.Or(word(call.Name), "a tool"); {
	case call.Name == "" && i > 0 && string(h.out.Calls[i-1].Input) == "{}": // the arguments may be that one's
		return fmt.Sprintf("a call that can't be read: no name, and %d bytes of arguments", len(call.Input))
	case !isObject(call.Input):
		return fmt.Sprintf("a call that can't be read: the arguments of %s, %d bytes, are not one JSON object", name,
			len(call.Input))
	}
	return ""
}

// isObject reports whether a text is one JSON object.
func isObject(text []byte) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(text, &members) == nil && members != nil
}

// unquoted returns a call's arguments: those of a tool without any, and an object that is written as a text.
func unquoted(input json.RawMessage) json.RawMessage {
	text := string(input)
	if json.Unmarshal(input, &text) == nil && json.Valid([]byte(text)) {
		input = json.RawMessage(text)
	}
	if text = strings.TrimSpace(text); text == "" || text == "null" {
		return json.RawMessage("{}")
	}
	return input
}

// Reasons why no step can do something that a request needs.
const (
	lackForbidden  = "forbidden"  // an administrator forbids the tool
	lackConstraint = "constraint" // an administrator's constraint leaves it out
	lackTool       = "no_tool"    // no tool does it
	lackValue      = "unknown"    // a value that nobody gave, such as an address
	lackUnclear    = "unclear"    // what the policy says can't be understood, or contradicts itself
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
	texts, more := language.InEach(lacksJA, lacksEN).In(e.locale), language.InEach("ほか %d 件。", "And %d more.").In(e.locale)
	var said []string
	for _, l := range e.Lacks[:min(len(e.Lacks), maxLacks)] {
		said = append(said, strings.NewReplacer("{what}", legible.Clip(l.What, maxWhat), "{tool}",
			legible.Clip(l.Tool, maxWhat), "{constraints}", e.allowed[l.Tool]).Replace(texts[l.Why]))
	}
	if left := len(e.Lacks) - maxLacks; left > 0 {
		said = append(said, fmt.Sprintf(more, left))
	}
	return strings.Join(said, " ")
}

var lacksJA = map[string]string{
	lackForbidden:  "「{what}」に必要なツール {tool} は、管理者が許可していません。",
	lackConstraint: "「{what}」は、管理者が許可した範囲の外です ({constraints})。",
	lackTool:       "「{what}」を行うツールがありません。",
	lackValue:      "「{what}」に必要な値が、依頼にも方針にもありません。",
	lackUnclear:    "方針の「{what}」は、実行ステップに反映できません。",
}

var lacksEN = map[string]string{
	lackForbidden:  "“{what}” needs the tool {tool}, which an administrator hasn't allowed.",
	lackConstraint: "“{what}” is outside what an administrator allows ({constraints}).",
	lackTool:       "There is no tool for “{what}”.",
	lackValue:      "“{what}” needs a value that is in neither the request nor the policy.",
	lackUnclear:    "The steps can't follow the policy's “{what}”.",
}

// What people call the constraints, with their values.
var (
	limitsJA = map[tenancy.Constraint]string{tenancy.OnlySpreadsheets: "書き込めるスプレッドシート: %s",
		tenancy.OnlyRecipients: "送れる相手: %s", tenancy.OnlyDepartments: "対象の部署: %s", tenancy.MaxRows: "1 回に %s 行まで"}
	limitsEN = map[tenancy.Constraint]string{tenancy.OnlySpreadsheets: "allowed spreadsheets: %s",
		tenancy.OnlyRecipients: "allowed recipients: %s", tenancy.OnlyDepartments: "departments: %s",
		tenancy.MaxRows: "rows per call: %s"}
)

// allowed returns, for each tool whose constraints are in the way, the constraints and their allowed values, so that
// people know what to ask for instead.
func allowed(lacks []LackData, tools *tool.Catalog, locale string) map[string]string {
	out, limits := map[string]string{}, language.InEach(limitsJA, limitsEN).In(locale)
	for _, l := range lacks {
		spec, _ := tools.Lookup(l.Tool)
		var said []string
		for _, name := range spec.Knows() {
			switch list := spec.Bounds.Listed(name); {
			case len(list) > 0:
				said = append(said, fmt.Sprintf(limits[name], legible.Clip(strings.Join(list, ", "), maxAllowed)))
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

// substituted reports whether a step uses a department that neither the policy nor the request names. Then the model
// used an allowed department in place of the requested one. A text may omit the suffix 部, 課, 室 or 係.
func substituted(s tool.Spec, args tool.Arguments, in PlanInput) (department string, ok bool) {
	argument := s.Bound[tenancy.OnlyDepartments]
	if argument == "" || len(s.Bounds.Departments) == 0 {
		return "", false
	}
	department = args.Text(argument)
	bare := strings.TrimRight(department, "部課室係")
	if department == "" || bare == "" {
		return "", false
	}
	said := strings.ToLower(strings.Join([]string{in.Policy, in.Request, in.Task.Title, in.Task.Description}, "\n"))
	return department, !strings.Contains(said, strings.ToLower(bare))
}
