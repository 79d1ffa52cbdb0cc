package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdwire"
)

// sampleReview is what the curl line posts at the root of the repository.
const (
	sampleReview = "testdata/conversionreviews/" + sampleName
	sampleName   = "crontab-v1beta1-to-v1.request.json"
)

// announce says what is served and where, once the listeners are there.
func (s *service) announce() {
	admin := ""
	if addr := s.server.AdminAddr(); addr != nil {
		admin = addr.String()
	}
	c := s.loaded.Config
	s.logger.Info("serving",
		zap.String("listen", s.server.Addr().String()),
		zap.String("path", c.Path),
		zap.String("adminListen", admin),
		zap.Array("kinds", kinds(s.rules.registry().Kinds())),
		zap.String("rulesDigest", s.rules.digest()),
		zap.String("version", s.build.Version),
		zap.String("revision", s.build.Revision),
		zap.String("goVersion", s.build.GoVersion),
		zap.String("config", s.loaded.File),
		zap.Int64("memoryLimit", s.memory),
		zap.Int64("requestBytesInFlightLimit", s.server.Stats().BytesLimit))
	if c.SelfSigned {
		_, _ = s.messages.Write([]byte(s.curlLine()))
	}
}

// curlLine is a command that works as it is pasted into a shell in the same folder.
func (s *service) curlLine() string {
	host := listenHost(s.loaded.Config.Listen)
	if host == "" {
		host = "localhost"
	}
	_, port, err := net.SplitHostPort(s.server.Addr().String())
	if err != nil {
		port = "9443"
	}
	url := "https://" + net.JoinHostPort(host, port) + s.loaded.Config.Path
	trust := "--insecure"
	if s.source.caFile != "" {
		trust = "--cacert " + shellWord(s.source.caFile)
	}
	return fmt.Sprintf("webhookd: serving %s with a self-signed certificate; try, in another terminal:\n"+
		"curl %s --data %s -H 'Content-Type: application/json' %s\n", url, trust, s.sample(), shellWord(url))
}

// sample is the review to try, as a word of the shell: of a kind that rules convert, or else the file of the repository, or
// of any kind where that is not at hand.
func (s *service) sample() string {
	all := s.rules.registry().Kinds()
	i := slices.IndexFunc(all, func(k *converters.Kind) bool { return !isCompiledIn(k.GroupKind) })
	if i < 0 {
		if _, err := os.Stat(sampleReview); err == nil || len(all) == 0 {
			return "@" + sampleReview
		}
		i = 0
	}
	kind := all[i]
	spoke := slices.IndexFunc(kind.Versions, func(v string) bool { return v != kind.Hub })
	probe := crdwire.Probe{Kind: kind.GroupKind, From: []string{kind.Versions[spoke]}, To: kind.Hub}
	return shellWord(string(probe.Review("v1")))
}

// kinds writes the kinds of a registry with their versions.
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

// shellWord quotes text for a POSIX shell where that is necessary.
func shellWord(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/:._-", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
