package rules

import (
	"context"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// person returns somebody by their account, and where an organisation stands, by their key there.
func person(in tenancy.Employed, user string) circulation.Person {
	p := circulation.Person{User: user}
	if in.Organisation != nil {
		p.Person, _ = in.Accounts.Number(user)
	}
	return p
}

// forbidden returns a problem that the delegation's own row doesn't show: where an organisation stands, a hand who is no
// employee on the first day, or a principal who isn't in it; and a principal who owes something on the own request of
// the administrator who sets it.
func (c *StandInPages) forbidden(ctx context.Context, in tenancy.Employed, d tenancy.Delegation,
	by tenancy.Setter) error {
	if in.Organisation != nil {
		first := in.Organisation.Chart(max(d.From, c.Today()))
		if hand, here := first.Person(d.Hand.Person); !here || hand.Kind != organisation.Employee {
			return tenancy.Problem{Field: "hand", Rule: tenancy.RuleNoEmployee}.Err()
		}
		if _, here := first.Person(d.Principal.Person); !here {
			return tenancy.Problem{Field: "principal", Rule: tenancy.RuleNoRow}.Err()
		}
	}
	if !by.Admin {
		return nil
	}
	for cursor := ""; ; {
		page, err := c.Store.Owed(ctx, d.TenantID, d.Principal.User, cursor, store.MaxPage)
		if err != nil {
			return err
		}
		for _, x := range page.Items {
			if g := aggregate.RuledGate(x.Row); g != nil && slices.ContainsFunc(g.Askers, by.Person.Is) {
				return tenancy.Problem{Field: "principal", Rule: tenancy.RuleParty}.Err()
			}
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// own returns the delegations by which somebody stands in or is stood in for, whether these name their account or their
// person.
func (c *StandInPages) own(ctx context.Context, tenant, user string, in tenancy.Employed) (all []tenancy.Delegation,
	err error) {
	if all, err = c.Store.DelegationsBy(ctx, tenant, user); err != nil {
		return nil, err
	}
	for _, principal := range []string{user, in.Person} {
		if principal == "" {
			continue
		}
		of, err := c.Store.DelegationsOf(ctx, tenant, principal)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	if in.Person == "" {
		return all, nil
	}
	to, err := c.Store.DelegationsTo(ctx, tenant, in.Person) // also those that name another account of theirs
	for _, d := range to {
		if d.Hand.User != user {
			all = append(all, d)
		}
	}
	return all, err
}
