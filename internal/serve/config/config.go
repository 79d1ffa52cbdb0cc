// Package config turns defaults, a YAML file, the environment and the command line into one
// validated value.
//
// Every setting is one [Key] of [Keys]. Its name is the key in the file and the long flag; in
// capitals, with underscores and the prefix WEBHOOKD_, it is the environment variable. A flag that
// was set wins over the environment, which wins over the file, which wins over the default. Nothing
// is guessed: an unknown or repeated key in the file is an error, and all problems are reported at
// once, each with its key, where the value came from, and what to write instead.
//
// Nothing in this package keeps state. Every function is safe for concurrent use, as long as no one
// changes a flag set that it takes.
package config

import (
	"time"
)

// Config is the configuration of the server. It is a value: pass it down, and do not change the
// list that it holds. The tag of a field is the name of its [Key].
type Config struct {
	Listen      string `mapstructure:"listen"`       // HOST:PORT of the webhook, HTTPS
	AdminListen string `mapstructure:"admin-listen"` // HOST:PORT of health and metrics, plain HTTP
	Path        string `mapstructure:"path"`         // URL path of the webhook, without trailing slash

	Rules string `mapstructure:"rules"` // file or folder of Conversion files; empty: compiled-in kinds only
	CRDs  string `mapstructure:"crds"`  // file or folder of the CRDs that Rules are about
	// WaitForRules says to start with rules that have errors.
	WaitForRules bool `mapstructure:"wait-for-rules"`
	// RulesTransition is how long other replicas may know only earlier rules; 0: not at all.
	RulesTransition time.Duration `mapstructure:"rules-transition"`

	TLSDir       string   `mapstructure:"tls-dir"`        // holds tls.crt and tls.key; empty with SelfSigned
	SelfSigned   bool     `mapstructure:"self-signed"`    // make a pair in memory
	ClientCAFile string   `mapstructure:"client-ca-file"` // PEM; empty: clients need no certificate
	ClientNames  []string `mapstructure:"client-names"`   // empty: any name that ClientCAFile vouches for

	MaxBody          Bytes `mapstructure:"max-body"`            // of one request
	MaxInFlightBytes Bytes `mapstructure:"max-in-flight-bytes"` // 0: 60 % of the memory limit
	MemoryLimit      Bytes `mapstructure:"memory-limit"`        // 0: from GOMEMLIMIT or the cgroup

	RequestTimeout  time.Duration `mapstructure:"request-timeout"`  // upper bound of a request's own timeout
	DrainDelay      time.Duration `mapstructure:"drain-delay"`      // from SIGTERM until the listener closes
	ShutdownTimeout time.Duration `mapstructure:"shutdown-timeout"` // for requests that are still running then

	LogLevel   LogLevel   `mapstructure:"log-level"`
	LogReviews LogReviews `mapstructure:"log-reviews"`
	LogFormat  LogFormat  `mapstructure:"log-format"`
	PProf      bool       `mapstructure:"pprof"` // serve /debug/pprof to loopback peers
}

// LogLevel is the lowest level that is logged, spelled as zap and slog spell it in lower case.
type LogLevel string

// The levels that the key log-level takes.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// LogFormat says how log lines are written.
type LogFormat string

// The choices that the key log-format takes.
const (
	LogAuto    LogFormat = "auto" // console on a terminal, else JSON
	LogJSON    LogFormat = "json"
	LogConsole LogFormat = "console" // for people
)

// LogReviews says which reviews are logged one by one.
type LogReviews string

// The choices that the key log-reviews takes.
const (
	LogFailedReviews LogReviews = "failures" // those that failed or were slow
	LogAllReviews    LogReviews = "all"
	LogNoReviews     LogReviews = "none" // nor a summary of them
)
