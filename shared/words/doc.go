// Package words is the area of texts for people: languages, visible and invisible characters, code in
// Markdown, and masking. Its packages know nothing of tasks or Slack.
//
// It imports the standard library and Unicode's tables. Begin with language, legible and mask.
package words
