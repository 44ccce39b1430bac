package rules

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
)

// draft is rules that somebody writes. It travels in the page's form: nothing is kept until all of it is saved.
type draft struct {
	Rev   int          `json:"rev"`   // revision of the saved rules that it began from
	Rules *rules.Rules `json:"rules"` // nil: none
}

// mostDraft bounds a draft that is unpacked: rules that can be saved, and as much again for those that can't yet.
const mostDraft = 2 * rules.MaxBytes

// packed returns a value for a hidden field. A hundred rules as plain text would be most of a page.
func packed(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("pack a draft: %v", err)) // it holds only strings, numbers, booleans and lists of these
	}
	return web.Packed(text)
}

// unpacked reads the value of a hidden field. It returns aggregate.ErrField for one that no page of Ringi's has made.
func unpacked[T any](field, text string) (v T, err error) {
	wrong := aggregate.ErrField{Field: field, Limit: "must be as the page has it"}
	plain, err := web.Unpacked(text, mostDraft)
	if err != nil || len(plain) > mostDraft || json.Unmarshal(plain, &v) != nil {
		var none T
		return none, wrong
	}
	return v, nil
}

// draftOf returns the form's draft.
func draftOf(text string) (draft, error) {
	d, err := unpacked[draft]("draft", text)
	if err == nil && d.Rules != nil && len(d.Rules.Rules) > 2*rules.MaxRules {
		err = aggregate.ErrField{Field: "draft", Limit: fmt.Sprintf("must have at most %d rules", 2*rules.MaxRules)}
	}
	return d, err
}

// same reports whether two values are written alike.
func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// blank returns rules without a rule: what only reads is for the channel, what writes outside is refused.
func blank() *rules.Rules {
	return &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{}}
}
