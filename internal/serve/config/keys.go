package config

import (
	"slices"
	"strings"
)

// envPrefix starts the name of every environment variable that is ours.
const envPrefix = "WEBHOOKD_"

// Key describes one setting. The table of keys drives the flags, the keys of the file, the names in
// the environment, the checks of each value, the dump and the reference.
type Key struct {
	Name    string   // the key in the file and the long flag
	Group   string   // the heading in the reference
	Kind    Kind     // how its text is read
	Default string   // in text form
	Local   string   // default together with self-signed; empty: Default
	Usage   string   // one sentence for --help and the reference
	Arg     string   // what --help calls the value; empty: the name of the kind
	Choices []string // of a [Choice]
	Min     string   // lowest value of a number, size or duration
	Max     string   // highest value of a number, size or duration
	Zero    string   // what 0 means, where 0 is allowed below Min
	Why     string   // the reason for Min and Max
}

// Env returns the name of the environment variable.
func (k Key) Env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// fileKey is the path of the configuration file: a flag and a variable, but not a key of the file.
func fileKey() Key {
	return Key{Name: "config", Kind: File, Usage: "YAML file with these keys"}
}

// Keys returns the table of settings, in the order of the reference.
func Keys() []Key {
	return slices.Concat(
		group("Addresses", Key{
			Name: "listen", Kind: Address, Default: ":9443", Local: "127.0.0.1:9443",
			Usage: "address of the webhook, over HTTPS",
		}, Key{
			Name: "admin-listen", Kind: Address, Default: ":8080", Local: "127.0.0.1:8080",
			Usage: "address of /livez, /readyz and /metrics, over plain HTTP",
		}, Key{
			Name: "path", Kind: URLPath, Arg: "url-path", Default: "/crdconvert",
			Usage: "URL path of the webhook, as in the CRD's clientConfig",
		}),
		group("Rules", Key{
			Name: "rules", Kind: File, Arg: "path",
			Usage: "file or folder of Conversion files, with folders in it; needs crds; changes apply while running",
		}, Key{
			Name: "crds", Kind: File, Arg: "path",
			Usage: "file or folder of the CRDs of the rules; changes apply while running",
		}, Key{
			Name: "wait-for-rules", Kind: Bool, Default: "false",
			Usage: "if rules have errors at the start, serve the kinds without any and wait for better rules, instead of ending",
		}, Key{
			// A local server has no other replicas.
			Name: "rules-transition", Kind: Duration, Default: "10m", Local: "0s", Min: "1m", Max: "24h", Zero: "there are no other replicas",
			Usage: "how long after a change of rules other replicas may know only the earlier ones, so that nothing is lost between them",
		}),
		group("Certificates", Key{
			Name: "tls-dir", Kind: File, Arg: "dir",
			Usage: "folder with tls.crt and tls.key, such as a mounted Secret; not together with self-signed",
		}, Key{
			Name: "self-signed", Kind: Bool, Default: "false",
			Usage: "make a certificate in memory, for local use; not together with tls-dir or client-ca-file",
		}, Key{
			Name: "client-ca-file", Kind: File,
			Usage: "PEM file of the CA of client certificates; only behind a proxy, as kube-apiserver presents none and would be refused",
		}, Key{
			Name: "client-names", Kind: Names,
			Usage: "names, separated by commas, of which a client certificate must have one; needs client-ca-file",
		}),
		group("Memory and load", Key{
			Name: "max-body", Kind: Size, Default: "128Mi", Min: "64Ki", Max: "1Gi",
			Usage: "largest request body; a larger one is answered 413",
		}, Key{
			Name: "max-in-flight-bytes", Kind: Size, Default: "0", Min: "1Mi", Max: "1Ti", Zero: "60 % of GOMEMLIMIT",
			Usage: "bytes of connections and request bodies at once; bodies that do not fit wait for a second, then are answered 429",
		}, Key{
			Name: "memory-limit", Kind: Size, Default: "0", Min: "32Mi", Max: "16Ti", Zero: "GOMEMLIMIT, or the cgroup's limit less a reserve of 38Mi, but at least 10 and at most 25 % of that limit",
			Usage: "memory that the Go runtime aims to stay below",
		}),
		group("Requests and connections", Key{
			Name: "request-timeout", Kind: Duration, Default: "30s", Min: "2s", Max: "30s", Why: "kube-apiserver gives up after 30s",
			Usage: "longest timeout of a request; the answer comes a second earlier",
		}),
		group("Shutdown", Key{
			// No load balancer sends requests to a local server.
			Name: "drain-delay", Kind: Duration, Default: "15s", Local: "0s", Min: "0s", Max: "5m",
			Usage: "how long requests are accepted after SIGTERM, until API servers have seen the endpoint go",
		}, Key{
			Name: "shutdown-timeout", Kind: Duration, Default: "30s", Min: "1s", Max: "10m",
			Usage: "time for running requests to end after drain-delay; keep terminationGracePeriodSeconds above the sum of both",
		}),
		group("Diagnosis", Key{
			Name: "log-level", Kind: Choice, Arg: "level", Default: string(LogInfo),
			Choices: []string{string(LogDebug), string(LogInfo), string(LogWarn), string(LogError)},
			Usage:   "lowest level that is logged",
		}, Key{
			Name: "log-reviews", Kind: Choice, Arg: "which", Default: string(LogFailedReviews),
			Choices: []string{string(LogFailedReviews), string(LogAllReviews), string(LogNoReviews)},
			Usage:   "reviews with a log line each: failures and those of a second or more, all, or none; unless it is none, each kind has a summary a minute",
		}, Key{
			Name: "log-format", Kind: Choice, Arg: "format", Default: string(LogAuto),
			Choices: []string{string(LogAuto), string(LogJSON), string(LogConsole)},
			Usage:   "format of the log; auto is console on a terminal, else json",
		}, Key{
			Name: "pprof", Kind: Bool, Default: "false",
			Usage: "serve /debug/pprof at admin-listen, to loopback peers only",
		}),
	)
}

func group(name string, keys ...Key) []Key {
	for i := range keys {
		keys[i].Group = name
	}
	return keys
}
