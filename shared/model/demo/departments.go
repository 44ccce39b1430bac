package demo

import (
	"slices"
	"strings"

	"ringi/shared/words/lazy"
)

var (
	departmentForm = &lazy.Regexp{Text: `(?i)([\p{Han}\p{Katakana}ー々A-Za-z0-9]{1,20}?(?:事業部|本部|部門|部署|部|課|室))|\b(?:the\s+)?([A-Za-z&]+)\s+(?:department|dept\.?|division|team)s?(?:['’]s)?\b|\b(?:department|dept\.?|division)\s+(?:of\s+)?([A-Za-z&]+)\b`}
	// noDepartmentForm matches what departmentForm finds beside the name of a department: 自部署, the team.
	noDepartmentForm = &lazy.Regexp{Text: `(?i)^(?:自|他|当|弊|同|別|何|某|全|各|両|うち)(?:部署|部門|部|課|室)$|^(?:the|a|an|this|that|these|those|its|same|other|another|in|of|for|and|or|to|from|by|per|with|all|both|on|at)$`}
	// freeeForm matches the name of freee. Its part 人事労務 looks like a department.
	freeeForm = &lazy.Regexp{Text: `(?i)\bfreee\s*(?:hr|人事労務)?|人事労務`}
	// humanForm is a department's name of two words. figuresForm is about a department's business, not about its people.
	humanForm   = &lazy.Regexp{Text: `(?i)\bhuman\s+resources?\b`}
	figuresForm = &lazy.Regexp{Text: `(?i)\b(?:sales|hr|development|dev|engineering)\s+(?:figures?|numbers?|data|results?|revenues?|targets?|reports?|costs?|tickets?)\b`}
	// membersForm is the people of a department that was taken out.
	membersForm = &lazy.Regexp{Text: `(?i)\x1f\s*(?:の\s*)?(?:メンバー|スタッフ|チーム|担当者?|部員|員|さん|(?:人|方|皆さん|みなさん)(?:たち|達|々)?|staff|people|members?|folks|group|side)(?:\b|全員)?`}
	// belongForm matches what stands behind a short name: 営業分, HR's.
	belongForm = &lazy.Regexp{Text: `(?:分|側|内|所属|担当|['’]s)?[.,:'’]*$`}
	// groupedForm asks for one line per person, which results have anyway.
	groupedForm = &lazy.Regexp{Text: `(?i)(?:従業員|社員|個人|人)\s*(?:ごと|毎|別)(?:に|の)?|\b(?:per|by|for\s+each|of\s+each)\s+(?:person|employee)\b`}
	// byForm asks for an order of rows or for groups of rows that the demo does not make.
	byForm = &lazy.Regexp{Text: `(?i)(?:部署?|部門|課|月)\s*(?:ごと|毎|別)(?:に|の|で)?|\b(?:per|by|for\s+each)\s+(?:department|team|division|month)\b`}
	// whileForm matches a word that looks like the name of a department but is not one.
	whileForm = &lazy.Regexp{Text: `(?i)全部|一部|外部|内部|部分|各部署|全部署|全部門|会議室|\b(?:my|our|your|each|every|any|which|what|whole|by|per)\s+(?:department|team|division)\b`}
)

// known maps what people call the departments of the local stack's company to their names.
var known = map[string]string{"hr": "人事部", "sales": "営業部", "engineering": "開発部", "development": "開発部", "dev": "開発部",
	"人事": "人事部", "営業": "営業部", "開発": "開発部"}

// named takes departments out of a text. told are those that a message is to be sent to.
func (s *scanner) named() (departments, told []string) {
	s.take(freeeForm)
	s.text = humanForm.Get().ReplaceAllString(s.text, "HR")
	keep := []string{}
	s.text = whileForm.Get().ReplaceAllStringFunc(s.text, func(word string) string {
		keep = append(keep, word)
		return "\x1e"
	})
	sends := sendForm.Get().MatchString(s.text)
	is := func(name, after string) {
		if full, ok := known[strings.ToLower(name)]; ok {
			name = full
		}
		if to, ok := strings.CutPrefix(after, "に"); (ok && !aboutThem(to) || strings.HasPrefix(after, "へ")) && sends {
			told = add(told, name)
			return
		}
		if slices.Contains(departments, name) {
			s.twice = name
		}
		departments = add(departments, name)
	}
	s.takeAs(taken, departmentForm, func(m []string, after string) bool {
		name := m[1] + m[2] + m[3]
		if ok := !noDepartmentForm.Get().MatchString(name); !ok {
			return false
		}
		is(name, after)
		return true
	})
	s.takeAs(taken, wordForm, func(m []string, after string) bool {
		name := belongForm.Get().ReplaceAllString(m[0], "")
		if _, ok := known[strings.ToLower(name)]; !ok || figuresForm.Get().MatchString(m[0]+after) &&
			figuresForm.Get().FindStringIndex(m[0] + after)[0] == 0 {
			return false
		}
		is(name, after)
		return true
	})
	s.take(membersForm)
	for _, word := range keep {
		s.text = strings.Replace(s.text, "\x1e", word, 1)
	}
	return departments, told
}

// pairForms match what a request may name several of. Letters stand for them in the order of a text.
var pairForms = []struct {
	letter string
	form   *lazy.Regexp
}{{"D", departmentForm}, {"D", wordForm}, {"M", monthForm}, {"O", overtimeForm}, {"A", attendanceForm},
	{"R", mentionForm}}

// pairedForm matches departments, months or topics that each have another of their own.
var pairedForm = &lazy.Regexp{Text: `DMDM|MDMD|DODA|DADO|ODAD|ADOD|MOMA|MAMO|OMAM|AMOM|DRDR|RDRD|MRMR|RMRM|RORA|RARO|ORAR|AROR`}

// pairs returns where a text begins to name a second department, month, topic or person with one of its own, as in “HR
// in September and Sales in October”. A plan would cover each at all times, for everybody. It is empty if there is none.
func pairs(text string) string {
	type found struct {
		at     int
		letter string
		said   string
	}
	var all []found
	for _, f := range pairForms {
		for _, at := range f.form.Get().FindAllStringIndex(text, -1) {
			said := text[at[0]:at[1]]
			_, short := known[strings.ToLower(belongForm.Get().ReplaceAllString(said, ""))]
			if f.letter != "D" || short || f.form.Get().String() == departmentForm.Get().String() {
				all = append(all, found{at[0], f.letter, strings.TrimSpace(said)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.at - b.at })
	for _, with := range []string{"DM", "DOA", "MOA", "DR", "MR", "OAR"} {
		var order string
		var said []string
		for _, f := range all {
			if strings.Contains(with, f.letter) && !strings.HasSuffix(order, f.letter) {
				order, said = order+f.letter, append(said, f.said)
			}
		}
		if at := pairedForm.Get().FindStringIndex(order); at != nil {
			return said[at[0]+2]
		}
	}
	return ""
}

// joinedForm matches what joins a second department or month to the first. Behind anything else, the second may be a
// choice, a recipient or a place, as in “Sales or HR”, “Sales to HR” and 「営業部の残業を人事部で」.
var joinedForm = &lazy.Regexp{Text: `(?i)(?:\b(?:and|also|plus|as\s+well\s+as)|[,&+/\n、・]|と|や|および|及び|ならびに|並びに|あと|それと)\s*(?:(?:the|in|for|of|from|also|both|those)\s+)*$|^(?:メンバー|さん|\s)*も?\s*$`}

// unjoined returns a second department that nothing joins to the one before it, empty if there is none.
func unjoined(text string) string {
	end := -1
	for _, at := range wordForm.Get().FindAllStringIndex(text, -1) {
		_, is := known[strings.ToLower(belongForm.Get().ReplaceAllString(text[at[0]:at[1]], ""))]
		if !is && !strings.HasSuffix(text[at[0]:at[1]], "部") {
			continue
		}
		between := text[max(end, 0):at[0]]
		for _, f := range []*lazy.Regexp{overtimeForm, attendanceForm, monthForm} {
			between = f.Get().ReplaceAllString(between, "")
		}
		if end >= 0 && !joinedForm.Get().MatchString(between) {
			return text[at[0]:at[1]]
		}
		end = at[1]
	}
	return ""
}

// narrow takes the departments of a request.
func (r *reading) narrow(s *scanner) {
	departments, told := s.named()
	r.departments, r.people = departments, append(r.people, told...)
	if len(departments) > 1 { // “Sales and HR, only HR for September”
		r.stop(r.words.NoSecond, or(s.twice, unjoined(scan(r.text).text)))
	}
	if len(departments) > 0 && !r.topic.takesDepartments() {
		r.stop(r.words.NoNarrow, departments[0])
	}
	for _, m := range s.take(byForm) {
		r.aside = append(r.aside, strings.TrimSpace(m[0]))
	}
	slices.Sort(r.aside)
}
