package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// aKey is a key that fits.
func aKey(tenant string) tenancy.Key {
	return tenancy.Key{TenantID: tenant, Team: "T0KEYS", Name: "経理のエージェント", Answers: "U1",
		Tools: []string{"send_slack_dm"}, Channel: "C1", QuotaDay: 100, ExpiresAt: at().AddDate(0, 3, 0)}
}

func testKeys(t *testing.T, st *taskStore) {
	admin := setBy("U9", true).Actor
	k, secret, err := st.CreateKey(t.Context(), aKey("01KEYS"), admin, at())
	expect.NoError(t, err)
	expect.That(t, strings.HasPrefix(secret, "rk_") && len(secret) == 46, "%q", secret)

	kept := fmt.Sprint(rows(t, st, "KEY#"+k.ID), auditOfTenant(t, st, "01KEYS"))
	expect.That(t, !strings.Contains(kept, secret) && !strings.Contains(kept, secret[3:]), "the secret is kept")

	got := expect.Value(st.KeyBySecret(t.Context(), secret, at()))(t)
	expect.Same(t, k, got)
	for _, other := range []string{"", "rk_", secret + "x", secret[:45], strings.TrimPrefix(secret, "rk_"), k.Hash,
		"rk_" + strings.Repeat("a", 4000)} {
		_, err := st.KeyBySecret(t.Context(), other, at())
		expect.Fails(t, err, tenancy.ErrKey{Why: tenancy.KeyUnknown})
	}
	write(t, st, table.Item{"PK": table.Text("KEY#" + strings.Repeat("0", 32)), "SK": table.Text("KEY")})
	_, err = st.KeyBySecret(t.Context(), secret, k.ExpiresAt)
	expect.Fails(t, err, tenancy.ErrKey{Why: tenancy.KeyExpired})

	_, err = st.Key(t.Context(), "01OTHERS", k.ID)
	expect.Fails(t, err, aggregate.ErrNotFound)
	expect.Same(t, []tenancy.Key{k}, expect.Value(st.Keys(t.Context(), "01KEYS"))(t))
	expect.Is(t, len(expect.Value(st.Keys(t.Context(), "01OTHERS"))(t)), 0)

	for _, noted := range []bool{true, false} { // of two at once, one
		expect.Is(t, expect.Value(st.UseKey(t.Context(), k, at()))(t), noted)
	}
	k = expect.Value(st.Key(t.Context(), "01KEYS", k.ID))(t)
	expect.That(t, k.LastUsedAt.Equal(at()) && k.Rev == 1, "%+v", k)

	k.Name = "別の締め"
	is := expect.Value(st.SaveKey(t.Context(), k, admin, at()))(t)
	_, err = st.SaveKey(t.Context(), k, admin, at())
	expect.Fails(t, err, aggregate.ErrConflict)
	expect.Is(t, is.Rev, 2)

	expect.Fails(t, st.RevokeKey(t.Context(), "01OTHERS", k.ID, admin, at()), aggregate.ErrNotFound)
	stays := aKey("01KEYS")
	stays.Answers = "U0TANAKA"
	stays, _, err = st.CreateKey(t.Context(), stays, admin, at())
	expect.NoError(t, err)
	for _, n := range []int{1, 0} { // repeated
		expect.Is(t, expect.Value(st.RevokeKeysOf(t.Context(), "01KEYS", k.Answers, at().Add(time.Hour)))(t), n)
	}
	expect.NoError(t, expect.Value(st.Key(t.Context(), "01KEYS", stays.ID))(t).Stands(at()))
	for range 2 {
		expect.NoError(t, st.RevokeKey(t.Context(), "01KEYS", k.ID, aggregate.System(), at().Add(time.Hour)))
	}
	_, err = st.KeyBySecret(t.Context(), secret, at())
	expect.Fails(t, err, tenancy.ErrKey{Why: tenancy.KeyRevoked})
	var did []string
	for _, x := range auditOfTenant(t, st, "01KEYS") {
		did = append(did, string(x.Action))
	}
	expect.Same(t, []string{"key.created", "key.updated", "key.created", "key.revoked"}, did)
}
