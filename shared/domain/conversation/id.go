package conversation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// ID returns the id of the conversation in a thread: a UUID of version 8 made from a hash. So each thread has exactly
// one conversation, and no lookup is needed.
func ID(team, channel, thread string) string { return uuid("session", team, channel, thread) }

// MessageID returns the id of a message from Slack.
func MessageID(team, channel, ts string) string { return uuid("message", team, channel, ts) }

func uuid(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	b := h.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	x := hex.EncodeToString(b)
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

var form = language.Regexp{Text: `^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`}

// ValidID reports whether id has the form of a conversation's id.
func ValidID(id string) bool { return form.Get().MatchString(id) }

// RefOf returns the Ref of a conversation.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}
