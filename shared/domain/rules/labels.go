package rules

import (
	"encoding/json"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
)

// Label is an argument by whose value a mark tells one kind of call from another, such as 費目 of an order.
type Label struct {
	Name    string `json:"name"`
	Pointer string `json:"pointer"` // to a text, a number, or a list of these
}

// LabelsOf returns what a call of one version of the tool has at each label: none where it isn't known, as of another
// version, or where a reference, nothing or an empty text or list stands.
func (m *Mark) LabelsOf(version string, arguments aggregate.JSON) map[string][]string {
	if m == nil || len(m.LabelledBy) == 0 {
		return nil
	}
	values := map[string][]string{}
	root, ok := decode(string(arguments))
	ok = ok && m.Version == version && len(m.Problems()) == 0
	for _, l := range m.LabelledBy {
		values[l.Name] = nil
		if ok {
			values[l.Name] = textsAt(root, l.Pointer)
		}
	}
	return values
}

// labelText returns a text, or a number as it is written.
func labelText(v any) string {
	if n, is := v.(json.Number); is && Decimal(n).Valid() {
		return n.String()
	}
	text, _ := v.(string)
	return text
}

// textsAt returns the texts at a pointer, and each of a list there; none if one of them isn't known.
func textsAt(root any, pointer string) (all []string) {
	values, why := at(root, Tokens(pointer))
	if why != "" {
		return nil
	}
	for _, v := range values {
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, v := range list {
			text := labelText(v)
			if text == "" {
				return nil
			}
			all = append(all, text)
		}
		if len(list) == 0 {
			return nil
		}
	}
	return all
}

func (m *Mark) checkLabels(p *problems) {
	p.Unless(len(m.LabelledBy) <= MaxPointers, "labelled_by", "most", MaxPointers)
	for i, l := range m.LabelledBy {
		field := fmt.Sprintf("labelled_by[%d]", i)
		p.name(l.Name, field+".name", MaxNamed)
		p.pointer(l.Pointer, field+".pointer")
		p.Unless(!slices.ContainsFunc(m.LabelledBy[:i], func(x Label) bool { return x.Name == l.Name }), field+".name",
			"twice")
	}
}
