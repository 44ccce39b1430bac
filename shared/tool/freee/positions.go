package freee

import (
	"context"
	"fmt"
)

// maxPositions is the most positions of a list, equal to the catalog's max_rows. freee returns all of them at once.
const maxPositions = 5000

// Position has the fields of a position that steps may read.
type Position struct {
	ID   int64   `json:"id"`
	Code *string `json:"code"`
	Name string  `json:"name"`
}

// Positions is the result of list_positions.
type Positions struct {
	Count     int        `json:"count"`
	Positions []Position `json:"positions"`
}

// ListPositions lists the company's positions in freee's order.
func (c *Client) ListPositions(ctx context.Context) (Positions, error) {
	company, err := c.company(ctx)
	if err != nil {
		return Positions{}, err
	}
	out := Positions{Positions: []Position{}}
	if err := c.wire.Read(ctx, fmt.Sprintf("/positions?company_id=%d", company), &out); err != nil {
		return Positions{}, err
	}
	if out.Count = len(out.Positions); out.Count > maxPositions {
		return Positions{}, tooMany("list_positions", maxPositions)
	}
	return out, nil
}
