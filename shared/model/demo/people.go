package demo

import (
	"slices"
	"strings"
)

var (
	// mailForm is an address that is to be told: somebody in Slack is found by it.
	mailForm = form(`(?i)(?:<mailto:)?([\w.+-]+@[\w-]+(?:\.[\w-]+)+)(?:\|[^>]*>|>)?\s*(?:さん|様)?\s*(?:に|へ|宛(?:て)?に?)|\b(?:to|tell|notify|inform|dm|message|cc)\s+(?:<mailto:)?([\w.+-]+@[\w-]+(?:\.[\w-]+)+)(?:\|[^>]*>|>)?`)
	// toForm is a mention of whoever is to be told.
	toForm = form(`(?i)(?:<@([UW][A-Z0-9]+)(?:\|[^>]*)?>\s*(?:さん|様|くん|氏)?\s*(?:に|へ|宛(?:て)?に?)|\b(?:to|tell|notify|inform|dm|message|cc)\s+<@([UW][A-Z0-9]+)(?:\|[^>]*)?>)`)
	// nextToForm is one more of them: <@U1> と <@U2> に, to <@U1> and <@U2>.
	nextToForm  = form(`(?i)<@([UW][A-Z0-9]+)(?:\|[^>]*)?>\s*(?:さん|様|くん|氏)?\s*(?:と|、|,)\s*\x1f|\x1f\s*(?:and|,)\s*<@([UW][A-Z0-9]+)(?:\|[^>]*)?>`)
	mentionForm = form(`<[@!#][^>]*>`)
	addressForm = form(`<(?:mailto:|https?:)[^>]*>|[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	// personForm is somebody named otherwise, of whom only a name is known.
	personForm = form(`([\p{Han}\p{Katakana}ー々]{1,8}|[A-Za-z]{2,20})\s*(?:さん|様|くん|氏)|\b([A-Z][a-z]{1,19})['’]s\b|\b(?:Mr|Mrs|Ms|Dr)\.?\s+([A-Z][a-z]{1,19})\b`)
	sendForm   = form(`(?i)(?:結果を?\s*)?(?:(?:Slack\s*の?\s*)?(?:DM|ダイレクトメッセージ|メッセージ)\s*(?:で|を|も)?\s*)?(?:(?:お?知らせ|通知|連絡|送信|報告|共有|転送)(?:して|する|しといて|しておいて|いただけ|願います|お願い)?|送って|送る|伝えて|渡して|DM\s*して)(?:ください|下さい)?|\b(?:send|post|forward|deliver|share)\b(?:\s+(?:it|the\s+results?|them|a|the|this|that|us|me))*|\b(?:dm|direct\s+messages?|message|notify|tell|inform)\b(?:\s+(?:me|us|about|when|once|with|that|it))*`)

	departmentForm = form(`(?i)([\p{Han}\p{Katakana}ー々A-Za-z0-9]{1,20}?(?:事業部|本部|部門|部署|部|課|室))|\b(?:the\s+)?([A-Za-z&]+)\s+(?:department|dept\.?|division|team)\b|\b(?:department|dept\.?|division)\s+(?:of\s+)?([A-Za-z&]+)\b`)
	// groupedForm is how results come anyway: one line for each person.
	groupedForm = form(`(?i)(?:従業員|社員|個人|人)\s*(?:ごと|毎|別)(?:に|の)?|\b(?:per|by|for\s+each|of\s+each)\s+(?:person|employee)\b`)
	// whileForm is a word that looks like a department's and is none.
	whileForm = form(`(?i)全部|一部|外部|内部|部分|各部署|全部署|全部門|部署(?:別|ごと|毎)|[部課](?:別|ごと|毎)|会議室|\b(?:my|our|your|each|every|any|which|what|whole)\s+(?:department|team|division)\b`)
)

// english are the departments of the local stack's company under their English names.
var english = map[string]string{"hr": "人事部", "sales": "営業部", "engineering": "開発部", "development": "開発部", "dev": "開発部"}

// people takes out whom a text names: those to be told, by their ids, and those it only has a name for.
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
	for _, m := range s.take(addressForm) {
		r.people = append(r.people, strings.Trim(m[0], "<>"))
	}
	s.take(mentionForm)
	for _, m := range s.take(personForm) {
		if name := m[1] + m[2] + m[3]; !slices.Contains(r.people, name) && name != "皆" && !strings.EqualFold(name, "ringi") {
			r.people = append(r.people, name)
		}
	}
}

// mention is how a text names whom it tells.
func mention(id string) string {
	if strings.Contains(id, "@") {
		return id
	}
	return "<@" + id + ">"
}

// tell adds somebody who is told of the result, each once.
func (r *reading) tell(id string) {
	if !slices.Contains(r.recipients, id) {
		r.recipients = append(r.recipients, id)
	}
}

// named takes the departments out of a text.
func (s *scanner) named() (departments []string) {
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
		if !slices.Contains(departments, name) {
			departments = append(departments, name)
		}
	}
	for _, word := range keep {
		s.text = strings.Replace(s.text, "\x1e", word, 1)
	}
	return departments
}
