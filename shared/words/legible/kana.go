package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// Kana and kanji that look alike. They are told apart by their neighbours: a kanji between katakana, or katakana
// between kanji, is hardly what it looks like.
const (
	kanjiLikeKana = "力口二夕工一卜八千才三厶㐅"
	kanaLikeKanji = "カロニタエトハチオミムメ"
	likeBoth      = "へべぺ" // hiragana that look like katakana; ヘベペ are those
)

var (
	// beginsWord matches words that do begin with a kanji before katakana, and numbers of things.
	beginsWord = language.Regexp{Text: `^(?:口(?:コミ|パク|ゲンカ|ヒゲ|ベタ|ドメ|ダケ)|力コブ|夕(?:ビール|ヒ)|` +
		`[一二三八千](?:[ヶヵケツコ]|カ(?:月|所|国|年|条)|メートル|キロ|グラム|ミリ|センチ|トン|リットル|ヘクタール|` +
		`ドル|ユーロ|ポンド|ウォン|パーセント|ポイント|ワット|ボルト|バイト|ビット|カロリー|ページ|コマ|チーム|クラス|` +
		`グループ|シーズン|セット|ケース|パック|ダース|ピース|ラウンド|タイプ|ルート|ライン|ステップ|ユニット|` +
		`ブロック|エリア|レーン|フロア|ランク|レベル|サイズ|シート|パターン|プラン|コース|タイトル|カット|ゴール))`}
	// goesOnWith matches what goes on after 力 in words as プレゼン力アップ.
	goesOnWith = language.Regexp{Text: `^力(?:アップ|テスト|チェック|ゼロ|ランキング|トレーニング|ダウン|コンテスト)`}
	// endsFirm matches what ends a word of its own before another word.
	endsFirm = language.Regexp{Text: `(?:会社|法人|組合)$`}
)

type neighbour int

const (
	noKana neighbour = iota
	katakana
	hiragana
	kanji
)

func kindOf(r rune) neighbour {
	switch {
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return katakana
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Han, r):
		return kanji
	}
	return noKana
}

// strayKana reports whether the character between two texts looks like one of the script of its neighbours, and is one
// of another script: 力 in 力ネコ, ロ in 人ロ. A word in which such a character is usual is as it is.
func strayKana(before string, r rune, rest string) bool {
	if r < '\u3041' || r > '\u9fff' || !strings.ContainsRune(kanjiLikeKana+kanaLikeKanji+likeBoth+"ヘベペー曰", r) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(rest)
	was, is := kindOf(last), kindOf(next)
	switch {
	case strings.ContainsRune(kanjiLikeKana, r):
		return kanjiInKatakana(before, r, rest)
	case r == '曰': // 曰く
		return next != 'く'
	case strings.ContainsRune(likeBoth, r): // behind a letter it is a word of its own
		return !unicode.IsLetter(last) && is == katakana
	case strings.ContainsRune("ヘベペ", r):
		return was != katakana && is != katakana && (was == hiragana || is == hiragana)
	case r == 'ー' && was != katakana && was != hiragana:
		return plain(last) && plain(next) && !unicode.IsDigit(last) ||
			is == kanji && (strings.ContainsRune("一二三四五六七八九十百千", last) || !unicode.IsLetter(last) && !unicode.IsDigit(last))
	case r == 'ー', was == katakana, is == katakana:
		return false
	case is == kanji:
		return (was == kanji || !unicode.IsLetter(last) && !unicode.IsDigit(last)) && !usualBefore(r, last, next)
	}
	return was == kanji && (r == 'ロ' || r == 'エ') && !usualBefore(r, last, next) // 人ロ, 加エ
}

// usualBefore reports whether one katakana stands before or behind these kanji in usual words: カ月, ト書き, ニ長調, 日ロ.
func usualBefore(r, last, next rune) bool {
	return r == 'カ' && strings.ContainsRune("月所国年条寺村", next) || r == 'ト' && next == '書' ||
		strings.ContainsRune("ハニトロ", r) && strings.ContainsRune("長短音", next) ||
		r == 'ロ' && strings.ContainsRune("日米中独仏英対", last) || r == 'メ' && strings.ContainsRune("切", next)
}

func kanjiInKatakana(before string, r rune, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(rest)
	was, is, word := kindOf(last), kindOf(next), string(r)+rest
	counts := strings.ContainsRune("一二三八千", r)
	switch {
	case beginsWord.Get().MatchString(word), unicode.IsDigit(last):
		return false
	case was == kanji && is == katakana:
		return endsFirm.Get().MatchString(before) && !counts
	case was == kanji, is == kanji, was != katakana && is != katakana:
		return false
	case was == katakana && r == '力':
		return is == katakana && !goesOnWith.Get().MatchString(word)
	case was == katakana && is != katakana && (counts || r == '工'): // ライン工, ベスト八, but センタ一
		return !strings.ContainsRune("プトーングスルシ", last)
	}
	return true
}

// settled are the scripts whose letters may stand beside Latin ones in a word.
var settled = []*unicode.RangeTable{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Bopomofo, unicode.Greek, unicode.Common, unicode.Inherited}

// strayLetter reports whether a letter or digit of another script stands in a word with ASCII ones.
func strayLetter(r rune, word string) bool {
	switch {
	case r < 0x250 || everyday(r):
		return false
	case unicode.IsDigit(r): // those of full width are common
		return r < '０' || r > '９'
	}
	return unicode.IsLetter(r) && !unicode.In(r, settled...) &&
		strings.ContainsFunc(word, func(r rune) bool { return r < 0x80 && unicode.IsLetter(r) })
}
