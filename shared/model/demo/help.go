package demo

import "strings"

// wantsHelp reports whether a message only asks what Ringi is for.
func wantsHelp(text string) bool {
	switch strings.TrimRight(strings.ToLower(strings.TrimSpace(text)), "?？!！。. ") {
	case "help", "ヘルプ", "使い方", "使い方を教えて", "何ができる", "何ができますか", "何ができるの", "what can you do":
		return true
	}
	return false
}
