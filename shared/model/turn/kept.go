package chat

import (
	"context"

	"ringi/shared/model"
)

// Keeping is a wire of which each request is kept as it is sent; the usage of the answer names the last.
func Keeping(w Wire, keep model.Keep) Wire { return keeping{w, keep} }

type keeping struct {
	Wire
	keep model.Keep
}

// Say is that of the wire.
func (k keeping) Say(ctx context.Context, r Request, onText func(string)) (out Response, err error) {
	sent := model.Kept(ctx, k.keep, func(ctx context.Context) { out, err = k.Wire.Say(ctx, r, onText) })
	out.Usage.Sent = sent
	return out, err
}
