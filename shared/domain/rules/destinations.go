package rules

import "ringi/shared/domain/aggregate"

// To returns where a call of one version of the tool goes: the texts at the marked pointers, and each text of a list
// there. It returns none, which means anywhere, if one of them isn't known: without a mark, or where something else
// than a text stands at a pointer, an empty text or list, nothing, or a reference.
func (m *Mark) To(version string, arguments aggregate.JSON) []string {
	if m == nil || m.Version != version || len(m.Problems()) > 0 {
		return nil
	}
	root, ok := decode(string(arguments))
	if !ok {
		return nil
	}
	var all []string
	for _, p := range m.Destinations {
		values, why := at(root, tokens(p))
		if why != "" {
			return nil
		}
		for _, v := range values {
			found := texts(v)
			if found == nil {
				return nil
			}
			all = append(all, found...)
		}
	}
	return all
}

// texts returns a text, or each text of a list; none if one of them is empty or no text.
func texts(v any) (all []string) {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, v := range list {
		text, _ := v.(string)
		if text == "" {
			return nil
		}
		all = append(all, text)
	}
	return all
}
