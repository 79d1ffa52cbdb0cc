package laws

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/serve"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// sampleFlags say which kinds are tested, and with which random objects.
type sampleFlags struct {
	ruled       offline.Flags
	count, seed uint64
	kind        string
}

// add adds the flags. The usage of --objects is the verb's own.
func (f *sampleFlags) add(cmd *cobra.Command, count uint64, usage string) {
	flags := cmd.Flags()
	f.ruled.Add(flags)
	voice.FilesAfter(cmd, "rules")
	flags.Uint64Var(&f.count, "objects", count, "`count` of "+usage)
	flags.Uint64Var(&f.seed, "seed", 0, "`seed` of all random choices (default a random one)")
	flags.StringVar(&f.kind, "kind", "", "only this kind, as `KIND.GROUP` (default all)")
}

// plant chooses the seed if none is given.
func (f *sampleFlags) plant(cmd *cobra.Command) {
	if !cmd.Flags().Changed("seed") {
		f.seed = uint64(rand.Uint32()) //nolint:gosec // choices that can be repeated
	}
}

// kinds returns the kinds of --kind that have a converter and a CRD.
func (f *sampleFlags) kinds(set *ruleset.Set) ([]*converters.Kind, error) {
	registry, err := set.Registry()
	if err != nil {
		return nil, err
	}
	var kinds []*converters.Kind
	for _, kind := range registry.Kinds() {
		if set.CRD(kind.GroupKind) != nil {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return nil, voice.Usage(errors.New("nothing to convert: no CRD has rules or a compiled-in converter"), "give rules with --rules")
	}
	return voice.Choose(kinds, (*converters.Kind).Name, "kind", f.kind, "kind with a CRD and a converter")
}

// again returns the command that reproduces what a verb has found.
func (f *sampleFlags) again(verb, kind string, seed, objects uint64, more ...string) string {
	words := append([]string{"webhookd", verb}, more...)
	for _, path := range f.ruled.Rules {
		words = append(words, "--rules", path)
	}
	for _, path := range f.ruled.CRDs {
		words = append(words, "--crds", path)
	}
	words = append(words, "--kind", kind, "--seed", fmt.Sprint(seed), "--objects", fmt.Sprint(objects))
	for i, word := range words {
		words[i] = serve.ShellWord(word)
	}
	return strings.Join(words, " ")
}

// each tests one kind after the other, until one cannot be tested or the user interrupts. It fails
// if a test finds something, which it has reported.
func each[Kind any](ctx context.Context, kinds []Kind, test func(context.Context, Kind) (found bool, err error)) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var err error
	for _, kind := range kinds {
		found, failed := test(ctx, kind)
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case failed != nil:
			return failed
		case found:
			err = voice.ErrReported
		}
	}
	return err
}
