// Package words is the area of texts for people: languages, visible and invisible characters, encodings,
// code in Markdown, and masking. Its packages know nothing of tasks or Slack.
//
// It imports the standard library and the tables of Unicode and of encodings. Begin with language and legible.
package words
