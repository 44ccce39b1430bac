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
	s := tenancy.Settings{Prices: in.Prices}
	if s.Prices == nil {
		if s, err = h.Settings.Settings(ctx, in.Tenant); err != nil {
			return store.ContestResult{}, fmt.Errorf("read the settings: %w", err)
		}
	}
	s.DraftContest.File, s.DraftContest.MaxRounds = in.File, in.MaxRounds
	_, wrong, err := h.Models.Open(ctx, w, s, mostWrong, cmp.Or(in.Locale, language.English))
	return store.ContestResult{Wrong: wrong}, err
}
