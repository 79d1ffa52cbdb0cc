package serve

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// announce logs what is served and where. It needs the listeners.
func (s *service) announce(ctx context.Context) {
	admin := ""
	if addr := s.server.AdminAddr(); addr != nil {
		admin = addr.String()
	}
	c := s.Loaded.Config
	s.logger.Info("serving",
		zap.String("listen", s.server.Addr().String()),
		zap.String("path", c.Path),
		zap.String("adminListen", admin),
		zap.Array("kinds", kinds(s.rules.registry().Kinds())),
		zap.String("rulesDigest", s.rules.digest()),
		zap.String("version", s.Build.Version),
		zap.String("revision", s.Build.Revision),
		zap.String("goVersion", s.Build.GoVersion),
		zap.String("config", s.Loaded.File),
		zap.Int64("memoryLimit", s.memory),
		zap.Int64("requestBytesInFlightLimit", s.server.Stats().BytesLimit))
	if c.SelfSigned {
		_, _ = s.Log.Write([]byte(s.curlLine(ctx)))
	}
}

// curlLine returns a command to paste into a shell, and what it prints.
func (s *service) curlLine(ctx context.Context) string {
	host := listenHost(s.Loaded.Config.Listen)
	if host == "" {
		host = "localhost"
	}
	_, port, err := net.SplitHostPort(s.server.Addr().String())
	if err != nil {
		port = "9443"
	}
	url := "https://" + net.JoinHostPort(host, port) + s.Loaded.Config.Path
	trust := "--insecure"
	if s.source.caFile != "" {
		trust = "--cacert " + ShellWord(s.source.caFile)
	}
	if s.sample == "" {
		return fmt.Sprintf("webhookd: serving %s with a self-signed certificate; no kinds to convert, give rules with --rules and --crds\n", url)
	}
	answer, err := review.NewReviewer(s.rules.registry, review.Hooks{}).Review(ctx, nil, []byte(s.sample))
	if err != nil {
		answer = []byte(err.Error())
	}
	return fmt.Sprintf("webhookd: serving %s with a self-signed certificate; try, in another terminal:\n"+
		"curl %s --data %s -H 'Content-Type: application/json' %s\n"+
		"webhookd: the answer is %s\n", url, trust, ShellWord(s.sample), ShellWord(url), bytes.TrimSpace(answer))
}

// kinds logs the kinds of a registry with their versions.
type kinds []*converters.Kind

// MarshalLogArray implements zapcore.ArrayMarshaler.
func (k kinds) MarshalLogArray(enc zapcore.ArrayEncoder) error {
	for _, kind := range k {
		err := enc.AppendObject(zapcore.ObjectMarshalerFunc(func(enc zapcore.ObjectEncoder) error {
			enc.AddString("kind", kind.Name())
			enc.AddString("hub", kind.Hub)
			zap.Strings("versions", kind.Versions).AddTo(enc)
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// ShellWord quotes text for a POSIX shell if necessary.
func ShellWord(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/:._-", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// sampleReview returns a ConversionReview to try, of the first case among files: the object of a
// spoke in a file NAME.VERSION.yaml. Without a case, it has an object with only a name. It is empty
// if there are no kinds.
func sampleReview(registry *converters.Registry, files []ruleset.File) string {
	for _, f := range files {
		in, err := manifest.ParseFile(f.Name, f.Text)
		if err != nil || len(in.Documents) != 1 {
			continue
		}
		_, gvk, err := manifest.ParseObject(in.Documents[0])
		if err != nil || !strings.Contains(filepath.Base(f.Name), "."+gvk.Version+".") {
			continue
		}
		kind := registry.Lookup(gvk.GroupKind())
		if kind != nil && kind.Has(gvk.Version) && gvk.Version != kind.Hub {
			return reviewToHub(kind, string(in.Documents[0]))
		}
	}
	if len(registry.Kinds()) == 0 {
		return ""
	}
	kind := registry.Kinds()[0]
	spoke := slices.IndexFunc(kind.Versions, func(v string) bool { return v != kind.Hub })
	return reviewToHub(kind, fmt.Sprintf(`{"apiVersion":"%s/%s","kind":%q,"metadata":{"name":"sample"}}`, kind.Group, kind.Versions[spoke], kind.Kind))
}

func reviewToHub(kind *converters.Kind, object string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"sample",`+
		`"desiredAPIVersion":"%s/%s","objects":[%s]}}`, kind.Group, kind.Hub, object)
}
