package webapi

// elementShapes returns the interactive elements that the sandbox can draw.
func elementShapes() map[string]shape {
	with := func(fields map[string]rule) shape {
		fields["action_id"] = str(0, 255)
		return shape{fields: fields}
	}
	control := func(fields map[string]rule) shape {
		fields["confirm"] = obj(confirmShape())
		fields["focus_on_load"] = boolean
		return with(fields)
	}
	picker := func(fields map[string]rule) shape {
		fields["placeholder"] = plain(150)
		return control(fields)
	}
	field := func(fields map[string]rule) shape {
		fields["placeholder"] = plain(150)
		fields["focus_on_load"] = boolean
		fields["dispatch_action_config"] = obj(shape{fields: map[string]rule{"trigger_actions_on": list(1, 2, str(1, 40))}})
		return with(fields)
	}
	option := obj(optionShape(75, 75))
	feedback := obj(shape{fields: map[string]rule{"!text": plain(75), "!value": str(1, 2000), "accessibility_label": str(1, 75)}})
	shapes := map[string]shape{
		"button": with(map[string]rule{
			"!text": plain(75), "value": str(0, 2000), "url": str(0, 3000), "style": enum("primary", "danger"),
			"confirm": obj(confirmShape()), "accessibility_label": str(0, 75),
		}),
		"image":    {fields: map[string]rule{"image_url": str(1, 3000), "!alt_text": str(1, 2000)}},
		"overflow": with(map[string]rule{"!options": list(1, 5, option), "confirm": obj(confirmShape())}),
		"static_select": selectShape(picker(map[string]rule{
			"options": list(1, 100, option), "option_groups": list(1, 100, groupRule(option)), "initial_option": option,
		})),
		"multi_static_select": selectShape(picker(map[string]rule{
			"options": list(1, 100, option), "option_groups": list(1, 100, groupRule(option)),
			"initial_options": list(1, 100, option), "max_selected_items": number(1, 100),
		})),
		"users_select":         picker(map[string]rule{"initial_user": str(1, 255)}),
		"multi_users_select":   picker(map[string]rule{"initial_users": list(1, 100, str(1, 255)), "max_selected_items": number(1, 100)}),
		"channels_select":      picker(map[string]rule{"initial_channel": str(1, 255), "response_url_enabled": boolean}),
		"conversations_select": picker(map[string]rule{"initial_conversation": str(1, 255), "default_to_current_conversation": boolean, "response_url_enabled": boolean, "filter": obj(conversationsShape())}),
		"datepicker":           picker(map[string]rule{"initial_date": str(10, 10)}),
		"timepicker":           picker(map[string]rule{"initial_time": str(5, 5), "timezone": str(1, 64)}),
		"radio_buttons":        control(map[string]rule{"!options": list(1, 10, obj(optionShape(75, 150))), "initial_option": option}),
		"checkboxes":           control(map[string]rule{"!options": list(1, 10, obj(optionShape(75, 150))), "initial_options": list(1, 10, option)}),
		"plain_text_input": field(map[string]rule{
			"initial_value": str(0, 3000), "multiline": boolean, "min_length": number(0, 3000), "max_length": number(1, 3000),
		}),
		"number_input": field(map[string]rule{
			"!is_decimal_allowed": boolean, "initial_value": str(1, 255), "min_value": str(1, 255), "max_value": str(1, 255),
		}),
		"email_text_input": field(map[string]rule{"initial_value": str(0, 3000)}),
		"url_text_input":   field(map[string]rule{"initial_value": str(0, 3000)}),
		"feedback_buttons": with(map[string]rule{"!positive_button": feedback, "!negative_button": feedback}),
		"icon_button": with(map[string]rule{
			"!icon": enum("trash"), "!text": plain(75), "value": str(0, 2000), "confirm": obj(confirmShape()),
			"accessibility_label": str(0, 75), "visible_to_user_ids": list(1, 100, str(1, 255)),
		}),
	}
	return shapes
}

func confirmShape() shape {
	return shape{fields: map[string]rule{
		"!title": plain(100), "!text": rich(300), "!confirm": plain(30), "!deny": plain(30), "style": enum("primary", "danger"),
	}}
}

func optionShape(label, value int) shape {
	return shape{fields: map[string]rule{"!text": rich(label), "!value": str(1, value), "description": rich(75), "url": str(1, 3000)}}
}

func groupRule(option rule) rule {
	return obj(shape{fields: map[string]rule{"!label": plain(75), "!options": list(1, 100, option)}})
}

// selectShape requires that a select has either options or option groups.
func selectShape(s shape) shape {
	s.also = func(c *checker, at string, m map[string]any) {
		if (m["options"] == nil) == (m["option_groups"] == nil) {
			c.add(at, "must provide exactly one of: options, option_groups")
		}
	}
	return s
}

// conversationsShape is the filter that restricts the conversations in a menu (docs.slack.dev,
// reference/block-kit/composition-objects/conversation-filter-object).
func conversationsShape() shape {
	return shape{fields: map[string]rule{
		"include": list(1, 4, enum("im", "mpim", "private", "public")), "exclude_external_shared_channels": boolean, "exclude_bot_users": boolean,
	}}
}
