// Package image_test holds the Dockerfiles to the checks of BuildKit: what `docker build --check`
// finds.
package image_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	digest "github.com/opencontainers/go-digest"
)

// anyImage answers for each base image, without a registry.
type anyImage struct{}

func (anyImage) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return ref, "", []byte(`{"architecture":"amd64","os":"linux"}`), nil
}

// findings returns what BuildKit has against a Dockerfile.
func findings(ctx context.Context, text []byte) ([]string, error) {
	source := &llb.SourceMap{Definition: &llb.Definition{}, Filename: "Dockerfile", Language: "Dockerfile", Data: text}
	opt := dockerfile2llb.ConvertOpt{MetaResolver: anyImage{}, SourceMap: source}
	results, err := dockerfile2llb.DockerfileLint(ctx, text, opt)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, w := range results.Warnings {
		found = append(found, fmt.Sprintf("line %d: %s: %s", w.Location.Ranges[0].Start.Line, w.RuleName, w.Detail))
	}
	if results.Error != nil {
		found = append(found, results.Error.Message)
	}
	return found, nil
}

func TestDockerfilesHaveNoFindings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../Dockerfile", "../../examples/custom-server/Dockerfile"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found, err := findings(t.Context(), text)
			if err != nil || len(found) > 0 {
				t.Errorf("error %v, findings:\n%s", err, strings.Join(found, "\n"))
			}
		})
	}
}

func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"FROM scratch as a\nWORKDIR x\n":                 "line 1: FromAsCasing: 'as' and 'FROM' keywords' casing do not match",
		"FROM scratch\nENTRYPOINT /webhookd serve\n":     "line 2: JSONArgsRecommended",
		"FROM scratch\nARG A\nUSER $B\n":                 "line 3: UndefinedVar",
		"FROM scratch\nENV SECRET_TOKEN=abc\nRUM make\n": "unknown instruction: RUM",
	} {
		found, err := findings(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("%q: findings (-want +got):\n%s", text, cmp.Diff(want, strings.Join(found, "\n")))
		}
	}
}
