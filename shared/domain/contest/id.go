package contest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/lazy"
)

// NewID is the execution_id of a contest that nothing else names: a UUID of version 4.
func NewID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return uuid(b)
}

// IDFor is the execution_id of the contest that a row asks for. It has the form of a version 4, and is the same each
// time, so that one row has one contest.
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

var form = lazy.Regexp(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// ValidID reports whether id has the form of an execution_id.
func ValidID(id string) bool { return form().MatchString(id) }

// Ref names a tenant's contest.
func Ref(tenant, execution string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: kindName, ID: execution}
}

// TeamRef names a team's work in a contest. The team's id comes from a file, so a hash stands for it in keys.
func TeamRef(tenant, execution, teamID string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: TeamKind.Name, ID: execution + "." + TeamHash(teamID)}
}

// TeamHash stands for a team's id in keys.
func TeamHash(teamID string) string { return aggregate.HashOf(teamID)[:16] }
