package faults_test

import (
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/process"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// TestP2ConverterKeepsTheProcessor has one keep the only processor after a moment in which nothing
// was going on: probes are answered meanwhile.
func TestP2ConverterKeepsTheProcessor(t *testing.T) {
	t.Parallel()
	const rounds, takes = 3, 3 * time.Second
	ca := tlstest.NewCA(t, "faults")
	p := process.Launch(t, process.Options{Binary: binary(t, hostile), CA: ca, Env: []string{"GOMAXPROCS=1"}})
	c := strangeConverter(t, alone(p), ca, "Spinning")
	for range rounds {
		if _, err := c.To(strange("Spinning", "short", 0), "v2"); err != nil {
			t.Fatal(err)
		}
		wait.For(t, time.Second)
		returned := make(chan error, 1)
		go func() {
			_, err := c.To(strange("Spinning", "long", int(takes/time.Millisecond)), "v2")
			returned <- err
		}()
		wait.For(t, takes/10)
		if !p.Live(t.Context()) {
			t.Error("no answer to a probe while a converter runs")
		}
		select {
		case err := <-returned:
			t.Errorf("the answer to the probe came after that of the converter (%v)", err)
		default:
			if err := <-returned; err != nil {
				t.Error(err)
			}
		}
	}
}
