package main

import (
	"fmt"
	"strings"
)

// pictures are what fonts show for letters, as far as people fill in forms and mark lines by them.
var pictures = map[string]map[rune]string{
	"wingdings": {0x4a: "☺", 0x4b: "😐", 0x4c: "☹", 0x6c: "●", 0x6d: "❍", 0x6e: "■", 0x6f: "☐", 0x70: "☐", 0x71: "❑",
		0x72: "❒", 0x74: "◆", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x9f: "•", 0xa1: "○", 0xa7: "▪", 0xa8: "☐", 0xd8: "➢",
		0xdf: "←", 0xe0: "→", 0xe1: "↑", 0xe2: "↓", 0xe8: "➔", 0xf0: "⇨", 0xfb: "✗", 0xfc: "✓", 0xfd: "☒", 0xfe: "☑"},
	"wingdings 2": {0x4f: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0xa3: "☐"},
	"wingdings 3": {},
	"webdings":    {0x61: "✓", 0x63: "☐", 0x67: "■", 0x72: "✗"},
}

// pictured returns a text as its fonts show it.
func (l look) pictured(s string) string {
	if l.signs == "" || l.signs == l.font {
		return pictured(l.font, s)
	}
	var out strings.Builder
	for _, r := range s {
		font := l.font
		if r >= 0xf000 && r <= 0xf0ff {
			font = l.signs
		}
		out.WriteString(pictured(font, string(r)))
	}
	return out.String()
}

// pictured returns a text as a font shows it. What is not known of a font of pictures is named by its number;
// characters that such a font doesn't have, such as kanji, are shown in another.
func pictured(font, s string) string {
	font = strings.TrimSpace(font)
	known := pictures[strings.ToLower(font)]
	if known == nil {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		code := r
		if r >= 0xf000 && r <= 0xf0ff {
			code -= 0xf000
		}
		switch picture := known[code]; {
		case picture != "":
			out.WriteString(picture)
		case r < 0x80 && !isLetter(r), r >= 0x100 && r == code:
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "[%s %X]", oneLine(font), r)
		}
	}
	return out.String()
}
