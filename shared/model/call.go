package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
