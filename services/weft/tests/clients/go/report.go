package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	checkMax = 20 * time.Second
	allMax   = 120 * time.Second
)

// check is one sentence about the mesh and what shows that it holds.
type check struct {
	sentence string
	run      func(context.Context, *mesh) error
}

// runAll runs the checks one after another, prints a line for each, and returns how many failed.
func runAll(ctx context.Context, m *mesh, checks []check) int {
	ctx, end := context.WithTimeout(ctx, allMax)
	defer end()
	failed := 0
	for _, c := range checks {
		if err := within(ctx, m, c); err != nil {
			failed++
			fmt.Printf("not ok - %s: %s\n", c.sentence, strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Printf("ok - %s\n", c.sentence)
		}
	}
	fmt.Printf("%d passed, %d failed\n", len(checks)-failed, failed)
	return failed
}

func within(ctx context.Context, m *mesh, c check) error {
	ctx, end := context.WithTimeout(ctx, checkMax)
	defer end()
	return c.run(ctx, m)
}

// all returns the first error, so that a check reads as a list of what must hold.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func equal[T comparable](what string, actual, expected T) error {
	if actual != expected {
		return fmt.Errorf("%s is %v, not %v", what, actual, expected)
	}
	return nil
}
