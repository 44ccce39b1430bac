package demo

import (
	"strings"

	"ringi/shared/words/lazy"
)

var (
	// correctForm matches a word by which people take back what they wrote before it, firstForm what may stand before
	// such a word where there is nothing to take back.
	correctForm = &lazy.Regexp{Text: `(?i)やっぱり?|やはり|もとい|訂正|間違[えいっ]\p{Hiragana}*|っ?ていうか|というか|なんなら|(?:月分?|[部課日時]|営業|人事|開発)(?:の方|のほう)?(?:でした|だった)(?:[。、!\s]|$)|\b(?:actually|rather|i\s+meant?|scratch\s+that|on\s+second\s+thought)\b`}
	firstForm   = &lazy.Regexp{Text: `(?i)^[\s\x1f、。,.!?…あえと]*(?:ringi\b|リンギ)?[\s\x1f、。,.!?]*(?:i|we|could|can|would|you|do)?(?:\s+(?:i|we|you))?\s*$`}
	// choiceOfTopicForm leaves open which records are wanted.
	choiceOfTopicForm = &lazy.Regexp{Text: `(?i)(?:残業(?:時間)?|勤怠|\bovertime|\battendance)\s*(?:か|または|又は|もしくは|あるいは|\bor\b)\s*(?:残業(?:時間)?|勤怠|overtime|attendance)`}
	// totalForm wants less than rows of people, and someForm only the people above a limit.
	totalForm = &lazy.Regexp{Text: `(?i)(?:合計|総数|人数|件数|総計)(?:時間|値)?\s*(?:だけ|のみ)|\b(?:only|just)\s+(?:the\s+)?(?:totals?|sum|counts?)\b|\b(?:totals?|counts?)\s+only\b`}
	someForm  = &lazy.Regexp{Text: `(?i)時間[^\s、。]{0,8}(?:人|者|従業員|社員)?(?:だけ|のみ)|\bonly\s+(?:the\s+)?(?:people|those|employees|staff|persons?|members|anyone)\b|\bhours\s+only\b`}
	// countForm counts people, which only the list of employees can do. etcForm leaves open what else is meant.
	countForm = &lazy.Regexp{Text: `(?i)人数|何[人名]|\bhow\s+many\s+(?:people|employees|staff|members)\b|\bheadcounts?\b`}
	etcForm   = &lazy.Regexp{Text: `(?:部|課|室|営業|人事|開発|月分?)(?:など|等)`}
	// wholeForm is the whole of a day, or a time before or after which a meeting may be. Neither is an hour.
	wholeForm = &lazy.Regexp{Text: `(?i)終日|[一1]日中|\d{1,2}\s*時(?:半|\d+分)?\s*(?:以降|以前|ごろ|頃|過ぎ|すぎ)|丸[一1]?日|まる[一1]日|\b(?:all|whole|full|entire)[\s-]+day\b`}
	// placeForm says of which department a room is to be, or what it is to be like.
	placeForm = &lazy.Regexp{Text: `(?i)(?:部|課|室|営業|人事|開発)の会議室|[^\s、。]{0,10}(?:ある|ない|入れる|入る|使える|できる|な|い|用の?)部屋|\b(?:in|at|near)\s+(?:the\s+)?(?:sales|hr|engineering|development|human\s+resources)\b|\b(?:big|large|small|quiet)\s+enough\b`}
	// furtherForm begins a second wish behind a text that stands without quotation marks.
	furtherForm = &lazy.Regexp{Text: `(?i)(?:[.!?;\n]\s*(?:(?:and|then|also|please|pls)\b[\s,]*)*|,?\s*\b(?:and|then|also)\b[\s,]*(?:(?:then|also|please|pls)\b[\s,]*)*)(?:get|book|reserve|send|write|put|check|summari[sz]e|list|pull|dm|tell|cc|copy|show|validate)\b[^.!?;\n]*`}
	// doneForm makes a message wait for something.
	doneForm = &lazy.Regexp{Text: `(?i)(?:終わっ|終了し|完了し|済ん)(?:たら|だら|てから)|(?:終わり|完了し?)次第|\b(?:once|when|after|as\s+soon\s+as)\b[^.!?;,\n\x1f]*\b(?:done|finished|ready|complete)\b`}
)

// unsettled refuses what the request takes back, leaves open, or wants only a part of.
func (r *reading) unsettled() {
	t, text := r.words, r.unquoted()
	find := func(f *lazy.Regexp) string { return whole(f.Get().FindString(text), text) }
	for _, at := range correctForm.Get().FindAllStringIndex(text, -1) {
		before := scan(text[:at[0]])
		before.take(greetForm)
		if !firstForm.Get().MatchString(before.text) {
			r.stop(t.NoChange, whole(strings.Trim(text[at[0]:at[1]], " 、。!"), text))
			break
		}
	}
	if r.topic == message {
		r.stop(t.NoText, r.further())
		r.stop(t.NoLater, find(doneForm))
	}
	if r.topic == meeting {
		r.stop(t.NoWhen, wholeForm.Get().FindString(text))
		r.stop(t.NoRoom, find(placeForm))
	}
	if r.withMonth() {
		r.stop(t.NoSecond, pairs(text))
		r.stop(t.NoNarrow, find(choiceOfTopicForm))
	}
	if r.topic == other || r.withSheet() { // a limit alone asks for overtime
		r.stop(t.NoNarrow, or(find(totalForm), find(someForm)))
	}
	if r.topic > employees {
		r.stop(t.NoSecond, find(countForm))
	}
	r.stop(t.NoNarrow, find(etcForm))
}

// unquoted is the message without the texts that it quotes or dictates.
func (r *reading) unquoted() string {
	rest, said, _ := quotations(r.text)
	rest, _ = dictated(rest, said)
	return scan(rest).text
}

// further is what looks like a second wish in a text that is dictated without quotation marks. It begins a sentence or
// stands behind “and”, and is empty if there is none.
func (r *reading) further() string {
	rest, said, _ := quotations(r.text)
	if len(said) > 0 {
		return ""
	}
	if _, said = dictated(rest, said); len(said) == 0 {
		return ""
	}
	return strings.TrimLeft(furtherForm.Get().FindString(said[0]), " ,.;!?\n")
}
