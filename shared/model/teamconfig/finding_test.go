package teamconfig

import (
	"errors"
	"testing"

	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/expect"
)

func TestMistakesAndWarningsAreBoundedEachForItself(t *testing.T) {
	found := []Finding{
		{File: "a.toml", Field: "x", Message: "is wrong"}, {File: "a.toml", Message: "has no effect", Warning: true},
		{File: "b.toml", Message: "is wrong"}, {File: "c.toml", Message: "is wrong"},
	}
	wrong, warned, err := Texts(found, 2)
	expect.NoError(t, err)
	expect.Same(t, []string{"a.toml: x: is wrong", "b.toml: is wrong", "and 1 more"}, wrong)
	expect.Same(t, []string{"a.toml: has no effect"}, warned)
	wrong, _, err = Texts(found, 3)
	expect.That(t, err == nil && len(wrong) == 3, "%q, %v", wrong, err)
	wrong, warned, err = Texts(nil, 1)
	expect.That(t, wrong == nil && warned == nil && err == nil, "%q, %q, %v", wrong, warned, err)
	found = append(found, Finding{File: "d.toml", Err: errorclass.ErrUnavailable})
	wrong, warned, err = Texts(found, 2)
	expect.That(t, errors.Is(err, errorclass.ErrUnavailable) && wrong == nil && warned == nil, "%q, %q, %v", wrong, warned, err)
}

func TestFewerRoundsThanAFileSays(t *testing.T) {
	c := Contest{MinRounds: 2, MaxRounds: 5}
	for most, want := range map[int]Contest{
		1: {MinRounds: 1, MaxRounds: 1}, 3: {MinRounds: 2, MaxRounds: 3}, 9: {MinRounds: 2, MaxRounds: 5},
	} {
		expect.Same(t, want, c.Within(most))
	}
}
