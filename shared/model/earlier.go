package model

import (
	"slices"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

const (
	// maxEarlier bounds the reasons of rejected versions that a prompt repeats whole, in tokens by estimate.
	maxEarlier = 16_000
	// maxOldReason is what is left of a reason beyond that, in characters.
	maxOldReason = 100
)

// estimate is about how many tokens a text has, too many rather than too few: OpenAI counts four characters of English
// as one (help.openai.com, "What are tokens and how to count them?"), code and JSON have about three, and Japanese is
// near one a character.
func estimate(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+2)/3 + other
}

// earlier says what a prompt repeats of rejected versions, the oldest first. The newest version is repeated whole, of
// older ones the reasons, and once those come to maxEarlier, only the first maxOldReason characters of still older
// reasons. whole says whether version i is repeated whole; reasons are the reasons, cut.
func earlier(all []string) (reasons []string, whole func(i int) bool) {
	reasons = slices.Clone(all)
	sum := 0
	for i := len(all) - 1; i >= 0; i-- {
		if sum += estimate(all[i]); sum > maxEarlier && i < len(all)-1 {
			reasons[i] = legible.Beginning(all[i], maxOldReason)
		}
	}
	return reasons, func(i int) bool { return i == len(all)-1 }
}
