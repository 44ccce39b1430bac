package main

import "context"

// takeAsReason rejects what waits in a message's thread, with the message's text as the reason. If the gate can't be
// rejected, the person is told so.
func (h *Handler) takeAsReason(ctx context.Context, c click) {
	v, gate, refused := h.maker().TakeAsReason(ctx, c.Click)
	if refused != nil {
		v.Err, c.Click = refused, gate
	}
	h.tell(ctx, c, verdict{v})
}
