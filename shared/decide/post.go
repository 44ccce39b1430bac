package decide

import (
	"context"
	"fmt"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
)

// holder returns who holds a post today, and how they were found: the only employee who does, or of a vacant one who
// stands over it, by an account of a full member. why says why there is nobody; empty: there is.
func (m Maker) holder(ctx context.Context, team string, in tenancy.Employed, text string) (p circulation.Person,
	why circulation.Why, err error) {
	if in.Organisation == nil {
		return p, circulation.WhyNoPost, nil
	}
	c := m.chart(in)
	posts := in.Organisation.Called(c, text)
	if len(posts) != 1 {
		return p, circulation.WhyNoPost, nil
	}
	post := posts[0]
	via := fmt.Sprintf("%s of %s as of %s", post.Position, post.Department, c.Day())
	switch all := c.HoldersOf(post.Position, post.Department, organisation.Employee); len(all) {
	case 0:
		over, there := c.Over(post.Department, post.Position)
		if !there {
			return p, circulation.WhyNobodyHolds, nil
		}
		p.Person, p.Via = over.Number, "over "+via
	case 1:
		p.Person, p.Via = all[0].Number, via
	default:
		return p, circulation.WhyManyHolders, nil
	}
	for _, account := range in.Accounts.ByNumber(p.Person) {
		full, err := m.full(ctx, team, account.ID)
		if err != nil {
			return p, "", err
		}
		if full {
			p.User = account.ID
			return p, "", nil
		}
	}
	return p, circulation.WhyNotFull, nil
}
