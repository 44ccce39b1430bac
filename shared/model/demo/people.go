package demo

import (
	"slices"
	"strings"

	"ringi/shared/words/lazy"
)

// somebody is a mention or an e-mail address, and a courtesy after it.
const somebody = `(?:<@([UW][A-Z0-9]+)(?:\|[^>]*)?>|(?:<mailto:)?([\w.+-]+@[\w-]+(?:\.[\w-]+)+)(?:\|[^>]*>|>)?)\s*(?:さん|様|くん|氏)?`

// toThem is what is done for people who are named before it; sentTo and told stand before people. offices are people who
// are named by what they do.
const (
	toThem  = `(?:(?:[^。\n]{0,40}?)(?:共有|送[っりる信付]|知らせ|お知らせ|しらせ|連絡|報告|通知|伝え|渡[しす]|転送|(?:DM|メール|メッセージ)(?:を|で)?(?:して|する|お願い|出し)))`
	sentTo  = `(?:\b(?:send|share|post|forward|mail|email|dm|message|report|deliver|give)\b[^.!?;\n]*?\bto\s+|\bshare\b[^.!?;\n]*?\bwith\s+)`
	told    = `\b(?:tell|notify|inform|remind|dm|message|mail|email|alert|warn|ping|contact)\s+`
	offices = `hr|sales|engineering|development|dev|marketing|finance|accounting|legal|payroll|management|(?:[a-z]+\s+)?(?:department|team)s?|ceos?|cfo|(?:[a-z]+\s+)?(?:president|director|manager|boss|supervisor|accountant)s?`
)

var (
	// toForm matches a person to notify, named by a mention or an e-mail address. Slack finds people by their address.
	toForm = &lazy.Regexp{Text: `(?i)` + somebody + `\s*(?:の\s*(?:両方|[二2]人|両名))?\s*(?:だけ|のみ)?\s*(?:に|へ|宛(?:て)?に?)|\b(?:to|tell|notify|inform|dm|message|cc|send|give|let|ping|e-?mail|mail|forward)\s+(?:only\s+|both\s+)?` + somebody}
	// withForm matches one to share with.
	withForm = &lazy.Regexp{Text: `(?i)\bwith\s+(?:only\s+|both\s+)?` + somebody}
	// nextToForm matches a person who is joined to one already taken out: <@U1> と <@U2> に, to <@U1> and <@U2>.
	nextToForm  = &lazy.Regexp{Text: `(?i)` + somebody + `\s*(?:と|や|、|,|・|＆|&|および|及び)?\s*\x1d|\x1d\s*(?:,?\s*and\b|,|、|&)?\s*` + somebody}
	shareForm   = &lazy.Regexp{Text: `(?i)\bshare\b`}
	mentionForm = &lazy.Regexp{Text: `<[@!#][^>]*>`}
	// channelForm matches a channel's name as typed in a dialog.
	channelForm = &lazy.Regexp{Text: `(?:^|[\s、。,])([#＃][\p{L}\p{N}_-]{1,80})`}
	// aboutForm matches a mention of a person whose records are meant.
	aboutForm = &lazy.Regexp{Text: `(?i)<@([UW][A-Z0-9]+)(?:\|[^>]*)?>\s*(?:さん|様|くん|氏)?\s*(?:の|だけ|のみ|以外|は|が)|\b(?:of|for|about|except)\s+<@([UW][A-Z0-9]+)(?:\|[^>]*)?>|<@([UW][A-Z0-9]+)(?:\|[^>]*)?>['’]s\b`}
	// groupForm matches people to notify who are named by a group, an office or a condition. The demo does not know them.
	groupForm = &lazy.Regexp{Text: `(?i)([\p{Han}\p{Katakana}ー々A-Za-z0-9]*(?:部|課|室|全員|皆|みんな|全社|チーム|メンバー|上司|上長|役員|部長|課長|社長|本人))(?:さん|様)?(?:全員|のみんな|の皆さん)?(?:に|へ)も?\s*` + toThem + `|` + sentTo + `(?:the\s+|our\s+|my\s+|all\s+of\s+|all\s+)?(everyone|everybody|all|them|him|her|` + offices + `)\b|` + told + `(?:the\s+|our\s+|my\s+|all\s+of\s+|all\s+)?(everyone|everybody|all|them|him|her|` + offices + `)\b|\b(?:send|mail|email|give)\s+(?:the\s+)?(` + offices + `)\s+(?:the|a|an|our|all|this|last)\b`}
	// conditionForm matches people to notify who are named by a condition, as those above a limit.
	conditionForm = &lazy.Regexp{Text: `(?i)([^\s、。,.\x1f]{0,20}(?:人|者|方|社員|従業員|ひとり))(?:たち|達|全員|各位)?\s*(?:だけ|のみ)?\s*(?:に|へ|宛(?:て)?に?)(?:は|も|だけ|のみ)*\s*` + toThem + `|(?:` + sentTo + `|` + told + `)(?:all\s+|the\s+|any\s+|each\s+|every\s+|only\s+)*((?:those|whoever|anyone|anybody|people|employees|staff|persons?|members)\b[^.!?;,\n]*)`}
	linkForm      = &lazy.Regexp{Text: `<https?:[^>]*>`}
	addressForm   = &lazy.Regexp{Text: `<mailto:[^>]*>|[\w.+-]+@[\w-]+(?:\.[\w-]+)+`}
	// personForm matches the name of a person without a mention.
	personForm = &lazy.Regexp{Text: `([\p{Han}\p{Katakana}ー々]{1,8}|[A-Za-z]{2,20})\s*(?:さん|様|くん|氏)|\b([A-Z][a-z]{1,19})['’]s\b|\b(?:Mr|Mrs|Ms|Dr)\.?\s+([A-Z][a-z]{1,19})\b`}
	sendForm   = &lazy.Regexp{Text: `(?i)(?:結果を?\s*)?(?:(?:Slack\s*の?\s*)?(?:DM|ダイレクトメッセージ|メッセージ)\s*(?:で|を|も)?\s*)?(?:お?(?:知らせ|しらせ)(?:て|る)(?:おいて)?|(?:お?知らせ|通知|連絡|送信|報告|共有|転送)(?:して|する|しといて|しておいて|いただけ|願います|お願い)?|送って|送る|伝えて|渡して|DM\s*して)(?:ください|下さい)?|\b(?:send|post|forward|deliver|share)\b(?:\s+(?:it|the\s+results?|them|a|the|this|that|us|me)\b)*|\b(?:dm|direct\s+messages?|message|notify|tell|inform)\b(?:\s+(?:me|us|about|when|once|with|that|it)\b)*`}

	// selfForm says that the requester wants to be notified.
	selfForm = &lazy.Regexp{Text: `(?:(?:完了の?)?(?:DM|通知|お?知らせ|連絡|結果)\s*(?:は|を)\s*)?(?:自分|わたし|私|僕|依頼者)\s*(だけ|のみ)?\s*(?:宛て?)?\s*(?:に|へ)(?:は|も)?\s*(だけ|のみ)?`}
)

// toldMark stands for people to notify, until those beside them were found.
const toldMark = '\x1d'

// people takes the people to notify out of a text: ids, and names of people who have no id.
func (s *scanner) people(r *reading) {
	notify := func(m []string, after string) bool {
		if len(m) == 5 && (strings.HasPrefix(after, "'s") || strings.HasPrefix(after, "’s") || aboutThem(after)) {
			return false // what is theirs, or about them
		}
		r.tell(strings.Join(m[1:], ""))
		return true
	}
	text := s.text
	if shareForm.Get().MatchString(text) {
		s.takeAs(toldMark, withForm, notify)
	}
	for form := toForm; s.takeAs(toldMark, form, notify) > 0; {
		form = nextToForm
	}
	s.text = strings.ReplaceAll(s.text, string(toldMark), string(taken))
	slices.SortStableFunc(r.recipients, func(a, b string) int { return strings.Index(text, a) - strings.Index(text, b) })
	for _, m := range s.take(linkForm) {
		r.unread = append(r.unread, strings.Trim(m[0], "<>"))
	}
	for _, m := range s.take(addressForm) {
		r.people = append(r.people, strings.Trim(m[0], "<>"))
	}
	s.mentions(r)
	for _, m := range s.takeIf(personForm, func(m []string) bool { return !notNames[strings.ToLower(m[1]+m[2]+m[3])] }) {
		r.people = add(r.people, m[1]+m[2]+m[3])
	}
}

// aboutThem reports whether the text after 「…に」 shows that somebody is the subject and gets no message.
func aboutThem(after string) bool {
	return slices.ContainsFunc([]string{"確認", "相談", "聞い", "質問", "頼ん", "任せ", "承認", "許可", "関", "つい", "おけ", "対", "よる", "とっ", "限", "絞", "しぼ", "所属", "在籍", "いる", "し"},
		func(s string) bool { return strings.HasPrefix(strings.TrimLeft(after, " "), s) })
}

// notNames are words that stand where a name may stand.
var notNames = map[string]bool{"皆": true, "営業": true, "人事": true, "開発": true, "ringi": true, "let": true, "it": true, "that": true, "what": true, "who": true,
	"here": true, "there": true, "everyone": true, "everybody": true, "company": true, "month": true, "week": true,
	"year": true, "quarter": true, "today": true, "yesterday": true, "tomorrow": true, "january": true, "february": true,
	"march": true, "april": true, "may": true, "june": true, "july": true, "august": true, "september": true,
	"october": true, "november": true, "december": true, "sales": true, "engineering": true, "development": true}

// mentions takes out the remaining mentions: of people whose records are meant, and those that the demo can't use.
// Ringi's own mention was removed before.
func (s *scanner) mentions(r *reading) {
	for _, m := range s.take(aboutForm) {
		r.people = append(r.people, mention(m[1]+m[2]+m[3]))
	}
	for _, m := range s.take(mentionForm) {
		said, label, _ := strings.Cut(strings.Trim(m[0], "<>"), "|")
		switch {
		case strings.HasPrefix(said, "@"):
			said = "<" + said + ">"
		case label != "":
			said = said[:1] + label
		}
		if strings.HasPrefix(said, "#") {
			r.stop(r.words.NoChannel, said)
			continue
		}
		r.unread = append(r.unread, said)
	}
	for _, m := range s.take(channelForm) {
		r.stop(r.words.NoChannel, m[1])
	}
}

func (s *scanner) groups(r *reading) {
	s.takeAs(taken, conditionForm, func(m []string, _ string) bool {
		_, after, _ := strings.Cut(m[0], m[1]+"に")
		if m[1] != "" && aboutThem(after) {
			return false
		}
		who := m[1] + m[2]
		if at := strings.LastIndex(who, "て"); at >= 0 && at+len("て") < len(who) {
			who = who[at+len("て"):] // behind another verb
		}
		r.stop(r.words.NoCondition, strings.Trim(who, " \x1f"))
		return true
	})
	for _, m := range s.take(groupForm) {
		r.people = append(r.people, strings.TrimSpace(strings.Join(m[1:], "")))
	}
}

// mention writes a Slack id as a mention. An e-mail address stays as it is.
func mention(id string) string {
	if strings.Contains(id, "@") {
		return id
	}
	return "<@" + id + ">"
}

func (r *reading) tell(id string) {
	r.recipients = add(r.recipients, id)
}
