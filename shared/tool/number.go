package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// saysNumber reports whether a text has a number in the same notation, as an amount. 4 is in 4月 and 上限は 4 件, but not in
// 4,000, 4 000, 0.4, −4, 4万, 4割, 4 k, 4 (千円) or 4 million. Numbers of the text's own items don't count: 4. at the
// beginning of a line, ステップ4, 第4.
func saysNumber(text string, n json.Number) bool {
	return stands(text, n.String(), func(p place) bool {
		return asID(p) && !calculated(p.left) && !calculated(p.right) && !multiplied(p.left) && !multiplied(p.right) &&
			!counts(p)
	})
}

// calculated reports whether a sign next to a number, beyond spaces, makes it another number. A dash at the beginning
// of a line does not, because it marks an item of a list.
func calculated(side []rune) bool {
	sign := pastSpaces(side)
	if len(sign) == 0 {
		return false
	}
	r, behind := sign[0], pastSpaces(sign[1:])
	switch {
	case unicode.Is(unicode.Pd, r):
		item := len(sign) < len(side) && (len(behind) == 0 || behind[0] == '\n')
		return !item
	case unicode.Is(unicode.Sm, r):
		return !strings.ContainsRune("=＝|｜"+bullets, r)
	}
	return strings.ContainsRune("%％‰/／", r)
}

// multiplied reports whether the text next to a number, beyond spaces, makes the number larger: digits, a word such as
// million, or a single letter such as k. Words and letters count in brackets, too.
func multiplied(side []rune) bool {
	side = pastSpaces(side)
	if len(side) > 0 && unicode.IsNumber(side[0]) {
		return true
	}
	if len(side) > 0 && slices.Contains(opening, side[0]) {
		side = pastSpaces(side[1:])
	}
	if len(side) == 0 {
		return false
	}
	word := lowerASCII(string(side))
	if strings.ContainsRune("十百千万億兆京拾萬割半", side[0]) || word[0] >= 'a' && word[0] <= 'z' &&
		(len(side) == 1 || !wordly(side[1])) {
		return true
	}
	return slices.ContainsFunc([]string{"dozen", "hundred", "thousand", "million", "billion", "trillion", "percent",
		"per cent", "ダース", "パーセント"}, func(s string) bool { return strings.HasPrefix(word, s) })
}

// counts reports whether a number numbers the text's own items: at the beginning of a line before a mark, after a word
// such as step, or before 番目.
func counts(p place) bool {
	if len(p.right) > 0 && strings.ContainsRune(".)．）:：、", p.right[0]) {
		before := strings.TrimLeft(string(p.left), " \t\u3000#*>_-([（【"+bullets)
		if before == "" || before[0] == '\n' {
			return true
		}
	}
	after := string(pastSpaces(p.right))
	if slices.ContainsFunc([]string{"番目", "つ目", "回目", "個目"}, func(s string) bool { return strings.HasPrefix(after, s) }) {
		return true
	}
	left := slices.Clone(p.left)
	slices.Reverse(left)
	const list = "0123456789 \u3000、,・〜~と&" // of the items before: ステップ 2・3
	before := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(lowerASCII(string(left)), list), "and"), list)
	return slices.ContainsFunc([]string{"ステップ", "手順", "工程", "段階", "第", "step", "steps", "phase", "item", "no.", "#", "№"},
		func(s string) bool { return strings.HasSuffix(before, s) })
}
