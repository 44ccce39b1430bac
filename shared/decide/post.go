package decide

import (
	"context"
	"fmt"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
)

// Why a post can't be added, beside the reasons for a person.
const (
	whyNoPost      circulation.Why = "no_post"      // the organisation has none of that name, or several
	whyManyHolders circulation.Why = "many_holders" // several people hold it
	whyNobodyHolds circulation.Why = "nobody_holds" // nobody does, nor stands over it
	whyOneOfThem   circulation.Why = "one_of_them"  // a person and a post are named, or neither
)

// holder returns who holds a post today, and how they were found: the only employee who does, or of a vacant one who
// stands over it, by an account of a full member. why says why there is nobody; empty: there is.
func (m Maker) holder(ctx context.Context, team string, in tenancy.Employed, text string) (p circulation.Person,
	why circulation.Why, err error) {
	if in.Organisation == nil {
		return p, whyNoPost, nil
	}
	c := m.chart(in)
	posts := in.Organisation.Called(c, text)
	if len(posts) != 1 {
		return p, whyNoPost, nil
	}
	post := posts[0]
	via := fmt.Sprintf("%s of %s as of %s", post.Position, post.Department, c.Day())
	switch all := c.HoldersOf(post.Position, post.Department, organisation.Employee); len(all) {
	case 0:
		over, there := c.Over(post.Department, post.Position)
		if !there {
			return p, whyNobodyHolds, nil
		}
		p.Person, p.Via = over.Number, "over "+via
	case 1:
		p.Person, p.Via = all[0].Number, via
	default:
		return p, whyManyHolders, nil
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
