package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ringi/shared/model/reading"
	"ringi/shared/model/round"
	"ringi/shared/words/language"
)

// changed says that a tool is not the one that the contest began with.
var changed = language.InEach(
	"ツール %s は、コンテストを始めた後にサーバーで変更または削除されたため、呼び出しませんでした。",
	"The server has changed or removed the tool %s since the contest began, so it was not called.",
)

// reads are the listed tools as a deployment's members have them, with its limits.
func (p program) reads(ctx context.Context, l *listed, locale string) (round.Reads, error) {
	tools, err := reading.Source{Rows: l, Credentials: l, Client: p.caller(), Now: time.Now}.Open(ctx, ownTenant, locale)
	if err != nil {
		return nil, err
	}
	return kept{tools, locale}, nil
}

// kept are tools as they were when the contest began.
type kept struct {
	round.Reads
	locale string
}

// Read calls a tool. Of a listed tool nothing but a change of its server's makes it one that may not be called.
func (k kept) Read(ctx context.Context, tool string, input json.RawMessage) (string, error) {
	text, err := k.Reads.Read(ctx, tool, input)
	if refused := round.Refused(""); errors.As(err, &refused) {
		err = round.Refused(fmt.Sprintf(changed.In(k.locale), tool))
	}
	return text, err
}
