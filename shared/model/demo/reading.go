package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

// topic is the subject of a request.
type topic int

const (
	other topic = iota
	attendance
	overtime
	meeting
	message   // a text to be sent to somebody
	purchase  // an order from a supplier
	lists     // the first topic that is planned from a file of the catalog
	employees = lists
)

// reading is the demo's understanding of a request, with the reasons of rejections.
type reading struct {
	words    words
	now      time.Time
	text     string // the message without Ringi's name and the markers
	priority string

	topic       topic
	period      period
	assumed     bool // the message names no month, so the current one is meant
	departments []string
	recipients  []string // Slack ids; empty: only the requester
	copied      bool     // the requester is notified, too, besides the recipients
	people      []string // names of people without an id
	quotes      []string
	tab         string // name of the sheet's tab, if the message has one
	slot        slot   // of a meeting
	order       order  // of a purchase

	validate, humanCheck, noNotice, noSheet, brief bool
	courtesy                                       bool     // the message only greets or thanks
	sheet                                          string   // asks for a sheet, in its own words
	noTools                                        bool     // a server's tool that is needed isn't allowed
	marked                                         bool     // the request asks for people above a limit; the result marks them
	left                                           []string // kinds of steps that are left out
	stops                                          []string // why nothing is planned, each a sentence
	unread                                         []string // words that the demo does not understand; nothing is planned
	aside                                          []string // words that make no difference to what is done
	// reasons of rejections, oldest first: followed, not understood, and against steps that others need
	taken, refused, needed []string
	fates                  []fate // of each reason, in order
}

func read(in input) (reading, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return reading{}, fmt.Errorf("read the data: now: %w", err)
	}
	bare := anyForm.Get().ReplaceAllString(in.Message, " ")
	text := strings.TrimSpace(spaceForm.Get().ReplaceAllString(bare, " "))
	r := reading{now: now, text: text, words: *spoken.In(language.Of(in.Message, in.Locale)),
		priority: priorityOf(strings.ToLower(text))}
	r.humanCheck = has(strings.ToLower(in.Message), "demo: human check", "demo:human check")
	if r.orders(bare) {
		return r, nil
	}
	rest, said, closed := quotations(bare)
	rest, said = dictated(rest, said)
	s := scan(rest)
	r.quoted(s, said)
	greeted := s.took(greetForm)
	r.courtesy = greeted && len(said) == 0 && len(s.unread()) == 0
	for _, m := range s.takeIf(becauseForm, func(m []string) bool { return !limits(m[0]) }) {
		r.aside = append(r.aside, strings.Trim(m[0], " \x1f、。,\n"))
	}
	r.copied = alsoForm.Get().MatchString(s.text)
	s.people(&r)
	r.copied = r.copied && len(r.recipients) > 0
	r.flags(s)
	s.take(fineForm)
	if !closed {
		r.stops = append(r.stops, r.words.NoQuote)
	}
	s.groups(&r)
	r.stopAlways(s)
	r.extent(s)
	r.judge()
	return r, nil
}

// extent takes out what a request is about, and when, where and for whom. What remains was not understood.
func (r *reading) extent(s *scanner) {
	t := r.words
	topic, second := s.about()
	r.topic = topic
	if r.topic == other && len(r.recipients) > 0 && len(r.quotes) > 0 {
		r.topic = message
	}
	if r.topic == message || r.topic == meeting { // neither is written anywhere
		r.stop(t.NoSecond, r.sheet)
	}
	if r.topic == meeting && bookForm.Get().MatchString(r.text) {
		s.take(freeForm)
	}
	later, unknown := r.time(s)
	r.narrow(s)
	r.unsettled()
	s.take(groupedForm)
	s.take(priorityForm)
	s.take(afterForm)
	r.self(s)
	s.take(sameForm)
	s.take(sendForm)
	if r.tab != "" || r.humanCheck {
		s.take(writtenForm)
	}
	if r.marked = s.took(markForm); r.marked && (r.topic == employees || r.topic == other) {
		r.topic = overtime
	}
	r.stop(t.NoSecond, second)
	if r.topic == meeting {
		if !bookForm.Get().MatchString(r.text) {
			r.stop(t.NoAction, freeForm.Get().FindString(r.text))
		}
		r.stop(t.NoRoom, s.roomSaid(scan(r.text).text))
	}
	if r.topic != other {
		r.stop(t.NoLater, later)
	}
	r.untold(s)
	r.stop(t.NoLater, later)
	r.stop(t.NoWhen, unknown)
	r.stop(t.NoSecond, r.period.apart)
	if strange := s.phrases(scan(r.text).text); r.topic == meeting {
		r.aside = append(r.aside, strange...)
	} else {
		r.unread = append(r.unread, strange...)
	}
}

// untold refuses what is no topic, an act that the demo does not know, and a message without its text.
func (r *reading) untold(s *scanner) {
	t, act := r.words, whole(s.action(), scan(r.text).text)
	if r.topic == other && len(r.recipients) > 0 {
		r.stop(t.NoText, or(act, oneLine(strings.Join(s.phrases(scan(r.text).text), " "))))
		if len(r.stops) == 0 {
			r.stops = append(r.stops, t.NoMessage)
		}
		return
	}
	r.stop(t.NoAction, act)
	if r.topic == other && len(r.people) == 0 {
		r.stop(t.NoTopic, r.text)
	}
}

// stopAlways refuses requests for things that the demo never does.
func (r *reading) stopAlways(s *scanner) {
	t := r.words
	r.stop(t.NoCancel, cancelForm.Get().FindString(s.text))
	r.stop(t.NoPay, strings.Join(s.first(payForm), ""))
	r.stop(t.NoEvery, strings.Join(s.first(everyForm), ""))
	r.stop(t.NoDenied, negated(s.text))
	r.stop(t.NoNarrow, or(narrowed(s.text), mineForm.Get().FindString(r.text)))
}

// mineForm asks for one's own records, where “for me” is no courtesy.
var mineForm = &lazy.Regexp{Text: `(?i)^(?:(?:show|give|send|get)\s+me\s+)?(?:the\s+)?(?:overtime|attendance)\s+(?:for|of)\s+me\b`}

// self takes out words that ask to notify the requester. They count as not understood if nobody or only others are to
// be notified.
func (r *reading) self(s *scanner) {
	for _, m := range s.take(selfForm) {
		alone := m[1]+m[2] != ""
		if r.noNotice || alone && len(r.recipients) > 0 {
			r.unread = append(r.unread, strings.Trim(m[0], " \x1f"))
			continue
		}
		r.copied = len(r.recipients) > 0
	}
}

// stop adds a reason why nothing is planned, unless word is empty.
func (r *reading) stop(form, word string) {
	if word != "" {
		r.stops = append(r.stops, fmt.Sprintf(form, fmt.Sprintf(r.words.Quote, oneLine(word))))
	}
}

// time takes out the time that the request is about. later is a word that postpones the work, and unknown a word for a
// time that the demo can't work out.
func (r *reading) time(s *scanner) (later, unknown string) {
	switch r.topic {
	case message:
		for _, f := range []*lazy.Regexp{laterForm, onDayForm, weekdayForm, monthForm} {
			later = or(later, f.Get().FindString(s.text))
		}
		return later, ""
	case meeting:
		var second string
		r.slot, second = s.slot(r.now)
		r.stop(r.words.NoSecond, or(second, severalForm.Get().FindString(s.text)))
		unknown = vagueForm.Get().FindString(s.text)
	default:
		later = laterForm.Get().FindString(s.text)
		r.period = s.when(r.now)
		unknown = r.period.open
	}
	if r.assumed = len(r.period.months) == 0; r.assumed {
		r.period.with(thisMonth(r.now), thisMonth(r.now))
	}
	return later, or(unknown, unknownYearForm.Get().FindString(s.text))
}

// judge refuses contradictory combinations. A message to somebody has exactly one quotation, a booking may have one as
// its title, and a quoted department narrows other requests.
func (r *reading) judge() {
	t := r.words
	switch {
	case len(r.quotes) > 1:
		r.stop(t.NoSecond, r.quotes[1])
	case r.topic == message && len([]rune(r.quotes[0])) > maxMessage:
		r.stops = append(r.stops, fmt.Sprintf(t.LongMessage, maxMessage))
	case r.topic != message && len(r.recipients) > 0 && len(r.quotes) > 0:
		r.stop(t.NoSecond, r.quotes[0])
	case r.topic != message && r.topic != meeting && len(r.quotes) > 0:
		quoted := scan(r.quotes[0])
		if departments, _ := quoted.named(); len(departments) == 1 && len(quoted.unread()) == 0 &&
			r.topic.takesDepartments() {
			r.departments = add(r.departments, departments[0])
		} else {
			r.unread = append(r.unread, r.quotes...)
		}
	}
	if r.validate && !r.withMonth() {
		r.stops = append(r.stops, t.NoValidate)
	}
	if r.topic == meeting && r.slot.noTime && slices.ContainsFunc(r.aside, func(w string) bool {
		return strings.ContainsAny(w, "0123456789")
	}) {
		r.stop(t.NoWhen, strings.Join(r.aside, " "))
	}
}

// maxMessage is the tool's limit for a text, in characters.
const maxMessage = 3000

const notice = `(?:(?:完了|終了)?(?:の|後の)?\s*(?:Slack\s*の?\s*)?(?:DM|ダイレクトメッセージ|通知|お知らせ|知らせ|連絡|メッセージ)(?:の?送信)?)`
const writing = `(?:(?:Google\s*)?(?:スプレッドシート|スプシ|シート|Sheets?)(?:へ|に)?(?:の?(?:書き込む|書く|書き込み|書込み?|出力|記入|転記))?|書き込み|書込み?)`
const joint = `\s*(?:と|や|も|・|、|および|及び)\s*`
const none = `(?:\s*(?:だけ|のみ)?\s*(?:は|を|も|に|へ|には|での|で)?\s*(?:不要|いらない|いりません|要らない|要りません|なし|無し|無用|抜き|ぬき|しない|しないで|せず|せずに|やめて|止めて|外して|除いて|省いて|省略|削除|消して|送らない|送らず|送信しない|書かない|書かず|書き込まない|書き込まず|送らないで|書かないで|書き込まないで|必要ない|必要ありません|取り除いて|飛ばして|とばして|スキップ|カット|なくして|無くして|(?:書か|送ら|書き込ま|送信し|通知し|連絡し|知らせ|出さ|し|要ら)なくて(?:も)?(?:いい|よい|良い|結構|構わない|大丈夫))|\s*(?:は|も|のほうは|の方は)\s*結構)(?:に|で)?(?:して)?(?:です|ください|下さい|ほしい)?`
const denied = `\b(?:no|without|skip|omit|drop|remove|leave\s+out|don't|dont|do\s+not|not|never|nothing|except|exclude)\s+(?:(?:sending|send|writing|write|to|in|into|on|any|a|an|the|me|us|that|it|anything|put|need|want|slack|google|post|final|completion|at|end|of|for|notify|step)\s+){0,6}`

var (
	noNoticeForm = &lazy.Regexp{Text: `(?i)` + notice + none + `|` + denied + `(?:dms?|direct\s+messages?|messages?|notifications?|notices?|notifying|notify|inform|tell)\b(?:\s+(?:me|us|anyone|anybody|at\s+the\s+end|is\s+needed|needed|please))*|\b(?:dms?|direct\s+messages?|notifications?|notices?)\s+(?:is|are)\s+not\s+(?:needed|necessary|required)`}
	noSheetForm  = &lazy.Regexp{Text: `(?i)` + writing + none + `|` + denied + `(?:google\s+)?(?:sheets?|spreadsheets?|writing|written|write)\b(?:\s+(?:anything|is\s+needed|please))*|\b(?:sheet|spreadsheet)\s+is\s+not\s+(?:needed|necessary|required)|読む?だけ|閲覧のみ|\bread[\s-]?only\b`}
	// neitherForm excludes both the notice and the sheet with one negation.
	neitherForm   = &lazy.Regexp{Text: `(?i)(?:` + notice + joint + writing + `|` + writing + joint + notice + `)` + none + `|` + denied + `(?:dms?|messages?|notifications?)\s+(?:or|and|nor)\s+(?:a\s+)?(?:sheets?|spreadsheets?)\b|` + denied + `(?:sheets?|spreadsheets?)\s+(?:or|and|nor)\s+(?:a\s+)?(?:dms?|messages?|notifications?)\b`}
	onlyDMForm    = &lazy.Regexp{Text: `(?i)` + notice + `\s*(?:だけ|のみ)(?:で|に|を)?|\b(?:only|just)\s+(?:(?:a|the|send|by|as|me|in|via)\s+){0,4}(?:dm|direct\s+message|message|notification|notice)\b|\b(?:dm|direct\s+message|notification)\s+only\b`}
	onlySheetForm = &lazy.Regexp{Text: `(?i)` + writing + `\s*(?:だけ|のみ)(?:で(?:いい|よい|良い|よろしい|結構)(?:です)?|で|に|を)?|\b(?:(?:write|put|save)\s+)?(?:only|just)\s+(?:(?:a|the|write|to|in|into|put|it)\s+){0,4}(?:sheet|spreadsheet)\b|\b(?:sheet|spreadsheet)\s+only\b`}
	sheetForm     = &lazy.Regexp{Text: `(?i)(?:結果を?\s*)?(?:Google\s*)?(?:スプレッドシート|スプシ|シート)で\s*も?\s*(?:結構|構いません|かまいません|大丈夫|いい|よい|良い)(?:です)?|(?:結果を?\s*)?(?:Google\s*)?(?:スプレッドシート|スプシ|シート|表)(?:に|へ)(?:も|は)?\s*(?:まとめ|書き込ん|書き込み|書き出し|書きだし|書い|出し|だし|吐き出し|落とし|載せ|残し|出力し?|記入し?|転記し?|保存し?|入れ)?(?:て|で)?|\b(?:write|put|save|export|enter|record|store)?\s*(?:it|them|the\s+results?|everything)?\s*(?:in|into|to|on)\s+(?:a|the|our|google)?\s*(?:google\s+)?(?:sheets?|spreadsheets?)\b`}
	validateForm  = &lazy.Regexp{Text: `(?i)(?:データの?)?検証(?:を|も)?(?:追加|加え|入れ|行っ|し)?(?:して|て|する)?|(?:\b(?:add|include|with|and|do|run)\s+)?(?:a\s+|data\s+|the\s+)*\b(?:validation|validate|validating|verification|verify)\b(?:\s+(?:of\s+)?(?:the\s+)?(?:data|step|first))*`}
	checkForm     = &lazy.Regexp{Text: `(?i)(?:(?:書き込み|送信|実行|書く|送る|それぞれ|各ステップ)?の?(?:直?前|まえ)に)?\s*(?:人|担当者|人間|上長|私|誰か)(?:の目|の手)?(?:が|で|に|も|による)\s*(?:目視で?)?\s*(?:内容を?)?(?:確認|チェック|目視)(?:を?(?:する|して|し|させて|入れて|したい|すること)|(?:する)?こと)?|(?:書き込み|送信|実行|書く|送る)の?(?:直?前|まえ)に\s*(?:確認|チェック)(?:を?(?:して|する|入れて))?|(?:\b(?:add\s+a\s+|with\s+a\s+|a\s+)?(?:human|manual|person(?:al)?)\s+(?:checks?|reviews?|confirmation|confirms|approval)\b|\b(?:let|have)\s+(?:a\s+person|somebody|someone|me)\s+(?:check|confirm|review)\b)(?:\s+(?:it|before|the|writing|sending|anything|is|written|sent|first))*`}
	briefForm     = &lazy.Regexp{Text: `(?i)(?:もっと|もう少し|より)?\s*(?:簡潔|短く|簡単|シンプル|手短|コンパクト)(?:に|な)?(?:して|書いて|まとめて|お願い)?|\b(?:(?:make|keep)\s+it\s+)?(?:much\s+|more\s+|a\s+bit\s+)?(?:shorter|briefer|concise|brief|simpler|short)\b`}
	priorityForm  = &lazy.Regexp{Text: `(?i)至急|緊急|大?急ぎで?|早めに|急がない(?:ので)?|時間のあるときに|\b(?:urgent|urgently|asap|as\s+soon\s+as\s+(?:possible|you\s+can)|high\s+priority|low\s+priority|no\s+hurry)\b`}
	afterForm     = &lazy.Regexp{Text: `(?i)改めて|あらためて|もう\s*一度|再度|もういちど|(?:終わっ|終了し|完了し|でき|出来)たら|終わり次第|でき次第|\bwhen\s+(?:it\s+is\s+|you\s+are\s+)?(?:done|finished|ready)\b`}
	markForm      = &lazy.Regexp{Text: `(?i)(?:月\s*)?(?:45|80|100)\s*時間\s*(?:を|より)?\s*(?:超え?(?:て|る|た)?|こえ(?:て|る|た)?|以上)(?:い?る)?の?(?:人|従業員|社員|者)?|\b(?:who|that)?\s*(?:is|are|has|have|had|with|worked)?\s*(?:more\s+than|over|above|exceed(?:s|ed|ing)?)\s+(?:45|80|100)\s*(?:hours|h)\b`}
	payForm       = &lazy.Regexp{Text: `(?i)残業代|割増賃金|給与|給料|賞与|ボーナス|年収|\bovertime\s+pay\b|\bsalar(?:y|ies)\b|\bpayroll\b|\bwages?\b|\bbonus(?:es)?\b|\bpay\b`}
	// sameForm matches 同じ in the sense of the same as before, as opposed to the same as something else.
	sameForm = &lazy.Regexp{Text: `(^|[^とも])同じ(?:内容|もの|結果)\s*(?:で|を)`}
	// fineForm says that something is acceptable. It excludes nothing.
	fineForm = &lazy.Regexp{Text: `で\s*も?\s*(?:結構|構いません|かまいません|大丈夫|いい|よい|良い)(?:です)?`}
	// writtenForm matches a verb of writing, as it follows a tab's name or things that a person has checked.
	writtenForm = &lazy.Regexp{Text: `(?:書い|書き込ん|書き出し|出し|出力し|入れ|記入し|転記し|保存し)(?:て|で)`}
	spaceForm   = &lazy.Regexp{Text: `\s+`}
	// storeForm matches an English verb of writing that stands apart from its sheet.
	storeForm = &lazy.Regexp{Text: `(?i)\b(?:write|put|save|export|enter|record|store)\b`}
	// greetForm matches courtesies. becauseForm matches why somebody asks, which changes nothing.
	greetForm   = &lazy.Regexp{Text: `(?i)(?:いつも(?:大変)?\s*)?(?:お世話になって(?:い|お)り?ます|お疲れ(?:様|さま)(?:です|でございます)?|お忙しいところ|お手数(?:を?(?:お掛け|おかけ)し?(?:ます|しますが|いたしますが|致しますが|ますが)|ですが)?|恐れ入りますが?|恐縮ですが?|すみませんが?|すいませんが?|申し訳(?:ありません|ございません|ない)(?:のですが|ですが|が)?)|(?:宜|よろ)しく(?:お?願い)?(?:いたします|致します|します|申し上げます)?|(?:どうも)?ありがとう(?:ございま(?:す|した))?|助かりました|(?:了解|承知)(?:です|(?:いた)?しました)|(?:いただける|頂ける|もらえる)と(?:助かり|幸い|嬉し|うれし)[\p{Hiragana}]*|助かります|念のため|取り急ぎ|とりあえず|(?:もし)?(?:可能であれば|可能なら|差し支えなければ|よければ|お時間があれば)|(?:いただけ|頂け)ますでしょうか|(?:お願いでき|願え)ま(?:す|せん)(?:でしょう)?か|でしょうか|\bgood\s+(?:morning|afternoon|evening)\b|\b(?:hi|hello|hey)(?:\s+(?:there|team|all|ringi))?\b|\b(?:would|do)\s+you\s+mind\b|\bwhen(?:ever)?\s+you\s+(?:get|have|find)\s+(?:a\s+|the\s+)?(?:chance|time|moment|minute|second)\b|\bif\s+(?:you\s+(?:can|could|have\s+(?:a\s+)?(?:time|minute))|possible)\b|\bi(?:['’]d|\s+would)\s+(?:appreciate|love)(?:\s+it)?\b|\bthank(?:s|\s+you)\s+for\s+(?:the|your|that|this)\b[^,.!?;\n]*|\bthanks(?:\s+(?:in\s+advance|a\s+lot|so\s+much))?\b|\bthank\s+you(?:\s+(?:in\s+advance|so\s+much|very\s+much))?\b|\b(?:best|kind)\s+regards\b|\bcheers\b|\bsorry\s+to\s+(?:bother|trouble)\s+you\b|\bquick(?:ly)?\b|\bi\s+was\s+wondering\s+if\b|\bthat(?:['’]s|\s+is)\s+(?:perfect|great|all)\b|\bhow(?:['’]s|\s+is)\s+it\s+going\b|\bhow\s+are\s+you\b|\bfor\s+me\b|\b(?:can|could|would)\s+(?:some|any)(?:one|body)\b`}
	becauseForm = &lazy.Regexp{Text: `(?i)(?:^|[、。!?\n])[^、。!?\n]*(?:ので|[のるたい]ため)[、。]|\b(?:because|since\s+(?:i|we|they)\s+(?:need|want|must|am|are)|so\s+(?:that\s+)?(?:i|we|they)\s+can|as\s+(?:i|we)\s+(?:need|have|want))\b[^.!?;,\n]*`}
)

// limitForm matches what makes a reason more than a reason: “as I only need HR”, 「来週でいいので」.
var limitForm = &lazy.Regexp{Text: `(?i)だけ|のみ|でいい|で(?:よ|良|十分|充分|結構)|限(?:る|って|定)|\b(?:only|just|nobody|excluded|enough)\b`}

// limits reports whether a reason says what the work is to cover, leave out or wait for. Such a reason is read like the
// rest of the request.
func limits(reason string) bool {
	s := scan(reason)
	departments, told := s.named()
	for _, f := range []*lazy.Regexp{limitForm, deniedForm, noNoticeForm, noSheetForm} {
		if f.Get().MatchString(reason) {
			return true
		}
	}
	selects := narrowed(reason)
	return len(departments)+len(told) > 0 || selects != "" && !strings.ContainsAny(selects, "期半旬") // a time was busy
}

// flags takes out words for things that the request leaves out or adds. It reports whether there were any.
func (r *reading) flags(s *scanner) bool {
	any := s.took(neitherForm)
	r.noNotice, r.noSheet = r.noNotice || any, r.noSheet || any
	for _, f := range []struct {
		form *lazy.Regexp
		flag *bool
	}{
		{noNoticeForm, &r.noNotice},
		{noSheetForm, &r.noSheet},
		{onlyDMForm, &r.noSheet},
		{onlySheetForm, &r.noNotice},
		{checkForm, &r.humanCheck},
		{validateForm, &r.validate},
		{briefForm, &r.brief},
	} {
		if s.took(f.form) {
			*f.flag, any = true, true
		}
	}
	if m := s.first(sheetForm); m != nil || r.tab != "" {
		r.sheet = strings.TrimSpace(strings.Join(m, ""))
		s.take(storeForm)
	}
	return any
}

var (
	overtimeForm   = &lazy.Regexp{Text: `(?i)(?:残業|ざんぎょう)(?:時間)?|時間外(?:労働)?|(?:36|三六|サブロク)協定|\bover\s?-?time(?:\s+hours)?\b`}
	attendanceForm = &lazy.Regexp{Text: `(?i)(?:勤怠|きんたい)(?:データ|情報|記録|集計|表)?|出勤(?:状況|簿|日数)?|労働時間|勤務(?:時間|実績|状況)?|\battend(?:[ae]nce|ace)(?:\s+(?:data|records?|summary|sheets?|reports?))?\b|\btime\s?sheets?\b|\bworking\s+hours\b|\bhours\s+worked\b`}
	meetingForm    = &lazy.Regexp{Text: `(?i)会議室(?:を|の)?(?:予約|確保|取っ|とっ|おさえ|押さえ)?(?:して|て|する|したい)?|\b(?:book|reserve)?\s*(?:a|the|one)?\s*(?:meeting|conference)\s+rooms?\b|\b(?:book|reserve)\s+(?:a|the|one)\s+room\b|\brooms?\b`}
	bookedForm     = &lazy.Regexp{Text: `(?i)(?:予約|確保|押さえ|おさえ|取っ|とっ)(?:を)?(?:して|て|する|したい|お願い(?:します)?)?|[取と]れ(?:る|ます)|\b(?:book|reserve)\b`}
	bothTopicsForm = &lazy.Regexp{Text: `(?i)(?:残業(?:時間)?|\bovertime)\s*(?:と|や|、|・|および|,|&|and\b)\s*(?:the\s+)?(?:勤怠|attendance)|(?:勤怠|attendance)\s*(?:と|や|、|・|および|,|&|and\b)\s*(?:the\s+)?(?:残業|overtime)`}
	// ownListForm asks for the list of employees itself.
	ownListForm = &lazy.Regexp{Text: `(?i)(?:従業員|社員)(?:一覧|名簿|リスト)|名簿|\b(?:employee|staff)\s+list\b|\blist\s+of\s+(?:(?:all|the|current)\s+)*employees\s*(?:,|&|\band\b)|(?:,|&|\band\b)\s*(?:(?:a|the)\s+)?list\s+of\s+(?:(?:all|the|current)\s+)*employees\b`}
	madeForm    = &lazy.Regexp{Text: `\x1f\s*(?:を|に)?\s*(?:作っ|つくっ|作成し)(?:て|たい)`}
	makingForm  = &lazy.Regexp{Text: `(?i)(?:一覧表?|リスト|表|名簿|レポート|まとめ|資料|シート)\s*(?:を|に)\s*(?:作っ|つくっ|作成し|まとめ|出し)(?:て|たい)?|(?:まとめ|取りまとめ|とりまとめ|集め|調べ|確かめ|見せ|教え|出し|洗い出し|数え|並べ|抜き出し)(?:て|たい|ます|る)|知りたい|見たい|\b(?:make|create|prepare|draw\s+up|put\s+together|pull\s+together|compile|build|need|want|pull|run)\s+(?:(?:me|us)\s+)?(?:a|an|the|up)?\s*(?:(?:short|brief|full|complete|simple|detailed|whole)\s+)?(?:list|summary|table|report|overview)\b|\b(?:pull\s+up|pull|run|put\s+together)\b|\blook\s+(?:up|into|at)\b`}
)

type topicForm struct {
	topic topic
	form  *lazy.Regexp
}

// about takes out the words of a topic. If a text names several, the topic that covers the others counts: overtime
// covers attendance, and attendance covers the employees. second is a word of a topic that is not covered, such as a
// room, or the list of employees in a request for records of months.
func (s *scanner) about() (found topic, second string) {
	list := ownListForm.Get().FindString(s.text)
	if bothTopicsForm.Get().MatchString(s.text) { // attendance shows all columns of overtime
		found = attendance
	}
	forms := []topicForm{{meeting, meetingForm}, {overtime, overtimeForm}, {attendance, attendanceForm}}
	for i, l := range allLists() {
		forms = append(forms, topicForm{lists + topic(i), l.asks})
	}
	for _, t := range forms {
		m := s.first(t.form)
		switch {
		case m == nil:
		case found == other || found == attendance && t.topic == meeting:
			found = t.topic
		case found == meeting:
			second = or(second, m[0])
		case t.topic == employees:
			second = list
		case t.topic >= lists:
			second = or(second, m[0])
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
	return found, second
}

func priorityOf(low string) string {
	switch {
	case has(low, "至急", "緊急", "urgent", "asap", "as soon as possible"):
		return "urgent"
	case has(low, "急がない", "時間のあるとき", "no hurry", "low priority"):
		return "low"
	case has(low, "急ぎ", "早めに", "high priority"):
		return "high"
	}
	return "medium"
}
