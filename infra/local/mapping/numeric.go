package mapping

import (
	"encoding/json"
	"fmt"
	"math/big"
)

// equal compares plain values; numbers by value, so that 1 is 1.0.
func equal(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x.Cmp(y) == 0
	}
	switch a.(type) {
	case string, bool, nil:
		return a == b
	}
	return false
}

func number(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

// checkNumeric wants pairs of a comparison and a number.
func checkNumeric(operand any) error {
	list, ok := operand.([]any)
	if !ok || len(list) == 0 || len(list)%2 != 0 {
		return fmt.Errorf("numeric takes pairs of a comparison and a number")
	}
	for i := 0; i < len(list); i += 2 {
		switch list[i] {
		case "=", "<", "<=", ">", ">=":
		default:
			return fmt.Errorf("numeric knows no comparison %v", list[i])
		}
		if _, ok := number(list[i+1]); !ok {
			return fmt.Errorf("numeric compares with numbers, not %v", list[i+1])
		}
	}
	return nil
}

func matchNumeric(pairs []any, v any) bool {
	have, ok := number(v)
	if !ok {
		return false
	}
	for i := 0; i < len(pairs); i += 2 {
		limit, _ := number(pairs[i+1])
		c := have.Cmp(limit)
		holds := map[any]bool{"=": c == 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[pairs[i]]
		if !holds {
			return false
		}
	}
	return true
}
