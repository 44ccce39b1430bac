package card

// Line prepares others' words for a line of a message that is no card, such as a direct
// message of a step, by the rule of cards: they can't end the line, format, link, mention,
// look like a mark of Ringi's, or turn the reading direction. It has at most limit characters
// as Slack may count them, and may be empty.
func Line(s string, limit int) string { return inline(s, limit) }

// Units is how many characters a text has as Slack may count them.
func Units(s string) int { return units(s) }
