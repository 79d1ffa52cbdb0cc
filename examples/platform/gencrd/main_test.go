package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCRDIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("crd.yaml is not what gencrd writes (-is +should be):\n%s", diff)
	}
}
