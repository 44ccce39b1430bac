package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"ringi/shared/domain/tenancy"
	"ringi/shared/model/teamconfig"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

// mostWrong bounds how many mistakes of a file are named, since the answer's size is limited.
const mostWrong = 20

// Settings reads what a tenant's administrators decided.
type Settings interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
}

// Check says what is wrong with the file of a contest and with its models. It returns explain.ErrUnavailable when the
// file or the model secret can't be read now.
func (h *Handler) Check(ctx context.Context, in store.ContestQuery) (store.ContestResult, error) {
	w, err := h.Workspace()
	if errors.Is(err, teamconfig.ErrNotSet) {
		return store.ContestResult{NotSet: true}, nil
	}
	if err != nil {
		return store.ContestResult{}, fmt.Errorf("open the files of contests: %w", err)
	}
	reader := cmp.Or(in.Locale, language.English)
	c, found := w.Contest(in.File, reader)
	if in.MaxRounds > 0 {
		c = c.Within(in.MaxRounds)
	}
	if c.Prices = in.Prices; c.Prices == nil {
		s, err := h.Settings.Settings(ctx, in.Tenant)
		if err != nil {
			return store.ContestResult{}, fmt.Errorf("read the settings: %w", err)
		}
		c.Prices = s.Prices
	}
	unopened, err := h.Models.Check(ctx, c, reader)
	if err != nil {
		return store.ContestResult{}, err
	}
	wrong, err := teamconfig.Texts(append(found, unopened...), mostWrong, reader)
	return store.ContestResult{Wrong: wrong}, err
}
