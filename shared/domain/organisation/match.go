package organisation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Account is an account of the workspace, as Slack lists it.
type Account struct {
	ID    string   // Slack user id
	Mails []string // the profile's address; several if the workspace knows more
	Guest bool     // not a full member
}

// Matched is an account of a person.
type Matched struct {
	ID    string `json:"id"`
	Guest bool   `json:"guest,omitempty"`
}

// Matching says which accounts belong to which people. An address counts on all days: it never means two people.
type Matching struct {
	Accounts map[string][]Matched `json:"accounts,omitempty"` // by number; each sorted by id
	Nobody   []string             `json:"nobody,omitempty"`   // accounts of nobody in the file, by id
	Without  []string             `json:"without,omitempty"`  // people of that day who have no account, by number
	Shared   []Shared             `json:"shared,omitempty"`   // by address
	Several  []Several            `json:"several,omitempty"`  // by id
}

// Shared is an address that several accounts have. It identifies none of them.
type Shared struct {
	Mail     string   `json:"mail"`
	Accounts []string `json:"accounts"`
}

// Several is an account with addresses of several people. It is matched to none of them.
type Several struct {
	Account string   `json:"account"`
	Numbers []string `json:"numbers"`
}

// Match finds the people of accounts by their e-mail addresses. Without are people who have no account on the day.
func (o *Organisation) Match(accounts []Account, day Date) *Matching {
	byID := func(a, b Account) int { return cmp.Compare(a.ID, b.ID) }
	accounts = slices.SortedStableFunc(slices.Values(accounts), byID)
	accounts = slices.CompactFunc(accounts, func(a, b Account) bool { return a.ID == b.ID })
	owners, users := map[string]string{}, map[string][]string{}
	for _, p := range o.people {
		for _, mail := range p.Mails {
			owners[mail] = p.Number
		}
	}
	for _, a := range accounts {
		for _, mail := range addresses(a) {
			users[mail] = append(users[mail], a.ID)
		}
	}
	m := &Matching{Accounts: map[string][]Matched{}}
	for _, mail := range slices.Sorted(maps.Keys(users)) {
		if ids := users[mail]; len(ids) > 1 {
			m.Shared = append(m.Shared, Shared{mail, ids})
			delete(owners, mail)
		}
	}
	for _, a := range accounts {
		m.add(a, owners)
	}
	for _, p := range o.people {
		if p.Has(day) && len(m.Accounts[p.Number]) == 0 {
			m.Without = append(m.Without, p.Number)
		}
	}
	return m
}

// addresses returns an account's addresses as files have them, each once.
func addresses(a Account) (all []string) {
	for _, mail := range a.Mails {
		if mail = strings.ToLower(folded(mail)); mail != "" {
			all = append(all, mail)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// add matches one account.
func (m *Matching) add(a Account, owners map[string]string) {
	numbers := map[string]bool{}
	for _, mail := range addresses(a) {
		if number, ok := owners[mail]; ok {
			numbers[number] = true
		}
	}
	all := slices.Sorted(maps.Keys(numbers))
	switch len(all) {
	case 0:
		m.Nobody = append(m.Nobody, a.ID)
	case 1:
		m.Accounts[all[0]] = append(m.Accounts[all[0]], Matched{a.ID, a.Guest})
	default:
		m.Several = append(m.Several, Several{a.ID, all})
	}
}

// Numbers returns the employee numbers of all accounts that belong to somebody.
func (m *Matching) Numbers() map[string]string {
	all := map[string]string{}
	for number, accounts := range m.Accounts {
		for _, x := range accounts {
			all[x.ID] = number
		}
	}
	return all
}
