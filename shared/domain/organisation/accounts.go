package organisation

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Accounts are the accounts of people as they stand in rows of the table: what Match found, without what follows from
// the organisation or changes with every account that is nobody's. They don't change once they are made.
type Accounts struct {
	by      map[string][]Matched // by number
	numbers map[string]string    // by account
}

// owner is one line of Canonical.
type owner struct {
	Number   string    `json:"number"`
	Accounts []Matched `json:"accounts"`
}

// Kept returns the accounts that are kept of a matching.
func (m *Matching) Kept() *Accounts { return &Accounts{m.Accounts, m.Numbers()} }

// ByNumber returns a person's accounts, by id.
func (a *Accounts) ByNumber(number string) []Matched { return a.by[number] }

// Number returns the employee number of the person to whom an account belongs.
func (a *Accounts) Number(account string) (number string, known bool) {
	number, known = a.numbers[account]
	return number, known
}

// People returns how many people have an account.
func (a *Accounts) People() int { return len(a.by) }

// Without returns who works for the tenant and has no account, by number.
func (a *Accounts) Without(o *Organisation) (all []Person) {
	for _, p := range o.people {
		if len(a.by[p.Number]) == 0 {
			all = append(all, p)
		}
	}
	return all
}

// Canonical returns the accounts as bytes that only depend on whose they are: a line of JSON for each person, by
// number, after an empty one that says that there is a list.
func (a *Accounts) Canonical() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	put := func(x owner) {
		if err := e.Encode(x); err != nil {
			panic(fmt.Sprintf("encode accounts: %v", err)) // they hold only strings and booleans
		}
	}
	put(owner{})
	for _, number := range slices.Sorted(maps.Keys(a.by)) {
		put(owner{number, a.by[number]})
	}
	return b.Bytes()
}

// SHA256 is the hexadecimal SHA-256 of Canonical.
func (a *Accounts) SHA256() string {
	sum := sha256.Sum256(a.Canonical())
	return hex.EncodeToString(sum[:])
}

// Batches splits Canonical.
func (a *Accounts) Batches() []Batch { return batches(a.Canonical()) }

// AssembleAccounts reads batches as Assemble does. The caller compares SHA256, too.
func AssembleAccounts(batches []Batch) (*Accounts, error) {
	lines, err := joinedRows(batches)
	if err != nil {
		return nil, err
	}
	m := Matching{Accounts: map[string][]Matched{}}
	for number, rest := 1, lines; len(rest) > 0; number++ {
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		var x owner
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&x); err != nil {
			return nil, fmt.Errorf("read line %d of accounts: %w", number, err)
		}
		if number > 1 {
			m.Accounts[x.Number] = x.Accounts
		}
		rest = after
	}
	a := m.Kept()
	if !bytes.Equal(a.Canonical(), lines) {
		return nil, fmt.Errorf("read accounts: %w", errNotCanonical)
	}
	return a, nil
}

// Account is an account of the workspace, as Slack lists it.
type Account struct {
	ID    string // Slack user id
	Mail  string // the profile's address
	Guest bool   // not a full member
}

// Matched is an account of a person.
type Matched struct {
	ID    string `json:"id"`
	Guest bool   `json:"guest,omitempty"`
}

// Matching says which accounts belong to which people. An address never means two people.
type Matching struct {
	Accounts map[string][]Matched `json:"accounts,omitempty"` // by number; each sorted by id
	Nobody   []string             `json:"nobody,omitempty"`   // accounts of nobody in the file, by id
	Without  []string             `json:"without,omitempty"`  // people who have no account, by number
	Shared   []Shared             `json:"shared,omitempty"`   // by address
}

// Shared is an address that several accounts have. It identifies none of them.
type Shared struct {
	Mail     string   `json:"mail"`
	Accounts []string `json:"accounts"`
}

// Match finds the people of accounts by their e-mail addresses.
func (o *Organisation) Match(accounts []Account) *Matching {
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
		if mail := address(a); mail != "" {
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
		if number, ok := owners[address(a)]; ok {
			m.Accounts[number] = append(m.Accounts[number], Matched{a.ID, a.Guest})
		} else {
			m.Nobody = append(m.Nobody, a.ID)
		}
	}
	for _, p := range o.people {
		if len(m.Accounts[p.Number]) == 0 {
			m.Without = append(m.Without, p.Number)
		}
	}
	return m
}

// address returns an account's address as files have it.
func address(a Account) string { return strings.ToLower(folded(a.Mail)) }

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
