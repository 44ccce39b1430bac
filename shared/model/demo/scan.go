package demo

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

// taken replaces each part that was taken out of a text, so that the words on either side don't become neighbours.
const taken = '\x1f'

// scanner holds the part of a text that is not understood yet.
type scanner struct {
	text  string
	twice string // a department that the text names again
}

// scan normalizes full-width letters, digits and marks to ASCII.
func scan(text string) *scanner {
	return &scanner{text: strings.Map(func(r rune) rune {
		switch {
		case r >= '!'+0xfee0 && r <= '~'+0xfee0:
			return r - 0xfee0
		case r == taken || unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)}
}

// take takes out every match of a form, and returns its groups.
func (s *scanner) take(f *lazy.Regexp) [][]string {
	found := f.Get().FindAllStringSubmatch(s.text, -1)
	s.text = f.Get().ReplaceAllString(s.text, string(taken))
	return found
}

// takeIf takes out the matches that ok accepts, and returns their groups.
func (s *scanner) takeIf(f *lazy.Regexp, ok func(m []string) bool) (found [][]string) {
	s.takeAs(taken, f, func(m []string, _ string) bool {
		if ok(m) {
			found = append(found, m)
			return true
		}
		return false
	})
	return found
}

// takeAs replaces the matches that ok accepts by a mark, and counts them. after is the text behind a match.
func (s *scanner) takeAs(mark rune, f *lazy.Regexp, ok func(m []string, after string) bool) (n int) {
	var out strings.Builder
	end := 0
	for _, at := range f.Get().FindAllStringSubmatchIndex(s.text, -1) {
		m := make([]string, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = s.text[at[2*i]:at[2*i+1]]
			}
		}
		if !ok(m, s.text[at[1]:]) {
			continue
		}
		out.WriteString(s.text[end:at[0]])
		out.WriteRune(mark)
		end, n = at[1], n+1
	}
	s.text = out.String() + s.text[end:]
	return n
}

// took takes out every match, and reports whether there was one.
func (s *scanner) took(f *lazy.Regexp) bool { return len(s.take(f)) > 0 }

// first takes out every match, and returns the groups of the first.
func (s *scanner) first(f *lazy.Regexp) []string {
	if found := s.take(f); len(found) > 0 {
		return found[0]
	}
	return nil
}

var (
	// wordForm matches pieces of text that may have a meaning: Latin words, numbers, and runs of one Japanese script.
	wordForm = &lazy.Regexp{Text: `[\p{Latin}\p{M}][\p{Latin}\p{M}\p{N}'’&_.@-]*|[\p{N}][\p{N}.,:/-]*|[\p{Han}々]+|[\p{Katakana}ー]+|\p{Hiragana}+|[^\s\p{P}\p{S}\x1f]+`}
	// joiningForm matches a run of hiragana that only joins words or is polite.
	joiningForm = &lazy.Regexp{Text: `^(?:を|は|が|に|へ|と|で|の|も|や|か|な|ね|よ|ください|下さい|ほしい|たい|です|ます|ました|ましょう|やっぱり|やはり|できれば|ちょっと|なるべく|します|しました|したい|いします|いいたします|いします|もう|した|して|する|しておいて|といて|おいて|いただけ|いただき|もらえ|くれ|ますか|ませんか|できますか|でき|たら|から|まで|より|について|に関する|による|における|として|ため|こと|もの|よう|お|ご|ん|という|っていう|いる|ある|あった|せて|よろしく|すぐ|ぜひ|まず|そして|それから|あと|また|この|その|すべて|みんな|だけ|のみ|なら|い(?:る|ます|ました|て)|だった|でした|どんな|くらい|ぐらい|ほど|どの|どれ|どう|なに|いくつ|だれ|なって|みたい|くださる|くれる|くれます|いただく|ほしく|ちゃんと|きちんと|ざっと|ざっくり|さっと|とか|では|でも|それで|なお|ちなみに|でしょう|じゃ|って|しい|しく|まとめ|とりまとめ|しらべ|みせ|おしえ|しりたい|だして|ちょうだい|もらえる)+$`}
	// endingForm matches the ending of a verb whose stem was understood.
	endingForm = &lazy.Regexp{Text: `^(?:て|で|た|だ|る|し|り|い|せ|れ|なさい|おい|ほし|くださ|ます|ました|よ|ね)+$`}
	beginForm  = &lazy.Regexp{Text: `(?:^|[.!?:;\n])\s*$`}
	// plainForm matches a word that makes no difference to the demo.
	plainForm = &lazy.Regexp{Text: `(?i)^(?:a|an|the|of|for|in|on|to|from|and|or|as|at|by|with|into|it|its|is|are|be|all|each|our|us|me|i|we|you|your|please|pls|can|could|will|would|like|need|want|hi|hello|hey|thanks|thank|about|this|that|these|those|their|them|what|which|who|how|many|much|there|do|does|have|has|had|been|did|was|were|since|any|should|shall|must|i['’]m|i['’]d|we['’]d|what['’]s|who['’]s|how['’]s|it['’]s|let['’]s|info|information|stats|worked|when|once|done|finished|then|also|so|now|only|just|but|actually|rather|maybe|kindly|between|through|thru|until|till|during|within|current|active|currently|company|whole|entire|everyone|everybody|staff's|employee's|employees'|list|lists|show|fetch|get|give|tell|see|look|check|checking|sum|summarize|summarise|summary|total|totals|count|number|numbers|report|table|overview|calculate|compute|compile|collect|find|out|up|prepare|know|let|data|records?|figures?|result|results|month|months|month's|hours|time|times|people|per|person|by|one|google|freee|slack|ringi|urgent|asap|urgently|今|間|何人|何名|件|分|表|方|側|人|名|中|度|毎|全|各|等|別|時間|情報|結果|状況|内容|一覧|一覧表|全員|全社|全従業員|全社員|人数|件数|合計|総数|会社|社内|弊社|当社|在籍|在籍中|現在|最新|全体|対象|依頼|取得|確認|集計|調査|計算|抽出|作成|出力|報告|把握|用意|準備|共有|整理|願|御願|教|見|調|知|出|欲|頂|下|致|宜|数|月間|データ|リスト|レポート|リストアップ|チェック|サマリー|サマリ|サマリーデータ|ピックアップ|カウント)$`}
)

// unread lists the words that were not understood, in order and without repetition.
func (s *scanner) unread() (out []string) {
	for _, at := range s.strange() {
		out = add(out, strings.Trim(s.text[at[0]:at[1]], trimmed))
	}
	return out
}

const trimmed = ".,'’&-:/"

// strange returns where words stand that were not understood.
func (s *scanner) strange() (out [][]int) {
	english := language.Of(s.text, language.English) == language.English
	for _, at := range wordForm.Get().FindAllStringIndex(s.text, -1) {
		word := strings.Trim(s.text[at[0]:at[1]], trimmed)
		if strings.HasSuffix(s.text[:at[0]], string(taken)) && endingForm.Get().MatchString(word) {
			continue
		}
		plain := plainForm.Get().MatchString(word)
		if word == "A" { // a name, unless a sentence begins with it
			plain = english && beginForm.Get().MatchString(s.text[:at[0]])
		}
		if word == "" || joiningForm.Get().MatchString(word) || plain {
			continue
		}
		if r := []rune(word); len(r) == 1 && unicode.Is(unicode.Hiragana, r[0]) {
			continue
		}
		out = append(out, at)
	}
	return out
}

var (
	// besideForm matches what may stand between two words of one phrase.
	besideForm = &lazy.Regexp{Text: `^(?:[ ]?|[\p{Han}々\p{Katakana}ー\p{Hiragana}]*)$`}
	// tailForm matches the end of a Japanese word, and particleForm the particles behind it.
	tailForm = &lazy.Regexp{Text: `^\p{Hiragana}+`}
	// stemForm matches the beginning of a Japanese word that goes on behind it.
	stemForm     = &lazy.Regexp{Text: `[\p{Han}々]+[^\P{Hiragana}をはがにへでとのも]*$`}
	particleForm = &lazy.Regexp{Text: `(?:を|は|が|に|へ|で|と|の|も|や|か|から|まで|だけ|のみ|など|ください|下さい)+$`}
)

// phrases are the words that were not understood, each with its ending, with those beside it, and with the rest of the
// word in the whole text, so that no word is torn where it is quoted.
func (s *scanner) phrases(text string) (out []string) {
	words := s.strange()
	for i := 0; i < len(words); i++ {
		begin, end := words[i][0], words[i][1]
		for ; i+1 < len(words) && besideForm.Get().MatchString(s.text[end:words[i+1][0]]); i++ {
			end = words[i+1][1]
		}
		end += len(tailForm.Get().FindString(s.text[end:]))
		phrase := strings.Trim(s.text[begin:end], trimmed)
		out = add(out, whole(or(particleForm.Get().ReplaceAllString(phrase, ""), phrase), text))
	}
	return out
}

// whole extends a part of a text to the beginning and the end of its words.
func whole(part, text string) string {
	begin := strings.Index(text, part)
	if begin < 0 || part == "" {
		return part
	}
	end := begin + len(part)
	compound := func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Katakana) || r == 'ー' || r == '々' }
	switch first, _ := utf8.DecodeRuneInString(part); {
	case compound(first):
		begin = len(strings.TrimRightFunc(text[:begin], func(r rune) bool { return compound(r) || unicode.IsDigit(r) }))
	case unicode.Is(unicode.Hiragana, first) && stemForm.Get().MatchString(text[:begin]): // せず of 知らせず
		begin = stemForm.Get().FindStringIndex(text[:begin])[0]
	}
	if last, _ := utf8.DecodeLastRuneInString(part); compound(last) {
		end = len(text) - len(strings.TrimLeftFunc(text[end:], compound))
	}
	return text[begin:end]
}

var (
	// didForm matches a Japanese verb whose word was not understood: 削除して, 払って, PDF にして.
	didForm = &lazy.Regexp{Text: `([\p{Latin}\p{Han}\p{Katakana}ー々]+)[ \x1f]*[にをと]?[ \x1f]*(?:し(?:て|た|ます|といて|ておいて|ろ)|する|せよ|って|んで|いで|いて|いで|えて|けて|げて|めて|べて|れて|せて|ねて|やして|りたい|きたい|したい|いたい|みたい|ってほしい|ってください)`}
	// deniedForm matches a negation. The demo can't interpret negated text, so it refuses it.
	deniedForm = &lazy.Regexp{Text: `(?i)以外|除[くいき]|ではな[くい]|じゃな[くい]|でなく|ないで|ないよう|せずに?|なしで|抜き(?:[のにで、。,\s\x1f]|$)|抜いて|外し|省[いくき]|不要|無用|[要い]ら(?:ない|ず)|[要い]りません|(?:し|送ら|書か|含ま|含め|入れ|出さ|見せ|使わ)(?:ない|ません|ず)|結構|禁止|\bbut\b\s*[^\s\x1f]+|\b(?:not|don['’]?t|doesn['’]?t|never|except|exclud(?:e[ds]?|ing)|without|instead|no|nor|neither|unless|minus|omit(?:ting)?|skip(?:ping)?|leav(?:e|ing)\s+out|(?:apart|aside)\s+from|save\s+for|other\s+than|rather\s+than)\b`}
	// narrowForm selects, ranks or compares: a person who asks for the first five doesn't want all.
	narrowForm = &lazy.Regexp{Text: `(?i)[\d〇一二三四五六七八九十百千半][^\s、。\x1f]{0,6}?(?:以下|以上|以内|未満|超)|(?:平均|基準|上限|規定)\s*(?:以下|以上|未満)|(?:上位|下位|トップ|ワースト|ベスト)\s*の?\s*(?:[\d一二三四五六七八九十数]+\s*(?:人|名|位|件)?|者|層)|上期|下期|上半期|下半期|[前後]半|[上中下]旬|本人|当人|該当者|各自|ランキング|順位|[多少高低長短早遅]い(?:順|人|者|方|社員|従業員)|の?順に|最も|もっとも|一番(?:[多少高低長短]|目)|より(?:も)?\s*(?:[多少高低長短]|増|減)|比較|比べ|対比|前[年月]比|増減|\b(?:top|bottom|first|last)[\s-]+(?:\d+|two|three|four|five|ten|few)\b(?:\s+(?:people|employees?|persons?))?|\b(?:at\s+(?:least|most)|(?:more|less|fewer|greater|higher|lower)\s+than|under|below|above|over|exceed(?:s|ed|ing)?)\s+\d+|\b\d+\s*(?:\w+\s+)?or\s+(?:more|less|fewer|over|under)\b|\b(?:highest|lowest|fewest|largest|smallest|(?:the|with)\s+(?:most|least))\b|\bone\s+(?:of|person|employee|member|colleague)\b|\b(?:rank|sort|order)(?:ed|ing)?\s+by\b|\branking\b|\bcompar(?:e|ed|es|ing|ison)\b|\bversus\b|\bvs\b|\b(?:first|second)\s+half\b|\b(?:tell|notify|inform|remind)\s+(?:them|him|her)\b`}
	// laterForm matches a time in the future. Only a meeting can have one, because everything else is done at once.
	laterForm = &lazy.Regexp{Text: `(?i)今[月週]中に|月内に|明日|明後日|あした|あさって|明々後日|しあさって|翌日|翌朝|明朝|明晩|今夜|今晩|来週|後で|あとで|のちほど|後ほど|後日|\d+\s*(?:分|時間|日|週間)後|\d{1,2}\s*時(?:[^間]|$)|\d{1,2}:\d\d|\d{1,2}\s*日の?\s*(?:早朝|朝|昼|正午|夕方?|夜|晩|午前|午後)|(?:\d{1,2}\s*日|早朝|朝|昼|正午|夕方?|夜|晩|午前中?|午後|週明け|週末|月末|月初|年末)に(?:なったら)?\s*(?:送|知らせ|連絡|通知|配信|実行|まとめて)|\b(?:tomorrow|tonight|later|next\s+week|(?:next|on)\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day|in\s+(?:\d+|an?|one|two|three)\s+(?:minutes?|hours?|days?|weeks?)|at\s+\d{1,2}(?:\s*(?:am|pm|o'clock))?|at\s+noon|on\s+the\s+\d{1,2}(?:st|nd|rd|th)|in\s+the\s+(?:morning|afternoon|evening))\b`}
	// unknownYearForm matches a year that the demo can't work out.
	unknownYearForm = &lazy.Regexp{Text: `(?i)[\p{Han}\p{N}]{0,6}年|おととし|\byears?\b`}
	// cancelForm wants to cancel an earlier request.
	cancelForm = &lazy.Regexp{Text: `(?i)(?:取り?消し?|取りやめ|とりやめ|キャンセル)[^\s、。]*|\bcancel\w*|\bcall\s+off\b`}
	// alsoForm asks to notify somebody in addition to the requester.
	alsoForm = &lazy.Regexp{Text: `(?i)(?:に|へ|宛に?)\s*も|\b(?:cc|also|too|as\s+well)\b`}
	// everyForm asks for repeated work.
	everyForm = &lazy.Regexp{Text: `(?i)毎(?:日|週|月|年|朝|晩|回)|定期的?|\b(?:every|daily|weekly|monthly|recurring|regularly)\b|\beach\s+(?:day|week|month|monday|tuesday|wednesday|thursday|friday)\b`}
	// nameForm matches a name in a list: Kyoto and Nagoya.
	nameForm     = &lazy.Regexp{Text: `^(?:and|also)\s+[A-Z]`}
	functionForm = &lazy.Regexp{Text: `(?i)^(?:without|except|but|no|not|never|if|because|unless|than|more|less|over|under|above|below)$`}
	// doForm matches the verb of an English instruction.
	doForm = &lazy.Regexp{Text: `(?i)(?:^|[.!?;\n]|\b(?:and|then|also)\b)[\s\x1f,:]*(?:(?:hi|hello|hey|please|pls|kindly|can|could|would|will|you|i|we|want|need|like|to|d|let's|lets|now|urgent|asap|and|then|also)\b[\s\x1f',:]*)*([a-z][a-z'’-]*)`}
)

// narrowed returns the first word that selects or compares, empty if there is none. It ignores limits that the result
// marks anyway, and phrases for the last few months.
func narrowed(text string) string {
	text = lastFewForm.Get().ReplaceAllString(markForm.Get().ReplaceAllString(text, string(taken)), string(taken))
	return toEnd(text, narrowForm)
}

// negated returns the first negation, empty if there is none: an English one with the rest of its clause, a Japanese
// one with the word before it.
func negated(text string) string {
	said := toEnd(text, deniedForm)
	if last, _ := utf8.DecodeLastRuneInString(said); unicode.Is(unicode.Latin, last) {
		said += clauseForm.Get().FindString(text[strings.Index(text, said)+len(said):])
		return strings.TrimSpace(said)
	}
	return whole(or(particleForm.Get().ReplaceAllString(said, ""), said), text)
}

// clauseForm matches the rest of an English clause.
var clauseForm = &lazy.Regexp{Text: `^[^.!?;,\n\x1f]*`}

// toEnd returns the first match of a form, with the rest of its last word if that is Japanese: 超えている, not 超.
func toEnd(text string, f *lazy.Regexp) string {
	at := f.Get().FindStringIndex(text)
	if at == nil {
		return ""
	}
	said := text[at[0]:at[1]]
	if last, _ := utf8.DecodeLastRuneInString(said); unicode.Is(unicode.Hiragana, last) || last == '超' {
		said += tailForm.Get().FindString(text[at[1]:])
	}
	return strings.TrimSpace(said)
}

// action returns a verb that the demo does not understand, empty if there is none.
func (s *scanner) action() string {
	left := s.unread()
	for _, at := range didForm.Get().FindAllStringSubmatchIndex(s.text, -1) {
		if slices.Contains(left, s.text[at[2]:at[3]]) {
			return strings.Trim(s.text[at[0]:at[1]]+tailForm.Get().FindString(s.text[at[1]:]), " \x1f")
		}
	}
	for _, m := range doForm.Get().FindAllStringSubmatch(s.text, -1) {
		if word := m[1]; slices.Contains(left, word) && !nameForm.Get().MatchString(m[0]) && !strings.ContainsAny(word, "'’") &&
			!functionForm.Get().MatchString(word) {
			return word
		}
	}
	return ""
}
