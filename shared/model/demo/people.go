package demo

import (
	"slices"
	"strings"

	"ringi/shared/words/lazy"
)

var (
	// mailForm matches the e-mail address of a person to notify. Slack finds people by their address.
	mailForm = lazy.Regexp(`(?i)(?:<mailto:)?([\w.+-]+@[\w-]+(?:\.[\w-]+)+)(?:\|[^>]*>|>)?\s*(?:さん|様)?\s*(?:だけ|のみ)?\s*(?:に|へ|宛(?:て)?に?)|\b(?:to|tell|notify|inform|dm|message|cc)\s+(?:only\s+)?(?:<mailto:)?([\w.+-]+@[\w-]+(?:\.[\w-]+)+)(?:\|[^>]*>|>)?`)
	// toForm matches a mention of a person to notify.
	toForm = lazy.Regexp(`(?i)(?:<@([UW][A-Z0-9]+)(?:\|[^>]*)?>\s*(?:さん|様|くん|氏)?\s*(?:だけ|のみ)?\s*(?:に|へ|宛(?:て)?に?)|\b(?:to|tell|notify|inform|dm|message|cc)\s+(?:only\s+)?<@([UW][A-Z0-9]+)(?:\|[^>]*)?>)`)
	// nextToForm matches a mention that is joined to one already taken out: <@U1> と <@U2> に, to <@U1> and <@U2>.
	nextToForm  = lazy.Regexp(`(?i)<@([UW][A-Z0-9]+)(?:\|[^>]*)?>\s*(?:さん|様|くん|氏)?\s*(?:と|、|,)\s*\x1f|\x1f\s*(?:and|,)\s*<@([UW][A-Z0-9]+)(?:\|[^>]*)?>`)
	mentionForm = lazy.Regexp(`<[@!#][^>]*>`)
	// aboutForm matches a mention of a person whose records are meant.
	aboutForm = lazy.Regexp(`(?i)<@([UW][A-Z0-9]+)(?:\|[^>]*)?>\s*(?:さん|様|くん|氏)?\s*(?:の|だけ|のみ|以外|は|が)|\b(?:of|for|about|except)\s+<@([UW][A-Z0-9]+)(?:\|[^>]*)?>|<@([UW][A-Z0-9]+)(?:\|[^>]*)?>['’]s\b`)
	// groupForm matches a group to notify. The demo does not know its members.
	groupForm   = lazy.Regexp(`(?i)([\p{Han}\p{Katakana}ー々A-Za-z0-9]*(?:部|課|室|全員|皆|みんな|全社|チーム|メンバー))(?:さん|様)?(?:全員|のみんな|の皆さん)?(?:に|へ)も?\s*(?:(?:Slack|結果|それ)\s*[のをは]?\s*)?(?:(?:DM|メール|メッセージ)\s*[でをも]?\s*)?(?:共有|送|知らせ|お知らせ|連絡|報告|通知|伝え|渡|転送|DM|メール)|\b(?:send|tell|notify|share|post|dm|forward|mail|email|inform)\b(?:[^.!?;\n]*?\b(?:to|with)\b)?\s+(?:the\s+|our\s+|all\s+of\s+)?(everyone|everybody|all\s+(?:employees|staff)|all|[a-z]+\s+(?:department|team))\b`)
	linkForm    = lazy.Regexp(`<https?:[^>]*>`)
	addressForm = lazy.Regexp(`<mailto:[^>]*>|[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	// personForm matches the name of a person without a mention.
	personForm = lazy.Regexp(`([\p{Han}\p{Katakana}ー々]{1,8}|[A-Za-z]{2,20})\s*(?:さん|様|くん|氏)|\b([A-Z][a-z]{1,19})['’]s\b|\b(?:Mr|Mrs|Ms|Dr)\.?\s+([A-Z][a-z]{1,19})\b`)
	sendForm   = lazy.Regexp(`(?i)(?:結果を?\s*)?(?:(?:Slack\s*の?\s*)?(?:DM|ダイレクトメッセージ|メッセージ)\s*(?:で|を|も)?\s*)?(?:お?(?:知らせ|しらせ)(?:て|る)(?:おいて)?|(?:お?知らせ|通知|連絡|送信|報告|共有|転送)(?:して|する|しといて|しておいて|いただけ|願います|お願い)?|送って|送る|伝えて|渡して|DM\s*して)(?:ください|下さい)?|\b(?:send|post|forward|deliver|share)\b(?:\s+(?:it|the\s+results?|them|a|the|this|that|us|me))*|\b(?:dm|direct\s+messages?|message|notify|tell|inform)\b(?:\s+(?:me|us|about|when|once|with|that|it))*`)

	// selfForm says that the requester wants to be notified.
	selfForm = lazy.Regexp(`(?:(?:完了の?)?(?:DM|通知|お?知らせ|連絡|結果)\s*(?:は|を)\s*)?(?:自分|わたし|私|僕|依頼者)\s*(だけ|のみ)?\s*(?:宛て?)?\s*(?:に|へ)(?:は|も)?\s*(だけ|のみ)?`)

	departmentForm = lazy.Regexp(`(?i)([\p{Han}\p{Katakana}ー々A-Za-z0-9]{1,20}?(?:事業部|本部|部門|部署|部|課|室))|\b(?:the\s+)?([A-Za-z&]+)\s+(?:department|dept\.?|division|team)\b|\b(?:department|dept\.?|division)\s+(?:of\s+)?([A-Za-z&]+)\b`)
	// freeeForm matches the name of freee. Its part 人事労務 looks like a department.
	freeeForm = lazy.Regexp(`(?i)\bfreee\s*(?:hr|人事労務)?|人事労務`)
	// staffForm names a department by its people, as in HR staff.
	staffForm = lazy.Regexp(`(?i)\b(hr|sales|engineering|development|dev)\s+(?:staff|people|members|folks)\b`)
	// groupedForm asks for one line per person, which results have anyway.
	groupedForm = lazy.Regexp(`(?i)(?:従業員|社員|個人|人)\s*(?:ごと|毎|別)(?:に|の)?|\b(?:per|by|for\s+each|of\s+each)\s+(?:person|employee)\b`)
	// whileForm matches a word that looks like the name of a department but is not one.
	whileForm = lazy.Regexp(`(?i)全部|一部|外部|内部|部分|各部署|全部署|全部門|部署(?:別|ごと|毎)|[部課](?:別|ごと|毎)|会議室|\b(?:my|our|your|each|every|any|which|what|whole|by|per)\s+(?:department|team|division)\b`)
)

// english maps English names to the departments of the local stack's company.
var english = map[string]string{"hr": "人事部", "sales": "営業部", "engineering": "開発部", "development": "開発部", "dev": "開発部"}

// people takes the people to notify out of a text: ids, and names of people who have no id.
func (s *scanner) people(r *reading) {
	for _, m := range s.take(toForm) {
		r.tell(m[1] + m[2])
	}
	for more := true; more; {
		found := s.take(nextToForm)
		for _, m := range found {
			r.tell(m[1] + m[2])
		}
		more = len(found) > 0
	}
	for _, m := range s.take(mailForm) {
		r.tell(m[1] + m[2])
	}
	for _, m := range s.take(linkForm) {
		r.unread = append(r.unread, strings.Trim(m[0], "<>"))
	}
	for _, m := range s.take(addressForm) {
		r.people = append(r.people, strings.Trim(m[0], "<>"))
	}
	s.mentions(r)
	for _, m := range s.take(personForm) {
		if name := m[1] + m[2] + m[3]; !slices.Contains(r.people, name) && name != "皆" && !strings.EqualFold(name, "ringi") {
			r.people = append(r.people, name)
		}
	}
}

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
		r.unread = append(r.unread, said)
	}
}

func (s *scanner) groups(r *reading) {
	for _, m := range s.take(groupForm) {
		r.people = append(r.people, m[1]+m[2])
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

// staff replaces "HR staff" by "staff", and returns the department.
func (s *scanner) staff() (departments []string) {
	for _, m := range staffForm().FindAllStringSubmatch(s.text, -1) {
		departments = append(departments, english[strings.ToLower(m[1])])
	}
	s.text = staffForm().ReplaceAllString(s.text, "staff")
	return departments
}

func (s *scanner) named() (departments []string) {
	s.take(freeeForm)
	keep := []string{}
	s.text = whileForm().ReplaceAllStringFunc(s.text, func(word string) string {
		keep = append(keep, word)
		return "\x1e"
	})
	for _, m := range s.take(departmentForm) {
		name := m[1] + m[2] + m[3]
		if known, ok := english[strings.ToLower(name)]; ok {
			name = known
		}
		departments = add(departments, name)
	}
	for _, word := range keep {
		s.text = strings.Replace(s.text, "\x1e", word, 1)
	}
	return departments
}
