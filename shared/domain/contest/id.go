package contest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// NewID returns a random execution_id, a UUID of version 4, for a contest that no other aggregate asks for.
func NewID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return uuid(b)
}

// IDFor returns the execution_id of the contest that a row asks for. It is derived from the row, so that each row gets
// only one contest, but has the form of a version 4.
func IDFor(by aggregate.Ref, row string) string {
	h := sha256.New()
	for _, p := range []string{"contest", by.Tenant, by.Kind, by.ID, row} {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return uuid(h.Sum(nil)[:16])
}

func uuid(b []byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b)
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

var form = language.Regexp{Text: `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`}

// ValidID reports whether id has the form of an execution_id.
func ValidID(id string) bool { return form.Get().MatchString(id) }

// Ref returns the Ref of a contest.
func Ref(tenant, execution string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: kindName, ID: execution}
}

// TeamRef returns the Ref of a team's work in a contest. The team's id comes from a file, so keys contain its hash.
func TeamRef(tenant, execution, teamID string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: TeamKind.Name, ID: execution + "." + TeamHash(teamID)}
}

// TeamHash returns the form of a team's id that is used in keys.
func TeamHash(teamID string) string { return aggregate.HashOf(teamID)[:16] }
