package store

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func testAgents(t *testing.T, st *taskStore) {
	_, err := st.SaveAgent(t.Context(), workspace("T0NOBODY"), "agent_1", "env_1", at())
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "%v for a tenant that is not there", err)
	made := expect.Value(st.Bootstrap(t.Context(), workspace("T0AGENT"), at()))(t)
	for i, try := range []struct {
		name         string
		as           tenancy.Tenant
		agent, wants string
	}{
		{"the first one's stands", made, "agent_1", "agent_1"},
		{"who comes later gets it", made, "agent_2", "agent_1"},
		{"it can be replaced", tenancy.Tenant{ID: made.ID, AgentID: "agent_1"}, "agent_3", "agent_3"},
		{"once", tenancy.Tenant{ID: made.ID, AgentID: "agent_1"}, "agent_4", "agent_3"},
	} {
		got := expect.Value(st.SaveAgent(t.Context(), try.as, try.agent, "env of "+try.agent, at().Add(time.Duration(i+1)*time.Hour)))(t)
		if got.AgentID != try.wants || got.EnvironmentID != "env of "+try.wants || got.Name != made.Name {
			t.Errorf("%s: %+v", try.name, got)
		}
		if saved := try.agent == try.wants; saved != got.UpdatedAt.Equal(at().Add(time.Duration(i+1)*time.Hour)) {
			t.Errorf("%s: the row says that it was written at %v", try.name, got.UpdatedAt)
		}
	}
}
