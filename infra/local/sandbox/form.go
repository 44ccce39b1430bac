package sandbox

// formState returns the "state.values" of a modal. Inputs without a value keep their initial one.
func formState(blocks []any, values map[string]any) map[string]map[string]any {
	state := map[string]map[string]any{}
	for _, b := range blocks {
		bm, _ := b.(map[string]any)
		if bm["type"] != "input" {
			continue
		}
		element, _ := bm["element"].(map[string]any)
		block, _ := bm["block_id"].(string)
		action, _ := element["action_id"].(string)
		value, given := values[block]
		if !given {
			value = initial(element)
		}
		state[block] = map[string]any{action: answer(element, value)}
	}
	return state
}

func hasInput(blocks []any, blockID string) bool {
	for _, b := range blocks {
		bm, _ := b.(map[string]any)
		if bm["type"] == "input" && bm["block_id"] == blockID {
			return true
		}
	}
	return false
}

// single names the state's field for elements with one value.
var single = map[string]string{
	"plain_text_input": "value", "number_input": "value", "email_text_input": "value", "url_text_input": "value",
	"users_select": "selected_user", "channels_select": "selected_channel", "conversations_select": "selected_conversation",
	"datepicker": "selected_date", "timepicker": "selected_time",
}

// answer returns an element's state after the person set it to value. As in Slack, an empty string becomes null.
func answer(element map[string]any, value any) map[string]any {
	kind, _ := element["type"].(string)
	out := map[string]any{"type": kind}
	if key, ok := single[kind]; ok {
		out[key] = nil
		if s, _ := value.(string); s != "" {
			out[key] = s
		}
		return out
	}
	switch kind {
	case "static_select", "radio_buttons", "overflow":
		out["selected_option"] = nil
		if found := options(element, value); len(found) > 0 {
			out["selected_option"] = found[0]
		}
	case "checkboxes", "multi_static_select":
		out["selected_options"] = options(element, value)
	case "multi_users_select":
		out["selected_users"] = chosen(value)
	}
	return out
}

// options returns the option objects with the chosen values.
func options(element map[string]any, value any) []any {
	all, _ := element["options"].([]any)
	groups, _ := element["option_groups"].([]any)
	for _, g := range groups {
		gm, _ := g.(map[string]any)
		more, _ := gm["options"].([]any)
		all = append(all[:len(all):len(all)], more...)
	}
	found := []any{}
	for _, want := range chosen(value) {
		for _, o := range all {
			if om, _ := o.(map[string]any); om["value"] == want {
				found = append(found, o)
			}
		}
	}
	return found
}

// chosen converts a single value or a list to a list of strings.
func chosen(value any) []string {
	out := []string{}
	switch v := value.(type) {
	case string:
		out = append(out, v)
	case []string:
		out = append(out, v...)
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// initial returns the initial value that the app gave an element.
func initial(element map[string]any) any {
	for _, key := range []string{"initial_value", "initial_user", "initial_users", "initial_channel", "initial_conversation", "initial_date", "initial_time"} {
		if v, ok := element[key]; ok {
			return v
		}
	}
	if o, ok := element["initial_option"].(map[string]any); ok {
		return o["value"]
	}
	var values []any
	first, _ := element["initial_options"].([]any)
	for _, o := range first {
		om, _ := o.(map[string]any)
		values = append(values, om["value"])
	}
	return values
}
