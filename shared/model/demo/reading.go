package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// topic is what a message is about.
type topic int

const (
	other topic = iota
	attendance
	overtime
	employees
	meeting
	message // a text to be sent to somebody
)

// reading is what the demo understands of a request: of its message, of the reasons for
// which versions were sent back, and of what it does not.
type reading struct {
	words    words
	now      time.Time
	text     string // the message without Ringi's name and the markers
	priority string

	topic       topic
	period      period
	assumed     bool // the message names no month, this one is meant
	departments []string
	recipients  []string // Slack ids; empty: whoever asked
	people      []string // names of people without an id
	quotes      []string
	tab         string // of the sheet, when the message names one
	slot        slot   // of a meeting

	validate, humanCheck, noNotice, noSheet, brief bool
	marked                                         bool     // it asks for those above a limit, who are marked
	pay                                            string   // words about pay, which is not read
	left, kept                                     []string // kinds of steps that are left out, and all that may be there if that is known
	denied, every                                  string   // a word that excludes something, or that asks for it again and again
	action                                         string   // what is to be done, where no tool does it
	unread                                         []string // other words of the message that mean nothing here
	refused                                        []string // reasons for rejecting that mean nothing here, oldest first
	taken                                          []string // those that were taken in, likewise
}

// read understands a message.
func read(in input) (reading, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return reading{}, fmt.Errorf("read the data: now: %w", err)
	}
	bare := anyForm().ReplaceAllString(in.Message, " ")
	text := bare
	if !startsAbout(bare) {
		text = botForm().ReplaceAllString(bare, " ")
	}
	text = strings.TrimSpace(spaceForm().ReplaceAllString(text, " "))
	r := reading{now: now, text: text, words: japanese, priority: priorityOf(strings.ToLower(text))}
	if isEnglish(mentionForm().ReplaceAllString(text, " "), in.Locale) {
		r.words = englishWords
	}
	r.humanCheck = has(strings.ToLower(in.Message), "demo: human check", "demo:human check")
	s := scan(bare)
	r.quoted(s)
	s.people(&r)
	r.flags(s)
	r.pay = strings.Join(s.first(payForm), "")
	r.departments = s.staff()
	r.topic = s.about()
	r.every = strings.Join(s.first(everyForm), "")
	s.groups(&r)
	if r.topic == meeting {
		r.slot = s.slot(now)
	} else {
		r.period = s.when(now)
	}
	r.departments = append(r.departments, s.named()...)
	s.take(groupedForm)
	s.take(priorityForm)
	s.take(afterForm)
	s.take(sendForm)
	r.marked = s.took(markForm)
	if r.topic == other && len(r.recipients) > 0 && len(r.quotes) > 0 {
		r.topic = message
	}
	if r.assumed = len(r.period.months) == 0; r.assumed {
		r.period.with(thisMonth(now), thisMonth(now))
	}
	r.denied = deniedForm().FindString(s.text)
	r.action = s.action()
	r.unread = append(r.unread, s.unread()...)
	if r.topic != message {
		r.unread = append(r.unread, r.quotes...)
	}
	return r, nil
}

// read takes in why versions were sent back. What was stamped already stands: at the
// steps only those flags count that leave something out or look closer.
func (r *reading) take(reasons []version, steps bool) {
	for i, v := range reasons {
		reason := oneLine(v.Reason)
		switch {
		case reason == "":
		case steps && i < len(reasons)-1 && len(v.Steps) == 0 && scan(v.Reason).tookNumbers():
			// Of an older version only the reason is told: the newest one has what is left of it.
			for _, step := range reasons[len(reasons)-1].Steps {
				r.kept = append(r.kept, step.kind())
			}
			r.taken = add(r.taken, reason)
		case r.takeOne(v, steps):
			r.taken = add(r.taken, reason)
		default:
			r.refused = add(r.refused, reason)
		}
	}
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

var (
	insteadForm = form(`(?is)^(.*?)\s*\b(?:instead\s+of|rather\s+than|and\s+not|,?\s+not)\b.*$`)
	ratherForm  = form(`(?s)^.*?(?:ではなく|じゃなくて?|でなく|の?(?:代わり|かわり)に)[、,]?\s*(.*)$`)
)

// rather is what a reason wants, without what it wants no longer: September instead of October.
func rather(reason string) string {
	if m := insteadForm().FindStringSubmatch(reason); m != nil {
		return m[1]
	}
	if m := ratherForm().FindStringSubmatch(reason); m != nil {
		return m[1]
	}
	return reason
}

// takeOne reports whether the whole of a reason was understood, and takes it in only then.
func (r *reading) takeOne(v version, steps bool) bool {
	n := *r
	n.recipients, n.people, n.quotes, n.unread = nil, nil, nil, nil
	s := scan(rather(v.Reason))
	n.quoted(s)
	s.people(&n)
	understood := n.flags(s)
	if steps {
		left, ok := s.numbers(v)
		if !ok {
			return false
		}
		n.left, understood = append(slices.Clip(r.left), left...), understood || len(left) > 0
	}
	s.groups(&n)
	p, departments := s.when(r.now), s.named()
	s.take(priorityForm)
	s.take(sendForm)
	if about := s.about(); about != other && about != r.topic && r.topic != other {
		return false
	}
	s.take(changeForm)
	elsewhere := len(p.months) > 0 || len(departments) > 0 || len(n.recipients) > 0
	if len(s.unread()) > 0 || deniedForm().MatchString(s.text) || everyForm().MatchString(s.text) || len(n.people)+len(n.quotes)+len(n.unread) > 0 || n.tab != r.tab || steps && elsewhere || !understood && !elsewhere {
		return false
	}
	if len(p.months) > 0 {
		n.period, n.assumed = p, false
	}
	if len(departments) > 0 {
		n.departments = departments
	}
	n.people, n.quotes, n.unread = r.people, r.quotes, r.unread
	if len(n.recipients) == 0 {
		n.recipients = r.recipients
	}
	*r = n
	return true
}

const notice = `(?:(?:完了|終了)?(?:の|後の)?\s*(?:Slack\s*の?\s*)?(?:DM|ダイレクトメッセージ|通知|お知らせ|知らせ|連絡|メッセージ)(?:の?送信)?)`
const writing = `(?:(?:Google\s*)?(?:スプレッドシート|スプシ|シート|Sheets?)(?:へ|に)?(?:の?(?:書き込み|書込み?|出力|記入|転記))?|書き込み|書込み?)`
const none = `\s*(?:は|を|も|に|へ|には|での|で)?\s*(?:不要|いらない|いりません|要らない|要りません|なし|無し|無用|抜き|ぬき|しない|しないで|せず|せずに|やめて|止めて|外して|除いて|省いて|省略|削除|消して|送らない|送らず|送信しない|書かない|書かず|書き込まない|書き込まず|送らないで|書かないで|書き込まないで|必要ない|必要ありません|結構)(?:に|で)?(?:して)?(?:です|ください|下さい|ほしい)?`
const denied = `\b(?:no|without|skip|omit|drop|remove|leave\s+out|don't|dont|do\s+not|not|never|nothing|except|exclude)\s+(?:(?:sending|send|writing|write|to|in|into|on|any|a|an|the|me|us|that|it|anything|put|need|want|slack|google|post|final|completion|at|end|of|for|notify|step)\s+){0,6}`

var (
	noNoticeForm  = form(`(?i)` + notice + none + `|` + denied + `(?:dms?|direct\s+messages?|messages?|notifications?|notices?|notifying|notify|inform|tell)\b(?:\s+(?:me|us|at\s+the\s+end|is\s+needed|needed|please))*|\b(?:dms?|direct\s+messages?|notifications?|notices?)\s+(?:is|are)\s+not\s+(?:needed|necessary|required)`)
	noSheetForm   = form(`(?i)` + writing + none + `|` + denied + `(?:google\s+)?(?:sheets?|spreadsheets?|writing|written|write)\b(?:\s+(?:anything|is\s+needed|please))*|\b(?:sheet|spreadsheet)\s+is\s+not\s+(?:needed|necessary|required)|読む?だけ|閲覧のみ|\bread[\s-]?only\b`)
	onlyDMForm    = form(`(?i)` + notice + `\s*(?:だけ|のみ)(?:で|に|を)?|\b(?:only|just)\s+(?:(?:a|the|send|by|as|me|in|via)\s+){0,4}(?:dm|direct\s+message|message|notification|notice)\b|\b(?:dm|direct\s+message|notification)\s+only\b`)
	onlySheetForm = form(`(?i)` + writing + `\s*(?:だけ|のみ)(?:で|に|を)?|\b(?:(?:write|put|save)\s+)?(?:only|just)\s+(?:(?:a|the|write|to|in|into|put|it)\s+){0,4}(?:sheet|spreadsheet)\b|\b(?:sheet|spreadsheet)\s+only\b`)
	sheetForm     = form(`(?i)(?:結果を?\s*)?(?:Google\s*)?(?:スプレッドシート|スプシ|シート|表)(?:に|へ)(?:も|は)?\s*(?:まとめ|書き込ん|書き込み|書い|出力し?|記入し?|転記し?|保存し?|入れ)?(?:て|で)?|\b(?:write|put|save|export|enter|record|store)?\s*(?:it|them|the\s+results?|everything)?\s*(?:in|into|to|on)\s+(?:a|the|our|google)?\s*(?:google\s+)?(?:sheets?|spreadsheets?)\b`)
	validateForm  = form(`(?i)(?:データの?)?検証(?:を|も)?(?:追加|加え|入れ|行っ|し)?(?:して|て|する)?|(?:\b(?:add|include|with|and|do|run)\s+)?(?:a\s+|data\s+|the\s+)*\b(?:validation|validate|validating|verification|verify)\b(?:\s+(?:of\s+)?(?:the\s+)?(?:data|step|first))*`)
	checkForm     = form(`(?i)(?:(?:書き込み|送信|実行|書く|送る|それぞれ|各ステップ)?の?(?:直?前|まえ)に)?\s*(?:人|担当者|人間|上長|私|誰か)(?:の目|の手)?(?:が|で|に|も|による)\s*(?:目視で?)?\s*(?:内容を?)?(?:確認|チェック|目視)(?:を?(?:する|して|し|させて|入れて|したい|すること)|(?:する)?こと)?|(?:書き込み|送信|実行|書く|送る)の?(?:直?前|まえ)に\s*(?:確認|チェック)(?:を?(?:して|する|入れて))?|\b(?:add\s+a\s+|with\s+a\s+|a\s+)?(?:human|manual|person(?:al)?)\s+(?:check|review|confirmation|approval)\b|\blet\s+(?:a\s+person|somebody|someone|me)\s+(?:check|confirm|review)\b(?:\s+(?:it|before|the|writing|sending|anything|is|written|sent|first))*`)
	briefForm     = form(`(?i)(?:もっと|もう少し|より)?\s*(?:簡潔|短く|簡単|シンプル|手短|コンパクト)(?:に|な)?(?:して|書いて|まとめて|お願い)?|\b(?:(?:make|keep)\s+it\s+)?(?:much\s+|more\s+|a\s+bit\s+)?(?:shorter|briefer|concise|brief|simpler|short)\b`)
	stepsOutForm  = form(`(?i)(?:ステップ|手順)\s*(\d{1,2})(?:番目?)?` + none + `|(\d{1,2})\s*番目?の?(?:ステップ|手順)` + none + `|\b(?:without|skip|omit|drop|remove|delete|leave\s+out|no|exclude)\s+(?:the\s+)?step\s*#?(\d{1,2})\b|\bstep\s*#?(\d{1,2})\s+(?:is|can\s+be|should\s+be)\s+(?:not\s+needed|unnecessary|removed|dropped|left\s+out|skipped|omitted)`)
	onlyStepForm  = form(`(?i)(?:ステップ|手順)\s*(\d{1,2})\s*(?:だけ|のみ)(?:に|で|を)?(?:して)?|\bonly\s+step\s*#?(\d{1,2})\b`)
	changeForm    = form(`(?i)(?:に|を|へ)?(?:して|変えて|変更(?:して)?|直して|修正(?:して)?|絞って|限定(?:して)?|追加(?:して)?|加えて|入れて|お願い(?:します)?|願います)|対象(?:は|を)?|期間(?:は|を)?|\b(?:change|set|limit|restrict|narrow|make|use|add|include|only|just|period|department|for)\b`)
	priorityForm  = form(`(?i)至急|緊急|大?急ぎで?|早めに|急がない(?:ので)?|時間のあるときに|\b(?:urgent|urgently|asap|high\s+priority|low\s+priority|no\s+hurry)\b`)
	tabForm       = form(`(?i)(?:シート|タブ|tab|sheet)\s*[「『“"]([^」』”"]{1,100})[」』”"]|[「『“"]([^」』”"]{1,100})[」』”"]\s*(?:という)?(?:の)?(?:シート|タブ|tab|sheet)(?:(?:に|へ)(?:書い|書き込ん|出し|まとめ|保存し|入れ)?(?:て|で)?)?`)
	afterForm     = form(`(?i)改めて|あらためて|もう\s*一度|再度|もういちど|(?:終わっ|終了し|完了し|でき|出来)たら|終わり次第|でき次第|\bwhen\s+(?:it\s+is\s+|you\s+are\s+)?(?:done|finished|ready)\b`)
	markForm      = form(`(?i)(?:月\s*)?(?:45|80|100)\s*時間\s*(?:を|より)?\s*(?:超え?(?:て|る|た)?|こえ(?:て|る|た)?|以上)(?:い?る)?の?(?:人|従業員|社員|者)?|\b(?:who|that)?\s*(?:is|are|has|have|had|with|worked)?\s*(?:more\s+than|over|above|exceed(?:s|ed|ing)?)\s+(?:45|80|100)\s*(?:hours|h)\b`)
	payForm       = form(`(?i)残業代|割増賃金|給与|給料|賞与|ボーナス|年収|\bovertime\s+pay\b|\bsalar(?:y|ies)\b|\bpayroll\b|\bwages?\b|\bbonus(?:es)?\b|\bpay\b`)
	quoteForm     = form(`[「『“"]([^」』”"]+)[」』”"]`)
	spaceForm     = form(`\s+`)
)

// quoted takes quoted texts out of a text: a tab's name, or something to say.
func (r *reading) quoted(s *scanner) {
	for _, m := range s.take(tabForm) {
		r.tab = strings.TrimSpace(m[1] + m[2])
	}
	for _, m := range s.take(quoteForm) {
		r.quotes = append(r.quotes, strings.TrimSpace(m[1]))
	}
}

// flags takes out what is to be left out and what is to be done beside. It reports whether there was any of it.
func (r *reading) flags(s *scanner) bool {
	any := false
	for _, f := range []struct {
		form func() bool
		flag *bool
	}{
		{func() bool { return s.took(onlyDMForm) }, &r.noSheet},
		{func() bool { return s.took(onlySheetForm) }, &r.noNotice},
		{func() bool { return s.took(noNoticeForm) }, &r.noNotice},
		{func() bool { return s.took(noSheetForm) }, &r.noSheet},
		{func() bool { return s.took(checkForm) }, &r.humanCheck},
		{func() bool { return s.took(validateForm) }, &r.validate},
		{func() bool { return s.took(briefForm) }, &r.brief},
	} {
		if f.form() {
			*f.flag, any = true, true
		}
	}
	s.take(sheetForm)
	return any
}

// tookNumbers reports whether a text is about steps by their numbers.
func (s *scanner) tookNumbers() bool { return s.took(stepsOutForm) || s.took(onlyStepForm) }

// leaves reports whether a kind of step is left out. A validation may come in anew.
func (r reading) leaves(kind string) bool {
	return slices.Contains(r.left, kind) || len(r.kept) > 0 && !slices.Contains(r.kept, kind) && !strings.Contains(kind, "validate")
}

// numbers takes out which steps of a version are to go, or alone to stay, and returns the
// kinds of those that go. It reports false when the version has no such step.
func (s *scanner) numbers(v version) (left []string, ok bool) {
	var out, kept []int
	for _, m := range s.take(stepsOutForm) {
		out = append(out, number(m[1]+m[2]+m[3]+m[4]))
	}
	for _, m := range s.take(onlyStepForm) {
		kept = append(kept, number(m[1]+m[2]))
	}
	for _, n := range slices.Concat(out, kept) {
		if n < 1 || n > len(v.Steps) {
			return nil, false
		}
	}
	for i, step := range v.Steps {
		if slices.Contains(out, i+1) || len(kept) > 0 && !slices.Contains(kept, i+1) {
			left = append(left, step.kind())
		}
	}
	return left, true
}

var (
	overtimeForm   = form(`(?i)残業(?:時間)?|時間外(?:労働)?|(?:36|三六|サブロク)協定|\bover\s?-?time(?:\s+hours)?\b`)
	attendanceForm = form(`(?i)勤怠(?:データ|情報|記録|集計|表)?|出勤(?:状況|簿|日数)?|労働時間|勤務(?:時間|実績|状況)?|\battendance(?:\s+(?:data|records?|summary))?\b|\btime\s?sheets?\b|\bworking\s+hours\b|\bhours\s+worked\b`)
	employeesForm  = form(`(?i)従業員(?:一覧|名簿|リスト)?|社員(?:一覧|名簿|リスト)?|名簿|\b(?:(?:all|every|each|the)\s+)*employees?\b|\bstaff(?:\s+list)?\b|\bpersonnel\b|\bheadcount\b`)
	meetingForm    = form(`(?i)会議室(?:を|の)?(?:予約|確保|取っ|とっ|おさえ|押さえ)?(?:して|て|する|したい)?|\b(?:book|reserve)?\s*(?:a|the|one)?\s*(?:meeting|conference)\s+rooms?\b|\b(?:book|reserve)\s+(?:a|the|one)\s+room\b`)
	bookedForm     = form(`(?i)(?:予約|確保|押さえ|おさえ|取っ|とっ)(?:を)?(?:して|て|する|したい|お願い(?:します)?)?|\b(?:book|reserve)\b`)
	madeForm       = form(`\x1f\s*(?:を|に)?\s*(?:作っ|つくっ|作成し)(?:て|たい)`)
	makingForm     = form(`(?i)(?:一覧表?|リスト|表|名簿|レポート|まとめ|資料|シート)\s*(?:を|に)\s*(?:作っ|つくっ|作成し|まとめ|出し)(?:て|たい)?|(?:まとめ|取りまとめ|とりまとめ|集め|調べ|確かめ|見せ|教え|出し|洗い出し|数え|並べ)(?:て|たい|ます|る)|知りたい|見たい|\b(?:make|create|prepare|draw\s+up|compile|build|need|want)\s+(?:(?:me|us)\s+)?(?:a|an|the)?\s*(?:\w+\s+)?(?:list|summary|table|report|overview)\b|\blook\s+(?:up|into|at)\b`)
)

// about takes out the words of what a text is about. Where several are named, the first of
// the topics that covers the others: overtime needs attendance, attendance the employees.
func (s *scanner) about() topic {
	found := other
	for _, t := range []struct {
		topic topic
		taken bool
	}{
		{meeting, s.took(meetingForm)}, {overtime, s.took(overtimeForm)}, {attendance, s.took(attendanceForm)}, {employees, s.took(employeesForm)},
	} {
		if t.taken && found == other {
			found = t.topic
		}
	}
	if found != meeting {
		s.take(makingForm)
	}
	if found != other {
		s.take(madeForm)
	}
	if found == meeting {
		s.take(bookedForm)
	}
	return found
}

// isEnglish: no kana or kanji, and some Latin letter; a text with neither follows the locale.
func isEnglish(text, locale string) bool {
	latin := false
	for _, r := range text {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) {
			return false
		}
		latin = latin || unicode.In(r, unicode.Latin)
	}
	return latin || locale == "en"
}

func priorityOf(low string) string {
	switch {
	case has(low, "至急", "緊急", "urgent", "asap"):
		return "urgent"
	case has(low, "急がない", "時間のあるとき", "no hurry", "low priority"):
		return "low"
	case has(low, "急ぎ", "早めに", "high priority"):
		return "high"
	}
	return "medium"
}

func has(text string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(text, s) })
}

// oneLine is a text on one line, cut to what a title can quote.
func oneLine(s string) string {
	r := []rune(strings.TrimSpace(spaceForm().ReplaceAllString(s, " ")))
	if len(r) > 60 {
		r = append(r[:59], '…')
	}
	return string(r)
}
