// Package architecture_test holds which package may import which, in every module of the
// repository.
package architecture_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/crdconvert/webhookd/"

// A package of the product imports those on floors below its own.
func TestArrowsRunDown(t *testing.T) {
	t.Parallel()
	floors := map[string]int{}
	for floor, packages := range []string{
		"document/didyoumean document/jsondoc",
		"document/yamljson",
		"document/yamledit",
		"schema/xrd",
		"schema/crdschema schema/manifest",
		"schema/apiserver",
		"tlsreload/volume",
		"tlsreload",
		"converters/keep/hash converters/keep/slab",
		"converters/keep/annotation",
		"converters/keep converters/rules/finding converters/rules/transform/celvalue",
		"converters converters/rules/syntax",
		"converters/rules/transform",
		"converters/rules/binding",
		"converters/rules/check converters/rules/plan",
		"converters/rules/exec converters/rules/hints converters/rules/suggest",
		"converters/rules",
		"review/apistatus review/reviewclient",
		"review",
		"laws/tree",
		"laws/generate",
		"laws/shrink",
		"laws/hold",
		"laws/compare laws/conformance laws/diagnosis",
		"server/gate",
		"server/listen",
		"server",
		"../conversion",
		"serve/config serve/library serve/metrics",
		"serve/ruleset",
		"serve",
		"cluster",
		"cluster/crdguard cluster/crdwire",
		"cluster/migrate cluster/selfmanaged",
		"editor/lsp editor/playground",
		"editor/playground/wasm editor/playground/web",
		"cli/voice ../conversion/conversiontest ../conversion/rules ../conversion/webhook",
		"cli/offline",
		"cli/connect",
		"cli/author cli/cases cli/check cli/convert cli/crd cli/kept cli/laws cli/review cli/rewrite cli/serve", // verbs
		"cli",
		"..",
	} {
		for name := range strings.FieldsSeq(packages) {
			floors[filepath.Join("internal", name)] = floor + 1
		}
	}
	for _, i := range imports(t) {
		if test(i.file) {
			continue
		}
		from := filepath.Dir(i.file)
		to, ours := strings.CutPrefix(i.path+"/", module)
		to = filepath.Clean(to)
		if ours && floors[from] > 0 && floors[to] >= floors[from] {
			t.Errorf("%s imports %s, which is not on a lower floor", i.file, to)
		}
		if strings.HasPrefix(from, "internal/") && floors[from] == 0 {
			t.Errorf("%s: give its package a floor", i.file)
		}
	}
}

// The files that may import a package and those below it: the longest path decides. They are given
// as the beginnings of their paths, and "tests".
func TestEachLibraryHasItsOwners(t *testing.T) {
	t.Parallel()
	owners := map[string]string{
		"github.com/go-chi":                "internal/server/",
		"github.com/go-logr":               "test/",
		"github.com/go-viper":              "internal/serve/config/",
		"github.com/google/cel-go":         "internal/converters/rules/transform/ test/reference/",
		"github.com/prometheus":            "internal/serve/metrics/ conversion/webhook/ test/",
		"github.com/spf13/cobra":           "internal/cli/ test/ bench/",
		"github.com/spf13/pflag":           "internal/cli/ internal/serve/config/ test/ bench/",
		"github.com/spf13/viper":           "internal/serve/config/",
		"go.uber.org/zap":                  "internal/serve/ test/",
		"k8s.io/apiserver":                 "test/ bench/",
		"k8s.io/apiserver/pkg/cel":         "internal/converters/rules/transform/ test/",
		"k8s.io/client-go":                 "test/ bench/ contrib/", // typed clients would take memory of every webhookd
		"k8s.io/client-go/rest":            "test/ bench/ contrib/ internal/cluster/",
		"k8s.io/client-go/tools/clientcmd": "test/ bench/ internal/cluster/",
		"k8s.io/client-go/transport/spdy":  "test/ bench/ internal/cluster/",
		"k8s.io/klog":                      "test/ internal/cluster/", // client-go has no other log
		"log/slog":                         "test/",
		"sigs.k8s.io/controller-runtime":   "test/ bench/ contrib/",

		"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion": "test/ bench/", // an oracle
		"k8s.io/apiextensions-apiserver/pkg/client":               "test/",
		// The library links crdschema, and no CEL, which these link.
		"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/":    "internal/schema/apiserver/ test/reference/ tests",
		"k8s.io/apiextensions-apiserver/pkg/apiserver/validation": "internal/schema/apiserver/ tests",

		module + "bench":            "bench/",
		module + "cmd":              "",
		module + "conversion":       "conversion/ contrib/ examples/ internal/serve/library/ webhookd.go tests",
		module + "examples":         "examples/ internal/editor/playground/ tests",
		module + "internal":         "conversion/ internal/ webhookd.go test/ bench/", // others use what everyone can import
		module + "internal/cli":     "internal/cli/ webhookd.go",
		module + "internal/cluster": "internal/cli/ internal/cluster/ test/",
		// What is kept is for all to read; only conversions keep and restore.
		module + "internal/converters/keep":            "internal/converters/ conversion/ tests",
		module + "internal/converters/keep/annotation": "conversion/ internal/ test/ bench/",
		module + "test": "tests",

		"github.com/go-json-experiment":        "tests",
		"github.com/google/go-cmp":             "tests",
		"github.com/rogpeppe/go-internal":      "tests",
		"github.com/rogpeppe/go-internal/diff": "internal/cli/ tests",
		"go.uber.org/goleak":                   "tests",
		"net/http/httptest":                    "tests",
		"testing":                              "tests",
		// With templates the linker keeps every exported method of every type, 7 MB of the program.
		"html/template": "tests tools/",
		"text/template": "tests tools/",
		// Plain ifs and cmp.Diff, fmt.Errorf, io, math/rand/v2, and checked access do what these
		// do.
		"github.com/onsi":             "",
		"github.com/pkg/errors":       "",
		"github.com/stretchr/testify": "",
		"io/ioutil":                   "",
		"math/rand":                   "",
		"math/rand/v2":                "internal/ tests",
		"unsafe":                      "",
	}
	for _, i := range imports(t) {
		longest := ""
		for path := range owners {
			if below(i.path, path) && len(path) > len(longest) {
				longest = path
			}
		}
		may := func(owner string) bool { return strings.HasPrefix(i.file, owner) || owner == "tests" && test(i.file) }
		if longest != "" && !slices.ContainsFunc(strings.Fields(owners[longest]), may) {
			t.Errorf("%s imports %s, which belongs to %q", i.file, i.path, owners[longest])
		}
		if strings.HasPrefix(i.path, module) && strings.HasSuffix(i.path, "test") && !test(i.file) {
			t.Errorf("%s imports %s, a helper of tests", i.file, i.path)
		}
	}
}

// A stranger sees at once what a folder has.
func TestNoFolderIsFull(t *testing.T) {
	t.Parallel()
	const most = 15
	folders := map[string]bool{}
	for _, i := range imports(t) {
		if !test(i.file) {
			folders[filepath.Dir(i.file)] = true
		}
	}
	for folder := range folders {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
		if err != nil || len(files) > most {
			t.Errorf("%s has %d files, more than %d: %v", folder, len(files), most, err)
		}
	}
}

// What files keep out although it is on a lower floor or in the standard library.
func TestWalls(t *testing.T) {
	t.Parallel()
	const pure = `^(crypto/rand|log|net/http|os|syscall)(/|$)` // a converter has no network, log or file
	all := imports(t)
	for files, refused := range map[string]string{
		`^conversion/[^/]+$`:                pure,
		`^examples/custom-server/.+/`:       pure,
		`^internal/converters/`:             pure + `|^math/rand/v2$`,
		`^internal/converters/keep/`:        `/converters/rules`,                   // it compares objects of one version
		`^internal/converters/rules/check/`: `webhookd/internal/document/jsondoc$`, // it knows schemas, but no objects
		`^internal/document/jsondoc/`:       `^(net/http|os)(/|$)`,                 // it knows bytes only
		`^internal/laws/hold/hidden\.go$`:   `/internal/converters`,                // it judges the engine of kept values
		`^internal/review/`:                 `^log$|/converters/`,                  // it gets a registry, and has hooks
		`^test/hostile/[^/]+$`:              `^github.com/crdconvert/`,             // cases for other servers, too
	} {
		from, to := regexp.MustCompile(files), regexp.MustCompile(refused)
		for _, i := range all {
			if from.MatchString(i.file) && to.MatchString(i.path) && !strings.HasSuffix(i.file, "_test.go") {
				t.Errorf("%s imports %s", i.file, i.path)
			}
		}
	}
}

// What a package must not link, not even by another package.
func TestLinks(t *testing.T) {
	t.Parallel()
	const heavy = `^(github\.com/google/cel-go|github\.com/spf13|k8s\.io/client-go|k8s\.io/apiserver|go\.uber\.org/zap)/`
	for folder, unwanted := range map[string]string{
		"conversion":                heavy + `|/internal/server$`,
		"conversion/webhook":        heavy, // a manager embeds it
		"internal/document/jsondoc": `^[^/]+\.[^/]+/`,
		"internal/serve":            `^k8s\.io/client-go/|/internal/cluster$`, // the server has no access to the API
		"internal/tlsreload/volume": `^[^/]+\.[^/]+/`,
	} {
		command := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+folder) //nolint:gosec // of the table
		command.Dir = "../.."
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.Lines(string(out)) {
			path = strings.TrimSpace(path)
			if path != module+folder && regexp.MustCompile(unwanted).MatchString(path) {
				t.Errorf("%s links %s", folder, path)
			}
		}
	}
}

// An imported is a path in the import of a file, whose own path starts at the root of the
// repository.
type imported struct{ file, path string }

func imports(t *testing.T) []imported {
	t.Helper()
	var all []imported
	if err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			to, _ := strconv.Unquote(spec.Path.Value) // the parser has read it
			all = append(all, imported{filepath.ToSlash(path[len("../../"):]), to})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// test reports whether a file is a test, or in a folder of helpers, whose name ends like that of
// httptest.
func test(file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.Contains(file, "test/") || strings.HasPrefix(file, "bench/")
}

// below reports whether a package is that of a path, or below it.
func below(path, of string) bool {
	return path == of || strings.HasPrefix(path, strings.TrimSuffix(of, "/")+"/")
}
