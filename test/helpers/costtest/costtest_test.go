package costtest_test

import (
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/costtest"
)

// failures is a test that may fail.
type failures struct {
	*testing.T

	texts []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

//nolint:paralleltest // it counts what the process takes
func TestQuadraticCostIsFound(t *testing.T) {
	const size = 1000
	work := func(inner func(size int) int) func(int) func() {
		return func(size int) func() {
			numbers := make([]int, size)
			return func() {
				for i := range size {
					for j := range inner(size) {
						numbers[j%size] += i
					}
				}
			}
		}
	}
	f := &failures{T: t}
	costtest.Linear(f, size, work(func(int) int { return 100 }))
	if len(f.texts) > 0 {
		t.Errorf("linear: %s", f.texts)
	}
	costtest.Linear(f, size, work(func(size int) int { return size }))
	if len(f.texts) != 1 {
		t.Errorf("quadratic time: %s", f.texts)
	}
	f.texts = nil
	costtest.Linear(f, size, func(size int) func() {
		return func() { _ = make([][]byte, size*size/100) }
	})
	if len(f.texts) != 1 {
		t.Errorf("quadratic memory: %s", f.texts)
	}
}
