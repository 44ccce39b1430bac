package webapi

// richText is a rich_text block's or cell's elements, by Slack's reference of the block and of its elements.
func richText() rule {
	return list(0, 1000, func(c *checker, at string, v any) {
		c.typed(at, v, richParts(true), "rich text object")
	})
}

func richParts(lists bool) map[string]shape {
	leaves := list(0, 1000, func(c *checker, at string, v any) { c.typed(at, v, richLeaves(), "rich text element") })
	line := shape{fields: map[string]rule{"!elements": leaves}}
	bordered := shape{fields: map[string]rule{"!elements": leaves, "border": number(0, 1), "language": str(0, 255)}}
	parts := map[string]shape{"rich_text_section": line}
	if lists {
		parts["rich_text_preformatted"], parts["rich_text_quote"] = bordered, bordered
		item := func(c *checker, at string, v any) { c.typed(at, v, richParts(false), "rich text object") }
		parts["rich_text_list"] = shape{fields: map[string]rule{
			"!style": enum("bullet", "ordered"), "!elements": list(0, 1000, item), "indent": number(0, 8),
			"offset": number(0, 1000), "border": number(0, 1),
		}}
	}
	return parts
}

func richLeaves() map[string]shape {
	styles := map[string]rule{}
	for _, s := range []string{"bold", "italic", "strike", "code", "underline", "highlight", "client_highlight", "unlink"} {
		styles[s] = boolean
	}
	styled := func(fields map[string]rule) shape {
		fields["style"] = obj(shape{fields: styles})
		return shape{fields: fields}
	}
	return map[string]shape{
		"text":      styled(map[string]rule{"!text": str(1, MaxCharacters)}),
		"link":      styled(map[string]rule{"!url": str(1, 3000), "text": str(0, MaxCharacters), "unsafe": boolean}),
		"user":      styled(map[string]rule{"!user_id": str(1, 255)}),
		"usergroup": styled(map[string]rule{"!usergroup_id": str(1, 255)}),
		"channel":   styled(map[string]rule{"!channel_id": str(1, 255)}),
		"broadcast": styled(map[string]rule{"!range": enum("here", "channel", "everyone")}),
		"emoji":     styled(map[string]rule{"!name": str(1, 255), "unicode": str(1, 255)}),
		"color":     styled(map[string]rule{"!value": str(1, 255)}),
		"date": styled(map[string]rule{"!timestamp": number(0, 1<<40), "!format": str(1, 255), "url": str(1, 3000),
			"fallback": str(1, 255)}),
	}
}
