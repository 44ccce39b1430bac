// Package words is the area of what people can read: languages, what of a text is visible, and what is masked. Its
// packages know nothing of tasks or Slack.
//
// It imports the standard library and Unicode's tables. Begin with language, legible and mask.
package words
