package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// These intrinsics depend on their arguments only.

func combine(name string, args []any) (any, error) {
	var bools []bool
	for _, a := range args {
		b, ok := a.(bool)
		if !ok {
			return nil, fmt.Errorf("%v is not true or false", a)
		}
		bools = append(bools, b)
	}
	if len(bools) == 0 || name == "Not" && len(bools) != 1 {
		return nil, fmt.Errorf("has %d conditions", len(bools))
	}
	switch name {
	case "Not":
		return !bools[0], nil
	case "And":
		return !slices.Contains(bools, false), nil
	default:
		return slices.Contains(bools, true), nil
	}
}

func join(args []any) (any, error) {
	list, ok := args[1].([]any)
	if !ok {
		return nil, fmt.Errorf("its second value is no list")
	}
	var parts []string
	for _, v := range list {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, fmt.Sprint(args[0])), nil
}

func choice(args []any) (any, error) {
	at, err := strconv.Atoi(fmt.Sprint(args[0]))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	list, ok := args[1].([]any)
	if !ok || at < 0 || at >= len(list) {
		return nil, fmt.Errorf("there is no element %d", at)
	}
	return list[at], nil
}

func split(args []any) (any, error) {
	list := []any{}
	for part := range strings.SplitSeq(fmt.Sprint(args[1]), fmt.Sprint(args[0])) {
		list = append(list, part)
	}
	return list, nil
}
